//! The session of a simulation and everything around it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};

use super::script::Does;
use super::{HttpReply, Script, ScriptReply, StepReport};
use crate::contact::Contact;
use crate::event::{ExternalJump, HandBack, HandoffDeflect};
use crate::flow::perform::read;
use crate::flow::{
    CompiledFlow, Effect, EffectRequest, EffectResult, FlowSource, HttpAnswer, OutsideCall, Scene,
    ScriptRunner, Trigger, TurnEnd, run,
};
use crate::id::{ChatId, ContactId, FlowId, FlowVersionId};
use crate::message::{ContentMessage, IncomingMessage};
use crate::router::{DEFAULT_TZ, Router, StaticVariables};
use crate::session::{Channel, Mode, Position, Session, SessionId};
use crate::time::Timestamp;

/// The clock of a script that names none: 2026-01-01T12:00:00Z.
const BEGINNING: Timestamp = Timestamp::from_millis(1_767_268_800_000);

/// A session that is played by hand.
#[derive(Debug)]
pub struct Simulator {
    flow: Arc<CompiledFlow>,
    flows: Flows,
    router: Router,
    statics: StaticVariables,
    now: Timestamp,
    seed: Map<String, Value>,
    session: Option<Session>,
    contact: Contact,
    http: Vec<(HttpReply, bool)>,
    scripts: Vec<(ScriptReply, bool)>,
    messages: usize,
}

/// What a turn did so far, and what it asks of the outside.
type Turn = (StepReport, Option<EffectRequest>);

/// The flows that are there.
#[derive(Debug, Default)]
struct Flows(HashMap<FlowId, Arc<CompiledFlow>>);

impl FlowSource for Flows {
    fn published(&self, flow: &FlowId) -> Option<Arc<CompiledFlow>> {
        self.0.get(flow).cloned()
    }

    fn version(&self, version: &FlowVersionId) -> Option<Arc<CompiledFlow>> {
        self.0.values().find(|flow| flow.version_id() == version).cloned()
    }
}

/// An id that is written out below.
#[allow(clippy::expect_used, reason = "the texts are constants of this file and have the shape of ids")]
fn id<T: TryFrom<String>>(text: &str) -> T
where
    T::Error: std::fmt::Debug,
{
    T::try_from(text.to_owned()).expect("has the shape of an id")
}

fn secrets(values: &Map<String, Value>) -> Arc<BTreeMap<String, SecretString>> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Arc::new(values.iter().map(|(key, value)| (key.clone(), SecretString::from(text(value)))).collect())
}

impl Simulator {
    /// A contact who has not written yet.
    pub fn new(flow: &Arc<CompiledFlow>, others: &[Arc<CompiledFlow>], script: &Script) -> Self {
        let now = script.now.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
        let now = now.map_or(BEGINNING, |now| Timestamp::from_millis(now.as_millisecond()));
        let flows = others.iter().chain([flow]).map(|flow| (flow.flow_id().clone(), Arc::clone(flow)));
        let own = (flow.flow_id().clone(), secrets(&script.flow));
        Self {
            flows: Flows(flows.collect()),
            router: Router {
                initial_flow_id: Some(flow.flow_id().clone()),
                tz: script.tz.clone().unwrap_or_else(|| DEFAULT_TZ.to_owned()),
                ..Router::new(flow.router_id().clone(), "Simulation", now)
            },
            statics: StaticVariables { router: secrets(&script.router), flows: BTreeMap::from([own]) },
            now,
            seed: script.variables.clone(),
            session: None,
            contact: Contact {
                id: id::<ContactId>("contact"),
                phone_number: "wc-simulation-contact".to_owned(),
                name: script.contact_name.clone().unwrap_or_else(|| "Ana".to_owned()),
                name_locked: false,
                origin: Some(Channel::Webchat),
                variables: script.contact_variables.clone(),
                created_at: now,
            },
            http: script.http.iter().map(|reply| (reply.clone(), false)).collect(),
            scripts: script.scripts.iter().map(|reply| (reply.clone(), false)).collect(),
            messages: 0,
            flow: Arc::clone(flow),
        }
    }

    /// The contact as it is now.
    pub fn contact(&self) -> &Contact {
        &self.contact
    }

    /// Lets one thing happen. A script that the test does not mock fails.
    pub fn play(&mut self, does: &Does) -> StepReport {
        let (mut report, mut request) = self.begin(does);
        while let Some(asked) = request.take() {
            let result = self.mocked(&asked.call, &mut report).unwrap_or_else(|| unmocked(&asked.call));
            report.note(&result);
            request = self.go_on(asked.seq, &result, &mut report);
        }
        report
    }

    /// As [`play`](Self::play), but `scripts` runs the scripts that the test does not mock.
    pub async fn play_with(&mut self, does: &Does, scripts: &dyn ScriptRunner) -> StepReport {
        let (mut report, mut request) = self.begin(does);
        while let Some(asked) = request.take() {
            let result = match (self.mocked(&asked.call, &mut report), &asked.call) {
                (Some(result), _) => result,
                (None, OutsideCall::Script(script)) => match scripts.run(script).await {
                    Ok(value) => EffectResult::Script { value },
                    Err(failure) => EffectResult::failed(failure.code, failure.message),
                },
                (None, call @ OutsideCall::Http(_)) => unmocked(call),
            };
            report.note(&result);
            request = self.go_on(asked.seq, &result, &mut report);
        }
        report
    }

    /// Begins a step; returns what it asks of the outside, if it does.
    fn begin(&mut self, does: &Does) -> Turn {
        match does {
            Does::Say(text) => {
                let message = IncomingMessage::text(self.message_id(), text.clone());
                self.message(&message)
            }
            Does::Tap { id, title } => self.content(&json!({ "type": "interactive", "interactive": {
                "type": "button_reply", "button_reply": { "id": id, "title": title } } })),
            Does::Send(content) => self.content(&Value::Object(content.clone())),
            Does::Wait(millis) => {
                self.now = self.now + Duration::from_millis(*millis);
                self.turn(Trigger::InputTimeout)
            }
            Does::AgentEnds { reason } => {
                let event = HandBack { agent_end_reason: reason.clone(), ..self.hand_back() };
                self.turn(Trigger::AgentEnded(&event))
            }
            Does::HumanEnds { ticket, deflect } => {
                let deflect = deflect.clone().map(HandoffDeflect::from);
                let event = HandBack { ticket: ticket.clone(), handoff_deflect: deflect, ..self.hand_back() };
                self.turn(Trigger::HumanEnded(&event))
            }
            Does::Redirect { flow_id, block_id, execute_on_entry } => {
                let jump = ExternalJump {
                    session_id: session_id(),
                    flow_id: flow_id.clone().unwrap_or_else(|| self.flow.flow_id().clone()),
                    block_id: block_id.clone(),
                    execute_on_entry: *execute_on_entry,
                    redirect_id: None,
                    ahead: false,
                };
                self.turn(Trigger::Jump(&jump))
            }
        }
    }

    fn message_id(&mut self) -> String {
        self.messages += 1;
        format!("message-{}", self.messages)
    }

    fn content(&mut self, content: &Value) -> Turn {
        let mut content = content.clone();
        content["id"] = Value::from(self.message_id());
        match serde_json::from_value::<IncomingMessage>(content) {
            Ok(message) => self.message(&message),
            Err(error) => {
                let end = format!("the message cannot be read: {error}");
                (StepReport { end, ..StepReport::default() }, None)
            }
        }
    }

    fn message(&mut self, message: &IncomingMessage) -> Turn {
        let session = self.session.get_or_insert_with(|| {
            let mut session = Session::begin(
                session_id(),
                self.router.id.clone(),
                self.contact.id.clone(),
                id::<ChatId>("chat"),
                self.now,
            );
            session.position = Some(Position {
                flow_id: self.flow.flow_id().clone(),
                version_id: self.flow.version_id().clone(),
                block_id: None,
                waiting: None,
            });
            session.variables = self.seed.clone();
            session
        });
        let begun = session.position.as_ref().is_some_and(|position| position.block_id.is_some());
        self.turn(if begun { Trigger::Message(message) } else { Trigger::Start(message) })
    }

    fn hand_back(&self) -> HandBack {
        let id = session_id();
        HandBack {
            chat_id: self::id("chat"),
            to: id.party().to_owned(),
            phone_number_id: id.phone_number_id().to_owned(),
            session_id: id,
            jump_target: None,
            agent_end_reason: None,
            ticket: None,
            handoff_deflect: None,
            epoch: self.session.as_ref().map(|session| session.epoch),
            timestamp: self.now,
        }
    }

    fn turn(&mut self, trigger: Trigger<'_>) -> Turn {
        let mut report = StepReport { end: "no session".to_owned(), ..StepReport::default() };
        let request = self.session.take().and_then(|session| self.step(session, trigger, &mut report));
        (report, request)
    }

    fn go_on(&mut self, seq: i64, result: &EffectResult, report: &mut StepReport) -> Option<EffectRequest> {
        let session = self.session.take()?;
        self.step(session, Trigger::EffectDone { seq, result }, report)
    }

    fn step(
        &mut self,
        session: Session,
        trigger: Trigger<'_>,
        report: &mut StepReport,
    ) -> Option<EffectRequest> {
        let standing =
            session.position.as_ref().and_then(|position| self.flows.version(&position.version_id));
        let scene = Scene {
            flow: standing.unwrap_or_else(|| Arc::clone(&self.flow)),
            router: &self.router,
            statics: &self.statics,
            now: self.now,
            flows: &self.flows,
        };
        let outcome = run(&scene, session, self.contact.clone(), trigger);
        self.contact = outcome.contact;
        report.trace.extend(outcome.trace);
        let sent = outcome.effects.into_iter().filter_map(|effect| match effect {
            Effect::Send(content) => Some(content),
            _ => None,
        });
        for content in sent {
            report.messages.push(shown(&content));
            report.contents.push(content);
        }
        // The latest stops are enough here, where nobody reads older ones.
        let session = Session { archive: Vec::new(), ..outcome.session };
        report.variables = session.variables.clone();
        report.block = session.position.as_ref().and_then(|position| position.block_id.clone());
        let mut request = None;
        report.end = match outcome.end {
            TurnEnd::Frozen(error) => {
                report.error = Some(error.message);
                error.code
            }
            TurnEnd::Ended => {
                // The next message begins anew.
                report.block = None;
                "ended".to_owned()
            }
            TurnEnd::Effect(asked) => {
                request = Some(*asked);
                self.session = Some(session);
                "waiting".to_owned()
            }
            TurnEnd::Waiting | TurnEnd::HandedOver(_) => {
                let owner = session.mode;
                self.session = Some(session);
                if owner == Mode::Flow { "waiting".to_owned() } else { owner.name().to_owned() }
            }
        };
        request
    }

    /// Returns the answer that the test gives to a call, if it gives one.
    fn mocked(&mut self, call: &OutsideCall, report: &mut StepReport) -> Option<EffectResult> {
        Some(match call {
            OutsideCall::Http(call) => {
                let made = format!("{} {}", call.method.name(), call.url.expose_secret());
                report.requests.push(made.clone());
                let reply = choose(&mut self.http, |reply| made.contains(&reply.to))?;
                match reply.fails {
                    Some(code) => EffectResult::failed(code, "as the test says"),
                    None => {
                        let body = match reply.body {
                            Value::String(text) => text.into_bytes(),
                            json => json.to_string().into_bytes(),
                        };
                        let status = reply.status.unwrap_or(200);
                        read(call, &HttpAnswer { status, content_type: None, body })
                    }
                }
            }
            OutsideCall::Script(call) => {
                let reply = choose(&mut self.scripts, |reply| call.script.contains(&reply.to))?;
                match reply.fails {
                    Some(code) => EffectResult::failed(code, "as the test says"),
                    None => EffectResult::Script { value: reply.value },
                }
            }
        })
    }
}

/// Returns the failure of a call that the test does not mock.
fn unmocked(call: &OutsideCall) -> EffectResult {
    match call {
        OutsideCall::Http(request) if !request.url.expose_secret().contains("://") => EffectResult::failed(
            "http_unreachable",
            "the address names no server: `router` and `flow` of the test have the values of {{router.*}} and {{flow.*}}",
        ),
        OutsideCall::Http(_) => EffectResult::failed("http_unreachable", "the test has no answer to this"),
        OutsideCall::Script(_) => EffectResult::failed("script_error", "the test has no result for this"),
    }
}

/// Returns a message as a test expects it: the body with the titles of its buttons or rows, or else its type.
fn shown(content: &ContentMessage) -> String {
    match content {
        ContentMessage::Text { text } => text.body.clone(),
        ContentMessage::Interactive { .. } => content.summary(),
        file => type_of(file),
    }
}

/// Returns the type of a message in angle brackets.
pub(super) fn type_of(content: &ContentMessage) -> String {
    format!("<{}>", content.kind())
}

/// The first that fits and was not used yet, else the last that fits.
fn choose<T: Clone>(replies: &mut [(T, bool)], fits: impl Fn(&T) -> bool) -> Option<T> {
    let fresh = replies.iter().position(|(reply, used)| !used && fits(reply));
    let at = fresh.or_else(|| replies.iter().rposition(|(reply, _)| fits(reply)))?;
    replies[at].1 = true;
    Some(replies[at].0.clone())
}

fn session_id() -> SessionId {
    id("wc-simulation-contact")
}
