//! What agents hear and see (spec B 4.9, step 5): recordings are transcribed once, and images go to models with vision.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::executor::{Media, ReadableFile};
use flowsdk_agent::ledger::AgentTurn;
use flowsdk_agent::model::{Item, ModelError, Speech, Transcribed, Transcriber, Used};
use flowsdk_agent::turn::{MediaFault, UNSEEN, transcribed};
use flowsdk_core::conversation::ConversationEvent;
use flowsdk_core::event::TokenUsage;
use flowsdk_core::media::MediaId;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{Mode, SessionId};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::crashes::{dies_after, wherever_it_dies};
use super::works::by_work;
use super::world::Agents;
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    recordings_are_heard_in_their_order,
    what_is_not_heard_is_said,
    a_recording_that_takes_too_long_holds_no_turn_up,
    a_recording_is_paid_for_once,
    what_is_heard_after_a_takeover_is_written_nowhere,
    personal_data_in_recordings_is_masked,
    a_model_with_vision_sees_the_images_of_its_turn,
    what_cannot_be_seen_is_said,
}

/// A model that hears, for 50 tokens and 5 more. It says what is in the bytes of a recording, unless it fails.
#[derive(Debug)]
pub(crate) struct Ears {
    pub(crate) calls: Mutex<usize>,
    fault: Mutex<Option<ModelError>>,
    /// Each recording takes a permit.
    pub(crate) gate: Semaphore,
}

impl Default for Ears {
    fn default() -> Self {
        Self { calls: Mutex::default(), fault: Mutex::default(), gate: Semaphore::new(1_000) }
    }
}

impl Ears {
    fn calls(&self) -> usize {
        *self.calls.lock().expect("a lock")
    }
}

#[async_trait]
impl Transcriber for Ears {
    async fn transcribe(&self, speech: Speech) -> Result<Transcribed, ModelError> {
        *self.calls.lock().expect("a lock") += 1;
        self.gate.acquire().await.expect("it is never closed").forget();
        match self.fault.lock().expect("a lock").clone() {
            Some(fault) => Err(fault),
            None => {
                let tokens = TokenUsage { input_tokens: 50, output_tokens: 5, ..TokenUsage::default() };
                let used = Used { model: "ears".to_owned(), tokens };
                Ok(Transcribed { text: String::from_utf8(speech.bytes).expect("a text"), used: Some(used) })
            }
        }
    }
}

/// The files of contacts, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Cabinet(Mutex<HashMap<String, Filed>>);

#[derive(Debug, Clone)]
struct Filed {
    session: SessionId,
    mime_type: &'static str,
    content: Result<Vec<u8>, MediaFault>,
    /// What it is said to have.
    size: u64,
}

#[async_trait]
impl Media for Cabinet {
    async fn find(&self, session: &SessionId, file: &MediaId) -> Result<ReadableFile, MediaFault> {
        let filed = self.0.lock().expect("a lock").get(file.as_str()).cloned();
        let filed = filed.filter(|filed| filed.session == *session).ok_or(MediaFault::NotFetched)?;
        filed.content?;
        Ok(ReadableFile { id: file.clone(), mime_type: Some(filed.mime_type.to_owned()), size: filed.size })
    }

    async fn read(&self, file: &ReadableFile) -> Result<Vec<u8>, MediaFault> {
        tokio::task::yield_now().await;
        let filed = self.0.lock().expect("a lock").get(file.id.as_str()).cloned();
        filed.ok_or(MediaFault::NotFetched)?.content
    }
}

/// Says what it is told, word for word.
fn echo() -> Value {
    json!({ "when": { "input": "(?s)^(.*)$" }, "calls": [
        { "tool": "sendTextMessage", "arguments": { "text": "{{1}}" } }] })
}

impl Agents {
    pub(super) fn file(
        &self,
        visitor: &str,
        id: &str,
        mime_type: &'static str,
        content: Result<&str, MediaFault>,
    ) {
        let content = content.map(|content| content.as_bytes().to_vec());
        let size = content.as_ref().map_or(0, |content| content.len() as u64);
        let filed = Filed { session: session(visitor), mime_type, content, size };
        self.cabinet.0.lock().expect("a lock").insert(id.to_owned(), filed);
    }

    /// A visitor, whom the agents have, sends a file.
    async fn send(&self, visitor: &str, content: Value) {
        let mut fields = content;
        fields["id"] = self.world.cx.ids().next_id().into();
        fields["internalId"] = self.world.cx.ids().next_id().into();
        let message: IncomingMessage = serde_json::from_value(fields).expect("a message");
        self.world.handle(ConversationEvent::Incoming(self.world.event(visitor, vec![message]))).await;
        self.deliver().await;
    }

    pub(super) async fn send_audio(&self, visitor: &str, id: &str) {
        self.send(visitor, json!({ "type": "audio", "audio": { "id": id, "mime_type": "audio/ogg" } })).await;
    }

    async fn send_image(&self, visitor: &str, id: &str, caption: &str) {
        let image = json!({ "id": id, "mime_type": "image/png", "caption": caption });
        self.send(visitor, json!({ "type": "image", "image": image })).await;
    }

    /// The agents have the session of a visitor, and have said something.
    pub(super) async fn attended(&self, visitor: &str) {
        self.reach(visitor, "tea").await;
        self.serve(visitor).await;
        self.mind.asked.lock().expect("a lock").clear();
    }

    /// The inputs of a request to the model, in their order.
    fn inputs(&self, request: usize) -> Vec<(String, Vec<String>)> {
        let asked = self.mind.asked.lock().expect("a lock");
        let inputs = asked[request].iter().filter_map(|item| match item {
            Item::User { text, images } => Some((text.clone(), images.clone())),
            _ => None,
        });
        inputs.collect()
    }

    async fn newest_turn(&self, visitor: &str, epoch: i64) -> AgentTurn {
        self.turns(visitor, epoch, 0).await.pop().expect("a turn")
    }
}

async fn recordings_are_heard_in_their_order(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.attended("ana").await;
    agents.file("ana", "f1", "audio/ogg", Ok(" good morning "));
    agents.file("ana", "f2", "audio/ogg", Ok("two teas"));
    agents.send_audio("ana", "f1").await;
    agents.say("ana", "please").await;
    agents.send_audio("ana", "f2").await;
    let heard = "[Áudio transcrito]: \"good morning\"\nplease\n[Áudio transcrito]: \"two teas\"";
    assert_eq!(agents.serve("ana").await, [heard]);
    assert_eq!(agents.ears.calls(), 2);
    let turn = agents.newest_turn("ana", agents.session("ana").await.epoch).await;
    assert_eq!((turn.items.first(), turn.course.unheard()), (Some(&Item::user(heard)), None));
    assert_eq!(turn.course.heard(), "[Áudio transcrito]: \"two teas\"".chars().count());
}

async fn what_is_not_heard_is_said(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.attended("ana").await;
    for fault in [MediaFault::NoCredentials, MediaFault::NoAddress, MediaFault::NotFetched] {
        agents.file("ana", "f1", "audio/ogg", Err(fault));
        agents.send_audio("ana", "f1").await;
        assert_eq!(agents.serve("ana").await, [transcribed(Err(fault))]);
        agents.renew_turns("ana").await;
    }
    agents.send_audio("ana", "nobody-knows-it").await;
    assert_eq!(agents.serve("ana").await, [transcribed(Err(MediaFault::NotFetched))]);
    agents.renew_turns("ana").await;

    agents.file("ana", "f1", "audio/ogg", Ok("hi"));
    let set_size = |size| {
        agents.cabinet.0.lock().expect("a lock").get_mut("f1").expect("a file").size = size;
    };
    set_size((5 << 20) + 1);
    agents.send_audio("ana", "f1").await;
    assert_eq!(agents.serve("ana").await, [transcribed(Err(MediaFault::TooLarge((5 << 20) + 1)))]);
    agents.renew_turns("ana").await;
    assert_eq!(agents.ears.calls(), 0, "nobody is paid for any of it");

    set_size(5 << 20);
    *agents.ears.fault.lock().expect("a lock") = Some(ModelError::unavailable("busy"));
    agents.send_audio("ana", "f1").await;
    assert_eq!(agents.serve("ana").await, [transcribed(Err(MediaFault::Unexpected))]);
    assert_eq!((agents.ears.calls(), agents.session("ana").await.mode), (1, Mode::Agent));

    // A file of another visitor is as good as none.
    agents.attended("bia").await;
    agents.send_audio("bia", "f1").await;
    assert_eq!(agents.serve("bia").await, [transcribed(Err(MediaFault::NotFetched))]);
}

async fn a_recording_that_takes_too_long_holds_no_turn_up(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.attended("ana").await;
    agents.file("ana", "f1", "audio/ogg", Ok("hi"));
    let gate = agents.ears.gate.acquire_many(1_000).await.expect("a gate");
    agents.send_audio("ana", "f1").await;
    let impatient = agents.executor_that_hears_for(Duration::from_millis(20));
    impatient.serve(&session("ana"), &CancellationToken::new()).await.expect("served");
    assert_eq!(agents.told(), [transcribed(Err(MediaFault::Unexpected))]);
    drop(gate);
}

/// A process dies at every place of a turn: what was written is not asked for again.
async fn a_recording_is_paid_for_once(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    let died = wherever_it_dies(async |polls| {
        let visitor = format!("v{polls}");
        agents.attended(&visitor).await;
        agents.file(&visitor, &visitor, "audio/ogg", Ok("hi"));
        agents.send_audio(&visitor, &visitor).await;
        let before = agents.ears.calls();
        let (id, go_on) = (session(&visitor), CancellationToken::new());
        let done = dies_after(polls, agents.another_executor().serve(&id, &go_on)).await;
        let epoch = agents.session(&visitor).await.epoch;
        let left = agents.turns(&visitor, epoch, 0).await.pop().expect("a turn");
        let was_written = left.items.first() == Some(&Item::user("[Áudio transcrito]: \"hi\""));
        let calls = agents.ears.calls() - before;
        agents.serve(&visitor).await;
        let all = agents.ears.calls() - before;
        assert!(all == calls || !was_written, "after {polls} polls: {calls} and then {all}");
        assert!((1..=2).contains(&all), "after {polls} polls");
        let said = agents.world.transcript_of(&visitor).await;
        assert_eq!(said.last().expect("a line"), "< [Áudio transcrito]: \"hi\"", "after {polls} polls");
        let counted = by_work(&agents.world).await["sales ears transcription"];
        assert_eq!(counted.calls, polls as u64, "what is stored is counted once, after {polls} polls");
        done
    })
    .await;
    assert!(died > 3, "{died}");
}

async fn what_is_heard_after_a_takeover_is_written_nowhere(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.attended("ana").await;
    agents.file("ana", "f1", "audio/ogg", Ok("hi"));
    agents.send_audio("ana", "f1").await;
    let gate = agents.ears.gate.acquire_many(1_000).await.expect("a gate");
    let (ana, go_on) = (session("ana"), CancellationToken::new());
    let epoch = agents.session("ana").await.epoch;
    let serving = agents.executor.serve(&ana, &go_on);
    let taking = async {
        while agents.ears.calls() == 0 {
            tokio::task::yield_now().await;
        }
        agents.take_by_desk(&ana).await;
        agents.another_executor().serve(&ana, &go_on).await.expect("served");
        assert_eq!(agents.session("ana").await.mode, Mode::Human);
        drop(gate);
    };
    let (served, ()) = tokio::join!(serving, taking);
    assert!(served.is_ok() || served.is_err_and(|error| error.is_lost_race()));
    assert_eq!((agents.told(), agents.mind.asks()), (Vec::new(), 0));
    let turn = agents.newest_turn("ana", epoch).await;
    assert_eq!((turn.is_running, turn.error.as_deref()), (false, Some("the session has moved on")));
    assert_eq!(turn.items, [Item::user(transcribed(Err(MediaFault::Unexpected)))]);
}

async fn personal_data_in_recordings_is_masked(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.guard("g1", None, json!({ "maskedData": ["email"] })).await;
    agents.attended("ana").await;
    agents.file("ana", "f1", "audio/ogg", Ok("write to ana@shop.example"));
    agents.send_audio("ana", "f1").await;
    assert_eq!(agents.serve("ana").await, ["[Áudio transcrito]: \"write to ana@shop.example\""]);
    let told = agents.inputs(0).pop().expect("an input").0;
    assert_eq!(told, "[Áudio transcrito]: \"write to [email 1]\"");
}

async fn a_model_with_vision_sees_the_images_of_its_turn(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "Imagem" }, "calls": [
            { "tool": "setVariable", "arguments": { "key": "seen", "value": "yes" } }] },
        { "when": { "after": "setVariable" }, "calls": [
            { "tool": "sendTextMessage", "arguments": { "text": "A cat" } }] },
        echo() ]);
    let agents = Agents::new(store, &rules).await;
    agents.change_agent("sales", |agent| agent.has_vision = true).await;
    agents.attended("ana").await;
    agents.file("ana", "f1", "image/png", Ok("cat"));
    agents.send_image("ana", "f1", "what is it?").await;
    assert_eq!(agents.serve("ana").await, ["A cat"]);
    let shown = ("[Imagem]\nwhat is it?".to_owned(), vec!["data:image/png;base64,Y2F0".to_owned()]);
    for request in [0, 1] {
        assert_eq!(agents.inputs(request).pop(), Some(shown.clone()), "request {request} of the turn");
    }
    let turn = agents.newest_turn("ana", agents.session("ana").await.epoch).await;
    let Some(Item::User { images, .. }) = turn.items.first() else { panic!("an input") };
    assert_eq!(images, &["media:f1"], "no content is stored with the turn");

    // The next turn knows that there was one.
    agents.say("ana", "thanks").await;
    agents.serve("ana").await;
    let inputs = agents.inputs(agents.mind.asks() - 1);
    let before = inputs.iter().find(|(text, _)| text.starts_with("[Imagem]")).expect("the input before");
    assert_eq!(before, &("[Imagem]\nwhat is it?".to_owned(), Vec::new()));

    // Of many, the newest ones are seen.
    for number in 0..6 {
        let id = format!("n{number}");
        agents.file("ana", &id, "image/webp", Ok("x"));
        agents.send_image("ana", &id, &id).await;
    }
    let first = agents.mind.asks();
    agents.serve("ana").await;
    let (text, images) = agents.inputs(first).pop().expect("an input");
    assert_eq!(images.len(), 4);
    assert!(text.starts_with(&format!("{UNSEEN}\nn0\n{UNSEEN}\nn1\n[Imagem]\nn2\n")), "{text}");
}

async fn what_cannot_be_seen_is_said(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.attended("ana").await;
    agents.file("ana", "f1", "image/png", Ok("cat"));
    agents.send_image("ana", "f1", "what is it?").await;
    assert_eq!(agents.serve("ana").await, [format!("{UNSEEN}\nwhat is it?")], "without vision");
    assert!(agents.inputs(0).iter().all(|(_, images)| images.is_empty()));

    agents.change_agent("sales", |agent| agent.has_vision = true).await;
    agents.file("ana", "gone", "image/png", Err(MediaFault::NotFetched));
    agents.file("ana", "odd", "image/svg+xml", Ok("<svg/>"));
    agents.file("ana", "large", "image/png", Ok("cat"));
    agents.cabinet.0.lock().expect("a lock").get_mut("large").expect("a file").size = (5 << 20) + 1;
    agents.file("bia", "of-bia", "image/png", Ok("cat"));
    for id in ["gone", "odd", "large", "of-bia", "nobody-knows-it"] {
        agents.renew_turns("ana").await;
        agents.send_image("ana", id, "").await;
        assert_eq!(agents.serve("ana").await, [format!("[Imagem]\n{UNSEEN}")], "{id}");
        let inputs = agents.inputs(agents.mind.asks() - 1);
        assert!(inputs.iter().all(|(_, images)| images.is_empty()), "{id}");
    }
}
