//! The queue of a handoff (spec B 4.7).

use flowsdk_core::event::HandoffEvent;
use flowsdk_core::flow::handoff::HandoffScene;
use flowsdk_core::id::{FlowId, QueueId};

use super::DistributionRule;
use crate::queue::Queue;

/// Returns the queue that a handoff goes to; `None` when its router has no active one.
///
/// A preset queue goes before the rules, which are those of flows. The first rule of `rules` decides whose conditions hold and whose
/// queue is active, and without one the first queue. `queues` are the active ones of the router, the oldest first;
/// `flow` is the flow that hands over, if one does.
pub fn resolve<'q>(
    event: &HandoffEvent,
    flow: Option<&FlowId>,
    tz: &str,
    rules: &[&DistributionRule],
    queues: &[&'q Queue],
) -> Option<&'q Queue> {
    let active = |id: &QueueId| queues.iter().copied().find(|queue| queue.id == *id);
    if let Some(preset) = event.preset_queue_id.as_ref() {
        if let Some(queue) = active(preset) {
            return Some(queue);
        }
        tracing::warn!(session = %event.session_id, queue = %preset, "a flow hands over to a queue that takes nothing");
    }
    let decided = flow.and_then(|flow| {
        let scene = HandoffScene::new(event, flow, tz);
        let mut asked = rules.iter().filter(|rule| rule.flow_id.as_ref().is_none_or(|of| of == flow));
        asked.find_map(|rule| {
            let queue = active(&rule.target_queue_id)?;
            scene.holds(&rule.conditions).then_some(queue)
        })
    });
    decided.or_else(|| queues.first().copied())
}

#[cfg(test)]
mod tests {
    use flowsdk_core::event::HandoffContact;
    use flowsdk_core::session::SessionId;
    use flowsdk_core::time::Timestamp;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::queue::tests::queue;

    const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);

    fn rule(target: &str, conditions: Value) -> DistributionRule {
        DistributionRule {
            id: format!("to-{target}").parse().expect("an id"),
            router_id: "router1".parse().expect("an id"),
            name: target.to_owned(),
            priority: 1,
            conditions: serde_json::from_value(conditions).expect("conditions"),
            target_queue_id: target.parse().expect("an id"),
            flow_id: None,
            is_active: true,
            created_at: NOW,
            updated_at: NOW,
        }
    }

    fn event(preset: Option<&str>, variables: Value) -> HandoffEvent {
        HandoffEvent {
            session_id: SessionId::parse("wc-c1-ana").expect("an id"),
            chat_id: "chat1".parse().expect("an id"),
            phone_number_id: "wc-c1".to_owned(),
            router_id: "router1".parse().expect("an id"),
            contact: HandoffContact {
                id: "contact1".parse().expect("an id"),
                name: "Ana".to_owned(),
                phone_number: "wc-c1-ana".to_owned(),
                variables: Map::new(),
            },
            context_variables: variables.as_object().cloned().unwrap_or_default(),
            preset_queue_id: preset.map(|id| id.parse().expect("an id")),
            preset_user_id: None,
            ai_ticket_id: None,
            sentiment: None,
            requested_by: None,
            epoch: Some(1),
            timestamp: NOW,
        }
    }

    fn about(subject: &str) -> Value {
        json!([{ "source": { "type": "context", "key": "subject" }, "comparator": "equals", "values": [subject] }])
    }

    #[test]
    fn a_handoff_goes_to_its_preset_queue_or_by_the_rules_or_to_the_first_queue() {
        let (sales, bills, off) = (queue("sales"), queue("bills"), "off");
        let flow: FlowId = "flow1".parse().expect("an id");
        let of_flow = |flow: &str, rule: DistributionRule| DistributionRule {
            flow_id: Some(flow.parse().expect("an id")),
            ..rule
        };
        let bill = || rule("bills", about("bill"));
        for (preset, subject, rules, expected, why) in [
            (Some("bills"), "", vec![rule("sales", json!([]))], "bills", "preset bypasses the rules"),
            (Some(off), "bill", vec![bill()], "bills", "a preset queue that is off leaves it to the rules"),
            (None, "bill", vec![bill(), rule("sales", json!([]))], "bills", "the first rule that holds"),
            (None, "other", vec![bill(), rule("bills", json!([]))], "bills", "no conditions always hold"),
            (None, "other", vec![bill()], "sales", "no rule holds: the first queue"),
            (None, "bill", vec![rule(off, json!([])), bill()], "bills", "a rule to a queue that is off"),
            (None, "bill", vec![of_flow("flow2", bill())], "sales", "a rule of another flow"),
            (None, "bill", vec![of_flow("flow1", bill())], "bills", "a rule of this flow"),
        ] {
            let rules: Vec<&DistributionRule> = rules.iter().collect();
            let event = event(preset, json!({ "subject": subject }));
            let found = resolve(&event, Some(&flow), "UTC", &rules, &[&sales, &bills]);
            assert_eq!(found.map(|queue| queue.id.as_str()), Some(expected), "{why}");
        }
        assert_eq!(resolve(&event(None, json!({})), Some(&flow), "UTC", &[], &[]), None);
        // Rules are those of flows.
        let always = rule("bills", json!([]));
        let found = resolve(&event(None, json!({})), None, "UTC", &[&always], &[&sales, &bills]);
        assert_eq!(found.map(|queue| queue.id.as_str()), Some("sales"));
    }
}
