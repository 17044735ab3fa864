//! What agents may send.

use flowsdk_core::media::{HasMedia, MediaId};
use flowsdk_core::message::{AsSent, Capabilities, ContentKind, ContentMessage};

use crate::ticket::{Ticket, TicketError as Error};

/// The contents that agents send. Templates are dispatched, and buttons are those of flows, which wait for what is tapped.
const SENT: [ContentKind; 9] = [
    ContentKind::Text,
    ContentKind::Image,
    ContentKind::Audio,
    ContentKind::Video,
    ContentKind::Document,
    ContentKind::Sticker,
    ContentKind::Location,
    ContentKind::Contacts,
    ContentKind::Reaction,
];

/// Checks that a channel carries a content.
///
/// # Errors
/// [`Error::TooLong`], [`Error::ContentUnsupported`], [`Error::ContentFlawed`].
pub(super) fn check(content: &ContentMessage, channel: &Capabilities) -> Result<(), Error> {
    let kind = content.content_kind();
    if !SENT.contains(&kind) || !channel.carry(kind) {
        return Err(Error::ContentUnsupported);
    }
    let most = channel.limits.text;
    if kind == ContentKind::Text && content.body().is_some_and(|body| body.chars().count() > most) {
        return Err(Error::TooLong { most });
    }
    let flaws = content.flaws(&channel.limits, &AsSent);
    let fault = |flaw: flowsdk_core::message::Flaw| {
        (format!("content{}", flaw.pointer.replace('/', ".")), flaw.kind.message())
    };
    if flaws.is_empty() { Ok(()) } else { Err(Error::ContentFlawed(flaws.into_iter().map(fault).collect())) }
}

/// Checks that the files of a content are those of the ticket's router.
///
/// # Errors
/// [`Error::MediaUnknown`], [`Error::Storage`].
pub(super) async fn check_files<T: HasMedia>(
    tx: &mut T,
    content: &ContentMessage,
    ticket: &Ticket,
) -> Result<(), Error> {
    let named = content.own_files();
    if named.is_empty() {
        return Ok(());
    }
    let ids: Result<Vec<MediaId>, _> = named.iter().map(|id| id.parse()).collect();
    let ids = ids.map_err(|_| Error::MediaUnknown)?;
    let files = tx.media().find_many(&ids).await?;
    let is_of_router = |id: &MediaId| {
        files.iter().any(|file| file.id == *id && file.router_id.as_ref() == Some(&ticket.router_id))
    };
    if ids.iter().all(is_of_router) { Ok(()) } else { Err(Error::MediaUnknown) }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::session::Channel;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn agents_send_what_the_channel_carries() {
        let image = |link: &str| json!({ "type": "image", "image": { "link": link } });
        let buttons = json!({ "type": "interactive", "interactive": { "type": "button", "body": { "text": "?" },
            "action": { "buttons": [{ "type": "reply", "reply": { "id": "a", "title": "A" } }] } } });
        let template =
            json!({ "type": "template", "template": { "name": "t", "language": { "code": "pt_BR" } } });
        let text = |body: &str| json!({ "type": "text", "text": { "body": body } });
        let outcome = |channel: Channel, content: &Value| {
            let content: ContentMessage = serde_json::from_value(content.clone()).expect("a content");
            match check(&content, channel.capabilities()) {
                Ok(()) => "sent",
                Err(Error::ContentUnsupported) => "unsupported",
                Err(Error::ContentFlawed(_)) => "flawed",
                Err(Error::TooLong { .. }) => "too long",
                Err(error) => panic!("{error}"),
            }
        };
        for (channel, content, expected) in [
            (Channel::Phone, text("oi"), "sent"),
            (Channel::Phone, text(" "), "flawed"),
            (Channel::Phone, text(&"x".repeat(4_097)), "too long"),
            (Channel::Phone, image("https://example.com/a.png"), "sent"),
            (Channel::Webchat, image("https://example.com/a.png"), "sent"),
            (Channel::Webchat, image("not a link"), "flawed"),
            (Channel::Phone, template.clone(), "unsupported"),
            (Channel::Phone, buttons, "unsupported"),
        ] {
            assert_eq!(outcome(channel, &content), expected, "{channel:?} {content}");
        }
    }
}
