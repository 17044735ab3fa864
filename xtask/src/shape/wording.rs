//! Counts of wording that makes a reader stop (CONTRIBUTING.md, "Language").

use super::sources::Source;

/// Counts over the comments of production code.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) what: usize,
    pub(super) he: usize,
    pub(super) short: usize,
    pub(super) citations: usize,
}

/// `macro_rules!` definitions, those of tests included.
pub(super) fn macros(sources: &[Source]) -> usize {
    let lines = sources.iter().flat_map(|source| &source.production);
    lines.filter(|line| line.trim_start().starts_with("macro_rules!")).count()
}

/// Counts the wording of every comment.
pub(super) fn count(sources: &[Source]) -> Words {
    let mut words = Words::default();
    for source in sources {
        let mut doc: Vec<&str> = Vec::new();
        for line in source.production.iter().map(|line| line.trim_start()) {
            if let Some(text) = comment(line) {
                words.add(text);
            }
            match line.strip_prefix("///") {
                Some(text) => doc.extend(text.split_whitespace()),
                None => {
                    words.short += usize::from(!doc.is_empty() && doc.len() <= 3);
                    doc.clear();
                }
            }
        }
    }
    words
}

fn comment(line: &str) -> Option<&str> {
    ["///", "//!", "//"].iter().find_map(|mark| line.strip_prefix(mark))
}

impl Words {
    fn add(&mut self, text: &str) {
        let words: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        self.what += words.iter().filter(|word| word.eq_ignore_ascii_case("what")).count();
        let he = |word: &&&str| ["he", "his", "him"].iter().any(|of| word.eq_ignore_ascii_case(of));
        self.he += words.iter().filter(he).count();
        let cited = |pair: &&[&str]| matches!(pair[0], "spec" | "rulings" | "ruling") && is_section(pair[1]);
        self.citations += words.windows(2).filter(cited).count();
    }
}

/// `A`, `B`, or a letter with a number, as `S14`.
fn is_section(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|first| first.is_ascii_uppercase()) && chars.all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::sources::parse;

    #[test]
    fn wording_is_counted() {
        let text = "/// Its id.\nid: u8,\n/// What he wants, and what is his (spec A 4.5, rulings S14).\nfn what() {}\n";
        assert_eq!(count(&[parse("c/src/a.rs", text)]), Words { what: 2, he: 2, short: 1, citations: 2 });
    }
}
