//! Addresses of servers, and paths below them.

use crate::cell::TextType;

/// Longest address.
const MAX_LEN: usize = 2_048;

/// A text that is not an address of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an http or https address without user, query and fragment")]
pub struct InvalidBaseUrl;

/// The address below which a server answers: `https://api.example.com/v1`. It names no user, because addresses are
/// shown.
#[derive(Debug, Clone, PartialEq, Eq, TextType)]
#[text(
    rule = is_base_url,
    error = InvalidBaseUrl,
    schema = "BaseAddress",
    pattern = r"^https?://[^\s/?#@\\]+(/[^\s?#\\]*)?$",
    max_length = MAX_LEN,
    example = "https://api.example.com/v1",
    description = "Without user, query and fragment."
)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Returns whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Returns the address of `path` below this one, with a query. `None` when the path would leave it.
    pub fn join(&self, path: &str, query: &[(String, String)]) -> Option<String> {
        if !path.is_empty() && !is_path(path) {
            return None;
        }
        let mut address = format!("{}{path}", self.0.trim_end_matches('/'));
        for (at, (name, value)) in query.iter().enumerate() {
            address.push(if at == 0 { '?' } else { '&' });
            push_encoded(&mut address, name);
            address.push('=');
            push_encoded(&mut address, value);
        }
        Some(address)
    }
}

/// Returns whether a text is an address of `http` or `https`.
fn is_base_url(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host_fits = host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
    text.len() <= MAX_LEN && host_fits && (path.is_empty() || is_path(path))
}

/// Returns whether a path begins with `/`, has neither query nor fragment, and no step that leads upwards. Servers
/// and libraries read `.` also where it is written `%2e`, and `\` as `/`.
fn is_path(path: &str) -> bool {
    let visible = path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\\".contains(&byte));
    let lower = path.to_ascii_lowercase().replace("%2e", ".");
    let upwards = lower.split(['/', ';']).any(|step| matches!(step, "." | ".."));
    path.starts_with('/') && visible && !upwards && !["%2f", "%5c"].iter().any(|slash| lower.contains(slash))
}

/// Appends `text` as a part of a query (RFC 3986): reserved characters are written as their bytes.
fn push_encoded(address: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push('%');
            for half in [byte >> 4, byte & 15] {
                address.push(char::from(b"0123456789ABCDEF"[usize::from(half)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_server_and_nothing_else() {
        for good in [
            "https://a.example",
            "http://127.0.0.1:8080/v1/",
            "https://[2001:db8::1]/x",
            "https://a-b.c/d%20e",
        ] {
            assert_eq!(BaseUrl::parse(good).map(String::from).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "a.example",
            "ftp://a.example",
            "https://",
            "https:///a",
            "https://user@a.example",
            "https://user:secret@a.example/",
            "https://a.example?x=1",
            "https://a.example/#x",
            "https://a b",
            "https://a.example/é",
            "HTTPS://a.example\n",
            "https://a.example/../x",
            "https://-a",
            "https://a.example\\@b",
        ] {
            assert_eq!(BaseUrl::parse(bad), Err(InvalidBaseUrl), "{bad}");
        }
    }

    #[test]
    fn a_path_stays_below() {
        let base = BaseUrl::parse("https://a.example/v1/").expect("an address");
        let query = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(base.join("", &[]).as_deref(), Some("https://a.example/v1"));
        assert_eq!(base.join("/a/b.json", &[]).as_deref(), Some("https://a.example/v1/a/b.json"));
        let pairs = query(&[("q", "a b&c=é"), ("q", ""), ("x#", "~")]);
        assert_eq!(
            base.join("/a", &pairs).as_deref(),
            Some("https://a.example/v1/a?q=a%20b%26c%3D%C3%A9&q=&x%23=~")
        );
        for bad in [
            "a",
            "@b.example",
            ".b.example",
            "/..",
            "/a/../../b",
            "/a/%2e%2e/b",
            "/.%2E/b",
            "/./b",
            "/a?b",
            "/a#b",
            "/a\\..\\b",
            "/a b",
            "/a%2f..%2fb",
            "/..;/b",
            "/é",
            "/a\nb",
        ] {
            assert_eq!(base.join(bad, &[]), None, "{bad}");
        }
    }
}
