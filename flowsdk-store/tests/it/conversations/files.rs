//! The files that messages bring: their rows are written with the messages, once.

use flowsdk_core::conversation::{ConversationEvent, TurnReport};
use flowsdk_core::event::IncomingEvent;
use flowsdk_core::media::{
    HasMedia as _, MediaFile, MediaKind, MediaOrigin, MediaOutcome, MediaStatus, StoredBlob,
};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::identities::Phone;
use super::world::{World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    a_file_by_phone_is_to_be_fetched,
    a_file_behind_the_end_of_a_session_is_of_the_next,
    a_file_of_a_visitor_is_attached_to_its_message,
}

const SESSION: &str = "wa-111-5511987654321";

fn message(id: &str, kind: &str, node: Value) -> IncomingMessage {
    serde_json::from_value(json!({ "id": id, "type": kind, kind: node })).expect("a message")
}

fn image(id: &str) -> IncomingMessage {
    message(
        id,
        "image",
        json!({ "id": format!("47{}", id.len()), "mime_type": "image/jpeg; q=1", "sha256": "x" }),
    )
}

impl Phone {
    async fn writes(&self, messages: Vec<IncomingMessage>) -> TurnReport {
        let session_id = SessionId::parse(SESSION).expect("an id");
        let event = IncomingEvent {
            channel_type: Channel::Phone,
            phone_number_id: session_id.phone_number_id().to_owned(),
            from: Some(session_id.party().to_owned()),
            aliases: Vec::new(),
            contact_name: "Ana".to_owned(),
            session_id,
            messages,
            timestamp: self.world.cx.now(),
            context: None,
            flow_id: None,
            opened_after: None,
        };
        self.world.handle(ConversationEvent::Incoming(event)).await
    }

    /// The files that are due, oldest first, with the places of their messages among `stored`.
    async fn unfetched(&self) -> Vec<MediaFile> {
        let mut tx = self.world.store.read().await.expect("read");
        let mut files = tx.media().due(self.world.cx.now(), 100).await.expect("due");
        files.sort_by(|one, other| one.id.cmp(&other.id));
        files
    }
}

async fn a_file_by_phone_is_to_be_fetched(store: SqlStore) {
    let phone = Phone::new(store).await;
    let document =
        json!({ "id": "4712", "mime_type": "application/pdf", "filename": "a/b.pdf", "caption": "look" });
    let voice = json!({ "id": "4713", "mime_type": "audio/ogg; codecs=opus", "voice": true });
    let sent = || {
        vec![
            image("m1"),
            IncomingMessage::text("m2", "oi"),
            message("m3", "document", document.clone()),
            message("m4", "audio", voice.clone()),
        ]
    };
    let report = phone.writes(sent()).await;
    let again = phone.writes(sent()).await;
    assert!(again.stored.iter().all(|stored| stored.duplicate));
    let files = phone.unfetched().await;
    let ids: Vec<_> = report.stored.iter().map(|stored| stored.id.clone()).collect();
    let found: Vec<_> = files
        .iter()
        .map(|file| (file.kind, file.message_id.clone().expect("a message"), file.mime_type.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            (MediaKind::Image, ids[0].clone(), Some("image/jpeg")),
            (MediaKind::Document, ids[2].clone(), Some("application/pdf")),
            (MediaKind::Audio, ids[3].clone(), Some("audio/ogg")),
        ]
    );
    for file in &files {
        assert_eq!((file.status, file.origin), (MediaStatus::Pending, MediaOrigin::Contact));
        assert_eq!(file.router_id.as_ref(), Some(&phone.world.router));
        assert_eq!(file.phone_number_id.as_deref(), Some("111"));
        assert_eq!(file.session_id.as_ref().map(SessionId::as_str), Some(SESSION));
    }
    assert_eq!(
        (files[1].filename.as_deref(), files[1].provider_id.as_deref()),
        (Some("b.pdf"), Some("4712"))
    );
}

async fn a_file_behind_the_end_of_a_session_is_of_the_next(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.writes(vec![IncomingMessage::text("m1", "oi")]).await;
    let report = phone.writes(vec![IncomingMessage::text("m2", "bye"), image("m3"), image("m44")]).await;
    assert_eq!(bodies(&report)[..2], ["Bye", "Hello "]);
    let files = phone.unfetched().await;
    let ids: Vec<_> = report.stored.iter().map(|stored| Some(stored.id.clone())).collect();
    let of: Vec<_> = files.iter().map(|file| file.message_id.clone()).collect();
    assert_eq!(of, ids[1..], "each once, of the message that is stored");
    assert_eq!(phone.world.stored("ana").await, None);
}

async fn a_file_of_a_visitor_is_attached_to_its_message(store: SqlStore) {
    let world = World::new(store).await;
    let file = MediaFile {
        session_id: Some(session("ana")),
        ..MediaFile::new(&world.cx, world.router.clone(), MediaOrigin::Visitor, MediaKind::Image)
    };
    let mut tx = world.store.begin().await.expect("begin");
    tx.media().insert_many(std::slice::from_ref(&file)).await.expect("a file");
    let stored = MediaOutcome::Stored(StoredBlob { size: 7, sha256: "aa".to_owned() });
    tx.media().note(&[(file.id.clone(), stored)], world.cx.now()).await.expect("noted");
    tx.commit().await.expect("commit");
    let image = message("m1", "image", json!({ "id": file.id, "mime_type": "image/png" }));
    let report = world.handle(ConversationEvent::Incoming(world.event("ana", vec![image]))).await;
    let mut tx = world.store.read().await.expect("read");
    let found = tx.media().find(&file.id).await.expect("find").expect("a file");
    assert_eq!(found.message_id.as_ref(), Some(&report.stored[0].id));
    assert_eq!(tx.media().due(world.cx.now(), 10).await.expect("due"), [], "nobody fetches it");
}
