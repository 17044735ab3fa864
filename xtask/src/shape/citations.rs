//! Citations of the contract in sources and docs, held against the anchors of `docs/contract.md`.
//!
//! A citation begins with `spec` or `contract` and a document (`spec A 4.5`), or with `ruling` or `rulings` and a
//! code (`rulings S14`). It goes on over sections, ranges, rules, steps and codes until any other word, or any
//! punctuation but a comma or semicolon. `docs/deviations.md` cites without the first word.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::sources::listed;

const CONTRACT: &str = "docs/contract.md";
const DEVIATIONS: &str = "docs/deviations.md";
/// Holds citations that lead nowhere, for its own tests.
const THIS: &str = "xtask/src/shape/citations.rs";

/// Returns each cited place that the contract page does not have, as `file: anchor`.
pub(super) fn lost(root: &Path) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join(CONTRACT)).context(CONTRACT)?;
    let places: BTreeSet<&str> = anchors(&page).collect();
    let files = listed(root, &["*.rs", "*.md", "*.sql", "*.ts", "*.tsx", "*.toml"])?;
    let mut lost = Vec::new();
    for file in files.iter().filter(|file| *file != THIS) {
        let text = fs::read_to_string(root.join(file)).with_context(|| file.clone())?;
        let cited = cited(&text, file == DEVIATIONS).into_iter().chain(linked(&text, file));
        lost.extend(cited.filter(|place| !places.contains(place.as_str())).map(|to| format!("{file}: {to}")));
    }
    Ok(lost)
}

/// The anchors of a page, in its order.
fn anchors(page: &str) -> impl Iterator<Item = &str> {
    page.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// The anchors of the contract page that a file links to.
fn linked(text: &str, file: &str) -> Vec<String> {
    let link = if file == CONTRACT { "](#" } else { "contract.md#" };
    let rests = text.split(link).skip(1);
    rests.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect()).collect()
}

/// A word without the punctuation around it.
#[derive(Clone, Copy)]
struct Word<'a> {
    core: &'a str,
    /// Whether a citation ends behind it.
    last: bool,
}

/// The words of a text, without the marks of comments: a citation may go over a line's end.
fn words(text: &str) -> Vec<Word<'_>> {
    let marks = ["///", "//!", "//", "--", "*", "#"];
    let lines = text.lines().map(str::trim_start);
    let bare = lines.map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line));
    bare.flat_map(str::split_whitespace)
        .map(|word| {
            let start = word.trim_start_matches(|c: char| !c.is_alphanumeric());
            let core = start.trim_end_matches(|c: char| !c.is_alphanumeric());
            Word { core, last: !matches!(&start[core.len()..], "" | "," | ";") }
        })
        .collect()
}

/// The anchors of all places that a text cites; with `bare`, also without the word in front.
fn cited(text: &str, bare: bool) -> Vec<String> {
    let words = words(text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1).filter(|_| !word.last).map_or("", |next| next.core);
        let document = |core: &str| matches!(core, "A" | "B");
        at += match word.core {
            "spec" | "Spec" | "contract" | "Contract" if document(next) => {
                1 + sections(&words[at + 1..], &mut found)
            }
            "spec" | "Spec" if is_number(next) => {
                found.push(format!("{next} of no document"));
                2
            }
            "ruling" | "Ruling" | "rulings" | "Rulings" if is_code(next) => {
                1 + codes(&words[at + 1..], &mut found)
            }
            core if bare && document(core) && is_number(next) => sections(&words[at..], &mut found),
            core if bare && is_code(core) => codes(&words[at..], &mut found),
            _ => 1,
        };
    }
    found
}

/// Reads a list of sections that begins with a document; returns the number of words read.
fn sections(words: &[Word<'_>], found: &mut Vec<String>) -> usize {
    let mut document = String::new();
    let mut section = String::new();
    let mut unit: Option<&str> = None;
    let mut read = 0;
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map_or("", |next| next.core);
        match word.core {
            core @ ("A" | "B") => {
                document = core.to_lowercase();
                if word.last || !is_number(next) {
                    found.push(document.clone());
                }
                unit = None;
            }
            core @ ("rule" | "rules" | "step" | "steps") if is_number(next) => unit = Some(core),
            "and" | "to" => {}
            core if is_number(core) => {
                let item = unit.filter(|_| !core.contains('.'));
                for end in core.split('-') {
                    let end = end.replace('.', "-");
                    match item {
                        Some(unit) => found.push(format!("{section}-{}-{end}", unit.trim_end_matches('s'))),
                        None => {
                            section = format!("{document}-{end}");
                            found.push(section.clone());
                        }
                    }
                }
                unit = item.filter(|unit| unit.ends_with('s'));
            }
            _ => break,
        }
        read = at + 1;
        if word.last {
            break;
        }
    }
    read
}

/// Reads a list of codes; returns the number of words read.
fn codes(words: &[Word<'_>], found: &mut Vec<String>) -> usize {
    let mut read = 0;
    for (at, word) in words.iter().enumerate() {
        match word.core {
            "and" => {}
            core if is_code(core) => found.push(format!("ruling-{}", core.to_lowercase())),
            _ => break,
        }
        read = at + 1;
        if word.last {
            break;
        }
    }
    read
}

/// `4`, `4.5` or `4.1-4.4`.
fn is_number(core: &str) -> bool {
    core.starts_with(|c: char| c.is_ascii_digit())
        && core.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

/// An upper-case letter and one or two digits, as `S14`.
fn is_code(core: &str) -> bool {
    let digits = core.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or_default();
    matches!(digits.len(), 1 | 2) && digits.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn every_citation_leads_to_a_place_of_the_contract_page() {
        assert_eq!(lost(&workspace::root()).expect("the files"), [""; 0]);
    }

    #[test]
    fn no_anchor_stands_twice() {
        let page = fs::read_to_string(workspace::root().join(CONTRACT)).expect("the page");
        let mut seen = BTreeSet::new();
        assert_eq!(anchors(&page).filter(|anchor| !seen.insert(*anchor)).collect::<Vec<_>>(), [""; 0]);
        assert!(seen.len() > 100, "{} anchors", seen.len());
    }

    #[test]
    fn citations_are_read() {
        for (text, places) in [
            ("(spec A 4.5)", &["a-4-5"][..]),
            (
                "/// Tokens (spec A 2.7, 4.10,\n    /// 6, rulings A11): more",
                &["a-2-7", "a-4-10", "a-6", "ruling-a11"],
            ),
            ("spec A 4.3, B 4.1 and 4.4; there is no `A`", &["a-4-3", "b-4-1", "b-4-4"]),
            ("(spec A 9, spec B 3.3, contact rules)", &["a-9", "b-3-3"]),
            ("spec B 4.1-4.4", &["b-4-1", "b-4-4"]),
            ("spec A 2 to 4", &["a-2", "a-4"]),
            ("Spec A 4.1 rule 2, 5.1: `sub`", &["a-4-1", "a-4-1-rule-2", "a-5-1"]),
            (
                "spec A 4.1 rules 1, 2 and 4, rulings A5",
                &["a-4-1", "a-4-1-rule-1", "a-4-1-rule-2", "a-4-1-rule-4", "ruling-a5"],
            ),
            ("(spec B 4.9 step 6) 7", &["b-4-9", "b-4-9-step-6"]),
            ("(spec B). A 413", &["b"]),
            ("# Keys (spec A\n# 5.1)", &["a-5-1"]),
            ("contract A 5.1", &["a-5-1"]),
            ("ruling S9: no 4", &["ruling-s9"]),
            ("(rulings S1, S2 and S8) H1", &["ruling-s1", "ruling-s2", "ruling-s8"]),
            ("spec 4.5", &["4.5 of no document"]),
            ("the spec A, the rulings of others", &["a"]),
            ("A 2.9 and (S8)", &[]),
        ] {
            assert_eq!(cited(text, false), places, "{text}");
        }
        assert_eq!(
            cited("| A 2.9, B 2.1: clear (S9, S12) | |", true),
            ["a-2-9", "b-2-1", "ruling-s9", "ruling-s12"]
        );
    }

    #[test]
    fn links_to_the_page_are_read() {
        assert_eq!(linked("[S9](#ruling-s9)", CONTRACT), ["ruling-s9"]);
        assert_eq!(linked("[S9](docs/contract.md#ruling-s9), [x](#y)", "README.md"), ["ruling-s9"]);
    }
}
