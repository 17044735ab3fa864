//! Whole turns: starting, answering, retrying, timing out, ending.

use std::time::Duration;

use serde_json::{Value, json};

use super::stage::*;
use crate::flow::{ActionResult, Effect, TraceStep};

fn demo() -> Stage {
    let json = include_str!("../../../../tests/fixtures/demo_flow.json");
    Stage::new(&serde_json::from_str::<Value>(json).expect("is JSON"))
}

#[test]
fn the_first_message_starts_the_flow_and_is_no_answer() {
    let mut stage = demo();
    assert_eq!(stage.start("sales"), ["Hi Ana, you wrote \"sales\".", "<interactive>"]);
    assert!(stage.waiting());
    assert_eq!(stage.at(), "welcome");
    assert_eq!(stage.variable("greeted"), true);
    assert_eq!(stage.session.deadline(), Some(NOW + Duration::from_secs(600)));
    assert_eq!(stage.session.wake_at, stage.session.deadline());
}

#[test]
fn a_tapped_button_takes_its_output() {
    let mut stage = demo();
    stage.start("oi");
    assert_eq!(stage.send(&tapped("sales", "Sales team")), ["How many seats, Ana?"]);
    assert_eq!(stage.variable("choice"), "sales");
    assert_eq!(stage.variable("choice_title"), "Sales team");
    assert_eq!(stage.say("no idea"), ["\"no idea\" is no number from 1 to 500."]);
    assert_eq!(stage.say("12"), ["Bye, Ana! Sales team"]);
    assert!(stage.ended());
    assert_eq!(stage.contact.variables["lead"], json!({ "seats": "12", "from": "webchat" }));
    assert!(stage.outcome().contact_changed);
    assert!(stage.outcome().effects.contains(&Effect::CloseChat));
}

#[test]
fn a_wrong_answer_is_asked_again_until_it_was_one_too_many() {
    let mut stage = demo();
    stage.start("oi");
    for retries in 1..=2 {
        assert_eq!(stage.after(60_000).say("what?"), ["Please pick one."]);
        assert!(stage.waiting());
        let waiting = stage.session.position.as_ref().and_then(|p| p.waiting.clone());
        let waiting = waiting.expect("waits");
        assert_eq!(waiting.retries, retries);
        assert_eq!(waiting.deadline, stage.now + Duration::from_secs(600), "a fresh deadline");
        assert_eq!(stage.session.history.len(), 1, "no new stop");
    }
    assert_eq!(stage.say("what?"), ["I did not get that.", "Bye, Ana! "]);
    assert!(stage.ended());
}

#[test]
fn without_a_fail_target_the_default_output_is_taken_and_null_is_any_number_of_retries() {
    for (max, turns) in [(json!(0), 0), (json!(1), 1), (Value::Null, 50)] {
        let mut stage = Stage::new(&flow_of(&[
            json!({ "id": "ask", "type": "content",
                "input": { "validation": { "kind": "number", "maxRetries": max } },
                "defaultOutput": { "blockId": "bye" } }),
            json!({ "id": "bye", "type": "content", "contents": [text("bye")], "defaultOutput": { "end": true } }),
        ]));
        stage.start("oi");
        for _ in 0..turns {
            assert_eq!(stage.say("x"), [""; 0], "no retryText, no message");
            assert!(stage.waiting());
        }
        if !max.is_null() {
            assert_eq!(stage.say("x"), ["bye"], "maxRetries {max}");
        }
    }
}

#[test]
fn a_timeout_goes_to_its_target_or_ends_the_session() {
    let mut stage = demo();
    stage.start("oi");
    assert_eq!(stage.after(599_999).time_out(), [""; 0]);
    assert!(stage.waiting(), "too early");
    assert_eq!(stage.session.wake_at, stage.session.deadline());
    let last = stage.session.last_interaction_at;
    assert_eq!(stage.after(1).time_out(), ["Bye, Ana! "]);
    assert!(stage.ended());
    assert_eq!(stage.session.last_interaction_at, last, "nobody wrote");

    let mut stage = demo();
    stage.start("oi");
    stage.say("support");
    // Half an hour, and the delay before the question.
    assert_eq!(stage.after(1_800_000 + 800).time_out(), [""; 0]);
    assert!(stage.ended(), "no timeoutTarget");
}

#[test]
fn a_timer_that_finds_no_wait_changes_nothing() {
    let mut stage = demo();
    stage.time_out();
    assert!(stage.waiting() && stage.session.position.is_none());
}

#[test]
fn stops_are_noted_once_each() {
    let mut stage = demo();
    stage.start("oi");
    stage.say("nope");
    stage.say("support");
    let blocks: Vec<&str> = stage.session.history.iter().map(|stop| stop.block_id.as_str()).collect();
    assert_eq!(blocks, ["welcome", "support"]);
    assert_eq!(stage.session.expiry_timeout, Duration::from_secs(1800));
    assert_eq!(stage.say("Rui Silva"), ["Bye, Rui Silva! "]);
    assert_eq!((stage.contact.name.as_str(), stage.contact.name_locked), ("Rui Silva", true));
}

#[test]
fn a_repositioned_session_enters_its_block_with_the_next_message() {
    let mut stage = demo();
    stage.start("oi");
    let position = stage.session.position.as_mut().expect("positioned");
    position.block_id = Some("sales".parse().expect("id"));
    position.waiting = None;
    assert_eq!(stage.say("7"), ["How many seats, Ana?"], "7 is no answer");
    assert_eq!(stage.variable("seats"), Value::Null);
}

#[test]
fn a_file_is_stored_with_its_caption() {
    let mut stage = Stage::new(&flow_of(&[
        json!({ "id": "ask", "type": "content", "input": { "variable": "doc" },
            "defaultOutput": { "blockId": "got" } }),
        json!({ "id": "got", "type": "content", "contents": [text("{{doc}} {{doc_media.id}} {{input.type}}")],
            "defaultOutput": { "end": true } }),
    ]));
    stage.start("oi");
    let image = json!({ "id": "m", "type": "image", "image": { "id": "77", "mime_type": "image/png", "caption": "me" } });
    assert_eq!(stage.send(&serde_json::from_value(image).expect("parses")), ["me 77 image"]);
}

#[test]
fn an_answer_is_waited_for_from_when_its_question_is_seen() {
    let mut stage = Stage::new(&flow_of(&[json!({ "id": "ask", "type": "content",
        "onEnter": [{ "type": "delay", "millis": 4_000 }], "contents": [text("?")],
        "input": { "variable": "x", "timeoutMs": 1_500 }, "defaultOutput": { "end": true } })]));
    stage.start("oi");
    stage.after(5_499).time_out();
    assert_eq!((stage.outcome().ignored, stage.waiting()), (Some("not yet"), true));
    stage.after(1).time_out();
    assert!(stage.ended());
}

#[test]
fn a_contact_variable_is_valid_in_the_same_turn() {
    let mut stage = Stage::new(&flow_of(&[json!({ "id": "a", "type": "content",
        "onEnter": [
            { "type": "setContactVariable", "key": "tier", "value": "gold" },
            { "type": "setContactName", "value": "  " },
            { "type": "setVariable", "key": "x", "value": { "tier": "{{contact.tier}}" } },
            { "type": "setVariable", "key": "y", "value": "1" },
            { "type": "deleteVariable", "key": "y" },
            { "type": "setVariable", "key": "z", "value": "1", "conditions":
                [{ "source": { "type": "contact", "key": "tier" }, "comparator": "equals", "values": ["silver"] }] },
            { "type": "delay", "millis": 500 }, { "type": "closeChat" }],
        "contents": [text("{{contact.tier}} {{x.tier}}{{y}}{{z}} {{router.brand}}{{flow.promo}}")],
        "defaultOutput": { "end": true } })]));
    assert_eq!(stage.start("oi"), ["gold gold ACMEX1"]);
    assert_eq!((stage.contact.name.as_str(), stage.contact.name_locked), ("Ana", false));
    let effects = &stage.outcome().effects;
    assert_eq!(effects[..2], [Effect::Typing { millis: 500 }, Effect::CloseChat]);
    let results: Vec<ActionResult> = stage
        .outcome()
        .trace
        .iter()
        .filter_map(|step| match step {
            TraceStep::Action { result, .. } => Some(*result),
            _ => None,
        })
        .collect();
    assert_eq!(results.iter().filter(|result| **result == ActionResult::Skipped).count(), 1);
    assert!(stage.outcome().contact_changed);
    stage.session = session();
    stage.start("oi");
    assert!(!stage.outcome().contact_changed, "the same values change nothing");
}

#[test]
fn the_trace_tells_what_was_asked_answered_and_set_and_why() {
    let mut stage = demo();
    stage.start("oi");
    let told =
        |stage: &Stage| -> Vec<String> { stage.outcome().trace.iter().map(ToString::to_string).collect() };
    let asked = told(&stage);
    assert_eq!(asked[..2], ["the contact says \"oi\"", "in flow `Flow flow1`, version 1"]);
    assert!(asked.contains(&"sends \"What do you need? [Sales] [Support]\"".to_owned()), "{asked:?}");
    stage.send(&tapped("sales", "Sales please"));
    assert_eq!(
        told(&stage),
        [
            "the contact says \"Sales please\"",
            "in flow `Flow flow1`, version 1",
            "the answer is valid",
            "sets choice_title = \"Sales please\"",
            "sets choice = \"sales\"",
            "sets lastInput = \"Sales please\"",
            "takes output 1: Sales",
            "block `sales`: Sales",
            "sends \"How many seats, Ana?\"",
        ]
    );
    stage.say(&"7".repeat(300));
    let TraceStep::Received { text, .. } = &stage.outcome().trace[0] else { panic!("a message") };
    assert_eq!(text.chars().count(), 201, "a long text is cut");
    let json = serde_json::to_value(&stage.outcome().trace).expect("serialises");
    let read: Vec<TraceStep> = serde_json::from_value(json).expect("reads what it wrote");
    assert_eq!(read, stage.outcome().trace);
}

#[test]
fn a_trace_of_an_earlier_version_is_read() {
    for (json, line) in [
        (json!({ "step": "flowEntered", "flowId": "f1" }), "enters flow `f1`"),
        (json!({ "step": "output", "index": 0, "held": false }), "output 1 does not hold"),
        (json!({ "step": "variableSet", "key": "a" }), "sets a = null"),
        (json!({ "step": "sent", "kind": "text" }), "sends a message of type text"),
        (json!({ "step": "failed", "code": "flow_loop" }), "fails with flow_loop"),
        (json!({ "step": "suspended", "kind": "httpRequest" }), "waits for httpRequest"),
    ] {
        assert_eq!(serde_json::from_value::<TraceStep>(json).expect("a step").to_string(), line);
    }
}

#[test]
fn the_previous_block_is_the_stop_before_the_current_one() {
    let place = "{{session.currentBlock.name}} after <{{session.previousBlock.name}}>";
    let ask = |id: &str, next: &str| {
        json!({ "id": id, "type": "content", "title": format!("Ask {id}"), "contents": [text(place)],
            "input": { "validation": { "kind": "number", "retryText": format!("again: {place}") } },
            "onLeave": [{ "type": "setVariable", "key": id, "value": place }],
            "defaultOutput": { "blockId": next } })
    };
    let pass = json!({ "id": "pass", "type": "content", "contents": [text(place)], "defaultOutput": { "blockId": "b" } });
    let bye = json!({ "id": "bye", "type": "content", "contents": [text(place)], "defaultOutput": { "end": true } });
    let mut stage = Stage::new(&flow_of(&[ask("a", "pass"), pass, ask("b", "bye"), bye]));
    assert_eq!(stage.start("oi"), ["Ask a after <>"]);
    assert_eq!(stage.say("x"), ["again: Ask a after <>"]);
    assert_eq!(stage.say("1"), ["pass after <Ask a>", "Ask b after <Ask a>"]);
    assert_eq!(stage.say("x"), ["again: Ask b after <Ask a>"]);
    assert_eq!(stage.say("1"), ["bye after <Ask b>"]);
    assert_eq!(stage.variable("a"), "Ask a after <>");
    assert_eq!(stage.variable("b"), "Ask b after <Ask a>");
}

#[test]
fn setting_the_name_it_has_still_locks_it() {
    let mut stage = Stage::new(&flow_of(&[json!({ "id": "a", "type": "content",
        "onEnter": [{ "type": "setContactName", "value": "Ana" }], "defaultOutput": { "end": true } })]));
    stage.start("oi");
    assert!(stage.contact.name_locked && stage.outcome().contact_changed);
}
