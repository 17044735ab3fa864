//! What a turn does.

use std::time::Duration;

use flowsdk_agent::executor::Served;
use flowsdk_agent::inbox::HasInbox as _;
use flowsdk_agent::ledger::HasAgentTurns as _;
use flowsdk_agent::model::{Item, ToolCall};
use flowsdk_core::conversation::{ConversationEvent, publish_ahead};
use flowsdk_core::event::{AgentEvent, AgentNotice, ExternalJump, FlowEvent};
use flowsdk_core::message::{Direction, SenderKind};
use flowsdk_core::session::Mode;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox as _;
use flowsdk_core::stream::topic::{Agent, TopicName};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::world::Agents;
use crate::conversations::world::{MINUTE, session};
use crate::support::databases::on_every_database;

on_every_database! {
    an_agent_answers_what_the_contact_says,
    what_is_said_in_a_burst_is_one_turn,
    an_event_that_comes_twice_is_one_turn,
    the_flow_goes_on_when_the_agent_ends,
    people_get_the_conversation,
    a_specialist_gives_the_conversation_back,
    transfers_that_cannot_be_made_are_aborted,
    variables_are_remembered,
    a_flow_is_a_tool,
    a_silent_model_leads_to_the_fallback,
    turns_are_counted_over_the_chain,
    a_silent_contact_ends_the_part,
    an_agent_out_of_service_is_not_asked,
    a_model_that_fails_is_replaced,
    nothing_is_sent_after_a_takeover,
    a_desk_takes_the_conversation,
    a_turn_knows_the_turns_before,
    an_end_waits_for_what_was_not_heard,
    an_end_waits_for_what_is_still_on_its_way,
    whoever_writes_meanwhile_is_answered_by_whoever_knows_why,
    whoever_waits_for_an_answer_is_not_inactive,
    calls_may_be_numbered_anew_with_each_answer,
    a_desk_that_takes_the_conversation_ends_the_turn,
    what_the_session_was_lost_to_before_ends_nothing,
    a_turn_waits_for_what_stands_ahead,
    old_turns_are_forgotten,
}

fn says(text: &str) -> Value {
    json!([{ "tool": "sendTextMessage", "arguments": { "text": text } }])
}

/// Answers everything that nothing else answers.
fn echo() -> Value {
    json!({ "when": { "input": "^(.*)$" }, "calls": says("You said {{1}}") })
}

async fn an_agent_answers_what_the_contact_says(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, ["You said tea"]);
    let session = agents.session("ana").await;
    let state = session.agent.as_ref().expect("an agent has it");
    assert_eq!((session.mode, state.turn_count), (Mode::Agent, 1));
    let snapshot = state.config_snapshot.as_ref().expect("a snapshot");
    assert_eq!((snapshot.system_prompt.as_str(), snapshot.provider.as_str()), ("You are sales.", "openai"));
    let history = agents.world.history(&session.chat_id).await;
    let last = history.last().expect("a message");
    assert_eq!(
        (last.direction, last.sender.as_ref().expect("a sender").kind),
        (Direction::Out, SenderKind::Ai)
    );
    let turns = agents.turns("ana", session.epoch, 0).await;
    let turn = &turns[0];
    assert_eq!((turns.len(), turn.is_running, turn.number, turn.error.as_deref()), (1, false, 1, None));
    // One answer with the message, and one that says nothing more.
    assert_eq!((agents.mind.asks(), turn.answers.len()), (2, 2));
    let calls = turn.items.iter().filter(|item| matches!(item, Item::ToolCall(_))).count();
    let results = turn.items.iter().filter(|item| matches!(item, Item::ToolResult { .. })).count();
    assert_eq!((calls, results), (1, 1));
    assert_eq!(agents.serve("ana").await, [""; 0], "nothing waits");
}

async fn what_is_said_in_a_burst_is_one_turn(store: SqlStore) {
    let agents =
        Agents::new(store, &json!([{ "when": { "input": "(?s)^(.*)$" }, "calls": says("{{1}}") }])).await;
    agents.reach("ana", "one").await;
    for text in ["two", "three", "four"] {
        agents.say("ana", text).await;
    }
    assert_eq!(agents.serve("ana").await, ["one\ntwo\nthree\nfour"]);
    assert_eq!(agents.session("ana").await.agent.expect("an agent has it").turn_count, 1);
}

async fn an_event_that_comes_twice_is_one_turn(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.world.add_visitor("ana").await;
    agents.world.say("ana", "m1", "oi").await;
    agents.world.say("ana", "m2", "tea").await;
    let events = agents.world.published(TopicName::Agent).await;
    let again = async || {
        let mut tx = agents.world.store.begin().await.expect("begin");
        let event: AgentEvent = serde_json::from_value(events[0].clone()).expect("an event");
        tx.outbox().push_many(&[NewEntry::of::<Agent>(&event)]).await.expect("published");
        tx.commit().await.expect("commit");
        agents.deliver().await;
    };
    again().await;
    again().await;
    assert_eq!(agents.serve("ana").await, ["You said tea"]);
    again().await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    let mut tx = agents.world.store.begin().await.expect("begin");
    let forgotten = tx.inbox().forget(agents.world.cx.now() + MINUTE, 10).await.expect("forgotten");
    tx.commit().await.expect("commit");
    assert_eq!(forgotten, 1);
}

async fn the_flow_goes_on_when_the_agent_ends(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "bye" }, "calls": [
            { "tool": "sendTextMessage", "arguments": { "text": "So long" } },
            { "tool": "endAgentSession", "arguments": { "reason": "happy" } },
            { "tool": "sendTextMessage", "arguments": { "text": "never" } }] },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "bye").await;
    assert_eq!(agents.serve("ana").await, ["So long"]);
    let epoch = agents.session("ana").await.epoch;
    assert_eq!(agents.turns("ana", epoch, 0).await[0].end_reason.as_deref(), Some("happy"));
    // What comes before the flow has gone on is the flow's.
    agents.say("ana", "one thing more").await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    let session = agents.session("ana").await;
    assert_eq!((session.mode, session.agent.is_none()), (Mode::Flow, true));
    assert_eq!(session.variables["agentEndReason"], "happy");
    let said = agents.world.transcript_of("ana").await;
    assert_eq!(said[3..], ["< So long", "< Bye happy", "> one thing more", "< Ask"]);
    assert_eq!(agents.go_on().await, [""; 0], "it was done already");
    assert_eq!(agents.mind.asks(), 1);
}

async fn people_get_the_conversation(store: SqlStore) {
    let rules = json!([{ "when": { "input": "human" }, "calls": [
        { "tool": "setVariable", "arguments": { "key": "plan", "value": "gold" } },
        { "tool": "sendTextMessage", "arguments": { "text": "One moment" } },
        { "tool": "transferToHuman", "arguments": { "reason": "asks for one" } }] }]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "a human please").await;
    let before = agents.session("ana").await.epoch;
    assert_eq!(agents.serve("ana").await, ["One moment"]);
    let session = agents.session("ana").await;
    assert_eq!((session.mode, session.epoch, session.agent.is_none()), (Mode::Human, before + 1, true));
    let events = agents.handoffs().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(
        (&events[0]["epoch"], &events[0]["contextVariables"]["plan"]),
        (&json!(before + 1), &json!("gold"))
    );
    assert_eq!(events[0]["contextVariables"]["agentHandoffReason"], "asks for one");
    agents.say("ana", "hello?").await;
    assert_eq!(agents.serve("ana").await, [""; 0], "people have it");
}

async fn a_specialist_gives_the_conversation_back(store: SqlStore) {
    let transfer = json!([{ "tool": "transferToAgent", "arguments": { "agentId": "care",
        "handoffContext": "broken cup", "lastUserInput": "it is broken", "returnToOrchestrator": true } }]);
    let rules = json!([
        { "when": { "instructions": "You are sales", "input": "broken$" }, "calls": transfer },
        { "when": { "instructions": "You are care", "input": "broken cup" }, "calls": [{ "tool": "endAgentSession" }] },
        { "when": { "after": "endAgentSession", "result": "completionContext" }, "calls": [
            { "tool": "endAgentSession", "arguments": { "completionContext": "a new one is sent" } }] },
        { "when": { "instructions": "You are sales", "input": "specialist has ended(?s:.*)Context: (.*)$" },
            "calls": says("Good news: {{1}}") },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "my cup is broken").await;
    assert_eq!(agents.serve("ana").await, ["Good news: a new one is sent"]);
    let session = agents.session("ana").await;
    let state = session.agent.as_ref().expect("an agent has it");
    assert_eq!((state.active_agent_id.as_str(), state.agent_chain.len()), ("sales", 1));
    assert_eq!((state.activation, state.turn_count), (2, 3));
    let asked = agents.mind.asked.lock().expect("a lock").clone();
    assert!(
        matches!(&asked[1][..], [Item::User { text, .. }] if text.contains("it is broken")),
        "{:?}",
        asked[1]
    );
}

async fn transfers_that_cannot_be_made_are_aborted(store: SqlStore) {
    let to = |agent: &str| {
        json!({ "when": { "input": format!("^{agent}$") }, "calls": [{ "tool": "transferToAgent", "arguments": {
            "agentId": agent, "handoffContext": "c", "lastUserInput": "l" } }] })
    };
    let agents = Agents::new(store, &json!([to("sales"), to("nobody"), to("!"), to("asleep")])).await;
    agents.add_agent("asleep", |agent| agent.is_active = false).await;
    agents.world.add_router("other", "c9").await;
    agents.reach("ana", "sales").await;
    for (text, expected) in [
        (None, "already"),
        (Some("nobody"), "no such agent"),
        (Some("!"), "no such agent"),
        (Some("asleep"), "no such agent"),
    ] {
        if let Some(text) = text {
            agents.say("ana", text).await;
        }
        assert_eq!(agents.serve("ana").await, [""; 0], "{text:?}");
        let session = agents.session("ana").await;
        let turns = agents.turns("ana", session.epoch, 0).await;
        let last = turns.last().expect("a turn");
        assert!(!last.is_running);
        assert!(
            matches!(last.items.last(), Some(Item::ToolResult { output, .. }) if output.contains(expected)),
            "{:?}",
            last.items
        );
    }
}

async fn variables_are_remembered(store: SqlStore) {
    let set = |tool: &str, key: &str, value: &str| json!({ "tool": tool, "arguments": { "key": key, "value": value } });
    let rules = json!([
        { "when": { "input": "remember" }, "calls": [set("setVariable", "a", "1"), set("setVariable", "b", "2"),
            { "tool": "deleteVariable", "arguments": { "key": "a" } },
            set("setContactVariable", "city", "Recife"), set("setContactVariable", "secret", "x"),
            { "tool": "extendInactivityTimeout", "arguments": { "minutes": 90 } }] },
        { "when": { "after": "setVariable", "instructions": "contact.city: \\\"Recife\\\"" }, "calls": says("I know") },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.change_agent("sales", |agent| agent.contact_variable_keys = Some(vec!["city".to_owned()])).await;
    agents.reach("ana", "remember").await;
    assert_eq!(agents.serve("ana").await, ["I know"]);
    let session = agents.session("ana").await;
    assert_eq!((session.variables.get("a"), &session.variables["b"]), (None, &json!("2")));
    let contact = agents.world.contact("ana").await;
    assert_eq!((&contact.variables["city"], contact.variables.get("secret")), (&json!("Recife"), None));
    let deadline = session.agent.as_ref().expect("an agent has it").deadline;
    assert_eq!(deadline, Some(agents.world.cx.now() + 90 * MINUTE));
}

async fn a_flow_is_a_tool(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "price of (\\w+)" }, "calls": [
            { "tool": "price", "arguments": { "product": "{{1}}" } },
            { "tool": "setVariable", "arguments": { "key": "asked", "value": "{{1}}" } }] },
        { "when": { "after": "price", "result": "12" }, "calls": says("It is {{result}}") },
        { "when": { "input": "odd" }, "calls": [{ "tool": "price", "arguments": { "color": "red" } }] },
        { "when": { "after": "price" }, "calls": says("{{result}}") },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "the price of tea").await;
    assert_eq!(agents.serve("ana").await, [r#"It is {"price":12}"#]);
    assert_eq!(agents.session("ana").await.variables["asked"], "tea", "the calls behind it are run, too");
    agents.say("ana", "odd").await;
    let told = agents.serve("ana").await;
    assert!(told[0].contains("`product` is missing"), "{told:?}");
    assert_eq!(*agents.shop.calls.lock().expect("a lock"), 1);
}

async fn a_silent_model_leads_to_the_fallback(store: SqlStore) {
    let agents = Agents::new(store, &json!([])).await;
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    assert_eq!(agents.mind.asks(), 2, "it is nudged once");
    assert_eq!(agents.go_on().await, ["Bye fallback_stuck"]);
}

async fn turns_are_counted_over_the_chain(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "1").await;
    agents.serve("ana").await;
    for turn in 2..=5 {
        agents.say("ana", &turn.to_string()).await;
        assert_eq!(agents.serve("ana").await, [format!("You said {turn}")]);
    }
    let asks = agents.mind.asks();
    agents.say("ana", "6").await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    assert_eq!(agents.mind.asks(), asks, "no answer is paid for");
    assert_eq!(agents.go_on().await, ["Bye maxMessages"]);
}

async fn a_silent_contact_ends_the_part(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    agents.serve("ana").await;
    agents.world.wait(Duration::from_secs(60 * 60)).await;
    agents.deliver().await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    assert_eq!(agents.go_on().await, ["Bye inactivity"]);
    // Whoever writes meanwhile is there.
    agents.reach("bia", "tea").await;
    agents.serve("bia").await;
    agents.world.wait(Duration::from_secs(60 * 60)).await;
    agents.say("bia", "still here").await;
    assert_eq!(agents.serve("bia").await, ["You said still here"]);
    assert_eq!(agents.session("bia").await.mode, Mode::Agent);
}

async fn an_agent_out_of_service_is_not_asked(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.change_agent("sales", |agent| agent.is_active = false).await;
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    assert_eq!((agents.mind.asks(), agents.go_on().await), (0, vec!["Bye fallback_stuck".to_owned()]));
}

async fn a_model_that_fails_is_replaced(store: SqlStore) {
    let fails = json!({ "when": { "input": "tea" }, "fault": "unavailable" });
    let agents = Agents::new(store, &json!([fails, echo()])).await;
    agents.change_agent("sales", |agent| agent.fallback_model = Some("other".to_owned())).await;
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    let epoch = agents.session("ana").await.epoch;
    let turn = agents.turns("ana", epoch, 0).await.remove(0);
    let models: Vec<&str> = turn.answers.iter().map(|answer| answer.model.as_str()).collect();
    assert_eq!(models, ["model", "other"]);
    assert!(turn.error.as_deref().is_some_and(|error| error.contains("not available")), "{:?}", turn.error);
    assert_eq!(agents.go_on().await, ["Bye fallback_stuck"]);
}

async fn nothing_is_sent_after_a_takeover(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    let gate = agents.mind.gate.acquire_many(1_000).await.expect("a gate");
    let (ana, go_on) = (session("ana"), CancellationToken::new());
    let serving = agents.executor.serve(&ana, &go_on);
    let taking = async {
        while agents.mind.asks() == 0 {
            tokio::task::yield_now().await;
        }
        let jump = ExternalJump {
            session_id: session("ana"),
            flow_id: "attended".parse().expect("an id"),
            block_id: "ask".parse().expect("an id"),
            execute_on_entry: true,
            redirect_id: None,
            ahead: false,
        };
        agents.world.handle(ConversationEvent::Flow(FlowEvent::ExternalJump(jump))).await;
        drop(gate);
    };
    let (served, ()) = tokio::join!(serving, taking);
    served.expect("served");
    assert_eq!(agents.told(), [""; 0]);
    assert_eq!(agents.world.transcript_of("ana").await.last().expect("a line"), "< Ask");
    assert_eq!(agents.session("ana").await.mode, Mode::Flow);
    assert_eq!(agents.mind.asks(), 1);
}

async fn a_desk_takes_the_conversation(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    agents.take_by_desk(&session("ana")).await;
    assert_eq!((agents.serve("ana").await, agents.mind.asks()), (Vec::new(), 0));
    assert_eq!(agents.session("ana").await.mode, Mode::Human);
    let events = agents.handoffs().await;
    assert_eq!((events.len(), &events[0]["presetQueueId"]), (1, &json!("q1")));
}

async fn a_turn_knows_the_turns_before(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    agents.serve("ana").await;
    agents.say("ana", "cake").await;
    agents.serve("ana").await;
    let asked = agents.mind.asked.lock().expect("a lock").clone();
    let inputs = |items: &[Item]| -> Vec<String> {
        let input = |item: &Item| match item {
            Item::User { text, .. } => Some(text.clone()),
            _ => None,
        };
        items.iter().filter_map(input).collect()
    };
    assert_eq!(inputs(&asked[2]), ["tea", "cake"]);
    assert!(asked[2].iter().any(|item| matches!(item, Item::ToolResult { .. })));
}

async fn an_end_waits_for_what_was_not_heard(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "bye" }, "calls": [{ "tool": "endAgentSession" }] },
        echo(),
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "bye").await;
    let gate = agents.mind.gate.acquire_many(1_000).await.expect("a gate");
    let (ana, go_on) = (session("ana"), CancellationToken::new());
    let serving = agents.executor.serve(&ana, &go_on);
    let writing = async {
        while agents.mind.asks() == 0 {
            tokio::task::yield_now().await;
        }
        agents.world.clock.advance(Duration::from_millis(1));
        agents.say("ana", "wait, tea").await;
        drop(gate);
    };
    let (served, ()) = tokio::join!(serving, writing);
    served.expect("served");
    assert_eq!(agents.serve("ana").await, ["You said wait, tea"]);
    assert_eq!(agents.session("ana").await.mode, Mode::Agent);
}

/// The message is stored, and its event is not in the inbox yet.
async fn an_end_waits_for_what_is_still_on_its_way(store: SqlStore) {
    let rules = json!([{ "when": { "input": "bye" }, "calls": [{ "tool": "endAgentSession" }] }, echo()]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "bye").await;
    agents.world.clock.advance(Duration::from_millis(1));
    agents.world.say("ana", "late", "wait, tea").await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    assert_eq!(agents.session("ana").await.mode, Mode::Agent);
    agents.deliver().await;
    assert_eq!(agents.serve("ana").await, ["You said wait, tea"]);
}

async fn whoever_writes_meanwhile_is_answered_by_whoever_knows_why(store: SqlStore) {
    let rules = json!([
        { "when": { "instructions": "You are sales", "input": "broken$" }, "calls": [{ "tool": "transferToAgent",
            "arguments": { "agentId": "care", "handoffContext": "a cup", "lastUserInput": "it is broken" } }] },
        { "when": { "instructions": "You are care", "input": "(?s)Context: (.*)$" }, "calls": says("{{1}}") },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "my cup is broken").await;
    let gate = agents.mind.gate.acquire_many(1_000).await.expect("a gate");
    let (ana, go_on) = (session("ana"), CancellationToken::new());
    let serving = agents.executor.serve(&ana, &go_on);
    let writing = async {
        while agents.mind.asks() == 0 {
            tokio::task::yield_now().await;
        }
        agents.say("ana", "the blue one").await;
        drop(gate);
    };
    let (served, ()) = tokio::join!(serving, writing);
    served.expect("served");
    let told = agents.serve("ana").await;
    assert_eq!(
        told,
        ["a cup\nLast message of the customer: it is broken\n[The customer writes]\nthe blue one"],
        "one answer to both"
    );
}

async fn whoever_waits_for_an_answer_is_not_inactive(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    let gate = agents.mind.gate.acquire_many(1_000).await.expect("a gate");
    let (ana, go_on) = (session("ana"), CancellationToken::new());
    let serving = agents.executor.serve(&ana, &go_on);
    let waiting = async {
        while agents.mind.asks() == 0 {
            tokio::task::yield_now().await;
        }
        agents.world.wait(60 * MINUTE).await;
        agents.deliver().await;
        drop(gate);
    };
    let (served, ()) = tokio::join!(serving, waiting);
    served.expect("served");
    assert_eq!(agents.serve("ana").await, ["You said tea"]);
    let session = agents.session("ana").await;
    let state = session.agent.as_ref().expect("an agent has it");
    assert_eq!(state.deadline, Some(agents.world.cx.now() + session.expiry_timeout));
    assert!(session.wake_at.is_some(), "the timer runs again");
}

async fn calls_may_be_numbered_anew_with_each_answer(store: SqlStore) {
    let call = |name: &str, arguments: Value| {
        Item::ToolCall(ToolCall {
            id: "0".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        })
    };
    let agents = Agents::new(store, &json!([])).await;
    let answers = [
        vec![call("setVariable", json!({ "key": "a", "value": "1" }))],
        vec![call("sendTextMessage", json!({ "text": "Done" }))],
    ];
    agents.mind.answer_first(answers);
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, ["Done"]);
}

async fn a_desk_that_takes_the_conversation_ends_the_turn(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    let gate = agents.mind.gate.acquire_many(1_000).await.expect("a gate");
    let (ana, stop) = (session("ana"), CancellationToken::new());
    let serving = agents.executor.serve(&ana, &stop);
    let taking = async {
        while agents.mind.asks() == 0 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (served, ()) = tokio::join!(serving, taking);
    assert_eq!(served.expect("served"), Served::Done);
    drop(gate);
    let (epoch, id) = (agents.session("ana").await.epoch, session("ana"));
    assert!(agents.turns("ana", epoch, 0).await[0].is_running, "it is left as it was");
    agents.take_by_desk(&id).await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    let turn = agents.turns("ana", epoch, 0).await.remove(0);
    assert_eq!((turn.is_running, turn.error.as_deref()), (false, Some("the session has moved on")));
    assert_eq!((agents.session("ana").await.mode, agents.mind.asks()), (Mode::Human, 1));
}

async fn what_the_session_was_lost_to_before_ends_nothing(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    let current = agents.session("ana").await;
    let lost = AgentNotice {
        session_id: current.id.clone(),
        chat_id: current.chat_id.clone(),
        to: current.id.party().to_owned(),
        phone_number_id: current.id.phone_number_id().to_owned(),
        agent_id: "sales".parse().expect("an id"),
        ticket_id: None,
        router_id: Some(current.router_id.clone()),
        epoch: current.epoch - 1,
        timestamp: agents.world.cx.now(),
    };
    agents.publish(&AgentEvent::SessionLost(lost)).await;
    assert_eq!(agents.serve("ana").await, ["You said tea"]);
}

async fn a_turn_waits_for_what_stands_ahead(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    // It leads nowhere, so the agent keeps the session.
    let jump = ExternalJump {
        session_id: session("ana"),
        flow_id: "attended".parse().expect("an id"),
        block_id: "nowhere".parse().expect("an id"),
        execute_on_entry: true,
        redirect_id: None,
        ahead: false,
    };
    let mut tx = agents.world.store.begin().await.expect("begin");
    publish_ahead(&mut tx, FlowEvent::ExternalJump(jump)).await.expect("published");
    tx.commit().await.expect("commit");
    let served = agents.executor.serve(&session("ana"), &CancellationToken::new()).await;
    assert_eq!((served.expect("served"), agents.mind.asks()), (Served::NotNow, 0));
    agents.go_on().await;
    assert_eq!(agents.serve("ana").await, ["You said tea"]);
}

async fn old_turns_are_forgotten(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    agents.serve("ana").await;
    agents.reach("bia", "tea").await;
    let now = agents.world.cx.now();
    for (before, forgotten) in [(now, 0), (now + MINUTE, 1), (now + MINUTE, 0)] {
        let mut tx = agents.world.store.begin().await.expect("begin");
        assert_eq!(tx.agent_turns().forget(before, 10).await.expect("forgotten"), forgotten);
        tx.commit().await.expect("commit");
    }
}
