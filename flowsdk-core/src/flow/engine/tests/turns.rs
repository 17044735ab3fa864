//! Whole turns: starting, answering, retrying, timing out, ending.

use serde_json::{Value, json};

use super::stage::*;
use crate::flow::Effect;

fn demo() -> Stage {
    let json = include_str!("../../../../tests/fixtures/demo_flow.json");
    Stage::new(&serde_json::from_str::<Value>(json).expect("is JSON"))
}

#[test]
fn the_first_message_starts_the_flow_and_is_no_answer() {
    let mut stage = demo();
    assert_eq!(
        stage.start("sales"),
        ["Hi Ana, you wrote \"sales\".", "<interactive>"]
    );
    assert!(stage.waiting());
    assert_eq!(stage.at(), "welcome");
    assert_eq!(stage.variable("greeted"), true);
    assert_eq!(
        stage.session.deadline(),
        Some(NOW + std::time::Duration::from_secs(600))
    );
    assert_eq!(stage.session.wake_at, stage.session.deadline());
}

#[test]
fn a_tapped_button_takes_its_output() {
    let mut stage = demo();
    stage.start("oi");
    assert_eq!(
        stage.send(&tapped("sales", "Sales team")),
        ["How many seats, Ana?"]
    );
    assert_eq!(stage.variable("choice"), "sales");
    assert_eq!(stage.variable("choice_title"), "Sales team");
    assert_eq!(stage.say("no idea"), ["\"no idea\" is no number from 1 to 500."]);
    assert_eq!(stage.say("12"), ["Bye, Ana! Sales team"]);
    assert!(stage.ended());
    assert_eq!(
        stage.contact.variables["lead"],
        json!({ "seats": "12", "from": "webchat" })
    );
    assert!(stage.outcome().contact_changed);
    assert!(stage.outcome().effects.contains(&Effect::CloseChat));
}
