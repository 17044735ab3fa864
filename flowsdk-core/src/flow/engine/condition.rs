//! Judging conditions.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::compare::{Calendar, fold};
use crate::flow::Work;
use crate::flow::compiled::{CompiledCondition, Operand, Source};
use crate::flow::definition::{Comparator, SystemKey};
use crate::flow::interpolate::{View, write_value};
use crate::message::{IncomingContent, Known};

/// Returns whether all of `conditions` hold; any answer when the turn's budget is spent.
pub(in crate::flow) fn hold(
    conditions: &[CompiledCondition],
    view: &View<'_>,
    calendar: &Calendar<'_>,
) -> bool {
    conditions.iter().all(|condition| holds(condition, view, calendar))
}

fn holds(condition: &CompiledCondition, view: &View<'_>, calendar: &Calendar<'_>) -> bool {
    if !view.work.condition() {
        return false;
    }
    let readings = readings(&condition.source, view, calendar);
    // A source without a value compares as an empty text.
    let any = |test: &dyn Fn(&Reading<'_>, &Operand) -> bool| {
        let test_one = |reading: &Reading<'_>| {
            condition
                .values
                .iter()
                .any(|value| view.work.comparison(reading.raw.len()) && test(reading, value))
        };
        readings.iter().flatten().any(test_one)
    };
    let text = |test: fn(&str, &str) -> bool| {
        any(&|reading, value| {
            value.with_folded(view, |value| !value.is_empty() && test(&reading.folded, value))
        })
    };
    let same =
        || any(&|reading, value| value.with_folded(view, |value| calendar.same(&reading.folded, value)));
    let ordered = |test: fn(Ordering) -> bool| {
        any(&|reading, value| {
            value.with_folded(view, |value| calendar.compare(&reading.folded, value).is_some_and(test))
        })
    };
    match condition.comparator {
        Comparator::Equals | Comparator::In => same(),
        Comparator::NotEquals => !same(),
        Comparator::EqualsExact => {
            any(&|reading, value| value.with_text(view, |value| *reading.raw == *value))
        }
        Comparator::Contains => text(|a, b| a.contains(b)),
        Comparator::NotContains => !text(|a, b| a.contains(b)),
        Comparator::StartsWith => text(|a, b| a.starts_with(b)),
        Comparator::EndsWith => text(|a, b| a.ends_with(b)),
        Comparator::Matches => any(&|reading, value| match value {
            Operand::Pattern(pattern) => pattern.is_found(&reading.raw, view.work),
            _ => false,
        }),
        Comparator::GreaterThan => ordered(Ordering::is_gt),
        Comparator::LessThan => ordered(Ordering::is_lt),
        Comparator::GreaterOrEqual => ordered(Ordering::is_ge),
        Comparator::LessOrEqual => ordered(Ordering::is_le),
        Comparator::Exists => readings.iter().flatten().any(|reading| !reading.folded.is_empty()),
        Comparator::NotExists => readings.iter().flatten().all(|reading| reading.folded.is_empty()),
    }
}

/// A value of a source, as it is and folded.
struct Reading<'a> {
    raw: Cow<'a, str>,
    folded: String,
}

impl<'a> Reading<'a> {
    fn new(raw: impl Into<Cow<'a, str>>, work: &Work) -> Self {
        let raw = raw.into();
        // A budget that is spent folds nothing: nobody reads the comparison.
        let folded = if work.folding(&raw) { fold(&raw).into_owned() } else { String::new() };
        Self { raw, folded }
    }
}

/// Returns the values of a source: two for a tapped reply (its id and its title), else one.
fn readings<'a>(source: &Source, view: &View<'a>, calendar: &Calendar<'_>) -> [Option<Reading<'a>>; 2] {
    let one = |text: Cow<'a, str>| [Some(Reading::new(text, view.work)), None];
    match source {
        Source::Input => match view.content() {
            None => one("".into()),
            Some(content) => match reply_of(content) {
                Some((id, title)) => {
                    [Some(Reading::new(id, view.work)), Some(Reading::new(title, view.work))]
                }
                None => one(content.as_text().into()),
            },
        },
        Source::Context(path) => one(text_of(path.find(&view.session.variables), view.work)),
        Source::Contact(path) => one(text_of(path.find(&view.contact.variables), view.work)),
        Source::Static(template) => one(template.render(view).into()),
        Source::System(SystemKey::Now) => one(view.now.to_iso().into()),
        Source::System(key) => {
            let now = view.now.to_jiff().to_zoned(calendar.zone().clone());
            one(match key {
                SystemKey::Weekday => now.weekday().to_sunday_zero_offset().to_string().into(),
                _ => format!("{:02}:{:02}", now.hour(), now.minute()).into(),
            })
        }
    }
}

/// Id and title of the button or row that was tapped.
pub(super) fn reply_of(content: &IncomingContent) -> Option<(&str, &str)> {
    match content {
        IncomingContent::Known(Known::Interactive { interactive }) => {
            interactive.reply().map(|reply| (&*reply.id, &*reply.title))
        }
        IncomingContent::Known(Known::Button { button }) => {
            let field = |name| button.get(name).and_then(Value::as_str);
            let title = field("text").unwrap_or("");
            Some((field("payload").unwrap_or(title), title))
        }
        _ => None,
    }
}

fn text_of<'v>(value: Option<&'v Value>, work: &Work) -> Cow<'v, str> {
    match value {
        None => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(other) => {
            let mut text = String::new();
            write_value(other, &mut text);
            work.token(text.len());
            Cow::Owned(text)
        }
    }
}

impl Operand {
    fn with_text(&self, view: &View<'_>, test: impl FnOnce(&str) -> bool) -> bool {
        match self {
            Self::Literal { text, .. } => view.work.bytes(text.len()) && test(text),
            Self::Template(template) => test(&template.render(view)),
            Self::Pattern(_) => false,
        }
    }

    fn with_folded(&self, view: &View<'_>, test: impl FnOnce(&str) -> bool) -> bool {
        match self {
            Self::Literal { folded, .. } => view.work.bytes(folded.len()) && test(folded),
            Self::Template(template) => {
                let text = template.render(view);
                view.work.folding(&text) && test(&fold(&text))
            }
            Self::Pattern(_) => false,
        }
    }
}
