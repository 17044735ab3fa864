//! Conditions outside a turn: those of distribution rules, at the handoff of a session (spec B 2.4).

use std::collections::BTreeMap;

use super::Work;
use super::compiled::CompiledCondition;
use super::compiled::pattern::Patterns;
use super::definition::{Comparator, Condition, ConditionSource};
use super::engine::compare::Calendar;
use super::engine::condition::hold;
use super::interpolate::{Here, Names, Template, View};
use crate::contact::Contact;
use crate::event::HandoffEvent;
use crate::id::{BlockId, FlowId};
use crate::session::Session;
use crate::text::Text;
use crate::time::Timestamp;

/// What conditions are judged by at a handoff: the variables of the session and of the contact, and the time.
#[derive(Debug)]
pub struct HandoffScene {
    session: Session,
    contact: Contact,
    flow_id: FlowId,
    tz: String,
    now: Timestamp,
}

impl HandoffScene {
    /// Returns the scene of a handoff by a flow, in a router with the time zone `tz`.
    pub fn new(event: &HandoffEvent, flow: &FlowId, tz: &str) -> Self {
        let now = event.timestamp;
        let mut session = Session::begin(
            event.session_id.clone(),
            event.router_id.clone(),
            event.contact.id.clone(),
            event.chat_id.clone(),
            now,
        );
        session.variables.clone_from(&event.context_variables);
        let contact = Contact {
            id: event.contact.id.clone(),
            phone_number: event.contact.phone_number.clone(),
            name: event.contact.name.clone(),
            name_locked: true,
            origin: None,
            variables: event.contact.variables.clone(),
            created_at: now,
        };
        Self { session, contact, flow_id: flow.clone(), tz: tz.to_owned(), now }
    }

    /// Returns whether all of `conditions` hold. One on the input never does: a handoff has none.
    pub fn holds(&self, conditions: &[Condition]) -> bool {
        if conditions.iter().any(|condition| matches!(condition.source, ConditionSource::Input {})) {
            return false;
        }
        let mut patterns = Patterns::default();
        for value in patterns_of(conditions) {
            // What does not compile matches nothing.
            drop(patterns.check_search(value));
        }
        let compiled: Vec<CompiledCondition> =
            conditions.iter().map(|condition| CompiledCondition::new(condition, &patterns)).collect();
        let (none, work) = (BTreeMap::new(), Work::default());
        let view = View {
            here: Here { flow_id: &self.flow_id, flow_name: "", block_id: None },
            session: &self.session,
            contact: &self.contact,
            input: None,
            router_variables: &none,
            flow_variables: None,
            now: self.now,
            names: &Ids,
            work: &work,
        };
        // An answer on a budget that is spent says nothing.
        hold(&compiled, &view, &Calendar::new(&self.tz)) && !work.is_spent()
    }
}

/// Names that nobody has looked up.
struct Ids;

impl Names for Ids {
    fn flow(&self, flow: &FlowId) -> String {
        flow.to_string()
    }

    fn block(&self, _flow: &FlowId, block: &BlockId) -> String {
        block.to_string()
    }
}

/// Returns the regular expressions of conditions.
fn patterns_of(conditions: &[Condition]) -> impl Iterator<Item = &str> {
    let matching = conditions.iter().filter(|condition| condition.comparator == Comparator::Matches);
    matching.flat_map(|condition| condition.values.iter().map(|value| value.0.as_str()))
}

/// Returns the faults of conditions outside a flow: the field of each, as `conditions[0].values`, and the reason.
pub fn faults_of(conditions: &[Condition]) -> Vec<(String, Text)> {
    let mut faults = Vec::new();
    for (at, condition) in conditions.iter().enumerate() {
        if condition.comparator.takes_values() && condition.values.is_empty() {
            let text = Text::new(
                "Este comparador precisa de ao menos um valor",
                "This comparator needs at least one value",
            );
            faults.push((format!("conditions[{at}].values"), text));
        }
        if condition.comparator != Comparator::Matches {
            continue;
        }
        for (nth, value) in condition.values.iter().enumerate() {
            let field = format!("conditions[{at}].values[{nth}]");
            if Template::parse(&value.0).as_literal().is_none() {
                let text =
                    Text::new("Uma expressão regular não tem tokens", "A regular expression has no tokens");
                faults.push((field, text));
            } else if Patterns::default().check_search(&value.0).is_err() {
                let text = Text::new("Expressão regular inválida", "Invalid regular expression");
                faults.push((field, text));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::event::HandoffContact;
    use crate::id::{ChatId, ContactId, RouterId};
    use crate::session::SessionId;

    fn map(value: Value) -> serde_json::Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn scene() -> HandoffScene {
        let event = HandoffEvent {
            session_id: SessionId::parse("wc-c-u").expect("an id"),
            chat_id: ChatId::parse("chat").expect("an id"),
            phone_number_id: "wc-c".to_owned(),
            router_id: RouterId::parse("router").expect("an id"),
            contact: HandoffContact {
                id: ContactId::parse("contact").expect("an id"),
                name: "Ana".to_owned(),
                phone_number: "wc-c-u".to_owned(),
                variables: map(json!({ "plan": "Gold" })),
            },
            context_variables: map(json!({ "subject": "Invoice 12", "order": { "total": 250 } })),
            preset_queue_id: None,
            preset_user_id: None,
            ai_ticket_id: None,
            sentiment: None,
            requested_by: None,
            epoch: Some(1),
            timestamp: Timestamp::from_millis(1_700_000_000_000),
        };
        HandoffScene::new(&event, &FlowId::parse("flow").expect("an id"), "America/Sao_Paulo")
    }

    fn conditions(value: Value) -> Vec<Condition> {
        serde_json::from_value(value).expect("conditions")
    }

    #[test]
    fn conditions_are_judged_by_the_variables_of_the_handoff() {
        let scene = scene();
        let context = |key: &str| json!({ "type": "context", "key": key });
        let contact = |key: &str| json!({ "type": "contact", "key": key });
        for (source, comparator, values, expected) in [
            (context("subject"), "contains", json!(["invoice"]), true),
            (context("subject"), "contains", json!(["order", "invoice"]), true),
            (context("subject"), "matches", json!([r"Invoice \d+"]), true),
            (context("subject"), "matches", json!(["("]), false),
            (context("order.total"), "greaterThan", json!([200]), true),
            (context("order.total"), "greaterThan", json!([300]), false),
            (context("missing"), "notExists", json!([]), true),
            (contact("plan"), "equals", json!(["gold"]), true),
            (contact("plan"), "equals", json!(["silver"]), false),
            (json!({ "type": "static", "value": "{{contact.name}}" }), "equals", json!(["ana"]), true),
            (json!({ "type": "input" }), "notExists", json!([]), false),
            (json!({ "type": "input" }), "notEquals", json!(["x"]), false),
        ] {
            let one = json!([{ "source": source, "comparator": comparator, "values": values }]);
            assert_eq!(scene.holds(&conditions(one.clone())), expected, "{one}");
        }
        assert!(scene.holds(&[]), "no condition is none that fails");
        let both = json!([
            { "source": contact("plan"), "comparator": "equals", "values": ["gold"] },
            { "source": context("subject"), "comparator": "equals", "values": ["x"] },
        ]);
        assert!(!scene.holds(&conditions(both)), "all must hold");
    }

    #[test]
    fn faults_name_their_field() {
        let context = json!({ "type": "context", "key": "a" });
        let faulty = conditions(json!([
            { "source": context, "comparator": "equals", "values": [] },
            { "source": context, "comparator": "matches", "values": ["a+", "(", "{{b}}"] },
            { "source": context, "comparator": "exists", "values": [] },
        ]));
        let fields: Vec<_> = faults_of(&faulty).into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["conditions[0].values", "conditions[1].values[1]", "conditions[1].values[2]"]);
    }
}
