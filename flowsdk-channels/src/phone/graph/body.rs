//! The body of a call that sends a message (WhatsApp Cloud API, "Messages").

use flowsdk_core::contact::{is_phone_number, is_user_id};
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::message::{ContentMessage, FormAction, FormOpening, Interactive, Media, TemplateMessage};
use flowsdk_core::session::Channel;
use serde_json::{Value, json};

/// Returns the field and the value that name a recipient: a number in `to`, a user id in `recipient`. `None` for anything
/// else.
pub fn recipient_of(party: &str) -> Option<(&'static str, String)> {
    if is_phone_number(party) {
        // Without the plus sign the provider may put the country code of the business in front.
        return Some(("to", format!("+{party}")));
    }
    is_user_id(party).then(|| ("recipient", party.to_owned()))
}

/// Returns the body of the call.
///
/// # Errors
/// What the channel cannot carry, in words for the log.
pub fn body_of(message: &OutgoingEvent) -> Result<Value, String> {
    let party = message.session_id.party();
    let (field, recipient) = recipient_of(party).ok_or("the recipient has no number and no user id")?;
    if let Some(refusal) = Channel::Phone.capabilities().refusal_of(&message.content) {
        return Err(refusal);
    }
    let mut body = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "biz_opaque_callback_data": message.internal_id,
        "type": message.content.kind(),
    });
    body[field] = recipient.into();
    body[message.content.kind()] = node_of(message).map_err(|error| error.to_string())?;
    Ok(body)
}

/// The version of the messages that open forms (WhatsApp Business Platform, "Sending a Flow").
const FORM_VERSION: &str = "3";

/// Returns the node of a content. Fields that the provider does not know are left out.
fn node_of(message: &OutgoingEvent) -> Result<Value, serde_json::Error> {
    match &message.content {
        ContentMessage::Audio { audio: Media { source, .. } }
        | ContentMessage::Sticker { sticker: Media { source, .. } } => Ok(json!(source)),
        ContentMessage::Image { image: media } | ContentMessage::Video { video: media } => {
            Ok(media_of(&Media { filename: None, ..media.clone() }))
        }
        ContentMessage::Document { document: media } => Ok(media_of(media)),
        ContentMessage::Interactive { interactive } => interactive_of(interactive, message),
        ContentMessage::Template { template } => Ok(template_of(template, message)),
        content => Ok(serde_json::to_value(content)?[content.kind()].take()),
    }
}

fn media_of(Media { source, caption, filename }: &Media) -> Value {
    let mut node = json!(source);
    let parts = [("caption", caption), ("filename", filename)];
    for (name, text) in parts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))) {
        if !text.is_empty() {
            node[name] = text.into();
        }
    }
    node
}

/// A button that opens a form gives it the token of the message, as [`interactive_of`] does.
fn template_of(template: &TemplateMessage, message: &OutgoingEvent) -> Value {
    let TemplateMessage { name, language, components, .. } = template;
    let mut node = json!({ "name": name, "language": language });
    if components.is_empty() {
        return node;
    }
    let mut components = components.clone();
    for component in &mut components {
        // A dispatch may write it either way, as the provider does.
        if component["sub_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("flow"))
            && let Some(action) = component.pointer_mut("/parameters/0/action").and_then(Value::as_object_mut)
        {
            action.insert("flow_token".to_owned(), message.internal_id.as_str().into());
        }
    }
    node["components"] = components.into();
    node
}

/// Returns the body of the call that tells a contact that their message is read, and that an answer is written if
/// `is_typing`.
pub(super) fn receipt_of(message_id: &str, is_typing: bool) -> Value {
    let mut body = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": message_id });
    if is_typing {
        body["typing_indicator"] = json!({ "type": "text" });
    }
    body
}

/// A form gets our id of the message as its token: what the form asks and what it is filled in with name it.
fn interactive_of(interactive: &Interactive, message: &OutgoingEvent) -> Result<Value, serde_json::Error> {
    let mut node = serde_json::to_value(interactive)?;
    if let Interactive::Flow { action: FormAction::Flow { parameters }, .. } = interactive {
        let sent = &mut node["action"]["parameters"];
        sent["flow_message_version"] = FORM_VERSION.into();
        sent["flow_token"] = message.internal_id.as_str().into();
        let opening = parameters.flow_action.unwrap_or(FormOpening::Navigate);
        sent["flow_action"] = serde_json::to_value(opening)?;
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use flowsdk_core::context::OpContext;
    use flowsdk_core::id::MessageId;
    use flowsdk_core::message::{Sender, SenderKind, Source};
    use flowsdk_core::session::SessionId;
    use regex::Regex;

    use super::*;

    const REQUESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/phone/requests");
    const RECEIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/phone/receipts");

    fn event(to: &str, content: ContentMessage) -> OutgoingEvent {
        let session_id = SessionId::parse(format!("wa-111-{to}")).expect("an id");
        OutgoingEvent {
            internal_id: MessageId::generate(OpContext::system().ids()),
            seq: None,
            chat_id: None,
            phone_number_id: "111".to_owned(),
            to: to.to_owned(),
            session_id,
            source: Source::Flow,
            sender: Sender { kind: SenderKind::Flow, name: None },
            content,
            epoch: 0,
            timestamp: OpContext::system().now(),
            typing_ms: None,
            ig_comment_target: None,
        }
    }

    fn of(content: Value) -> Result<Value, String> {
        body_of(&event("5511987654321", serde_json::from_value(content).expect("a content")))
    }

    /// The bodies of the provider's own examples, read as our contents, become the same bodies.
    #[test]
    fn the_examples_of_the_provider_are_sent_as_they_are() {
        let mut count = 0;
        // Placeholders of addresses are none.
        let placeholder = Regex::new(r#"<?http\(s\)[^"]*"#).expect("compiles");
        for entry in fs::read_dir(Path::new(REQUESTS)).expect("a folder") {
            let path = entry.expect("a file").path();
            let body = fs::read_to_string(&path).expect("a file");
            let body = placeholder.replace_all(&body, "https://example.com/file");
            let mut example: Value = serde_json::from_str(&body).expect("JSON");
            // Placeholders that are longer than what they stand for may be.
            if let Some(buttons) =
                example.pointer_mut("/interactive/action/buttons").and_then(Value::as_array_mut)
            {
                for (n, button) in buttons.iter_mut().enumerate() {
                    button["reply"]["title"] = format!("Button {n}").into();
                }
            }
            if let Some(sections) =
                example.pointer_mut("/interactive/action/sections").and_then(Value::as_array_mut)
            {
                for section in sections {
                    section["title"] = "Section".into();
                }
            }
            let mut sent = of(example.clone()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let fields = sent.as_object_mut().expect("an object");
            let id = fields.remove("biz_opaque_callback_data").expect("our id");
            example["to"] = "+5511987654321".into();
            // It is optional, and absent in some.
            example["recipient_type"] = "individual".into();
            // Previews of links are the provider's default, which is off.
            example.get_mut("text").and_then(Value::as_object_mut).map(|text| text.remove("preview_url"));
            for token in ["/interactive/action/parameters", "/template/components/0/parameters/0/action"] {
                if let Some(token) = example.pointer_mut(&format!("{token}/flow_token")) {
                    *token = id.clone();
                }
            }
            assert_eq!(sent, example, "{}", path.display());
            count += 1;
        }
        assert_eq!(count, 18);
    }

    #[test]
    fn receipts_are_those_of_the_providers_examples() {
        for entry in fs::read_dir(Path::new(RECEIPTS)).expect("a folder") {
            let path = entry.expect("a file").path();
            let example: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
            let message_id = example["message_id"].as_str().expect("an id");
            assert_eq!(receipt_of(message_id, example.get("typing_indicator").is_some()), example);
        }
    }

    #[test]
    fn forms_and_links_have_what_the_provider_wants() {
        let interactive = |kind: &str, name: &str, parameters: Value| {
            json!({ "type": "interactive", "interactive": { "type": kind, "body": { "text": "?" },
                "header": { "type": "image", "image": { "link": "https://example.com/a.png" } },
                "action": { "name": name, "parameters": parameters } } })
        };
        let link = json!({ "display_text": "Ver", "url": "https://example.com" });
        let sent = of(interactive("cta_url", "cta_url", link.clone())).expect("a body");
        assert_eq!(sent["interactive"]["action"], json!({ "name": "cta_url", "parameters": link }));
        assert_eq!(sent["interactive"]["header"]["image"]["link"], "https://example.com/a.png");
        let asked = json!({ "flow_id": "7", "flow_cta": "Abrir", "flow_action": "data_exchange" });
        let sent = of(interactive("flow", "flow", asked)).expect("a body");
        let parameters = &sent["interactive"]["action"]["parameters"];
        assert_eq!(parameters["flow_token"], sent["biz_opaque_callback_data"]);
        assert_eq!(parameters["flow_message_version"], "3");
        for kind in ["flow", "FLOW"] {
            let button = json!({ "type": "button", "sub_type": kind, "index": "0",
                "parameters": [{ "type": "action", "action": {} }] });
            let sent = of(
                json!({ "type": "template", "template": { "name": "order", "language": { "code": "pt_BR" },
                "components": [button] } }),
            )
            .expect("a body");
            let action = &sent["template"]["components"][0]["parameters"][0]["action"];
            assert_eq!(action["flow_token"], sent["biz_opaque_callback_data"], "{kind}");
        }
        let opened = json!({ "flow_id": "7", "flow_cta": "Abrir", "flow_action_payload": { "screen": "A" } });
        let sent = of(interactive("flow", "flow", opened)).expect("a body");
        assert_eq!(sent["interactive"]["action"]["parameters"]["flow_action"], "navigate");
    }

    #[test]
    fn recipients_are_numbers_or_user_ids() {
        assert_eq!(recipient_of("5511987654321"), Some(("to", "+5511987654321".to_owned())));
        assert_eq!(recipient_of("BR.1"), Some(("recipient", "BR.1".to_owned())));
        assert_eq!(recipient_of("nobody"), None);
        assert!(body_of(&event("nobody", ContentMessage::text("oi"))).is_err());
    }

    #[test]
    fn what_the_channel_cannot_carry_is_not_sent() {
        let long = |count: usize| "\u{e9}".repeat(count);
        let button =
            |id: String, title: String| json!({ "type": "reply", "reply": { "id": id, "title": title } });
        let buttons = |body: String, buttons: Vec<Value>| {
            json!({ "type": "interactive", "interactive": { "type": "button", "body": { "text": body },
                "action": { "buttons": buttons } } })
        };
        let list = |label: String, sections: Value| {
            json!({ "type": "interactive", "interactive": { "type": "list", "body": { "text": "?" },
                "action": { "button": label, "sections": sections } } })
        };
        let rows = |count: usize| {
            (0..count).map(|n| json!({ "id": n.to_string(), "title": "x" })).collect::<Vec<_>>()
        };
        let text = |body: String| json!({ "type": "text", "text": { "body": body } });
        for (good, contents) in [
            (
                true,
                vec![
                    text(long(4_096)),
                    buttons(
                        long(1_024),
                        (0..3).map(|n| button(n.to_string(), format!("{n}{}", long(19)))).collect(),
                    ),
                    list(long(20), json!([{ "rows": rows(10) }])),
                    list(
                        "x".into(),
                        json!([{ "title": long(24), "rows": rows(9) }, { "title": "b", "rows": [{ "id": "b", "title": "x" }] }]),
                    ),
                    json!({ "type": "image", "image": { "link": "https://example.com/a.png", "caption": long(1_024) } }),
                    json!({ "type": "audio", "audio": { "link": "https://example.com/a.ogg", "caption": "a" } }),
                    json!({ "type": "location", "location": { "latitude": -23.5, "longitude": -46.6 } }),
                ],
            ),
            (
                false,
                vec![
                    text(long(4_097)),
                    text(String::new()),
                    buttons(long(1_025), vec![button("a".into(), "A".into())]),
                    buttons("?".into(), vec![]),
                    buttons("?".into(), (0..4).map(|n| button(n.to_string(), n.to_string())).collect()),
                    buttons("?".into(), vec![button("a".into(), "A".into()), button("b".into(), "A".into())]),
                    buttons("?".into(), vec![button("a".into(), long(21))]),
                    buttons("?".into(), vec![button(long(257), "A".into())]),
                    list(long(21), json!([{ "rows": rows(1) }])),
                    list("x".into(), json!([{ "rows": rows(11) }])),
                    list("x".into(), json!([{ "rows": rows(1) }, { "rows": rows(1) }])),
                    list("x".into(), json!([{ "rows": [{ "id": "a", "title": long(25) }] }])),
                    list(
                        "x".into(),
                        json!([{ "rows": [{ "id": "a", "title": "A", "description": long(73) }] }]),
                    ),
                    json!({ "type": "video", "video": { "link": "https://example.com/a.mp4", "caption": long(1_025) } }),
                    json!({ "type": "video", "video": { "link": "a.mp4" } }),
                    json!({ "type": "location", "location": { "latitude": 91.0, "longitude": 0.0 } }),
                    json!({ "type": "contacts", "contacts": [] }),
                    json!({ "type": "reaction", "reaction": { "message_id": "", "emoji": "a" } }),
                    json!({ "type": "igQuickReply", "igQuickReply": { "body": "?", "quickReplies": [
                        { "title": "A", "payload": "a" }] } }),
                    list("x".into(), json!([{ "rows": [{ "id": long(201), "title": "A" }] }])),
                ],
            ),
        ] {
            for content in contents {
                let sent = of(content.clone());
                assert_eq!(sent.is_ok(), good, "{sent:?} of {content}");
            }
        }
    }
}
