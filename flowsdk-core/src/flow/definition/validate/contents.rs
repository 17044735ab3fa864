//! Limits of messages. They are those of the phone channel, the narrowest one: a message beyond them is refused by the
//! provider as a whole. Only the literal part of a text can be measured here.

use super::Findings;
use crate::flow::interpolate::AsWritten;
use crate::message::{ContentMessage, FlawKind, Limits, Reading as _};
use crate::text::Text;

pub(super) fn check(message: &ContentMessage, pointer: &str, findings: &mut Findings) {
    if let ContentMessage::Template { .. } = message {
        let text = Text::new("modelos são enviados por disparo", "templates are sent by a dispatch");
        findings.error("not_in_flows", pointer, text);
    }
    for flaw in message.flaws(&Limits::OF_FLOWS, &AsWritten) {
        findings.error(flaw.kind.code(), format!("{pointer}{}", flaw.pointer), flaw.kind.message());
    }
}

/// The text that a wrong answer is told.
pub(super) fn retry_text(text: &str, pointer: &str, findings: &mut Findings) {
    let (chars, most) = (AsWritten.chars(text), Limits::OF_FLOWS.text);
    if chars > most {
        let flaw = FlawKind::TooLong { chars, most };
        findings.error(flaw.code(), pointer, flaw.message());
    }
}
