//! Contents that the channels around a flow cannot carry.

use crate::flow::Problem;
use crate::flow::definition::{BlockKind, FlowDefinition};
use crate::flow::interpolate::AsWritten;
use crate::message::Limits;
use crate::session::Channel;
use crate::text::Text;

/// Returns the warnings of contents that a channel cannot carry. What no channel carries is an error of the flow.
pub(super) fn not_carried(definition: &FlowDefinition, channel: Channel) -> Vec<Problem> {
    let capabilities = channel.capabilities();
    let mut found = Vec::new();
    for (at, block) in definition.blocks.iter().enumerate() {
        let BlockKind::Content { contents, .. } = &block.kind else { continue };
        for (nth, message) in contents.iter().enumerate() {
            let pointer = format!("/blocks/{at}/contents/{nth}");
            let mut warn = |code, pointer, text| {
                found.push(Problem::warning(code, pointer, text).in_block(&block.id));
            };
            let (kind, name) = (message.content_kind(), channel.name());
            if !capabilities.carry(kind) {
                let text = Text::of(
                    format!(
                        "o canal `{name}` não tem `{}`: nele a mensagem falha ou só mostra seu texto",
                        kind.name()
                    ),
                    format!(
                        "the channel `{name}` has no `{}`: there the message fails, or only shows its text",
                        kind.name()
                    ),
                );
                warn("channel_cannot_carry", pointer, text);
                continue;
            }
            let known = message.flaws(&Limits::OF_FLOWS, &AsWritten);
            for flaw in message.flaws(&capabilities.limits, &AsWritten) {
                if known.iter().any(|known| known.pointer == flaw.pointer) {
                    continue;
                }
                let limit = flaw.kind.message();
                let text = Text::of(
                    format!("no canal `{name}`: {}; nele a mensagem não é enviada", limit.portuguese()),
                    format!("in the channel `{name}`: {}; the message is not sent there", limit.english()),
                );
                warn("too_long_for_channel", format!("{pointer}{}", flaw.pointer), text);
            }
        }
    }
    found
}
