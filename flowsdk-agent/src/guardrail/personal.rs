//! Where personal data stand in a text.

use std::ops::Range;
use std::sync::LazyLock;

use flowsdk_core::cell::Named;
use regex::Regex;
use serde::{Deserialize, Serialize};

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    let letter = r"[\p{L}\p{M}\p{N}]";
    let label = format!(r"{letter}(?:[\p{{L}}\p{{M}}\p{{N}}-]*{letter})?");
    let name = r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}._%+-]*";
    Regex::new(&format!(r"(?i){name}@(?:{label}\.)+(?:xn--[a-z0-9-]+|\p{{L}}{{2,}})")).expect("a pattern")
});

/// Digits of a CPF, the number of a person in Brazil.
const CPF_DIGITS: usize = 11;
/// Digits of the number of a card, at least and at most.
const CARD_DIGITS: (usize, usize) = (13, 19);
/// Most characters between two groups of digits of one number.
const LONGEST_GAP: usize = 3;

/// Personal data that can be hidden from models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "camelCase")]
pub enum PersonalData {
    /// Numbers of cards: 13 to 19 digits with a valid check digit.
    CardNumber,
    /// Numbers of persons in Brazil, with valid check digits.
    Cpf,
    /// E-mail addresses.
    Email,
}

/// A value in a text.
pub(super) struct Found {
    pub(super) kind: PersonalData,
    /// Its bytes.
    pub(super) at: Range<usize>,
}

/// Finds e-mail addresses, in their order.
pub(super) fn emails(text: &str) -> Vec<Found> {
    EMAIL.find_iter(text).map(|found| Found { kind: PersonalData::Email, at: found.range() }).collect()
}

/// Finds numbers of these kinds, in their order: whole groups of digits, with blanks, dashes or points between them. Groups
/// of which two numbers share some are one value, unless they are numbers that stand side by side.
pub(super) fn numbers(text: &str, kinds: &[PersonalData]) -> Vec<Found> {
    let groups = groups(text);
    let (mut found, mut next) = (Vec::new(), 0);
    let windows = windows(text, &groups, kinds);
    while let Some(first) = windows.get(next) {
        let mut end = first.groups.end;
        let from = next;
        while let Some(window) = windows.get(next).filter(|window| window.groups.start < end) {
            end = end.max(window.groups.end);
            next += 1;
        }
        let shared = windows.get(from..next).unwrap_or_default();
        for Window { kind, groups: of } in side_by_side(shared, first.groups.start..end) {
            let bytes = groups.get(of).unwrap_or_default();
            if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
                found.push(Found { kind, at: first.at.start..last.at.end });
            }
        }
    }
    found
}

/// Groups of digits that are a valid number together.
#[derive(Clone)]
struct Window {
    kind: PersonalData,
    groups: Range<usize>,
}

/// Returns every window, in the order of their first groups and then of their lengths.
fn windows(text: &str, groups: &[Group], kinds: &[PersonalData]) -> Vec<Window> {
    let mut windows = Vec::new();
    for start in 0..groups.len() {
        let mut digits = String::new();
        for (index, group) in groups.iter().enumerate().skip(start) {
            let goes_on = index == start || group.goes_on;
            if !goes_on || digits.len() + group.at.len() > CARD_DIGITS.1 {
                break;
            }
            digits.push_str(&text[group.at.clone()]);
            if let Some(kind) = kind_of(&digits).filter(|kind| kinds.contains(kind)) {
                windows.push(Window { kind, groups: start..index + 1 });
            }
        }
    }
    windows
}

/// Returns windows that fill `whole` side by side, as few as possible; else one that is all of it, of the kind of the longest.
fn side_by_side(windows: &[Window], whole: Range<usize>) -> Vec<Window> {
    // By the group before which they end: how many windows fill everything up to there, and the last of them.
    let mut filled: Vec<Option<(usize, Option<&Window>)>> = vec![None; whole.len() + 1];
    if let Some(nothing) = filled.first_mut() {
        *nothing = Some((0, None));
    }
    // Windows come in the order of their first groups, so what ends where one begins is known by then.
    for window in windows {
        let Some(Some((before, _))) = filled.get(window.groups.start - whole.start) else { continue };
        let count = before + 1;
        if let Some(best) = filled.get_mut(window.groups.end - whole.start)
            && best.is_none_or(|(least, _)| count < least)
        {
            *best = Some((count, Some(window)));
        }
    }
    let (mut chosen, mut end) = (Vec::new(), whole.len());
    while let Some(Some((_, Some(window)))) = filled.get(end) {
        chosen.push((*window).clone());
        end = window.groups.start - whole.start;
    }
    if !chosen.is_empty() {
        chosen.reverse();
        return chosen;
    }
    let longest = windows.iter().max_by_key(|window| window.groups.len());
    longest.map(|longest| Window { kind: longest.kind, groups: whole }).into_iter().collect()
}

/// Digits that stand together.
struct Group {
    at: Range<usize>,
    /// Whether it may belong to the number of the group before.
    goes_on: bool,
}

fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut gap = usize::MAX;
    for (at, character) in text.char_indices() {
        if !character.is_ascii_digit() {
            gap = if is_between(character) { gap.saturating_add(1) } else { usize::MAX };
            continue;
        }
        match groups.last_mut() {
            Some(last) if last.at.end == at => last.at.end += 1,
            _ => groups.push(Group { at: at..at + 1, goes_on: gap <= LONGEST_GAP }),
        }
        gap = 0;
    }
    groups
}

fn is_between(character: char) -> bool {
    matches!(character, ' ' | '\u{a0}' | '\u{202f}' | '-' | '.' | '/' | '\u{2010}'..='\u{2015}')
}

fn kind_of(digits: &str) -> Option<PersonalData> {
    let digits: Vec<u32> = digits.chars().filter_map(|digit| digit.to_digit(10)).collect();
    if digits.windows(2).all(|two| two.first() == two.last()) {
        return None;
    }
    if digits.len() == CPF_DIGITS && is_cpf(&digits) {
        return Some(PersonalData::Cpf);
    }
    ((CARD_DIGITS.0..=CARD_DIGITS.1).contains(&digits.len()) && is_card(&digits))
        .then_some(PersonalData::CardNumber)
}

/// Checks both check digits, each of which is over all digits before it.
fn is_cpf(digits: &[u32]) -> bool {
    [9, 10].into_iter().all(|place| {
        let weighed = digits.iter().take(place).zip((2..=11).rev().skip(10 - place));
        let sum: u32 = weighed.map(|(digit, weight)| digit * weight).sum();
        digits.get(place) == Some(&(sum * 10 % 11 % 10))
    })
}

/// Checks the sum of Luhn.
pub(super) fn is_card(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match digit * 2 {
            _ if place % 2 == 0 => *digit,
            double if double > 9 => double - 9,
            double => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_side_by_side_or_are_one_value() {
        use PersonalData::{CardNumber, Cpf};
        for (text, expected) in [
            (
                "529.982.247-25 4111 1111 1111 1111",
                &[(Cpf, "529.982.247-25"), (CardNumber, "4111 1111 1111 1111")][..],
            ),
            // The number of the person and the first digits of the card are the number of a card, too.
            (
                "291.417.776-38 4111 1111 1111 1111",
                &[(Cpf, "291.417.776-38"), (CardNumber, "4111 1111 1111 1111")],
            ),
            // The number of the phone and the first digits of the person's are the number of a card by chance.
            ("11 98765-4300 529.982.247-25", &[(Cpf, "11 98765-4300 529.982.247-25")]),
            ("1 2 3", &[]),
        ] {
            let found = numbers(text, &[CardNumber, Cpf]);
            let found: Vec<_> = found.into_iter().map(|Found { kind, at }| (kind, &text[at])).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_read_once() {
        let text = "4111 1111 1111 1111 ".repeat(50_000);
        let found = numbers(&text, &[PersonalData::CardNumber]);
        let ends = found.iter().map(|found| found.at.end);
        assert!(ends.is_sorted() && !found.is_empty());
    }
}
