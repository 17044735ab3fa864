//! How deeply a page is nested.
//!
//! A parser looks through all elements that are open at every tag, so a page that opens two hundred thousand takes minutes.
//! This looks first, in linear time, at about what the parser would have open.

/// Elements that hold nothing.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements whose end nobody has to write: the next of their kind ends them.
const ENDED_BY_THE_NEXT: &[&[&str]] =
    &[&["p"], &["li"], &["dt", "dd"], &["option"], &["td", "th"], &["tr", "td", "th"]];
/// Elements beyond which an end tag ends nothing.
const BOUNDARIES: &[&str] =
    &["applet", "caption", "html", "marquee", "object", "table", "td", "template", "th"];

/// Returns whether more than `most` elements of a page are open at once.
pub(super) fn is_deeper(html: &str, most: usize) -> bool {
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = after(comment, "-->");
        } else if let Some(end) = rest.strip_prefix('/') {
            close(&mut open, &name_of(end));
        } else {
            let name = name_of(rest);
            begin(&mut open, &name);
            if open.len() > most {
                return true;
            }
            if name == "script" || name == "style" {
                rest = after(rest, if name == "script" { "</script" } else { "</style" });
                close(&mut open, &name);
            }
        }
    }
    false
}

/// Returns what stands behind the next `end`; nothing, if there is none.
fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

/// Returns the name of a tag; an empty one is none.
fn name_of(tag: &str) -> String {
    if !tag.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return String::new();
    }
    let name = tag.split(|letter: char| letter.is_whitespace() || matches!(letter, '/' | '>')).next();
    name.unwrap_or_default().chars().take(32).collect::<String>().to_ascii_lowercase()
}

fn begin(open: &mut Vec<String>, name: &str) {
    if name.is_empty() || VOID.contains(&name) {
        return;
    }
    if let Some(ended) = ENDED_BY_THE_NEXT.iter().find(|kinds| kinds.first() == Some(&kind_of(name))) {
        while open.last().is_some_and(|last| ended.contains(&last.as_str())) {
            open.pop();
        }
    }
    open.push(name.to_owned());
}

/// Returns the name under which [`ENDED_BY_THE_NEXT`] has an element.
fn kind_of(name: &str) -> &str {
    match name {
        "dd" => "dt",
        "th" => "td",
        name => name,
    }
}

fn close(open: &mut Vec<String>, name: &str) {
    for at in (0..open.len()).rev() {
        let one = open.get(at).map_or("", String::as_str);
        if one == name {
            return open.truncate(at);
        }
        // Ends of parts of tables reach over the cells of their own table.
        if BOUNDARIES.contains(&one) && !matches!(name, "table" | "tbody" | "thead" | "tfoot" | "tr") {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_deep_as_it_has_elements_open() {
        for (html, depth) in [
            ("text", 0),
            ("<div><p>a</p><br><img src='x'></div>", 2),
            ("<p>a<p>b<p>c", 1),
            ("<ul><li>a<li>b<li>c</ul>", 2),
            ("<table><tr><td>a<td>b<tr><th>c</table>", 3),
            ("<!-- <b><b><b> --><i>", 1),
            ("<script>'<b><b><b>'</script><i>", 1),
            ("<div></span></div><div>", 1),
            ("a < b <3 </>", 0),
        ] {
            assert!(!is_deeper(html, depth), "{html}");
            assert!(depth == 0 || is_deeper(html, depth - 1), "{html}");
        }
    }

    #[test]
    fn what_stays_open_in_a_parser_counts() {
        for piece in [
            "<div>",
            "<div></x>",
            "<b><i>",
            "<div><marquee></div></marquee>",
            "<div><table><td></div></table>",
        ] {
            assert!(is_deeper(&piece.repeat(500), 400), "{piece}");
        }
        assert!(!is_deeper(&"<div><p>a</div>".repeat(10_000), 10));
    }
}
