//! The stops and redirects of a session, page by page (spec A 2.6; rulings S17, H7, H9).

use flowsdk_core::session::{HasSessions as _, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use serde_json::{Value, json};

use crate::harness::setup::Identity;
use crate::harness::{Api, Client, Server, Setup, everywhere};

everywhere!(all_stops_are_paged_while_the_session_goes_on);
everywhere!(in process: all_redirects_are_paged, a_history_goes_with_its_session);

const BLOCKS: [&str; 3] = ["um", "dois", "tres"];

/// Three blocks that ask one after another, for ever.
fn round() -> Value {
    let block = |n: usize| {
        json!({ "id": BLOCKS[n], "type": "content", "title": format!("Bloco {n}"),
            "contents": [{ "type": "text", "text": { "body": "{{input}}?" } }], "input": { "variable": "said" },
            "defaultOutput": { "blockId": BLOCKS[(n + 1) % 3] } })
    };
    json!({ "schemaVersion": 1, "startBlockId": "um", "blocks": [block(0), block(1), block(2)] })
}

/// Publishes that flow for the visitors of the open channel; its id.
async fn publish(setup: &Setup, admin: &Api) -> String {
    let flow = json!({ "routerId": setup.seeded.router, "name": "Roda", "definition": round() });
    let flow = admin.post("/flows", &flow).await.ok(201)["id"].as_str().unwrap().to_owned();
    admin.send("POST", &format!("/flows/{flow}/publish"), &[], None).await.ok(200);
    let router = format!("/routers/{}", setup.seeded.router);
    admin.patch(&router, &json!({ "initialFlowId": flow })).await.ok(200);
    flow
}

fn path(visitor: &Identity) -> String {
    format!("/sessions/wc-{}-{}", visitor.channel, visitor.user)
}

async fn say(client: &mut Client, text: &str) {
    client.say(text).await;
    assert_eq!(client.texts(1).await, [format!("{text}?")]);
}

fn numbers(items: &[Value]) -> Vec<i64> {
    items.iter().map(|item| item["number"].as_i64().unwrap()).collect()
}

async fn begin(setup: Setup) -> (Setup, Server, Api) {
    let setup = setup.with("WEBCHAT_MESSAGES_PER_SECOND", "1000").with("API_REQUESTS_PER_SECOND", "0");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    (setup, server, admin)
}

async fn all_stops_are_paged_while_the_session_goes_on(setup: Setup) {
    let (setup, server, admin) = begin(setup).await;
    let flow = publish(&setup, &admin).await;
    let (mut client, ana) = setup.visit(&server).await;
    for n in 0..60 {
        say(&mut client, &n.to_string()).await;
    }
    let stop = |number: i64| {
        let n = usize::try_from(number - 1).unwrap() % 3;
        let block = json!({ "id": BLOCKS[n], "name": format!("Bloco {n}") });
        json!({ "kind": "stop", "number": number, "flow": { "id": flow, "name": "Roda" }, "block": block })
    };
    let (mut seen, mut cursor, mut said) = (Vec::new(), String::new(), 60);
    loop {
        let page = admin.get(&format!("{}/history?limit=7{cursor}", path(&ana))).await.ok(200);
        seen.extend(page["items"].as_array().unwrap().clone());
        // Stops move from the row into the archive between the pages.
        for _ in 0..5 {
            say(&mut client, "mais").await;
            said += 1;
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, (1..=60).rev().map(stop).collect::<Vec<_>>(), "each once, newest first");
    assert_eq!(said, 60 + 9 * 5);
    let whole = admin.get(&format!("{}/history?limit=200&kind=stop", path(&ana))).await.ok(200);
    assert_eq!(whole, json!({ "items": (1..=said).rev().map(stop).collect::<Vec<_>>(), "nextCursor": null }));
    // The row keeps the latest 20 of them.
    let state = admin.get(&path(&ana)).await.ok(200);
    let latest = state["sessionHistory"].as_array().unwrap().iter().rev();
    let both = |item: &Value| (item["flow"].clone(), item["block"].clone());
    let expected: Vec<_> = whole["items"].as_array().unwrap()[..20].iter().map(both).collect();
    assert_eq!(latest.map(both).collect::<Vec<_>>(), expected);
    let redirects = admin.get(&format!("{}/history?kind=redirect", path(&ana))).await.ok(200);
    assert_eq!(redirects, json!({ "items": [], "nextCursor": null }));
    assert_eq!(
        admin.get(&format!("{}/history", path(&ana))).await.ok(200)["items"].as_array().unwrap().len(),
        50
    );
}

async fn all_redirects_are_paged(setup: Setup) {
    let (setup, server, admin) = begin(setup).await;
    let (mut client, ana) = setup.visit(&server).await;
    client.say("oi").await;
    assert_eq!(client.texts(1).await, ["eco oi"]);
    let jump = json!({ "flowId": setup.seeded.other_flow, "blockId": "again" });
    for _ in 0..23 {
        admin.post(&format!("{}/redirect", path(&ana)), &jump).await.ok(200);
        assert_eq!(client.texts(1).await, ["outro "]);
    }
    let at = format!("{}/history?kind=redirect&limit=15", path(&ana));
    let first = admin.get(&at).await.ok(200);
    let rest = admin.get(&format!("{at}&cursor={}", first["nextCursor"].as_str().unwrap())).await.ok(200);
    let items: Vec<_> =
        [&first, &rest].iter().flat_map(|page| page["items"].as_array().unwrap().clone()).collect();
    assert_eq!(numbers(&items), (1..=23).rev().collect::<Vec<_>>());
    let flow = json!({ "id": setup.seeded.other_flow, "name": "outro {{input}}" });
    let block = json!({ "id": "again", "name": "Eco" });
    assert!(
        items.iter().all(|item| item["kind"] == "redirect" && item["flow"] == flow && item["block"] == block),
        "{items:?}"
    );
    assert_eq!(rest["nextCursor"], json!(null));
    // A redirect into a block that asks is a stop too.
    let stops = admin.get(&format!("{}/history", path(&ana))).await.ok(200);
    assert_eq!(numbers(stops["items"].as_array().unwrap()), (1..=24).rev().collect::<Vec<_>>());
}

async fn a_history_goes_with_its_session(setup: Setup) {
    let (setup, server, admin) = begin(setup).await;
    publish(&setup, &admin).await;
    let (mut client, ana) = setup.visit(&server).await;
    for n in 0..25 {
        say(&mut client, &n.to_string()).await;
    }
    let at = format!("{}/history?limit=2", path(&ana));
    let first = admin.get(&at).await.ok(200);
    let next = format!("{at}&cursor={}", first["nextCursor"].as_str().unwrap());
    assert_eq!(numbers(admin.get(&next).await.ok(200)["items"].as_array().unwrap()), [23, 22]);
    let bad = admin.get(&format!("{}/history?limit=201&cursor=12&kind=x", path(&ana))).await;
    assert_eq!(bad.invalid_fields(), ["cursor", "kind", "limit"]);
    let routers = json!([{ "resource": "routers", "actions": ["read"] }]);
    admin.member(&setup, &routers, &[]).await.get(&at).await.assert_error(403);
    admin.get("/sessions/wc-x-y/history").await.refused(404, "not_found", "Sessão não encontrada");

    // Another session under the same id has a history of its own, to which the cursor does not lead.
    let id = SessionId::parse(format!("wc-{}-{}", ana.channel, ana.user)).unwrap();
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    tx.sessions().delete_many(&[&id]).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    admin.get(&at).await.refused(404, "not_found", "Sessão não encontrada");
    server.advance(std::time::Duration::from_secs(1)).await;
    say(&mut client, "de novo").await;
    assert_eq!(numbers(admin.get(&at).await.ok(200)["items"].as_array().unwrap()), [1]);
    admin.get(&next).await.refused(404, "not_found", "Sessão não encontrada");
}
