//! A session on a stage: plays messages against definitions written as JSON.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::contact::Contact;
use crate::flow::{
    CompiledFlow, Effect, FlowSource, FlowVersion, Outcome, Problem, Scene, Trigger, TurnEnd, run,
};
use crate::id::{ChatId, ContactId, FlowId, FlowVersionId, RouterId};
use crate::message::{ContentMessage, IncomingMessage};
use crate::router::{Router, StaticVariables};
use crate::session::{Channel, Session, SessionId};
use crate::time::Timestamp;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);

pub(crate) fn compile_as(id: &str, definition: &Value) -> Result<Arc<CompiledFlow>, Vec<Problem>> {
    CompiledFlow::compile(&version_of(id, definition))
}

/// The first version of the flow `id`.
pub(crate) fn version_of(id: &str, definition: &Value) -> FlowVersion {
    FlowVersion {
        id: FlowVersionId::parse(format!("{id}-v1")).expect("id"),
        flow_id: FlowId::parse(id).expect("id"),
        router_id: RouterId::parse("router1").expect("id"),
        flow_name: format!("Flow {id}"),
        number: 1,
        definition: definition.clone().into(),
        created_at: NOW,
    }
}

/// A definition with `blocks` that starts at the first of them.
pub(crate) fn flow_of(blocks: &[Value]) -> Value {
    json!({ "schemaVersion": 1, "startBlockId": blocks[0]["id"], "blocks": blocks })
}

pub(crate) fn text(body: &str) -> Value {
    json!({ "type": "text", "text": { "body": body } })
}

pub(crate) fn tapped(id: &str, title: &str) -> IncomingMessage {
    serde_json::from_value(json!({ "id": "m", "type": "interactive",
        "interactive": { "type": "button_reply", "button_reply": { "id": id, "title": title } } }))
    .expect("parses")
}

pub(crate) fn contact() -> Contact {
    Contact {
        id: ContactId::parse("contact1").expect("id"),
        phone_number: "wc-chan-visitor".into(),
        name: "Ana".into(),
        name_locked: false,
        origin: Some(Channel::Webchat),
        variables: serde_json::Map::new(),
        created_at: NOW,
    }
}

pub(crate) fn session() -> Session {
    Session::begin(
        SessionId::parse("wc-chan-visitor").expect("id"),
        RouterId::parse("router1").expect("id"),
        ContactId::parse("contact1").expect("id"),
        ChatId::parse("chat1").expect("id"),
        NOW,
    )
}

/// The flows of a stage.
struct Known(HashMap<FlowId, Arc<CompiledFlow>>);

impl FlowSource for Known {
    fn published(&self, flow: &FlowId) -> Option<Arc<CompiledFlow>> {
        self.0.get(flow).cloned()
    }

    fn version(&self, version: &FlowVersionId) -> Option<Arc<CompiledFlow>> {
        self.0.values().find(|flow| flow.version_id() == version).cloned()
    }
}

pub(crate) struct Stage {
    pub(crate) flows: HashMap<FlowId, Arc<CompiledFlow>>,
    pub(crate) start: FlowId,
    pub(crate) router: Router,
    pub(crate) statics: StaticVariables,
    pub(crate) now: Timestamp,
    pub(crate) session: Session,
    pub(crate) contact: Contact,
    pub(crate) last: Option<Outcome>,
}

impl Stage {
    pub(crate) fn new(definition: &Value) -> Self {
        let flow = compile_as("flow1", definition).expect("compiles");
        Self {
            start: flow.flow_id().clone(),
            flows: HashMap::from([(flow.flow_id().clone(), flow)]),
            router: Router::new(RouterId::parse("router1").expect("id"), "R", NOW),
            statics: StaticVariables {
                router: Arc::new(BTreeMap::from([("brand".into(), "ACME".into())])),
                flows: BTreeMap::from([(
                    FlowId::parse("flow1").expect("id"),
                    Arc::new(BTreeMap::from([("promo".into(), "X1".into())])),
                )]),
            },
            now: NOW,
            session: session(),
            contact: contact(),
            last: None,
        }
    }

    pub(crate) fn with_flow(mut self, id: &str, definition: &Value) -> Self {
        let flow = compile_as(id, definition).expect("compiles");
        self.flows.insert(flow.flow_id().clone(), flow);
        self
    }

    pub(crate) fn play(&mut self, trigger: Trigger<'_>) -> &Outcome {
        let standing = self.session.position.as_ref().map_or(&self.start, |p| &p.flow_id);
        let known = Known(self.flows.clone());
        let scene = Scene {
            flow: Arc::clone(&self.flows[standing]),
            router: &self.router,
            statics: &self.statics,
            now: self.now,
            flows: &known,
        };
        let outcome = run(&scene, self.session.clone(), self.contact.clone(), trigger);
        self.session = outcome.session.clone();
        self.contact = outcome.contact.clone();
        self.last.insert(outcome)
    }

    pub(crate) fn start(&mut self, text: &str) -> Vec<String> {
        self.play(Trigger::Start(&IncomingMessage::text("m", text)));
        self.said()
    }

    pub(crate) fn say(&mut self, text: &str) -> Vec<String> {
        self.play(Trigger::Message(&IncomingMessage::text("m", text)));
        self.said()
    }

    pub(crate) fn send(&mut self, message: &IncomingMessage) -> Vec<String> {
        self.play(Trigger::Message(message));
        self.said()
    }

    pub(crate) fn time_out(&mut self) -> Vec<String> {
        self.play(Trigger::InputTimeout);
        self.said()
    }

    pub(crate) fn after(&mut self, millis: u64) -> &mut Self {
        self.now = self.now + Duration::from_millis(millis);
        self
    }

    /// The texts that the last turn sent.
    pub(crate) fn said(&self) -> Vec<String> {
        let effects = &self.outcome().effects;
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Send(ContentMessage::Text { text }) => Some(text.body.clone()),
                Effect::Send(other) => Some(format!("<{}>", other.kind())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        self.last.as_ref().expect("a turn was played")
    }

    pub(crate) fn frozen(&self) -> Option<&str> {
        match &self.outcome().end {
            TurnEnd::Frozen(error) => Some(&error.code),
            _ => None,
        }
    }

    pub(crate) fn ended(&self) -> bool {
        self.outcome().end == TurnEnd::Ended
    }

    pub(crate) fn waiting(&self) -> bool {
        self.outcome().end == TurnEnd::Waiting
    }

    pub(crate) fn at(&self) -> &str {
        let position = self.session.position.as_ref().expect("positioned");
        position.block_id.as_ref().expect("on a block").as_str()
    }

    pub(crate) fn variable(&self, key: &str) -> Value {
        self.session.variables.get(key).cloned().unwrap_or_default()
    }
}
