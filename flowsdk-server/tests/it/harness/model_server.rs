//! A server that speaks the Responses API (`POST /v1/responses`): well, late, badly, and as a model that uses tools.
//!
//! It answers each input with a call of the tool `note`, then with a message `eco <input>`, and then with nothing more. It
//! keeps conversations, counts what it did for whom, and refuses requests that break the rules of the API.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::PATIENCE;

/// How long the effect of a tool takes.
const EFFECT: Duration = Duration::from_millis(30);
/// Pieces in which an answer comes.
const PIECES: usize = 4;

/// A moment of a turn that the server sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The model was asked, and has not answered.
    Asked,
    /// The answer of the model is on its way.
    Answered,
    /// The tool was called, and its effect is there.
    Called,
    /// The answer of the tool is on its way.
    Returned,
}

impl Step {
    /// All steps, in their order.
    pub const ALL: [Self; 4] = [Self::Asked, Self::Answered, Self::Called, Self::Returned];
}

/// What the server did. A message is named `<name of the contact>/<text>`.
#[derive(Debug, Default, Clone)]
pub struct Done {
    /// Answers that were sent whole, for each message.
    pub answers: HashMap<String, usize>,
    /// Effects of the tool, for each message.
    pub effects: HashMap<String, usize>,
    /// Contacts for whom two requests were under way at once.
    pub overlaps: Vec<String>,
    /// Requests that break the rules of the API.
    pub refused: Vec<String>,
    /// Answers that were failures on purpose.
    pub failures: usize,
    /// Requests under way, for each contact.
    under_way: HashMap<String, usize>,
    /// Responses that were begun.
    responses: usize,
    /// How often each answer was asked for.
    tries: HashMap<String, usize>,
    /// The whole conversation up to each response.
    conversations: HashMap<String, Vec<Value>>,
}

#[derive(Debug, Default)]
struct Shared {
    done: Mutex<Done>,
    steps: [Notify; Step::ALL.len()],
}

impl Shared {
    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap()
    }

    fn reached(&self, step: Step) {
        self.steps[step as usize].notify_waiters();
    }
}

/// The server, until it is dropped.
pub struct ModelServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ModelServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let (addr, shared) = (listener.local_addr().unwrap(), Arc::<Shared>::default());
        let app = Router::new()
            .route("/v1/responses", post(respond))
            .route("/effects", post(effect))
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { addr, shared, task }
    }

    /// The base address of the API.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    /// A flow of kind `tool`: its effect is counted here.
    pub fn note(&self) -> Value {
        json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
            "parameters": [{ "name": "text", "required": true }], "returns": ["noted"],
            "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true }, "onEnter": [
                { "type": "httpRequest", "method": "POST", "url": format!("http://{}/effects", self.addr),
                    "body": "{{text}}", "response": [{ "path": "noted", "variable": "noted" }] }] }] })
    }

    /// Waits until a turn comes to `step` the next time.
    pub async fn reached(&self, step: Step) {
        let reached = self.shared.steps[step as usize].notified();
        tokio::time::timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("no turn comes to {step:?}"));
    }

    /// What it did until now.
    pub fn done(&self) -> Done {
        self.shared.done().clone()
    }
}

/// A request that is under way, until it is dropped: answered to its end, or given up by its client.
struct UnderWay {
    shared: Arc<Shared>,
    contact: String,
}

impl UnderWay {
    fn begin(shared: &Arc<Shared>, contact: &str) -> Self {
        let mut done = shared.done();
        let count = done.under_way.entry(contact.to_owned()).or_default();
        *count += 1;
        if *count > 1 {
            done.overlaps.push(contact.to_owned());
        }
        drop(done);
        Self { shared: Arc::clone(shared), contact: contact.to_owned() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.shared.done().under_way.get_mut(&self.contact).unwrap() -= 1;
    }
}

async fn effect(State(shared): State<Arc<Shared>>, message: String) -> Json<Value> {
    *shared.done().effects.entry(message).or_default() += 1;
    shared.reached(Step::Called);
    tokio::time::sleep(EFFECT).await;
    shared.reached(Step::Returned);
    Json(json!({ "noted": true }))
}

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Stream(Duration),
    Whole,
    Busy,
    Broken,
    Cut,
    Garbage,
}

impl Manner {
    /// Half of the first tries are answered badly or late; what is tried again is answered well.
    fn of(answer: &str, tries: usize) -> Self {
        let mut hasher = DefaultHasher::new();
        answer.hash(&mut hasher);
        match hasher.finish() % 16 {
            0 if tries == 1 => Self::Busy,
            1 if tries == 1 => Self::Broken,
            2 if tries == 1 => Self::Cut,
            3 if tries == 1 => Self::Garbage,
            4 => Self::Whole,
            5 => Self::Stream(Duration::from_millis(60)),
            rest => Self::Stream(Duration::from_millis(rest)),
        }
    }
}

async fn respond(State(shared): State<Arc<Shared>>, Json(request): Json<Value>) -> Response {
    let contact = contact_of(&request);
    let under_way = UnderWay::begin(&shared, &contact);
    let mut conversation = match conversation(&shared, &request) {
        Ok(conversation) => conversation,
        Err(why) => {
            shared.done().refused.push(format!("{contact}: {why}"));
            let error = json!({ "error": { "type": "invalid_request_error", "code": null, "message": why } });
            return answer(400, "application/json", Body::from(error.to_string()));
        }
    };
    let (message, output) = next(&contact, &conversation);
    let asked_for = format!("{message} {}", conversation.len());
    let (number, tries) = {
        let mut done = shared.done();
        let tries = done.tries.entry(asked_for.clone()).or_default();
        *tries += 1;
        let tries = *tries;
        done.responses += 1;
        (done.responses, tries)
    };
    shared.reached(Step::Asked);
    let manner = Manner::of(&asked_for, tries);
    let pause = if let Manner::Stream(pause) = manner { pause } else { Duration::from_millis(5) };
    tokio::time::sleep(pause).await;
    let id = format!("resp_{number}");
    conversation.push(output.clone());
    let response = json!({ "id": id, "object": "response", "status": "completed", "model": "m", "output": [output],
        "usage": { "input_tokens": 100, "output_tokens": 10 } });
    shared.done().conversations.insert(id, conversation);
    let failure = |status: u16, body: &str| {
        shared.done().failures += 1;
        answer(status, "application/json", Body::from(body.to_owned()))
    };
    match manner {
        Manner::Busy => {
            let mut busy = failure(429, r#"{"error":{"code":"rate_limit_exceeded"}}"#);
            busy.headers_mut().insert("retry-after-ms", "40".parse().unwrap());
            busy
        }
        Manner::Broken => failure(500, "<html>"),
        Manner::Garbage => failure(200, "<html>"),
        Manner::Cut => {
            shared.done().failures += 1;
            let created = json!({ "type": "response.created", "response": { "id": "resp_x" } });
            answer(200, "text/event-stream", Body::from(format!("data: {created}\n\ndata: {{\"ty")))
        }
        Manner::Whole => {
            let done = Delivery { under_way, message };
            answer(200, "application/json", streamed(vec![response.to_string()], pause, done))
        }
        Manner::Stream(_) => {
            let completed = json!({ "type": "response.completed", "response": response });
            let text = format!(
                "event: response.created\ndata: {}\n\nevent: response.completed\ndata: {completed}\n\n",
                json!({ "type": "response.created" })
            );
            let length = text.len().div_ceil(PIECES);
            let pieces =
                text.as_bytes().chunks(length).map(|piece| String::from_utf8_lossy(piece).into_owned());
            let done = Delivery { under_way, message };
            answer(200, "text/event-stream", streamed(pieces.collect(), pause / 4, done))
        }
    }
}

/// An answer on its way; it is counted when all of it was sent.
struct Delivery {
    under_way: UnderWay,
    message: String,
}

fn streamed(pieces: Vec<String>, pause: Duration, delivery: Delivery) -> Body {
    let last = pieces.len();
    let pieces = pieces.into_iter().enumerate();
    Body::from_stream(stream::unfold((pieces, delivery), move |(mut pieces, delivery)| async move {
        let (number, piece) = pieces.next()?;
        tokio::time::sleep(pause).await;
        if number + 1 == last {
            let shared = &delivery.under_way.shared;
            *shared.done().answers.entry(delivery.message.clone()).or_default() += 1;
            shared.reached(Step::Answered);
        }
        Some((Ok::<_, Infallible>(piece), (pieces, delivery)))
    }))
}

fn answer(status: u16, kind: &'static str, body: Body) -> Response {
    Response::builder().status(status).header("content-type", kind).body(body).unwrap()
}

/// The name of the contact, which stands in the instructions.
fn contact_of(request: &Value) -> String {
    let instructions = request["instructions"].as_str().unwrap_or_default();
    let name = instructions.lines().find_map(|line| line.strip_prefix("> Name: "));
    name.unwrap_or_else(|| panic!("nobody's name is in {instructions}")).trim().to_owned()
}

/// Returns all that was said, or why the API refuses the request: each call has exactly one result behind it.
fn conversation(shared: &Shared, request: &Value) -> Result<Vec<Value>, String> {
    let mut items = match request["previous_response_id"].as_str() {
        None => Vec::new(),
        Some(id) => match shared.done().conversations.get(id) {
            Some(items) => items.clone(),
            None => return Err(format!("Previous response with id '{id}' not found.")),
        },
    };
    items.extend(request["input"].as_array().into_iter().flatten().cloned());
    let of = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    for call in of("function_call") {
        let results = of("function_call_output").filter(|result| result["call_id"] == call["call_id"]);
        if results.count() != 1 {
            return Err(format!("No tool output found for function call {}.", call["call_id"]));
        }
    }
    for result in of("function_call_output") {
        if !of("function_call").any(|call| call["call_id"] == result["call_id"]) {
            return Err(format!("No tool call found for function call output {}.", result["call_id"]));
        }
    }
    Ok(items)
}

/// Returns the message that a conversation is about now, and what the model makes of it.
fn next(contact: &str, items: &[Value]) -> (String, Value) {
    let input = items.iter().rposition(|item| item["role"] == "user").expect("an input");
    let text = items[input]["content"][0]["text"].as_str().expect("a text");
    let text = text.lines().last().unwrap_or_default().trim();
    let message = format!("{contact}/{text}");
    let calls = items[input..].iter().filter(|item| item["type"] == "function_call").count();
    let call = |name: &str, arguments: Value| {
        json!({ "type": "function_call", "id": format!("fc_{name}_{message}"), "call_id": format!("call_{name}_{message}"),
            "name": name, "arguments": arguments.to_string(), "status": "completed" })
    };
    let output = match calls {
        0 => call("note", json!({ "text": message })),
        1 => call("sendTextMessage", json!({ "text": format!("eco {text}") })),
        _ => json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "That was all.", "annotations": [] }] }),
    };
    (message, output)
}
