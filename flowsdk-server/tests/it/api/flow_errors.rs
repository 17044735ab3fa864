//! The lines of log about errors that a flow goes on after: no other trace of them need be.

use serde_json::{Value, json};

use super::building::{answer, shop, visitor};
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(an_error_that_a_flow_goes_on_after_is_in_the_log);

/// A flow whose action fails as its block is entered.
fn flow(goes_on: bool) -> Value {
    let script = json!({ "type": "executeScript", "script": "throw 'no'", "variable": "n", "continueOnError": goes_on });
    json!({
        "schemaVersion": 1, "startBlockId": "ask",
        "settings": { "errorTarget": { "blockId": "sorry" } },
        "blocks": [
            { "id": "ask", "type": "content", "onEnter": [script],
              "contents": [{ "type": "text", "text": { "body": "Olá" } }],
              "input": { "variable": "said" }, "defaultOutput": { "blockId": "ask" } },
            { "id": "sorry", "type": "content",
              "contents": [{ "type": "text", "text": { "body": "Desculpe" } }],
              "input": { "variable": "said" }, "defaultOutput": { "blockId": "ask" } }
        ]
    })
}

async fn an_error_that_a_flow_goes_on_after_is_in_the_log(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut flows = Vec::new();
    for (name, goes_on, said) in [("Goes on", true, "Olá"), ("Is led", false, "Desculpe")] {
        let (_, flow, channel) = shop(&admin, name, &flow(goes_on)).await;
        let mut client = visitor(&server, &channel).await;
        assert_eq!(answer(&mut client, "oi").await, said);
        flows.push(flow);
    }
    for (flow, message, action) in [
        (&flows[0], "a block went on after an action that failed", json!("executeScript")),
        (&flows[1], "an error led to the errorTarget of a flow", Value::Null),
    ] {
        let found = eventually("the error is in the log", || async {
            let log = server.log();
            let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let of_flow: Vec<_> =
                lines.map(|line| line["fields"].clone()).filter(|fields| fields["flow"] == *flow).collect();
            (!of_flow.is_empty()).then_some(of_flow)
        })
        .await;
        let [line] = &found[..] else { panic!("told once: {found:?}") };
        assert_eq!((&line["message"], &line["action"]), (&json!(message), &action), "{line}");
        assert_eq!((&line["code"], &line["block"]), (&json!("script_error"), &json!("ask")), "{line}");
    }
    assert!(server.stop().await.0.success());
}
