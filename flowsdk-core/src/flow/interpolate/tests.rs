//! Tests of interpolation.

mod contract;
mod hostile;
mod rules;
mod tokens;

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::*;
use crate::contact::Contact;
use crate::flow::Work;
use crate::flow::engine::stage::{NOW, contact, session};
use crate::id::{BlockId, FlowId};
use crate::message::IncomingMessage;
use crate::session::{Position, Redirect, Session, Stop, Waiting};

struct Fixed;

impl Names for Fixed {
    fn flow(&self, flow: &FlowId) -> String {
        format!("Flow {flow}")
    }
    fn block(&self, _: &FlowId, block: &BlockId) -> String {
        format!("Block {block}")
    }
}

/// Everything that a token can read, owned.
struct World {
    session: Session,
    contact: Contact,
    input: Option<IncomingMessage>,
    router: BTreeMap<String, SecretString>,
    flow: BTreeMap<String, SecretString>,
    flow_id: FlowId,
    block_id: BlockId,
    work: Work,
}

fn id<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("is an id")
}

fn stop(block: &str) -> Stop {
    Stop { flow_id: id("flow1"), block_id: id(block) }
}

impl World {
    fn new() -> Self {
        let mut session = session();
        session.variables = object(json!({
            "name": "Bia", "count": 3, "ok": true, "nothing": null, "ratio": 1.5,
            "order": { "items": [{ "sku": "A1" }, { "sku": "B2" }], "total": 10 },
            "list": [1, "two"], "lastInput": "before", "contact": "bare",
            "ticket": { "id": "t1", "exit": { "key": "solved", "survey": { "score": 5 } } },
            "handoffDeflect": { "reason": "closed", "detail": "after hours" },
        }));
        session.history = vec![stop("first"), stop("second")];
        session.redirects =
            vec![Redirect { flow_id: id("flow1"), block_id: id("jumped"), redirect_id: None }];
        session.position = Some(Position {
            flow_id: id("flow1"),
            version_id: id("v1"),
            block_id: Some(id("second")),
            waiting: Some(Waiting { retries: 0, deadline: NOW, repositioned: false }),
        });
        let mut contact = contact();
        contact.phone_number = "5511999".into();
        contact.variables = object(json!({
            "city": "Recife", "address": { "zip": "50000", "lines": ["a", "b"] },
            "name": "shadowed", "phoneNumber": "shadowed", "whatsapp": { "name": "x" }, "variables": "inner",
        }));
        Self {
            session,
            contact,
            input: Some(message(json!({ "type": "text", "text": { "body": "hello" } }))),
            router: BTreeMap::from([("brand".to_owned(), "ACME".into())]),
            flow: BTreeMap::from([("promo".to_owned(), "X1".into())]),
            flow_id: id("flow1"),
            block_id: id("second"),
            work: Work::default(),
        }
    }

    fn hearing(mut self, input: Value) -> Self {
        self.input = Some(message(input));
        self
    }

    fn render(&self, text: &str) -> String {
        Template::parse(text).render(&self.view())
    }

    fn view(&self) -> View<'_> {
        View {
            here: Here { flow_id: &self.flow_id, flow_name: "Main", block_id: Some(&self.block_id) },
            session: &self.session,
            contact: &self.contact,
            input: self.input.as_ref(),
            router_variables: &self.router,
            flow_variables: Some(&self.flow),
            now: NOW,
            names: &Fixed,
            work: &self.work,
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn message(mut value: Value) -> IncomingMessage {
    value["id"] = json!("m1");
    serde_json::from_value(value).expect("parses")
}
