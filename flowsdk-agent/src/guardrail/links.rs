//! Links in what a model writes, and the hosts to which they lead.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

use regex::Regex;
use reqwest::Url;
use unicode_normalization::UnicodeNormalization as _;

/// Where a link may begin: with its scheme, or with its domain. Readers of addresses take backslashes for slashes, and some
/// need no slashes after `https:`.
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    let scheme = r"(?:https?|ftp|wss?):[/\\]*|[a-z][a-z0-9+.-]*:[/\\]{2,}";
    let label = r"[\p{L}\p{M}\p{N}_-]+";
    Regex::new(&format!(r"(?i)(?P<scheme>{scheme})|{label}(?:[.。]{label})+")).expect("a pattern")
});

/// Endings of names of files, none of which is a top-level domain.
const FILE_ENDINGS: [&str; 25] = [
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "txt", "csv", "xml",
    "json", "png", "jpg", "jpeg", "gif", "webp", "svg", "html", "htm", "js", "css",
];

/// Returns a text as its readers see it: without characters that have no shape, and with one form of each letter.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|character| !has_no_shape(*character)).nfkc().collect()
}

fn has_no_shape(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Returns the hosts of all links in a text; `None` is one that nobody can read. E-mail addresses are no links.
pub(super) fn hosts_in(text: &str) -> Vec<Option<String>> {
    let text = plain(text);
    let (mut hosts, mut at) = (Vec::new(), 0);
    while let Some(found) = LINK.captures_at(&text, at) {
        let whole = found.get_match();
        let end = if found.name("scheme").is_some() {
            of_scheme(&text, whole.end(), &mut hosts)
        } else {
            if !is_mail(&text, whole.start(), whole.end()) {
                hosts.extend(bare(whole.as_str(), has_path(&text[whole.end()..])));
            }
            whole.end()
        };
        at = after_path(&text, end);
    }
    hosts
}

/// Returns the host of an address that stands alone. One with a backslash has a host for each reader, so it has none here.
pub(super) fn host_of(address: &str) -> Option<String> {
    if address.contains('\\') {
        return None;
    }
    named(Url::parse(address).ok()?.host_str()?)
}

/// Reads what follows a scheme. Returns where the host ends.
fn of_scheme(text: &str, start: usize, hosts: &mut Vec<Option<String>>) -> usize {
    let rest = &text[start..];
    let authority = until(rest, |c| c.is_whitespace() || ['/', '\\', '?', '#'].contains(&c));
    if authority.is_empty() {
        return start;
    }
    // What stands before an `@` is a name of a user, however much it looks like a host.
    let (user, named) = authority.rfind('@').map_or((0, authority), |at| (at + 1, &authority[at + 1..]));
    let host = until(named, |c| !is_of_host(c));
    hosts.push(parsed(host));
    // Readers to whom a backslash is no slash find another user, and another host.
    let longer = until(rest, |c| c.is_whitespace() || ['/', '?', '#'].contains(&c));
    if let Some((_, named)) = longer.get(authority.len()..).and_then(|more| more.rsplit_once('@')) {
        hosts.push(parsed(until(named, |c| !is_of_host(c))));
    }
    start + user + host.len()
}

/// Returns the host of a domain without a scheme, if it is one.
fn bare(text: &str, has_path: bool) -> Option<Option<String>> {
    if text.parse::<Ipv4Addr>().is_ok() {
        return Some(Some(text.to_owned()));
    }
    let mut labels: Vec<&str> = text.split(['.', '。']).collect();
    let is_file = labels.last().is_some_and(|last| FILE_ENDINGS.contains(&last.to_lowercase().as_str()));
    if is_file && !has_path {
        return None;
    }
    while labels.len() > 1 {
        let last = labels.pop()?;
        // A domain ends where its last label does: `example.com-` and `example.com.2` are read as `example.com`.
        let is_encoded = last.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
        let last = if is_encoded { last } else { until(last, |c| ['-', '_'].contains(&c)) };
        let is_top = last.chars().count() > 1 && last.chars().all(|c| !c.is_numeric());
        if is_encoded || is_top {
            labels.push(last);
            return Some(parsed(&labels.join(".")));
        }
    }
    None
}

/// Returns whether a domain is that of an e-mail address, or the name before its `@`.
fn is_mail(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (&text[..start], &text[end..]);
    let is_name = after.starts_with('@');
    let named = before.strip_suffix('@').and_then(|before| before.chars().next_back());
    is_name || (named.is_some_and(|last| !last.is_whitespace() && last != '@') && !has_path(after))
}

/// Returns whether a path or a port follows a host.
fn has_path(after: &str) -> bool {
    let mut characters = after.chars();
    match characters.next() {
        Some('/' | '\\' | '?' | '#') => characters.next().is_some_and(|c| !c.is_whitespace()),
        Some(':') => characters.next().is_some_and(|c| c.is_ascii_digit()),
        _ => false,
    }
}

/// Returns where the path after a host ends. Another link may begin in it, by its scheme.
fn after_path(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    if !has_path(rest) {
        return at;
    }
    let port = rest.strip_prefix(':').map_or(0, |port| 1 + until(port, |c| !c.is_ascii_digit()).len());
    let path = &rest[port..];
    if !path.starts_with(['/', '\\', '?', '#']) {
        return at + port;
    }
    let path = until(path, |c| c.is_whitespace() || "<>\"'()[]{}|`".contains(c));
    let another = LINK.captures_iter(path).find_map(|found| found.name("scheme")).map(|found| found.start());
    at + port + another.unwrap_or(path.len())
}

fn until(text: &str, ends: impl Fn(char) -> bool) -> &str {
    text.find(ends).map_or(text, |end| &text[..end])
}

fn is_of_host(character: char) -> bool {
    character.is_alphanumeric()
        || ['.', '。', '-', '_'].contains(&character)
        || unicode_normalization::char::is_combining_mark(character)
}

/// Returns a host as addresses name it: in small letters, without marks of other scripts.
fn parsed(host: &str) -> Option<String> {
    named(Url::parse(&format!("http://{host}/")).ok()?.host_str()?)
}

fn named(host: &str) -> Option<String> {
    let host = host.trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// A host, or all hosts below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostPattern {
    host: String,
    /// Whether it is those below the host.
    is_below: bool,
}

impl HostPattern {
    /// Reads `example.com` or `*.example.com`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, is_below) = text.strip_prefix("*.").map_or((text, false), |host| (host, true));
        let host = Some(host).filter(|host| host.chars().all(is_of_host)).and_then(parsed)?;
        (!is_below || host.parse::<Ipv4Addr>().is_err()).then_some(Self { host, is_below })
    }

    /// Returns whether a host is among these.
    pub(super) fn has(&self, host: &str) -> bool {
        match host.strip_suffix(&self.host) {
            Some(below) if self.is_below => below.ends_with('.'),
            Some(below) => below.is_empty(),
            None => false,
        }
    }

    fn covers(&self, other: &Self) -> bool {
        self == other || (self.is_below && self.has(&other.host))
    }

    /// Returns the hosts that are in both lists.
    pub(super) fn in_both(one: &[String], other: &[String]) -> Vec<String> {
        let read =
            |list: &[String]| -> Vec<Self> { list.iter().filter_map(|text| Self::parse(text)).collect() };
        let (one, other) = (read(one), read(other));
        let mut both: Vec<String> = Vec::new();
        for ours in &one {
            for theirs in &other {
                let narrower = if ours.covers(theirs) {
                    theirs
                } else if theirs.covers(ours) {
                    ours
                } else {
                    continue;
                };
                let text = narrower.to_string();
                if !both.contains(&text) {
                    both.push(text);
                }
            }
        }
        both
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_below { "*." } else { "" }, self.host)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hosts(text: &str) -> Vec<String> {
        hosts_in(text).into_iter().map(|host| host.unwrap_or_else(|| "?".to_owned())).collect()
    }

    #[test]
    fn links_are_found_as_people_write_them() {
        for (text, expected) in [
            ("Olá! Tudo bem? São R$ 1.234,56, às 10.30.", &[][..]),
            ("Veja nota.pdf, v1.2.3, o S.A., etc... ok…Vamos", &[]),
            ("Escreva para ana.silva@shop.example, ou bob@x.example.", &[]),
            ("https: agora", &[]),
            ("https://Shop.Example/a?b=c.d#e.f", &["shop.example"]),
            ("(https://shop.example).", &["shop.example"]),
            (
                "[aqui](https://a.example/x)[evil.example](https://b.example)",
                &["a.example", "evil.example", "b.example"],
            ),
            ("HTTPS:\\\\evil.example", &["evil.example"]),
            ("https:/evil.example https:evil2.example", &["evil.example", "evil2.example"]),
            ("https://good.example@evil.example/x", &["evil.example"]),
            ("https://good.example:80@evil.example", &["evil.example"]),
            ("https://good.example\\@evil.example", &["good.example", "evil.example"]),
            ("https://good.example:evil.example", &["good.example", "evil.example"]),
            ("https://good.example/,https://evil.example", &["good.example", "evil.example"]),
            ("https://good.example:8080/a.b", &["good.example"]),
            ("ftp://f.example custom+x://c.example", &["f.example", "c.example"]),
            ("file:///etc", &["etc"]),
            ("https://%65vil.example", &["?", "65vil.example"]),
            ("www.evil.example", &["www.evil.example"]),
            ("vai em evil.com/x.", &["evil.com"]),
            ("evil.com-agora evil.com_ evil.com.2", &["evil.com", "evil.com", "evil.com"]),
            ("http://192.0.2.1/x 192.0.2.2", &["192.0.2.1", "192.0.2.2"]),
            ("http://0x7f.1/", &["127.0.0.1"]),
            ("bücher.example и пример.рф", &["xn--bcher-kva.example", "xn--e1afmkfd.xn--p1ai"]),
            ("evil\u{200b}.com ｅｖｉｌ．ｃｏｍ evil。com", &["evil.com", "evil.com", "evil.com"]),
            ("user@evil.com/login", &["evil.com"]),
            ("@evil.com", &["evil.com"]),
            ("nota.pdf/x", &["nota.pdf"]),
            ("EVIL.COM. evil.com..", &["evil.com", "evil.com"]),
        ] {
            assert_eq!(hosts(text), expected, "{text}");
        }
    }

    #[test]
    fn an_address_leads_to_one_host() {
        for (address, expected) in [
            ("https://a.example/b", Some("a.example")),
            ("https://good.example@Evil.example", Some("evil.example")),
            ("https:\\\\evil.example\\x", None),
            ("https://good.example\\@evil.example", None),
            ("https://evil.example./", Some("evil.example")),
            ("evil.example/x", None),
            ("data:text/plain,x", None),
        ] {
            assert_eq!(host_of(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn hosts_are_those_of_a_list_or_below() {
        for (pattern, host, expected) in [
            ("a.example", "a.example", true),
            ("A.Example", "a.example", true),
            ("a.example", "b.a.example", false),
            ("a.example", "xa.example", false),
            ("*.a.example", "b.a.example", true),
            ("*.a.example", "c.b.a.example", true),
            ("*.a.example", "a.example", false),
            ("*.a.example", "xa.example", false),
            ("bücher.example", "xn--bcher-kva.example", true),
        ] {
            assert_eq!(HostPattern::parse(pattern).expect("a host").has(host), expected, "{pattern} {host}");
        }
        let of = |hosts: &[&str]| -> Vec<String> { hosts.iter().map(|&host| host.to_owned()).collect() };
        let both = HostPattern::in_both(
            &of(&["*.a.example", "b.example"]),
            &of(&["*.x.a.example", "B.example", "c.example"]),
        );
        assert_eq!(both, ["*.x.a.example", "b.example"]);
    }

    proptest! {
        /// A link to a host is found, whatever stands around it.
        #[test]
        fn no_link_gets_by(
            before in r"[a-zà-ú@.,:;/()\[\]<>! \u{200b}-]{0,20}", after in r"[a-zà-ú@.,:;/()\[\]<>! -]{0,20}",
            scheme in prop::sample::select(vec!["https://", "http:\\\\", "HTTPS:/", "wss://good.example@", "x://"]),
        ) {
            let text = format!("{before} {scheme}evil.example/{after}");
            prop_assert!(hosts(&text).contains(&"evil.example".to_owned()), "{}", text);
        }

        #[test]
        fn any_text_is_read(text in any::<String>()) {
            hosts_in(&text);
            host_of(&text);
        }
    }
}
