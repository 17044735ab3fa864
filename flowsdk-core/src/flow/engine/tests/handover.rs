//! Agents, humans and sub-flows: handing the session over and getting it back.

use std::time::Duration;

use serde_json::{Value, json};

use super::stage::*;
use crate::event::{ExternalJump, HandBack, HandoffDeflect, JumpTarget};
use crate::flow::{Effect, TraceStep, Trigger, TurnEnd};
use crate::message::IncomingMessage;
use crate::session::{MAX_CALLS, MAX_HISTORY, Mode};

/// Waits, then goes to `target`.
fn ask(id: &str, target: &str) -> Value {
    json!({ "id": id, "type": "content", "contents": [text(id)], "input": { "variable": "answer" },
        "defaultOutput": { "blockId": target } })
}

fn say(id: &str, body: &str) -> Value {
    json!({ "id": id, "type": "content", "contents": [text(body)], "defaultOutput": { "end": true } })
}

fn when(key: &str, value: &str, target: &str) -> Value {
    json!({ "conditions": [{ "source": { "type": "context", "key": key }, "comparator": "equals", "values": [value] }],
        "target": { "blockId": target } })
}

fn agent() -> Value {
    json!({ "id": "ai", "type": "agent", "agentId": "agent1", "maxMessages": 7, "inputTimeout": 60_000,
        "onLeave": [{ "type": "setVariable", "key": "left", "value": "{{agentEndReason}}" }],
        "outputConditions": [when("agentEndReason", "escalated", "human")], "defaultOutput": { "blockId": "bye" } })
}

fn human() -> Value {
    json!({ "id": "human", "type": "human", "queueId": "queue1", "userId": "user1",
        "outputConditions": [when("ticket.exit.key", "again", "hello"), when("handoffDeflect.reason", "closed", "later"),
            when("handoffDeflect.reason", "full", "busy")],
        "defaultOutput": { "blockId": "bye" } })
}

fn stage() -> Stage {
    Stage::new(&flow_of(&[
        ask("hello", "ai"),
        agent(),
        human(),
        say("bye", "Bye {{agentEndReason}}{{ticket.exit.key}}{{ticket.exit.survey}}"),
        say("later", "{{handoffDeflect.reason}}: {{handoffDeflect.detail}}"),
        say("busy", "place {{handoffDeflect.position}}, {{handoffDeflect.waitMinutes}} min"),
    ]))
}

pub(super) fn hand_back() -> HandBack {
    let session = session();
    HandBack {
        to: session.id.party().to_owned(),
        phone_number_id: session.id.phone_number_id().to_owned(),
        session_id: session.id,
        chat_id: session.chat_id,
        jump_target: None,
        agent_end_reason: None,
        ticket: None,
        handoff_deflect: None,
        epoch: None,
        timestamp: NOW,
    }
}

fn ended(reason: &str) -> HandBack {
    HandBack { agent_end_reason: Some(reason.to_owned()), ..hand_back() }
}

fn to(flow: &str, block: &str) -> JumpTarget {
    JumpTarget { flow_id: flow.parse().expect("id"), block_id: block.parse().expect("id") }
}

pub(super) fn jump(flow: &str, block: &str, execute_on_entry: bool) -> ExternalJump {
    let JumpTarget { flow_id, block_id } = to(flow, block);
    ExternalJump {
        session_id: session().id,
        flow_id,
        block_id,
        execute_on_entry,
        redirect_id: None,
        ahead: false,
    }
}

#[test]
fn an_agent_block_saves_the_agents_state_before_its_event() {
    // Spec B 3.3: the chain with one entry, turnCount 0, the expiry of the block's inputTimeout.
    let mut stage = stage();
    stage.start("oi");
    let epoch = stage.session.epoch;
    assert_eq!(stage.say("my bill"), [""; 0]);
    assert_eq!(stage.outcome().end, TurnEnd::HandedOver(Mode::Agent));
    let session = &stage.session;
    assert_eq!((session.mode, session.epoch), (Mode::Agent, epoch + 1));
    assert_eq!(session.expiry_timeout, Duration::from_secs(60));
    assert_eq!(session.deadline(), Some(NOW + Duration::from_secs(60)));
    assert_eq!(session.wake_at, session.deadline());
    let state = serde_json::to_value(session.agent.as_ref().expect("a state")).expect("serialises");
    assert_eq!(
        state,
        json!({ "activeAgentId": "agent1", "agentChain": [{ "agentId": "agent1", "returnToParent": false }],
            "activation": 0,
            "turnCount": 0, "maxMessages": 7, "configSnapshot": Value::Null, "deadline": NOW.as_millis() + 60_000 })
            .as_object()
            .map(|fields| {
                fields.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect::<Value>()
            })
            .expect("an object")
    );
    let [Effect::Agent { agent_id, max_messages, messages }] = &stage.outcome().effects[..] else {
        panic!("{:?}", stage.outcome().effects)
    };
    assert_eq!((agent_id.as_str(), *max_messages), ("agent1", 7));
    assert_eq!(messages[0].content.as_text(), "my bill", "the agent answers what the contact said last");
    assert_eq!(stage.session.history.len(), 1, "a handover is no stop");
}

#[test]
fn an_ended_agent_takes_the_output_of_its_reason() {
    // Spec B 4.9: agentEndReason is stored, outputConditions are judged, else the default output.
    for reason in ["resolved", "maxMessages", "fallback_stuck", "inactivity", "my own"] {
        let mut stage = stage();
        stage.start("oi");
        stage.say("x");
        let epoch = stage.session.epoch;
        stage.play(Trigger::AgentEnded(&ended(reason)));
        assert_eq!(stage.said(), [format!("Bye {reason}")]);
        assert!(stage.ended());
        assert_eq!((stage.session.mode, stage.session.epoch), (Mode::Flow, epoch + 1));
        assert_eq!((&stage.session.agent, stage.variable("left")), (&None, json!(reason)));
        assert_eq!(stage.session.expiry_timeout, Duration::from_secs(1800), "the flow's default again");
    }
    let mut stage = stage();
    stage.start("oi");
    stage.say("x");
    stage.play(Trigger::AgentEnded(&ended("escalated")));
    assert_eq!(stage.outcome().end, TurnEnd::HandedOver(Mode::Human), "{:?}", stage.outcome());
}

#[test]
fn a_human_block_asks_for_its_queue_and_user() {
    let mut stage = Stage::new(&flow_of(&[
        ask("hello", "human"),
        human(),
        say("bye", "x"),
        say("later", "y"),
        say("busy", "z"),
    ]));
    stage.start("oi");
    stage.say("help");
    assert_eq!(stage.outcome().end, TurnEnd::HandedOver(Mode::Human));
    let [Effect::Human { queue_id, user_id, variables }] = &stage.outcome().effects[..] else {
        panic!("{:?}", stage.outcome().effects)
    };
    let (queue, user) = (queue_id.as_ref().expect("a queue"), user_id.as_ref().expect("a user"));
    assert_eq!((queue.as_str(), user.as_str()), ("queue1", "user1"));
    assert_eq!(variables["answer"], "help");
    assert_eq!((stage.session.deadline(), stage.session.wake_at), (None, None), "a human has no deadline");
}

#[test]
fn a_closed_ticket_leaves_its_context() {
    // Spec A 9: ticket.exit.key, ticket.exit.survey, handoffDeflect.reason, handoffDeflect.detail.
    let ticket = |key: &str| json!({ "id": "t1", "exit": { "key": key, "survey": 5 } });
    for (event, expected) in [
        (HandBack { ticket: ticket("solved").as_object().cloned(), ..hand_back() }, "Bye solved5"),
        (hand_back(), "Bye "),
        (HandBack { ticket: ticket("again").as_object().cloned(), ..hand_back() }, "hello"),
        (
            HandBack {
                handoff_deflect: Some(HandoffDeflect {
                    reason: "closed".into(),
                    detail: Some("8 to 18".into()),
                    ..HandoffDeflect::default()
                }),
                ..hand_back()
            },
            "closed: 8 to 18",
        ),
        (
            HandBack {
                handoff_deflect: Some(HandoffDeflect {
                    reason: "full".into(),
                    position: Some(4),
                    wait_minutes: Some(20),
                    ..HandoffDeflect::default()
                }),
                ..hand_back()
            },
            "place 4, 20 min",
        ),
    ] {
        let mut stage = stage();
        stage.start("oi");
        stage.say("x");
        stage.play(Trigger::AgentEnded(&ended("escalated")));
        // The value of an earlier ticket is gone.
        stage.session.variables.insert("ticket".into(), ticket("old"));
        stage.session.helpdesk = Some(crate::session::HelpdeskState::default());
        stage.play(Trigger::HumanEnded(&event));
        let expected = expected.replacen("Bye ", "Bye escalated", 1);
        assert_eq!(stage.said(), [expected]);
        assert_eq!((stage.session.mode, &stage.session.helpdesk), (Mode::Flow, &None));
    }
}

#[test]
fn a_jump_target_takes_the_place_of_the_outputs() {
    // Spec B 2.5: jumpTarget repositions the session instead of running the block's output conditions.
    let other = flow_of(&[say("x", "start"), say("survey", "How was it?")]);
    let mut stage = stage().with_flow("flow2", &other);
    stage.start("oi");
    stage.say("x");
    let event = HandBack { jump_target: Some(to("flow2", "survey")), ..ended("escalated") };
    stage.play(Trigger::AgentEnded(&event));
    assert_eq!(stage.said(), ["How was it?"]);
    assert_eq!(stage.variable("left"), Value::Null, "the block is not left by an output");
    for (flow, block, code) in [("gone", "x", "flow_not_found"), ("flow1", "gone", "block_not_found")] {
        let mut stage = self::stage();
        stage.start("oi");
        stage.say("x");
        let event = HandBack { jump_target: Some(to(flow, block)), ..ended("resolved") };
        stage.play(Trigger::AgentEnded(&event));
        assert_eq!(stage.frozen(), Some(code));
        assert_eq!(stage.session.mode, Mode::Agent, "as it was");
    }
}

#[test]
fn a_hand_back_of_an_owner_that_lost_the_session_does_nothing() {
    // Rulings S14: the epoch names the owner.
    let mut stage = stage();
    stage.start("oi");
    stage.say("x");
    let epoch = stage.session.epoch;
    let before = stage.session.clone();
    for event in [
        HandBack { epoch: Some(epoch - 1), ..ended("resolved") },
        HandBack { epoch: Some(epoch + 1), ..ended("resolved") },
    ] {
        stage.play(Trigger::AgentEnded(&event));
        assert_eq!((&stage.session, stage.outcome().ignored), (&before, Some("no agent has it")));
    }
    stage.play(Trigger::HumanEnded(&hand_back()));
    assert_eq!(&stage.session, &before, "an agent has it, no human");
    stage.play(Trigger::Message(&IncomingMessage::text("m", "hi")));
    assert_eq!(&stage.session, &before, "a message to an agent is not the engine's");
    let right = HandBack { epoch: Some(epoch), ..ended("resolved") };
    stage.play(Trigger::AgentEnded(&right));
    assert_eq!(stage.said(), ["Bye resolved"]);
    let after = stage.session.clone();
    stage.play(Trigger::AgentEnded(&right));
    assert_eq!((&stage.session, stage.said().len()), (&after, 0), "delivered twice");
}

#[test]
fn a_silent_contact_is_told_to_the_agent_once() {
    // Rulings S7: in mode agent expiry calls endAgentSession('inactivity').
    let mut stage = stage();
    stage.start("oi");
    stage.say("x");
    stage.after(59_999).time_out();
    assert_eq!(stage.outcome().effects, []);
    stage.after(1).time_out();
    let epoch = stage.session.epoch;
    let agent_id = "agent1".parse().expect("id");
    assert_eq!(stage.outcome().effects, [Effect::AgentInactive { agent_id, ticket_id: None, epoch }]);
    assert_eq!((stage.session.mode, stage.session.deadline()), (Mode::Agent, None));
    stage.after(60_000).time_out();
    assert_eq!(stage.outcome().effects, []);
}

#[test]
fn redirects_run_or_wait_as_asked() {
    // Spec A 4.5 rule 3.
    let mut stage = stage();
    stage.start("oi");
    stage.play(Trigger::Jump(&jump("flow1", "bye", true)));
    assert_eq!(stage.said(), ["Bye "]);
    assert!(stage.ended());

    let mut stage = self::stage();
    stage.start("oi");
    let epoch = stage.session.epoch;
    stage.play(Trigger::Jump(&jump("flow1", "hello", false)));
    assert_eq!((stage.said().len(), stage.at()), (0, "hello"));
    assert!(stage.waiting());
    assert_eq!(stage.session.deadline(), Some(NOW + Duration::from_secs(1800)), "it does not wait for ever");
    assert_eq!(stage.say("7"), ["hello"], "the next message enters the block and is no answer");
    assert_eq!(stage.variable("answer"), Value::Null);
    assert_eq!(stage.session.epoch, epoch, "the flow has had it all the time");
    let redirects = serde_json::to_value(&stage.session.redirects).expect("serialises");
    assert_eq!(redirects, json!([{ "f": "flow1", "b": "hello" }]));
}

#[test]
fn a_repositioned_session_that_nobody_writes_to_ends() {
    let mut stage = stage();
    stage.start("oi");
    stage.play(Trigger::Jump(&jump("flow1", "hello", false)));
    stage.after(1_800_000).time_out();
    assert!(stage.ended());
}

#[test]
fn a_redirect_takes_the_session_from_its_agent() {
    // Spec A 4.5 rule 4: mode agent is not blocked; rulings S14: the agent is told.
    for execute in [true, false] {
        let mut stage = stage();
        stage.start("oi");
        stage.say("x");
        let epoch = stage.session.epoch;
        stage.play(Trigger::Jump(&jump("flow1", "hello", execute)));
        let agent_id = "agent1".parse().expect("id");
        assert_eq!(stage.outcome().effects[0], Effect::AgentLost { agent_id, ticket_id: None, epoch });
        assert_eq!((stage.session.mode, stage.session.epoch), (Mode::Flow, epoch + 1));
        assert_eq!(stage.session.agent, None);
        assert_eq!(stage.said().len(), usize::from(execute));
    }
}

#[test]
fn a_redirect_that_cannot_be_followed_changes_nothing() {
    let mut stage = stage();
    stage.start("oi");
    let before = stage.session.clone();
    let mut stage = stage.with_flow("tool", &tool());
    for (flow, block) in [("gone", "x"), ("flow1", "gone"), ("tool", "t")] {
        stage.play(Trigger::Jump(&jump(flow, block, true)));
        assert_eq!((&stage.session, stage.outcome().ignored), (&before, Some("leads nowhere")));
    }
    stage.say("x");
    stage.play(Trigger::AgentEnded(&ended("escalated")));
    let before = stage.session.clone();
    stage.play(Trigger::Jump(&jump("flow1", "bye", true)));
    assert_eq!((&stage.session, stage.outcome().ignored), (&before, Some("a human has it")));
}

#[test]
fn a_redirect_that_is_delivered_twice_is_followed_once() {
    let mut stage = stage();
    stage.start("oi");
    let one = ExternalJump { redirect_id: Some("r1".into()), ..jump("flow1", "hello", true) };
    let two = ExternalJump { redirect_id: Some("r2".into()), ..one.clone() };
    for (jump, said) in [(&one, 1), (&two, 1), (&one, 0), (&two, 0)] {
        stage.play(Trigger::Jump(jump));
        assert_eq!(stage.said().len(), said, "{jump:?}");
    }
    for n in 0..50 {
        stage.play(Trigger::Jump(&ExternalJump { redirect_id: Some(format!("n{n}")), ..one.clone() }));
    }
    assert_eq!(stage.session.redirects.len(), MAX_HISTORY, "bounded");
}

fn calls(id: &str, flow: &str, target: &Value) -> Value {
    json!({ "id": id, "type": "flow", "flowId": flow, "defaultOutput": target,
        "outputConditions": [when("answer", "left", "left")] })
}

#[test]
fn a_sub_flow_comes_back_to_its_block() {
    let main = flow_of(&[
        calls("sub", "flow2", &json!({ "blockId": "bye" })),
        say("bye", "Back: {{answer}}"),
        say("left", "Left"),
    ]);
    let sub = flow_of(&[ask("q", "thanks"), say("thanks", "Thanks")]);
    for (answer, expected) in [("right", "Back: right"), ("left", "Left")] {
        let mut stage = Stage::new(&main).with_flow("flow2", &sub);
        assert_eq!(stage.start("oi"), ["q"]);
        assert_eq!(stage.session.calls.len(), 1);
        let position = stage.session.position.clone().expect("positioned");
        assert_eq!(position.flow_id.as_str(), "flow2");
        assert_eq!(stage.say(answer), ["Thanks", expected]);
        assert!(stage.ended());
        assert!(stage.session.calls.is_empty());
        let returned = |step: &TraceStep| matches!(step, TraceStep::FlowReturned(flow) if flow.flow_id.as_str() == "flow1");
        assert!(stage.outcome().trace.iter().any(returned));
    }
    // A wait that runs out within a sub-flow ends the session.
    let mut stage = Stage::new(&main).with_flow("flow2", &sub);
    stage.start("oi");
    assert_eq!(stage.after(1_800_000).time_out(), [""; 0]);
    assert!(stage.ended());
}

#[test]
fn a_sub_flow_that_does_not_return_is_a_jump() {
    let mut sub = calls("sub", "flow2", &json!({ "blockId": "left" }));
    sub["returns"] = json!(false);
    let mut stage =
        Stage::new(&flow_of(&[sub, say("left", "never")])).with_flow("flow2", &flow_of(&[say("x", "There")]));
    assert_eq!(stage.start("oi"), ["There"]);
    assert!(stage.ended());
}

#[test]
fn sub_flows_are_bounded_and_missing_ones_are_errors() {
    // It calls itself.
    let me = flow_of(&[calls("sub", "flow1", &json!({ "end": true })), say("left", "x")]);
    let mut stage = Stage::new(&me);
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("call_depth"));
    assert_eq!(
        stage.outcome().trace.iter().filter(|step| matches!(step, TraceStep::FlowEntered(_))).count(),
        MAX_CALLS
    );

    let missing = flow_of(&[calls("sub", "gone", &json!({ "end": true })), say("left", "x")]);
    let mut stage = Stage::new(&missing);
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("flow_not_found"));

    let mut caught = missing;
    caught["settings"] = json!({ "errorTarget": { "blockId": "left" } });
    let mut stage = Stage::new(&caught);
    assert_eq!(stage.start("oi"), ["x"]);
}

fn tool() -> Value {
    let mut tool = flow_of(&[json!({ "id": "t", "type": "content", "defaultOutput": { "end": true } })]);
    tool["kind"] = json!("tool");
    tool
}

#[test]
fn no_session_stands_in_a_tool() {
    // It would end there without a word.
    let target = json!({ "id": "a", "type": "content", "defaultOutput": { "flowId": "tool" } });
    let block =
        json!({ "id": "a", "type": "content", "defaultOutput": { "flowId": "tool", "blockId": "t" } });
    let output = json!({ "id": "a", "type": "content", "defaultOutput": { "blockId": "left" }, "outputConditions": [{
        "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["oi"] }],
        "target": { "flowId": "tool" } }] });
    let mut jumps = calls("sub", "tool", &json!({ "end": true }));
    jumps["returns"] = json!(false);
    for first in [target, block, output, jumps, calls("sub", "tool", &json!({ "end": true }))] {
        let mut definition = flow_of(&[first, say("left", "Caught")]);
        let mut stage = Stage::new(&definition).with_flow("tool", &tool());
        stage.start("oi");
        assert_eq!(stage.frozen(), Some("flow_is_tool"), "{definition}");
        definition["settings"] = json!({ "errorTarget": { "blockId": "left" } });
        let mut stage = Stage::new(&definition).with_flow("tool", &tool());
        assert_eq!(stage.start("oi"), ["Caught"]);
    }
    let mut stage = stage().with_flow("tool", &tool());
    stage.start("oi");
    stage.say("x");
    let event = HandBack { jump_target: Some(to("tool", "t")), ..ended("resolved") };
    stage.play(Trigger::AgentEnded(&event));
    assert_eq!(stage.frozen(), Some("flow_is_tool"));
}

#[test]
fn a_tool_may_use_a_tool() {
    let mut outer = flow_of(&[
        json!({ "id": "sub", "type": "flow", "flowId": "inner", "defaultOutput": { "blockId": "after" } }),
        json!({ "id": "after", "type": "content", "defaultOutput": { "end": true },
            "onEnter": [{ "type": "setVariable", "key": "after", "value": "yes" }] }),
    ]);
    outer["kind"] = json!("tool");
    let mut stage = Stage::new(&outer).with_flow("inner", &tool());
    stage.play(Trigger::Open);
    assert!(stage.ended());
    assert_eq!(stage.variable("after"), "yes");
}

#[test]
fn an_error_within_a_sub_flow_leads_to_its_callers_target() {
    let mut main = flow_of(&[calls("sub", "flow2", &json!({ "end": true })), say("left", "Caught")]);
    main["settings"] = json!({ "errorTarget": { "blockId": "left" } });
    let sub = flow_of(&[json!({ "id": "x", "type": "content", "defaultOutput": { "flowId": "gone" } })]);
    let mut stage = Stage::new(&main).with_flow("flow2", &sub);
    assert_eq!(stage.start("oi"), ["Caught"]);
    assert!(stage.session.calls.is_empty());
}

#[test]
fn an_agent_in_a_sub_flow_comes_back_through_both() {
    let main =
        flow_of(&[calls("sub", "flow2", &json!({ "blockId": "bye" })), say("bye", "Bye"), say("left", "x")]);
    let sub = flow_of(&[
        json!({ "id": "ai", "type": "agent", "agentId": "a", "maxMessages": 1, "defaultOutput": { "end": true } }),
    ]);
    let mut stage = Stage::new(&main).with_flow("flow2", &sub);
    stage.start("oi");
    assert_eq!(stage.session.mode, Mode::Agent);
    stage.play(Trigger::AgentEnded(&ended("resolved")));
    assert_eq!(stage.said(), ["Bye"]);
}

#[test]
fn a_session_that_no_block_handed_over_ends_when_it_comes_back() {
    let mut stage = stage();
    stage.session.give_to(Mode::Human);
    stage.play(Trigger::HumanEnded(&hand_back()));
    assert!(stage.ended(), "the next message begins anew");
    assert_eq!(stage.said(), [""; 0]);
    let mut stage = self::stage();
    stage.session.give_to(Mode::Human);
    stage.play(Trigger::HumanEnded(&HandBack { jump_target: Some(to("flow1", "bye")), ..hand_back() }));
    assert_eq!(stage.said(), ["Bye "]);
}

#[test]
fn after_a_redirect_the_stream_is_that_of_the_prefix() {
    // Spec A 4.5 rule 5.
    use crate::session::SessionId;
    use crate::stream::topic::TopicName;

    for (id, stream) in [
        ("wa-1-5511", TopicName::OutgoingPhone),
        ("wc-chan-visitor", TopicName::OutgoingChat),
        ("ig-1-2", TopicName::OutgoingSocial),
    ] {
        let mut stage = stage();
        stage.session.id = SessionId::parse(id).expect("id");
        stage.start("oi");
        stage.play(Trigger::Jump(&jump("flow1", "bye", true)));
        assert_eq!(stage.said(), ["Bye "]);
        assert_eq!(TopicName::outgoing(&stage.session.id), stream);
    }
}

#[test]
fn two_flows_that_call_each_other_end() {
    let there = flow_of(&[calls("sub", "flow2", &json!({ "end": true })), say("left", "x")]);
    let back = flow_of(&[calls("sub", "flow1", &json!({ "end": true })), say("left", "x")]);
    let mut stage = Stage::new(&there).with_flow("flow2", &back);
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("call_depth"));
    // Where each returns before the next call, the step limit ends it.
    let mut round = calls("sub", "flow2", &json!({ "flowId": "flow1" }));
    round["outputConditions"] = json!([]);
    let quick = flow_of(&[json!({ "id": "q", "type": "content", "defaultOutput": { "end": true } })]);
    let mut stage = Stage::new(&flow_of(&[round])).with_flow("flow2", &quick);
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("flow_loop"));
}
