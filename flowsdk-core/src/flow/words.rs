//! Conditions and texts in few words, for pictures and traces.

use super::definition::{Comparator, Condition, ConditionSource, OutputCondition, SystemKey};

/// Most characters of the words of an output.
const OUTPUT: usize = 60;

/// Returns when an output is taken: its title, or else its conditions.
pub(crate) fn output(output: &OutputCondition) -> String {
    if let Some(title) = output.title.as_deref().filter(|title| !title.trim().is_empty()) {
        return short(title, OUTPUT);
    }
    let mut words = String::new();
    for (at, condition) in output.conditions.iter().enumerate() {
        if words.len() > 4 * OUTPUT {
            break;
        }
        words.push_str(if at == 0 { "" } else { " and " });
        append(&mut words, condition);
    }
    if words.is_empty() { "always".to_owned() } else { short(&words, OUTPUT) }
}

fn append(words: &mut String, condition: &Condition) {
    match &condition.source {
        ConditionSource::Input {} => words.push_str("answer"),
        ConditionSource::Context { key } => words.push_str(key),
        ConditionSource::Contact { key } => {
            words.push_str("contact.");
            words.push_str(key);
        }
        ConditionSource::Static { value } => words.push_str(value),
        ConditionSource::System { key } => words.push_str(match key {
            SystemKey::Now => "now",
            SystemKey::Weekday => "weekday",
            SystemKey::Time => "time",
        }),
    }
    words.push(' ');
    words.push_str(comparator(condition.comparator));
    if condition.comparator.takes_values() {
        for (at, value) in condition.values.iter().take(8).enumerate() {
            words.push_str(if at == 0 { " " } else { " or " });
            words.push_str(if value.0.is_empty() { "\"\"" } else { &value.0 });
        }
    }
}

const fn comparator(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Equals => "=",
        Comparator::EqualsExact => "is exactly",
        Comparator::NotEquals => "≠",
        Comparator::Contains => "contains",
        Comparator::NotContains => "does not contain",
        Comparator::StartsWith => "starts with",
        Comparator::EndsWith => "ends with",
        Comparator::Matches => "matches",
        Comparator::GreaterThan => ">",
        Comparator::LessThan => "<",
        Comparator::GreaterOrEqual => "≥",
        Comparator::LessOrEqual => "≤",
        Comparator::In => "in",
        Comparator::Exists => "is there",
        Comparator::NotExists => "is empty",
    }
}

/// Returns a text on one line, cut after `most` characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let mut short = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > most {
            break;
        }
        if count > 0 {
            short.push(' ');
            count += 1;
        }
        short.extend(word.chars().take(most + 1));
        count += word.chars().take(most + 1).count();
    }
    if count <= most {
        return short;
    }
    let mut cut: String = short.chars().take(most - 1).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}
