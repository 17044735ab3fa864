//! The JSON Schemas of the arguments, with the limits of a channel.

use flowsdk_core::message::{Capabilities, ContentKind};
use serde_json::{Value, json};

use super::NativeTool;

/// Most characters of a query.
pub(super) const LONGEST_QUERY: usize = 500;

impl NativeTool {
    /// Returns the JSON Schema of its arguments, on a channel.
    pub(crate) fn parameters(self, channel: &Capabilities) -> Value {
        use NativeTool as T;
        let limits = &channel.limits;
        let text = |most: usize| json!({ "type": "string", "minLength": 1, "maxLength": most });
        let free = || json!({ "type": "string" });
        let url = || json!({ "type": "string", "description": "A public address, https://..." });
        let caption = text(limits.caption);
        match self {
            T::SendTextMessage => object(json!({ "text": text(limits.text) }), &["text"]),
            T::SendButtonMessage => {
                let (most, title) = if channel.carry(ContentKind::QuickReplies) {
                    (limits.quick_replies, limits.quick_reply_title)
                } else {
                    (limits.buttons, limits.button_title)
                };
                let button =
                    object(json!({ "id": text(limits.button_id), "title": text(title) }), &["id", "title"]);
                let buttons = json!({ "type": "array", "minItems": 1, "maxItems": most, "items": button });
                object(json!({ "body": text(limits.body), "buttons": buttons }), &["body", "buttons"])
            }
            T::SendListMessage => {
                let row = json!({ "id": text(limits.row_id), "title": text(limits.row_title),
                    "description": text(limits.row_description) });
                let rows = json!({ "type": "array", "minItems": 1, "maxItems": limits.rows,
                    "items": object(row, &["id", "title"]) });
                let section = object(json!({ "title": text(limits.section_title), "rows": rows }), &["rows"]);
                let sections = json!({ "type": "array", "minItems": 1, "maxItems": limits.sections, "items": section,
                    "description": format!("All sections together have at most {} rows.", limits.rows) });
                let fields = json!({ "body": text(limits.body), "buttonText": text(limits.button_title),
                    "sections": sections });
                object(fields, &["body", "buttonText", "sections"])
            }
            T::SendImageMessage | T::SendVideoMessage => {
                object(json!({ "url": url(), "caption": caption }), &["url"])
            }
            T::SendAudioMessage => object(json!({ "url": url() }), &["url"]),
            T::SendDocumentMessage => {
                object(json!({ "url": url(), "filename": free(), "caption": caption }), &["url", "filename"])
            }
            T::SendCarouselMessage => {
                let button = object(
                    json!({ "title": text(limits.button_title), "url": url(), "payload": text(limits.button_id) }),
                    &["title"],
                );
                let card = json!({ "title": text(limits.card_text), "subtitle": text(limits.card_text),
                    "imageUrl": url(), "buttons": { "type": "array", "maxItems": limits.card_buttons, "items": button } });
                let elements = json!({ "type": "array", "minItems": 1, "maxItems": limits.cards,
                    "items": object(card, &["title"]) });
                object(json!({ "elements": elements }), &["elements"])
            }
            T::TransferToAgent => object(
                json!({ "agentId": free(), "handoffContext": free(), "lastUserInput": free(),
                    "returnToOrchestrator": { "type": "boolean" } }),
                &["agentId", "handoffContext", "lastUserInput"],
            ),
            T::EndAgentSession => object(json!({ "reason": free(), "completionContext": free() }), &[]),
            T::TransferToHuman => object(json!({ "reason": free() }), &[]),
            T::ExtendInactivityTimeout => {
                object(json!({ "minutes": { "type": "number", "exclusiveMinimum": 0 } }), &["minutes"])
            }
            T::SetVariable | T::SetContactVariable => {
                let value = json!({ "type": ["string", "number", "boolean"] });
                object(json!({ "key": text(100), "value": value }), &["key", "value"])
            }
            T::DeleteVariable => object(json!({ "key": text(100) }), &["key"]),
            T::RagSearch => object(json!({ "query": text(LONGEST_QUERY) }), &["query"]),
            T::UpdateSentiment => object(
                json!({
                    "sentiment": { "type": "string",
                        "enum": ["positive", "neutral", "frustrated", "angry", "urgent", "confused"] },
                    "score": { "type": "number", "minimum": 0, "maximum": 10 },
                    "signals": { "type": "array", "items": free() },
                    "escalationRisk": { "type": "boolean" },
                    "note": free(),
                }),
                &["sentiment", "score", "signals", "escalationRisk"],
            ),
        }
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
