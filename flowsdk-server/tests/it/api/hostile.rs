//! Definitions that mean harm, while they run.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::building::{answer, shop, visitor};
use crate::harness::{Api, Setup, everywhere};

everywhere!(ten_thousand_blocks_are_drawn_and_run, hostile_scripts_hold_up_nobody_else);

/// How long anything of it may take, on a busy machine and unoptimised; what is not linear takes minutes.
const BOUND: Duration = Duration::from_secs(20);

async fn ten_thousand_blocks_are_drawn_and_run(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut blocks: Vec<Value> = (0..10_000)
        .map(|n| {
            let next = format!("b{}", (n + 1) % 10_000);
            json!({ "id": format!("b{n}"), "type": "content", "input": {}, "defaultOutput": { "blockId": next } })
        })
        .collect();
    for block in &mut blocks[..3] {
        block["contents"] = json!([{ "type": "text", "text": { "body": "{{session.blockId}}" } }]);
    }
    let definition = json!({ "schemaVersion": 1, "startBlockId": "b0", "blocks": blocks });
    let begun = Instant::now();
    let (_, flow, channel) = shop(&admin, "Grande", &definition).await;
    assert!(begun.elapsed() < BOUND, "made and published: {:?}", begun.elapsed());
    for end in ["graph.svg", "graph.mmd", "graph.svg?version=published", "diff?from=1", "export"] {
        let begun = Instant::now();
        let answer = admin.get(&format!("/flows/{flow}/{end}")).await;
        assert_eq!(answer.status, 200, "{end}");
        assert!(begun.elapsed() < BOUND, "{end}: {:?}", begun.elapsed());
    }
    let begun = Instant::now();
    let mut client = visitor(&server, &channel).await;
    for block in ["b0", "b1", "b2"] {
        assert_eq!(answer(&mut client, "x").await, block);
    }
    assert!(begun.elapsed() < BOUND, "run: {:?}", begun.elapsed());
}

/// Two scripts at a time have a worker; whoever needs none is answered meanwhile, whoever needs one after the limit.
async fn hostile_scripts_hold_up_nobody_else(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let script = |id: &str, script: &str| {
        json!({ "id": id, "type": "content", "onEnter": [{ "type": "executeScript", "script": script, "variable": "v",
                "errorVariable": "e", "continueOnError": true }],
            "contents": [{ "type": "text", "text": { "body": format!("{id} {{{{v}}}}{{{{e}}}}") } }],
            "input": {}, "defaultOutput": { "blockId": "which" } })
    };
    let output = |said: &str| {
        json!({ "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": [said] }],
            "target": { "blockId": said } })
    };
    let definition = json!({ "schemaVersion": 1, "startBlockId": "which", "blocks": [
        { "id": "which", "type": "content", "outputConditions": [output("loops"), output("allocates"), output("adds")],
            "defaultOutput": { "blockId": "plain" } },
        script("loops", "for (;;);"),
        script("allocates", "const a = []; for (;;) a.push(new Array(1000).fill('x'))"),
        script("adds", "1 + 1"),
        { "id": "plain", "type": "content", "contents": [{ "type": "text", "text": { "body": "plain" } }],
            "input": {}, "defaultOutput": { "blockId": "which" } },
    ] });
    let (_, _, channel) = shop(&admin, "Loja", &definition).await;
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(visitor(&server, &channel).await);
    }
    let [mut looping, mut allocating, mut adding, mut plain] = <[_; 4]>::try_from(clients).ok().unwrap();
    for round in 0..3 {
        looping.say("loops").await;
        allocating.say("allocates").await;
        let begun = Instant::now();
        assert_eq!(answer(&mut plain, "hi").await, "plain");
        let plainly = begun.elapsed();
        assert_eq!(answer(&mut adding, "adds").await, "adds 2");
        let adds = begun.elapsed();
        assert!(
            plainly < Duration::from_secs(5) && adds < Duration::from_secs(10),
            "{round}: {plainly:?} {adds:?}"
        );
        assert_eq!(looping.texts(1).await, ["loops script_timeout"]);
        let allocated = allocating.texts(1).await.remove(0);
        assert!(
            ["allocates script_too_large", "allocates script_timeout"].contains(&allocated.as_str()),
            "{allocated}"
        );
    }
}
