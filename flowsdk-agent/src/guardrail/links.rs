//! Links in what a model writes, and the hosts to which they lead.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

use regex::Regex;
use reqwest::Url;
use unicode_normalization::UnicodeNormalization as _;

/// A scheme, which has no point here: what has one is read as a domain. Readers of addresses take backslashes for slashes, and
/// some need no slashes after `https:`.
const SCHEME: &str = r"(?:https?|ftp|wss?):[/\\]*|[a-z][a-z0-9+-]*:[/\\]{2,}";
const DOMAIN: &str = r"[\p{L}\p{M}\p{N}_-]+(?:[.。][\p{L}\p{M}\p{N}_-]+)+";
/// Characters that have no shape.
const SHAPELESS: &str = r"\p{Default_Ignorable_Code_Point}";

/// Where a link may begin: with its scheme, or with its domain. No match needs a look far behind its end, so that a text of many
/// links is read in linear time.
static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("(?P<scheme>{SCHEME})|{DOMAIN}")));
/// What makes an e-mail address of the name before it.
static MAIL_DOMAIN: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("^@({DOMAIN})")));
/// Where a path ends. Another link may begin in it, by its scheme.
static PATH_END: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r#"[\s<>"'()\[\]{{}}|`{SHAPELESS}]|{SCHEME}"#)));
/// Where a host ends, with its user and its port.
static AUTHORITY_END: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"[\s/\\?#{SHAPELESS}]")));
/// Where it ends for readers to whom a backslash is no slash.
static LONGER_END: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"[\s/?#{SHAPELESS}]")));
static SHAPELESS_ONES: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("{SHAPELESS}+")));

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a pattern")
}

/// Endings of names of files, none of which is a top-level domain.
const FILE_ENDINGS: [&str; 25] = [
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "txt", "csv", "xml",
    "json", "png", "jpg", "jpeg", "gif", "webp", "svg", "html", "htm", "js", "css",
];

/// Returns a text as its readers see it: without characters that have no shape, and with one form of each letter.
pub(super) fn plain(text: &str) -> String {
    SHAPELESS_ONES.replace_all(text, "").nfkc().collect()
}

/// Returns the hosts of all links in a text; `None` is one that nobody can read. E-mail addresses are no links.
pub(super) fn hosts_in(text: &str) -> Vec<Option<String>> {
    let plain = plain(text);
    let mut hosts = Reader::new(&plain).read();
    // Some readers end a link at a character that has no shape, and another link may begin behind it.
    if plain != text {
        hosts.extend(Reader::new(text).read());
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

/// Reads the links of a text, one after the other.
struct Reader<'a> {
    text: &'a str,
    hosts: Vec<Option<String>>,
    authority: Stretch,
    /// The authority as readers see it to whom a backslash is no slash.
    longer: Stretch,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let (authority, longer) = (Stretch::up_to(&AUTHORITY_END), Stretch::up_to(&LONGER_END));
        Self { text, hosts: Vec::new(), authority, longer }
    }

    fn read(mut self) -> Vec<Option<String>> {
        let mut at = 0;
        while let Some(found) = LINK.captures_at(self.text, at) {
            let whole = found.get_match();
            let end = if found.name("scheme").is_some() {
                self.of_scheme(whole.end())
            } else {
                if !is_mail(self.text, whole.start(), whole.end()) {
                    self.hosts.extend(bare(whole.as_str(), has_path(&self.text[whole.end()..])));
                }
                whole.end()
            };
            at = after_path(self.text, end);
        }
        self.hosts
    }

    /// Reads what follows a scheme. Returns where the host ends.
    fn of_scheme(&mut self, start: usize) -> usize {
        self.authority.move_to(self.text, start);
        if self.authority.end == start {
            return start;
        }
        // What stands before an `@` is a name of a user, however much it looks like a host.
        let user = self.authority.at.filter(|at| *at >= start);
        let end = self.host(user.map_or(start, |at| at + 1));
        // Readers to whom a backslash is no slash find another user, and another host: the same for all links before it.
        let is_another = self.longer.move_to(self.text, start);
        if let Some(at) = self.longer.at.filter(|at| is_another && *at >= self.authority.end) {
            self.host(at + 1);
        }
        end
    }

    /// Reads a host. Returns where it ends.
    fn host(&mut self, start: usize) -> usize {
        let host = until(&self.text[start..], |c| !is_of_host(c));
        self.hosts.push(parsed(host));
        start + host.len()
    }
}

/// A part of a text up to one of some characters. It is looked at once, however many links begin in it.
struct Stretch {
    ends: &'static Regex,
    end: usize,
    /// Its last `@`.
    at: Option<usize>,
}

impl Stretch {
    fn up_to(ends: &'static Regex) -> Self {
        Self { ends, end: 0, at: None }
    }

    /// Moves on to the stretch around a place, which is behind the one before. Returns whether it is another stretch.
    fn move_to(&mut self, text: &str, place: usize) -> bool {
        if place < self.end {
            return false;
        }
        self.end = self.ends.find_at(text, place).map_or(text.len(), |end| end.start());
        self.at = text[place..self.end].rfind('@').map(|at| place + at);
        true
    }
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

/// Returns whether a domain is that of an e-mail address, or the name before its `@`. An address has a name and a domain: what
/// has only one of them is shown as a link.
fn is_mail(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (&text[..start], &text[end..]);
    let domain = MAIL_DOMAIN.captures(after).and_then(|found| found.get(1));
    let is_name = domain.is_some_and(|domain| bare(domain.as_str(), false).is_some());
    let name_end = before.strip_suffix('@').and_then(|before| before.chars().next_back());
    is_name || (name_end.is_some_and(char::is_alphanumeric) && !has_path(after))
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

/// Returns where the path after a host ends.
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
    at + port + PATH_END.find(path).map_or(path.len(), |end| end.start())
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
            ("evil\u{200b}.com", &["evil.com"]),
            ("evil\u{2065}.com evil\u{e0001}.com evil\u{e0020}.com", &["evil.com"; 3]),
            // It is a letter, so a link has it, too.
            ("evil\u{3164}.com", &["evil.com"; 2]),
            ("ｅｖｉｌ．ｃｏｍ", &["evil.com"]),
            ("evil。com", &["evil.com"]),
            ("https://shop.example/\u{200b}evil.com", &["shop.example", "shop.example", "evil.com"]),
            ("https://evil.com\u{200b}@shop.example", &["shop.example", "evil.com", "shop.example"]),
            ("Visit evil.com@ now", &["evil.com"]),
            ("evil.com@. evil.com@a evil.com@a..com evil.com@a.1", &["evil.com"; 4]),
            ("Siga (@evil.com) :@evil.com *@evil.com", &["evil.com"; 3]),
            ("evil.com@@x.example", &["evil.com", "x.example"]),
            ("evil.com://shop.example", &["evil.com", "shop.example"]),
            ("x+evil.com-y://shop.example", &["evil.com", "shop.example"]),
            ("user@evil.com/login", &["evil.com"]),
            ("@evil.com", &["evil.com"]),
            ("nota.pdf/x", &["nota.pdf"]),
            ("EVIL.COM. evil.com..", &["evil.com", "evil.com"]),
        ] {
            assert_eq!(hosts(text), expected, "{text}");
        }
    }

    /// Each of these was once read anew from every link on.
    #[test]
    fn a_text_of_many_links_is_read_in_linear_time() {
        for part in [
            "a.b+",
            "a+",
            "a.b@",
            "https:a,",
            "x:\\\\a",
            "https://a/",
            "a.b/x://c",
            "a.bc@d.ef@",
            "a.bc\u{ad}",
        ] {
            let text = format!("{}@evil.example", part.repeat(400_000 / part.len()));
            let start = std::time::Instant::now();
            hosts_in(&text);
            // Linear time is about a second; that of each link with each other would be minutes.
            assert!(start.elapsed().as_secs() < 20, "{part}");
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
