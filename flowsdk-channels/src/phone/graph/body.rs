//! The body of a call that sends a message (WhatsApp Cloud API, "Messages").

use flowsdk_core::contact::{is_phone_number, is_user_id};
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::message::{ContentMessage, Header, Interactive, ListAction, Media, ReplyButton, Text};
use serde_json::{Value, json};

/// Most characters of a text.
const MAX_TEXT: usize = 4_096;
/// Most characters of the main text of buttons and lists, and of a caption.
const MAX_BODY: usize = 1_024;
const MAX_SMALL: usize = 60;
const MAX_BUTTONS: usize = 3;
const MAX_BUTTON_TITLE: usize = 20;
const MAX_BUTTON_ID: usize = 256;
const MAX_ROWS: usize = 10;
const MAX_SECTIONS: usize = 10;
const MAX_ROW_TITLE: usize = 24;
const MAX_ROW_ID: usize = 200;
const MAX_DESCRIPTION: usize = 72;

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
    let mut body = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "biz_opaque_callback_data": message.internal_id,
        "type": message.content.kind(),
    });
    body[field] = recipient.into();
    body[message.content.kind()] = node_of(&message.content)?;
    Ok(body)
}

fn node_of(content: &ContentMessage) -> Result<Value, String> {
    match content {
        ContentMessage::Text { text } => {
            within("the text", &text.body, MAX_TEXT)?;
            Ok(json!({ "body": text.body }))
        }
        ContentMessage::Image { image: media } | ContentMessage::Video { video: media } => {
            media_of(media, false)
        }
        ContentMessage::Audio { audio: media } => Ok(json!({ "link": media.link })),
        ContentMessage::Document { document: media } => media_of(media, true),
        ContentMessage::Interactive { interactive } => interactive_of(interactive),
        ContentMessage::Template { template } => {
            let mut node = json!({ "name": template.name, "language": template.language });
            if !template.components.is_empty() {
                node["components"] = template.components.clone().into();
            }
            Ok(node)
        }
    }
}

fn media_of(media: &Media, has_name: bool) -> Result<Value, String> {
    let mut node = json!({ "link": media.link });
    if let Some(caption) = media.caption.as_ref().filter(|caption| !caption.is_empty()) {
        within("the caption", caption, MAX_BODY)?;
        node["caption"] = caption.as_str().into();
    }
    if let Some(name) = media.filename.as_ref().filter(|_| has_name) {
        node["filename"] = name.as_str().into();
    }
    Ok(node)
}

fn interactive_of(interactive: &Interactive) -> Result<Value, String> {
    let (header, body, footer) = match interactive {
        Interactive::Button { header, body, footer, action } => {
            buttons(&action.buttons)?;
            (header, body, footer)
        }
        Interactive::List { header, body, footer, action } => {
            list(action)?;
            (header, body, footer)
        }
    };
    if let Some(Header::Text { text }) = header {
        within("the header", text, MAX_SMALL)?;
    }
    within("the text", &body.text, MAX_BODY)?;
    if let Some(Text { text }) = footer {
        within("the footer", text, MAX_SMALL)?;
    }
    serde_json::to_value(interactive).map_err(|error| error.to_string())
}

fn buttons(buttons: &[ReplyButton]) -> Result<(), String> {
    counted("buttons", buttons.len(), MAX_BUTTONS)?;
    let mut titles: Vec<&str> = Vec::with_capacity(buttons.len());
    for ReplyButton::Reply { reply } in buttons {
        within("the title of a button", &reply.title, MAX_BUTTON_TITLE)?;
        within("the id of a button", &reply.id, MAX_BUTTON_ID)?;
        if titles.contains(&&*reply.title) {
            return Err("two buttons have the same title".to_owned());
        }
        titles.push(&reply.title);
    }
    Ok(())
}

fn list(action: &ListAction) -> Result<(), String> {
    within("the label of a list", &action.button, MAX_BUTTON_TITLE)?;
    counted("sections", action.sections.len(), MAX_SECTIONS)?;
    counted("rows", action.sections.iter().map(|section| section.rows.len()).sum(), MAX_ROWS)?;
    for section in &action.sections {
        match &section.title {
            Some(title) => within("the title of a section", title, MAX_ROW_TITLE)?,
            None if action.sections.len() > 1 => {
                return Err("several sections need titles".to_owned());
            }
            None => {}
        }
        for row in &section.rows {
            within("the title of a row", &row.title, MAX_ROW_TITLE)?;
            within("the id of a row", &row.id, MAX_ROW_ID)?;
            if let Some(description) = &row.description {
                within("the description of a row", description, MAX_DESCRIPTION)?;
            }
        }
    }
    Ok(())
}

fn within(what: &str, text: &str, most: usize) -> Result<(), String> {
    match text.chars().count() {
        0 => Err(format!("{what} is empty")),
        length if length > most => Err(format!("{what} has {length} characters, of at most {most}")),
        _ => Ok(()),
    }
}

fn counted(what: &str, count: usize, most: usize) -> Result<(), String> {
    if (1..=most).contains(&count) { Ok(()) } else { Err(format!("{count} {what}, of 1 to {most}")) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use flowsdk_core::context::OpContext;
    use flowsdk_core::id::MessageId;
    use flowsdk_core::message::{Sender, SenderKind, Source};
    use flowsdk_core::session::SessionId;

    use super::*;

    const REQUESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/phone/requests");

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
        for entry in fs::read_dir(Path::new(REQUESTS)).expect("a folder") {
            let path = entry.expect("a file").path();
            let mut example: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
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
            assert!(fields.remove("biz_opaque_callback_data").is_some_and(|id| id.is_string()));
            example["to"] = "+5511987654321".into();
            // Previews of links are the provider's default, which is off.
            example.get_mut("text").and_then(Value::as_object_mut).map(|text| text.remove("preview_url"));
            assert_eq!(sent, example, "{}", path.display());
            count += 1;
        }
        assert_eq!(count, 7);
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
                        json!([{ "title": long(24), "rows": rows(5) }, { "title": "b", "rows": rows(5) }]),
                    ),
                    json!({ "type": "image", "image": { "link": "https://example.com/a.png", "caption": long(1_024) } }),
                    json!({ "type": "audio", "audio": { "link": "https://example.com/a.ogg" } }),
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
