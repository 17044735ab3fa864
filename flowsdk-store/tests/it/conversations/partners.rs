//! Sessions that go to an AI agent or a human and come back; redirects. The partners are scripted.

use std::time::Duration;

use flowsdk_core::chat::HasChatTags as _;
use flowsdk_core::contact::HasOptIns as _;
use flowsdk_core::conversation::ConversationEvent;
use flowsdk_core::event::{ExternalJump, FlowEvent, HandBack, HandoffDeflect, JumpTarget};
use flowsdk_core::flow::HasTrackedEvents as _;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{HasTraces as _, Mode, Session};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::flows::flow_of;
use super::world::{MINUTE, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    an_agent_gets_the_session_and_gives_it_back,
    an_agent_hands_on_to_a_human,
    a_takeover_leaves_the_agent_nothing_to_say,
    what_is_delivered_twice_is_done_once,
    a_silent_contact_is_told_to_the_agent,
    redirects_in_every_mode,
    messages_of_one_event_follow_the_owner,
    a_sub_flow_spans_turns_and_batches,
    what_flows_note_is_stored_with_the_turn,
    the_trace_of_a_flow_that_wants_it_is_stored,
    the_simulator_traces_what_really_happens,
}

fn says(body: &str) -> Value {
    json!([{ "type": "text", "text": { "body": body } }])
}

fn when(key: &str, value: &str, target: &str) -> Value {
    json!({ "conditions": [{ "source": { "type": "context", "key": key }, "comparator": "equals", "values": [value] }],
        "target": { "blockId": target } })
}

/// Asks, gives the answer to an agent, and that one's escalations to a human.
fn partners() -> Value {
    let mut flow = flow_of(&[
        json!({ "id": "ask", "type": "content", "contents": says("Ask"), "input": { "variable": "answer" },
            "defaultOutput": { "blockId": "ai" } }),
        json!({ "id": "ai", "type": "agent", "agentId": "agent1", "maxMessages": 5, "inputTimeout": 60_000,
            "outputConditions": [when("agentEndReason", "escalated", "human")], "defaultOutput": { "blockId": "bye" } }),
        json!({ "id": "human", "type": "human", "queueId": "queue1",
            "outputConditions": [when("handoffDeflect.reason", "closed", "ask")], "defaultOutput": { "blockId": "bye" } }),
        json!({ "id": "bye", "type": "content", "contents": says("Bye {{agentEndReason}} {{ticket.exit.key}}"),
            "input": {}, "defaultOutput": { "blockId": "ask" } }),
    ]);
    flow["settings"] = json!({ "trace": true });
    flow
}

async fn world(store: SqlStore) -> World {
    let world = World::new(store).await;
    world.publish("router1", "partners", partners()).await;
    world.start_with("router1", "partners").await;
    world
}

impl World {
    async fn flow(&self, event: FlowEvent) -> Vec<String> {
        bodies(&self.handle(ConversationEvent::Flow(event)).await)
    }

    async fn session(&self, visitor: &str) -> Session {
        self.stored(visitor).await.expect("a session").session
    }

    async fn hand_back(&self, visitor: &str) -> HandBack {
        let session = self.session(visitor).await;
        HandBack {
            to: session.id.party().to_owned(),
            phone_number_id: session.id.phone_number_id().to_owned(),
            session_id: session.id,
            chat_id: session.chat_id,
            jump_target: None,
            agent_end_reason: None,
            ticket: None,
            handoff_deflect: None,
            epoch: Some(session.epoch),
            timestamp: self.cx.now(),
        }
    }
}

fn ended(reason: &str, event: HandBack) -> FlowEvent {
    FlowEvent::AgentSessionEnded(HandBack { agent_end_reason: Some(reason.to_owned()), ..event })
}

fn jump(visitor: &str, block: &str, execute_on_entry: bool) -> ExternalJump {
    ExternalJump {
        session_id: session(visitor),
        flow_id: "partners".parse().expect("an id"),
        block_id: block.parse().expect("an id"),
        execute_on_entry,
        redirect_id: Some(format!("{visitor}-{block}-{execute_on_entry}")),
        ahead: false,
    }
}

async fn an_agent_gets_the_session_and_gives_it_back(store: SqlStore) {
    let world = world(store).await;
    world.say("ana", "m1", "oi").await;
    assert_eq!(world.say("ana", "m2", "my bill").await, [""; 0]);
    let session = world.session("ana").await;
    assert_eq!((session.mode, session.agent.as_ref().map(|agent| agent.turn_count)), (Mode::Agent, Some(0)));
    world.say("ana", "m3", "are you there?").await;
    let events = world.published(TopicName::Agent).await;
    assert_eq!(events.len(), 2);
    let texts: Vec<_> = events.iter().map(|event| event["messages"][0]["text"]["body"].clone()).collect();
    assert_eq!(texts, ["my bill", "are you there?"]);
    for event in &events {
        assert_eq!((&event["agentId"], &event["maxMessages"]), (&json!("agent1"), &json!(5)));
        assert_eq!(event["epoch"], session.epoch);
        assert_eq!(event["phoneNumberId"], "wc-c1");
        assert!(event.get("kind").is_none(), "spec B 2.5: a turn has no kind");
    }
    let event = world.hand_back("ana").await;
    assert_eq!(world.flow(ended("resolved", event)).await, ["Bye resolved "]);
    let session = world.session("ana").await;
    assert_eq!(
        (session.mode, session.agent, session.variables["agentEndReason"].clone()),
        (Mode::Flow, None, json!("resolved"))
    );
    assert_eq!(world.say("ana", "m4", "again").await, ["Ask"]);
    let transcript = world.transcript_of("ana").await;
    assert_eq!(
        transcript,
        ["> oi", "< Ask", "> my bill", "> are you there?", "< Bye resolved ", "> again", "< Ask"]
    );
}

async fn an_agent_hands_on_to_a_human(store: SqlStore) {
    let world = world(store).await;
    world.say("ana", "m1", "oi").await;
    world.say("ana", "m2", "help").await;
    let event = world.hand_back("ana").await;
    assert_eq!(world.flow(ended("escalated", event)).await, [""; 0]);
    world.say("ana", "m3", "hello?").await;
    let events = world.published(TopicName::Helpdesk).await;
    let kinds: Vec<_> = events.iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["handoff", "message"]);
    let handoff = &events[0];
    assert_eq!((&handoff["presetQueueId"], handoff.get("presetUserId")), (&json!("queue1"), None));
    assert_eq!(handoff["contextVariables"]["answer"], "help");
    assert_eq!(handoff["contact"]["phoneNumber"], session("ana").contact_identity());
    assert_eq!(world.session("ana").await.wake_at, None);
    // Nobody was there: back to the question.
    let back = HandBack {
        handoff_deflect: Some(HandoffDeflect { reason: "closed".into(), ..HandoffDeflect::default() }),
        ..world.hand_back("ana").await
    };
    assert_eq!(world.flow(FlowEvent::HumanSessionEnded(back)).await, ["Ask"]);
    // The second time somebody closes the ticket, and sends the contact elsewhere.
    world.say("ana", "m4", "help").await;
    let event = world.hand_back("ana").await;
    world.flow(ended("escalated", event)).await;
    let ticket = json!({ "exit": { "key": "solved" } }).as_object().cloned();
    let back = HandBack { ticket, ..world.hand_back("ana").await };
    assert_eq!(world.flow(FlowEvent::HumanSessionEnded(back)).await, ["Bye escalated solved"]);
    let stored = world.session("ana").await;
    assert_eq!((stored.mode, stored.helpdesk), (Mode::Flow, None));
    assert!(!stored.variables.contains_key("handoffDeflect"));
}

/// Rulings S14: an agent that still thinks when a human takes over changes nothing afterwards.
async fn a_takeover_leaves_the_agent_nothing_to_say(store: SqlStore) {
    let world = world(store).await;
    world.say("ana", "m1", "oi").await;
    world.say("ana", "m2", "help").await;
    assert_eq!(world.published(TopicName::Agent).await.len(), 1);
    // What the agent will have come to, once it has thought.
    let late = world.hand_back("ana").await;
    world.flow(FlowEvent::ExternalJump(jump("ana", "human", true))).await;
    let taken = world.session("ana").await;
    assert_eq!((taken.mode, &taken.agent), (Mode::Human, &None));
    assert!(taken.epoch > late.epoch.expect("an epoch"), "what the agent says bears a former epoch");
    for reason in ["resolved", "escalated", "inactivity"] {
        assert_eq!(world.flow(ended(reason, late.clone())).await, [""; 0]);
        let back = FlowEvent::HumanSessionEnded(late.clone());
        assert_eq!(world.flow(back).await, [""; 0], "nor does it close the ticket of the human");
    }
    assert_eq!(world.session("ana").await, taken, "nothing is written");
    // The agent is told that it has lost the session; the contact is heard by people alone.
    let told = world.published(TopicName::Agent).await;
    assert!(
        told.iter().all(|event| event["kind"] != "message" && event.get("messages").is_none()),
        "{told:?}"
    );
    world.say("ana", "m3", "hello?").await;
    assert_eq!(world.published(TopicName::Agent).await, [] as [Value; 0]);
    let heard = world.published(TopicName::Helpdesk).await;
    let kinds: Vec<_> = heard.iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["handoff", "message"]);
}

async fn what_is_delivered_twice_is_done_once(store: SqlStore) {
    let world = world(store).await;
    world.say("ana", "m1", "oi").await;
    for _ in 0..2 {
        world.handle(world.text("ana", "m2", "bill")).await;
    }
    assert_eq!(world.published(TopicName::Agent).await.len(), 1);
    let event = ended("escalated", world.hand_back("ana").await);
    for _ in 0..2 {
        world.flow(event.clone()).await;
    }
    assert_eq!(world.published(TopicName::Helpdesk).await.len(), 1);
    let version = world.session("ana").await.version;
    world.flow(event).await;
    assert_eq!(world.session("ana").await.version, version, "nothing is written");
    let back = HandBack {
        jump_target: Some(JumpTarget {
            flow_id: "partners".parse().expect("id"),
            block_id: "ask".parse().expect("id"),
        }),
        ..world.hand_back("ana").await
    };
    for expected in [1, 0] {
        assert_eq!(world.flow(FlowEvent::HumanSessionEnded(back.clone())).await.len(), expected);
    }
    for expected in [1, 0] {
        assert_eq!(world.flow(FlowEvent::ExternalJump(jump("ana", "bye", true))).await.len(), expected);
    }
    // A session that is not there any more has nothing to do.
    for event in [
        FlowEvent::ExternalJump(jump("bia", "bye", true)),
        FlowEvent::HumanSessionEnded(HandBack { session_id: session("bia"), ..back }),
    ] {
        assert_eq!(world.flow(event).await, [""; 0]);
    }
}

async fn a_silent_contact_is_told_to_the_agent(store: SqlStore) {
    let world = world(store).await;
    world.say("ana", "m1", "oi").await;
    world.say("ana", "m2", "bill").await;
    world.clock.advance(MINUTE / 2);
    world.say("ana", "m3", "wait").await;
    world.wait(MINUTE - Duration::from_millis(1)).await;
    assert_eq!(world.published(TopicName::Agent).await.len(), 2, "the contact wrote half a minute ago");
    world.wait(Duration::from_millis(1)).await;
    world.wait(MINUTE).await;
    let events = world.published(TopicName::Agent).await;
    assert_eq!(events.len(), 1, "told once: {events:?}");
    let session = world.session("ana").await;
    assert_eq!((&events[0]["kind"], &events[0]["epoch"]), (&json!("inactivity"), &json!(session.epoch)));
    assert_eq!((session.mode, session.wake_at), (Mode::Agent, None));
    // The executor ends the agent's part.
    let event = world.hand_back("ana").await;
    assert_eq!(world.flow(ended("inactivity", event)).await, ["Bye inactivity "]);
}

async fn redirects_in_every_mode(store: SqlStore) {
    let world = world(store).await;
    for (visitor, mode) in [("ana", Mode::Flow), ("bia", Mode::Agent), ("caio", Mode::Human)] {
        for execute in [true, false] {
            let visitor = if execute { visitor.to_owned() } else { format!("{visitor}2") };
            world.add_visitor(&visitor).await;
            world.say(&visitor, &format!("{visitor}1"), "oi").await;
            if mode != Mode::Flow {
                world.say(&visitor, &format!("{visitor}2"), "bill").await;
            }
            if mode == Mode::Human {
                let event = world.hand_back(&visitor).await;
                world.flow(ended("escalated", event)).await;
            }
            let before = world.session(&visitor).await;
            let told = world.flow(FlowEvent::ExternalJump(jump(&visitor, "bye", execute))).await;
            let after = world.session(&visitor).await;
            if mode == Mode::Human {
                assert_eq!((told.len(), after), (0, before), "spec A 4.5 rule 4");
                continue;
            }
            assert_eq!(told.len(), usize::from(execute));
            assert_eq!((after.mode, after.redirects.len(), &after.agent), (Mode::Flow, 1, &None));
            assert_eq!(after.epoch - before.epoch, i64::from(mode == Mode::Agent));
            assert!(after.wake_at.is_some());
            let expected = if execute { "Ask" } else { "Bye  " };
            assert_eq!(world.say(&visitor, &format!("{visitor}3"), "x").await, [expected]);
        }
    }
    let lost =
        world.published(TopicName::Agent).await.into_iter().filter(|event| event["kind"] == "sessionLost");
    assert_eq!(lost.count(), 2);
    for (flow, block) in [("gone", "x"), ("partners", "gone")] {
        let jump = ExternalJump { flow_id: flow.parse().expect("id"), ..jump("ana", block, true) };
        let before = world.session("ana").await;
        assert_eq!(world.flow(FlowEvent::ExternalJump(jump)).await, [""; 0]);
        assert_eq!(world.session("ana").await, before);
    }
    // To a flow that nothing else leads to.
    let end = json!({ "end": true });
    let apart = flow_of(&[super::flows::block("only", "Apart", &end)]);
    world.publish("router1", "apart", apart).await;
    let jump = ExternalJump {
        flow_id: "apart".parse().expect("id"),
        block_id: "only".parse().expect("id"),
        ..jump("ana", "x", true)
    };
    assert_eq!(world.flow(FlowEvent::ExternalJump(jump)).await, ["Apart"]);
    assert_eq!(world.stored("ana").await, None, "it ended there");
}

async fn messages_of_one_event_follow_the_owner(store: SqlStore) {
    let world = world(store).await;
    let messages = ["oi", "bill", "and", "more"];
    let messages = messages.iter().enumerate().map(|(n, text)| IncomingMessage::text(format!("m{n}"), *text));
    let event = ConversationEvent::Incoming(world.event("ana", messages.collect()));
    let report = world.handle(event).await;
    assert_eq!((bodies(&report), report.stored.len()), (vec!["Ask".to_owned()], 4));
    let epoch = world.session("ana").await.epoch;
    assert_eq!(report.outgoing[0].epoch, epoch, "what was said before the handover is not stale");
    let events = world.published(TopicName::Agent).await;
    let texts: Vec<Vec<_>> = events
        .iter()
        .map(|event| {
            event["messages"].as_array().expect("a list").iter().map(|m| m["text"]["body"].clone()).collect()
        })
        .collect();
    assert_eq!(texts, [vec![json!("bill")], vec![json!("and"), json!("more")]]);
}

async fn a_sub_flow_spans_turns_and_batches(store: SqlStore) {
    let world = World::new(store).await;
    let ask = json!({ "id": "q", "type": "content", "contents": says("Sub {{flow.own}}{{router.r}}"), "input": { "variable": "answer" }, "defaultOutput": { "end": true } });
    world.publish("router1", "sub", flow_of(&[ask])).await;
    let call =
        json!({ "id": "call", "type": "flow", "flowId": "sub", "defaultOutput": { "blockId": "after" } });
    let after = json!({ "id": "after", "type": "content", "contents": says("After {{answer}}"), "input": {}, "defaultOutput": { "blockId": "call" } });
    world.publish("router1", "outer", flow_of(&[call, after])).await;
    world.start_with("router1", "outer").await;
    assert_eq!(world.say("ana", "m1", "oi").await, ["Sub "]);
    assert_eq!(world.session("ana").await.calls.len(), 1);
    assert_eq!(world.say("ana", "m2", "x").await, ["After x"]);
    assert_eq!(world.session("ana").await.calls.len(), 0);
    assert_eq!(world.say("ana", "m3", "x").await, ["Sub "]);
}

async fn what_flows_note_is_stored_with_the_turn(store: SqlStore) {
    use flowsdk_core::contact::OptInStatus;
    use flowsdk_core::store::Store as _;

    let world = World::new(store).await;
    let end = json!({ "end": true });
    let mut block = super::flows::block("b", "Noted", &end);
    block["onEnter"] = json!([{ "type": "acceptOptIn" }, { "type": "addTags", "tags": ["vip", "{{input}}", "{{absent}}", "vip"] },
        { "type": "trackEvent", "name": "seen", "properties": { "said": "{{input}}", "n": 1 } },
        { "type": "revokeOptIn", "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["stop"] }] }]);
    world.publish("router1", "notes", flow_of(&[block])).await;
    world.start_with("router1", "notes").await;
    let contact = world.contact("ana").await.id;
    for (n, (text, status)) in
        [("oi", OptInStatus::Accepted), ("stop", OptInStatus::Revoked)].into_iter().enumerate()
    {
        let event = world.text("ana", &format!("m{n}"), text);
        world.handle(event.clone()).await;
        let report = world.handle(event).await;
        assert_eq!(report.outgoing, []);
        let chat = world.open_chat("ana").await;
        let mut tx = world.store.read().await.expect("read");
        let current =
            tx.opt_ins().current(&contact, &world.router).await.expect("current").expect("an opt-in");
        assert_eq!((current.status, current.chat_id.as_ref()), (status, Some(&chat)));
        let events = tx.tracked_events().latest(&world.router, 10).await.expect("latest");
        assert_eq!(events.len(), n + 1, "the second delivery noted nothing");
        assert_eq!((events[0].name.as_str(), &events[0].properties["said"]), ("seen", &json!(text)));
        let tags = tx.chat_tags().of_chat(&chat).await.expect("tags");
        assert_eq!(tags.len(), n + 2);
    }
}

async fn the_trace_of_a_flow_that_wants_it_is_stored(store: SqlStore) {
    use flowsdk_core::store::Store as _;

    let world = world(store).await;
    world.say("ana", "m1", "oi").await;
    world.say("ana", "m2", "an answer").await;
    let event = world.hand_back("ana").await;
    world.flow(ended("resolved", event)).await;
    let mut tx = world.store.read().await.expect("read");
    let traces = tx.traces().trace(&session("ana"), None, 10).await.expect("a page");
    let events: Vec<_> = traces.iter().map(|trace| trace.event.as_str()).collect();
    assert_eq!(events, ["agentSessionEnded", "message", "message"]);
    let steps = traces[1].steps.to_string();
    assert!(steps.contains(r#""step":"handedOver""#) && steps.contains(r#""text":"an answer""#), "{steps}");
}

/// The simulator and a real session run on the same engine: what one traces, the other does.
async fn the_simulator_traces_what_really_happens(store: SqlStore) {
    use std::sync::Arc;

    use flowsdk_core::flow::simulator::{Script, simulate};
    use flowsdk_core::flow::{CompiledFlow, FlowVersion};
    use flowsdk_core::store::Store as _;

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/flows/concierge.json");
    let mut definition: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the example")).expect("JSON");
    definition["settings"]["trace"] = json!(true);
    let world = World::new(store).await;
    world.publish("router1", "concierge", definition.clone()).await;
    world.start_with("router1", "concierge").await;
    let flow: Arc<CompiledFlow> = CompiledFlow::compile(&FlowVersion {
        id: "concierge-v1".parse().expect("an id"),
        flow_id: "concierge".parse().expect("an id"),
        router_id: "router1".parse().expect("an id"),
        flow_name: "concierge".to_owned(),
        number: 1,
        definition: definition.into(),
        created_at: world.cx.now(),
    })
    .expect("compiles");
    let script: Script = serde_json::from_value(json!({ "steps": [
        { "say": "hi" }, { "say": "maybe" }, { "say": "yes" }, { "agentEnds": { "reason": "escalated" } },
        { "humanEnds": { "ticket": { "exit": { "key": "solved" } } } }, { "say": "9" }, { "say": "5" }] }))
    .expect("a script");
    let simulated = simulate(&flow, &[], &script);

    let mut told = Vec::new();
    for (n, text) in ["hi", "maybe", "yes"].into_iter().enumerate() {
        told.push(world.say("ana", &format!("m{n}"), text).await);
    }
    let event = world.hand_back("ana").await;
    told.push(world.flow(ended("escalated", event)).await);
    let ticket = json!({ "exit": { "key": "solved" } }).as_object().cloned();
    let back = HandBack { ticket, ..world.hand_back("ana").await };
    told.push(world.flow(FlowEvent::HumanSessionEnded(back)).await);
    for text in ["9", "5"] {
        told.push(world.say("ana", text, text).await);
    }
    let messages: Vec<_> = simulated.steps.iter().map(|step| step.messages.clone()).collect();
    assert_eq!(
        told,
        messages
            .iter()
            .map(|said| said.iter().map(|text| text.replace("Ana", "")).collect())
            .collect::<Vec<Vec<_>>>()
    );
    let mut tx = world.store.read().await.expect("read");
    let mut traces = tx.traces().trace(&session("ana"), None, 50).await.expect("a page");
    traces.reverse();
    let real: Vec<Value> = traces.into_iter().map(|trace| trace.steps).collect();
    let expected: Vec<Value> =
        simulated.steps.iter().map(|step| serde_json::to_value(&step.trace).expect("serialises")).collect();
    assert_eq!(real, expected);
}
