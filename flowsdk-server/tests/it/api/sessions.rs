//! Sessions (spec A 2.6, 4.5; rulings H7, S5, S6).

use flowsdk_core::context::OpContext;
use flowsdk_core::flow::{FlowVersion, HasFlows as _};
use flowsdk_core::id::FlowVersionId;
use flowsdk_core::session::{HasSessions as _, HasTraces as _, Mode, SessionId, SessionTrace, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use serde_json::{Value, json};

use super::building::FAILED;
use crate::harness::setup::Identity;
use crate::harness::{Api, Client, Server, Setup, eventually, everywhere};
use crate::messages::{history, texts_of};

everywhere!(
    rule_1_a_session_is_shown,
    rules_3_and_5_redirects_are_followed,
    frozen_sessions_go_on_in_order_and_once,
    frozen_sessions_survive_restarts,
    a_caller_may_wait_for_resumptions_and_redirects,
    frozen_sessions_are_deleted
);
everywhere!(in process:
    rule_1_and_h7_sessions_of_other_routers_are_not_there,
    rule_2_variables_are_merged,
    rule_4_redirects_that_are_refused,
    lists,
    traces,
);

fn session_of(ana: &Identity) -> String {
    format!("wc-{}-{}", ana.channel, ana.user)
}

fn path(ana: &Identity) -> String {
    format!("/sessions/{}", session_of(ana))
}

/// A visitor in the middle of a conversation.
async fn talking(setup: &Setup, server: &Server) -> (Client, Identity) {
    let (mut client, ana) = setup.visit(server).await;
    client.say("um").await;
    assert_eq!(client.texts(1).await, ["eco um"]);
    (client, ana)
}

/// Somebody who may do everything with sessions of the routers given.
async fn scoped(setup: &Setup, admin: &Api, routers: &[&str]) -> Api {
    let all = json!([{ "resource": "sessions", "actions": ["read", "write"] }]);
    admin.member(setup, &all, routers).await
}

/// A router that is not the one of the visitors.
async fn elsewhere(setup: &Setup, admin: &Api) -> String {
    let routers = admin.get("/routers").await.ok(200);
    let other = |router: &&Value| router["id"] != setup.seeded.router;
    routers["items"].as_array().unwrap().iter().find(other).unwrap()["id"].as_str().unwrap().to_owned()
}

async fn rule_1_a_session_is_shown(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana) = talking(&setup, &server).await;
    let state = admin.get(&path(&ana)).await.ok(200);
    let text = |name: &str| state[name].as_str().unwrap().to_owned();
    assert_eq!((text("mode").as_str(), text("source").as_str()), ("flow", "webchat"));
    assert_eq!((text("routerId"), text("contactIdentity")), (setup.seeded.router.clone(), session_of(&ana)));
    assert_eq!((&state["currentBlockId"], &state["expiryTimeout"]), (&json!("again"), &json!(1_800_000)));
    let block = json!({ "id": "again", "name": "Eco" });
    let flow = json!({ "id": state["flowId"], "name": "eco {{input}}" });
    assert_eq!((&state["currentFlow"], &state["currentBlock"]), (&flow, &block));
    assert_eq!(state["sessionHistory"], json!([{ "flow": flow, "block": block }]));
    assert_eq!(state["redirectHistory"], json!([]));
    assert!(state.get("previousBlock").is_none(), "absent at the first stop: {state}");
    assert!(state["startedAt"].is_i64() && state["lastInteractionAt"].is_i64(), "{state}");
    let fields: Vec<_> = state.as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields.len(), 17, "{fields:?}");
    assert_eq!(state["frozen"], json!(null));
    client.say("dois").await;
    assert_eq!(client.texts(1).await, ["eco dois"]);
    let later = admin.get(&path(&ana)).await.ok(200);
    assert_eq!(
        (&later["previousBlock"], &later["variables"]),
        (&block, &json!({ "lastInput": "dois", "said": "dois" }))
    );
    for nobody in ["wc-x-y", "nothing", "wa-1-2", "%20"] {
        let answer = admin.get(&format!("/sessions/{nobody}")).await;
        answer.refused(404, "not_found", "Sessão não encontrada");
    }
}

async fn rule_1_and_h7_sessions_of_other_routers_are_not_there(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (_client, ana) = talking(&setup, &server).await;
    let other = elsewhere(&setup, &admin).await;
    let (stranger, owner) =
        (scoped(&setup, &admin, &[&other]).await, scoped(&setup, &admin, &[&setup.seeded.router]).await);
    owner.get(&path(&ana)).await.ok(200);
    let redirect = json!({ "flowId": setup.seeded.other_flow, "blockId": "again" });
    for (method, rest, body) in [
        ("GET", "", None),
        ("GET", "/trace", None),
        ("GET", "/history", None),
        ("PATCH", "/variables", Some(json!({ "variables": { "a": 1 } }))),
        ("POST", "/redirect", Some(redirect)),
        ("POST", "/unfreeze", Some(json!({ "action": "delete" }))),
    ] {
        let at = format!("{}{rest}", path(&ana));
        let answer = match body {
            Some(body) => stranger.json(method, &at, &[], &body).await,
            None => stranger.send(method, &at, &[], None).await,
        };
        let text = if rest == "/trace" { NO_TRACE } else { "Sessão não encontrada" };
        answer.refused(404, "not_found", text);
    }
    assert_eq!(stranger.get("/sessions").await.ok(200)["items"], json!([]));
    let here = format!("/sessions?routerId={}", setup.seeded.router);
    stranger.get(&here).await.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    assert_eq!(owner.get(&here).await.ok(200)["items"].as_array().unwrap().len(), 1);
}

async fn rule_2_variables_are_merged(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana) = talking(&setup, &server).await;
    let at = format!("{}/variables", path(&ana));
    let first =
        admin.patch(&at, &json!({ "variables": { "plan": { "a": 1, "b": 2 }, "x": 1 } })).await.ok(200);
    let all = json!({ "plan": { "a": 1, "b": 2 }, "x": 1 });
    assert_eq!(first, json!({ "ok": true, "sessionId": session_of(&ana), "variables": all }));
    // Shallow; null is stored.
    let second = admin.patch(&at, &json!({ "variables": { "plan": { "c": 3 }, "x": null } })).await.ok(200);
    assert_eq!(second["variables"], json!({ "plan": { "c": 3 }, "x": null }));
    client.say("dois").await;
    assert_eq!(client.texts(1).await, ["eco dois"]);
    let state = admin.get(&path(&ana)).await.ok(200);
    assert_eq!(
        state["variables"],
        json!({ "lastInput": "dois", "said": "dois", "plan": { "c": 3 }, "x": null })
    );
    admin.patch("/sessions/wc-x-y/variables", &json!({ "variables": {} })).await.refused(
        404,
        "not_found",
        "Sessão não encontrada",
    );
    for (bad, field) in [
        (json!({}), "variables"),
        (json!({ "variables": [] }), "variables"),
        (json!({ "variables": { "a.b": 1 } }), "variables.a.b"),
        (json!({ "variables": {}, "more": 1 }), "more"),
    ] {
        assert_eq!(admin.patch(&at, &bad).await.invalid_fields(), [field], "{bad}");
    }
    let several = json!({ "variables": { "a.b": 1, "good": 2, "": 3, "c d": 4 } });
    let fields = admin.patch(&at, &several).await.invalid_fields();
    assert_eq!(fields, ["variables.", "variables.a.b", "variables.c d"]);
    let large = json!({ "variables": { "a": "x".repeat(64 * 1024) } });
    let answer = admin.patch(&at, &large).await;
    answer.assert_error(422);
    assert_eq!(answer.json()["code"], "variables_too_large");
}

/// With `executeOnEntry` the target speaks at once, on the socket of the session (rule 5); without, it waits for the
/// next message. Each redirect is remembered.
async fn rules_3_and_5_redirects_are_followed(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana) = talking(&setup, &server).await;
    let at = format!("{}/redirect", path(&ana));
    let jump = json!({ "flowId": setup.seeded.other_flow, "blockId": "again" });
    let answer = admin.post(&at, &jump).await.ok(200);
    assert!(answer["streamEntryId"].as_str().is_some_and(|id| !id.is_empty()), "{answer}");
    let expected = json!({ "ok": true, "sessionId": session_of(&ana), "flowId": setup.seeded.other_flow,
        "blockId": "again", "executeOnEntry": true, "streamEntryId": answer["streamEntryId"] });
    assert_eq!(answer, expected);
    assert_eq!(client.texts(1).await, ["outro "], "at once: there is no input");
    client.say("dois").await;
    assert_eq!(client.texts(1).await, ["outro dois"]);
    assert_eq!(admin.get(&path(&ana)).await.ok(200)["redirectHistory"], json!([jump]));

    let state = admin.get(&path(&ana)).await.ok(200);
    let home = json!({ "flowId": echo_of(&admin, &setup).await, "blockId": "again" });
    let mut silent = home.clone();
    silent["executeOnEntry"] = json!(false);
    assert_eq!(admin.post(&at, &silent).await.ok(200)["executeOnEntry"], false);
    let there = eventually("the session stands there", || async {
        let now = admin.get(&path(&ana)).await.ok(200);
        (now["flowId"] == home["flowId"]).then_some(now)
    })
    .await;
    assert_eq!(there["redirectHistory"], json!([jump, home]));
    assert_eq!(there["variables"], state["variables"], "nothing ran");
    client.say("três").await;
    assert_eq!(client.texts(1).await, ["eco três"]);
    let outgoing = texts_of(&history(&server, &ana).await, "out");
    assert_eq!(outgoing, ["eco um", "outro ", "outro dois", "eco três"]);
}

/// The flow that the open channel starts with.
async fn echo_of(admin: &Api, setup: &Setup) -> String {
    let router = admin.get(&format!("/routers/{}", setup.seeded.router)).await.ok(200);
    router["initialFlowId"].as_str().unwrap().to_owned()
}

async fn rule_4_redirects_that_are_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (_client, ana) = talking(&setup, &server).await;
    let at = format!("{}/redirect", path(&ana));
    let (own, foreign) = (setup.seeded.other_flow.clone(), setup.seeded.foreign_flow.clone());
    let to = |flow: &str, block: &str| json!({ "flowId": flow, "blockId": block });
    let nowhere = admin.post("/sessions/wc-x-y/redirect", &to(&own, "again")).await;
    nowhere.refused(404, "not_found", "Sessão não encontrada");
    let text = "Flow não encontrado ou sem publicação ativa";
    admin.post(&at, &to("nothing", "again")).await.refused(404, "flow_not_published", text);
    // A tool is nothing that a session can stand in.
    let tool = json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "again",
        "blocks": [{ "id": "again", "type": "content", "defaultOutput": { "end": true } }] });
    let tool = json!({ "routerId": setup.seeded.router, "name": "T", "kind": "tool", "definition": tool });
    let tool = admin.post("/flows", &tool).await.ok(201)["id"].as_str().unwrap().to_owned();
    admin.send("POST", &format!("/flows/{tool}/publish"), &[], None).await.ok(200);
    admin.post(&at, &to(&tool, "again")).await.refused(404, "flow_not_published", text);
    let text = "Cross-router redirect não permitido";
    admin.post(&at, &to(&foreign, "again")).await.refused(409, "cross_router_redirect", text);
    let text = "Bloco destino não encontrado na definição do flow";
    admin.post(&at, &to(&own, "nothing")).await.refused(422, "block_not_found", text);
    for bad in
        [json!({}), json!({ "flowId": own }), json!({ "flowId": own, "blockId": "x", "executeOnEntry": 1 })]
    {
        assert!(!admin.post(&at, &bad).await.invalid_fields().is_empty());
    }
    // A human has it: as the helpdesk would write it down.
    let store = setup.store().await;
    let id = SessionId::parse(session_of(&ana)).unwrap();
    let mut tx = store.begin().await.unwrap();
    let mut session = tx.sessions().find_many_for_update(&[id]).await.unwrap().remove(0).session;
    let expected = Some(session.version);
    session.version += 1;
    session.mode = Mode::Human;
    tx.sessions().save_many(&[SessionWrite { session: &session, expected }]).await.unwrap();
    tx.commit().await.unwrap();
    let text = "Sessão em atendimento humano — devolva ao fluxo antes de redirecionar";
    for flow in [&own, &foreign] {
        admin.post(&at, &to(flow, "again")).await.refused(409, "session_in_human_attendance", text);
    }
    assert_eq!(admin.get(&path(&ana)).await.ok(200)["mode"], "human");
    setup.done(store).await;
}

async fn lists(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(talking(&setup, &server).await);
    }
    let mut cursor = String::new();
    let mut seen = Vec::new();
    loop {
        let page = admin.get(&format!("/sessions?limit=2{cursor}")).await.ok(200);
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["sessionId"].clone()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected: Vec<_> = clients.iter().rev().map(|(_, ana)| json!(session_of(ana))).collect();
    assert_eq!(seen, expected, "newest first");
    let state = admin.get(&path(&clients[1].1)).await.ok(200);
    for (filter, count) in [
        (format!("contactId={}", state["contactId"].as_str().unwrap()), 1),
        (format!("flowId={}", state["flowId"].as_str().unwrap()), 3),
        (format!("flowId={}&routerId={}", setup.seeded.other_flow, setup.seeded.router), 0),
        (format!("routerId={}&mode=flow", setup.seeded.router), 3),
        ("mode=human".to_owned(), 0),
        (format!("routerId={}", elsewhere(&setup, &admin).await), 0),
    ] {
        let found = admin.get(&format!("/sessions?{filter}")).await.ok(200);
        assert_eq!(found["items"].as_array().unwrap().len(), count, "{filter}");
    }
    let bad = admin.get("/sessions?mode=x&contactId=a%20b&limit=0&cursor=1").await;
    assert_eq!(bad.invalid_fields(), ["contactId", "cursor", "limit", "mode"]);
}

/// The words where there is neither a session nor a trace of one.
const NO_TRACE: &str = "Sessão não encontrada, e nenhum trace dela está armazenado";

async fn traces(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (_client, ana) = talking(&setup, &server).await;
    let store = setup.store().await;
    let trace = |version: i64| SessionTrace {
        session_id: SessionId::parse(session_of(&ana)).unwrap(),
        router_id: Some(setup.seeded.router.parse().unwrap()),
        contact_id: None,
        version: i64::MAX - 100 + version,
        event: "message".to_owned(),
        steps: json!([{ "step": "blockEntered", "blockId": "ask" }, { "step": "variableSet", "key": "a", "value": [1] }]),
        created_at: OpContext::system().now(),
    };
    let mut tx = store.begin().await.unwrap();
    tx.traces().store_many(&(1..=5).map(trace).collect::<Vec<_>>()).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    let at = format!("{}/trace?limit=2", path(&ana));
    let first = admin.get(&at).await.ok(200);
    assert_eq!(first["items"].as_array().unwrap().len(), 2);
    assert_eq!(first["items"][0]["version"], i64::MAX - 95);
    let next = format!("{at}&cursor={}", first["nextCursor"].as_str().unwrap());
    assert_eq!(admin.get(&next).await.ok(200)["items"][0]["version"], i64::MAX - 97);
    assert_eq!(admin.get(&format!("{at}&cursor=x")).await.invalid_fields(), ["cursor"]);
    assert_eq!(admin.get(&format!("{at}&format=xml")).await.invalid_fields(), ["format"]);

    // For people: oldest first.
    let text = admin.get(&format!("{at}&format=text")).await;
    assert_eq!((text.status, &*text.headers["content-type"]), (200, "text/plain; charset=utf-8"));
    let lines: Vec<&str> = text.body.lines().collect();
    assert!(lines[0].contains(&format!("cursor={}", i64::MAX - 96)), "{lines:?}");
    assert!(lines[1].ends_with("Z message") && lines[4].ends_with(" s after the turn before"), "{lines:?}");
    assert_eq!(lines[2..4], ["  block `ask`", "  sets a = [1]"]);
    let accepts = [("accept", "text/plain")];
    assert_eq!(admin.json("GET", &at, &accepts, &Value::Null).await.body, text.body);

    // They outlive the session, for those who saw it.
    let store = setup.store().await;
    let id = SessionId::parse(session_of(&ana)).unwrap();
    let mut tx = store.begin().await.unwrap();
    tx.sessions().find_many_for_update(std::slice::from_ref(&id)).await.unwrap();
    tx.sessions().delete_many(&[&id]).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    admin.get(&path(&ana)).await.refused(404, "not_found", "Sessão não encontrada");
    assert_eq!(admin.get(&next).await.ok(200)["items"][0]["version"], i64::MAX - 97);
    let other = elsewhere(&setup, &admin).await;
    let (stranger, owner) =
        (scoped(&setup, &admin, &[&other]).await, scoped(&setup, &admin, &[&setup.seeded.router]).await);
    assert_eq!(owner.get(&at).await.ok(200), first);
    // Nobody learns of another router's session more than that it is not there.
    stranger.get(&at).await.refused(404, "not_found", NO_TRACE);
    let nobody = admin.get("/sessions/wc-x-y/trace").await;
    nobody.refused(404, "not_found", NO_TRACE);
}

/// One block that leads into a flow that is not there, and the version that puts it right.
fn lost(target: &Value) -> Value {
    let mut block = json!({ "id": "only", "type": "content", "title": "Perdido",
        "contents": [{ "type": "text", "text": { "body": "viu {{input}}" } }], "defaultOutput": target });
    if target["blockId"] == "only" {
        block["input"] = json!({ "variable": "said" });
    }
    json!({ "schemaVersion": 1, "startBlockId": "only", "blocks": [block] })
}

/// Publishes a version of the flow that the open channel starts with.
async fn publish(setup: &Setup, flow: &str, number: i64, definition: Value) {
    let cx = OpContext::system();
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    let flow = tx.flows().find_many(&[flow.parse().unwrap()]).await.unwrap().remove(0);
    let version = FlowVersion {
        id: FlowVersionId::generate(cx.ids()),
        flow_id: flow.id,
        router_id: flow.router_id,
        flow_name: flow.name,
        number,
        definition: definition.into(),
        created_at: cx.now(),
    };
    tx.flows().publish(&version).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
}

/// A visitor whose session froze at their first message, with two messages behind it; and the flow.
async fn frozen(setup: &Setup, server: &Server, admin: &Api) -> (Client, Identity, String) {
    let routers = admin.get("/routers").await.ok(200);
    let of_visitors = |router: &&Value| router["id"] == setup.seeded.router;
    let router = routers["items"].as_array().unwrap().iter().find(of_visitors).unwrap();
    let flow = router["initialFlowId"].as_str().unwrap().to_owned();
    publish(setup, &flow, 2, lost(&json!({ "flowId": "nowhere" }))).await;
    let (mut client, ana) = setup.visit(server).await;
    for text in ["um", "dois", "três"] {
        client.say(text).await;
    }
    assert_eq!(client.texts(1).await, [FAILED]);
    let item = eventually("the session is frozen", || async {
        let frozen = admin.get("/sessions/frozen").await.ok(200);
        frozen["items"].as_array().unwrap().iter().find(|i| i["sessionId"] == session_of(&ana)).cloned()
    })
    .await;
    // With streams an ack only says that the message is on its way.
    eventually("what came behind is kept", || async {
        (texts_of(&history(server, &ana).await, "in").len() == 3).then_some(())
    })
    .await;
    assert_eq!((&item["routerId"], &item["flowId"]), (&json!(setup.seeded.router), &json!(flow)));
    assert_eq!((&item["mode"], &item["blockId"]), (&json!("flow"), &json!(null)));
    assert_eq!(item["error"]["code"], "flow_not_found");
    assert_eq!(item["error"]["message"], "Flow não encontrado ou sem publicação ativa: `nowhere`");
    let of = |router: &str| format!("/sessions/frozen?routerId={router}");
    let listed = admin.get(&of(item["routerId"].as_str().unwrap())).await.ok(200);
    assert!(listed["items"].as_array().unwrap().contains(&item));
    assert_eq!(admin.get(&of("another")).await.ok(200)["items"], json!([]));
    let english = admin.send("GET", "/sessions/frozen", &[("accept-language", "en")], None).await.ok(200);
    assert_eq!(english["items"][0]["error"]["message"], "flow `nowhere` is not published here");
    assert!(item["error"]["message"].is_string() && item["frozenAt"].is_string());
    assert_eq!(item["entry"]["messages"][0]["text"]["body"], "um", "{item}");
    assert_eq!(
        (&item["message"]["type"], &item["message"]["text"]),
        (&json!("text"), &json!("um")),
        "{item}"
    );
    let said = history(server, &ana).await;
    assert!(said.iter().any(|message| message["id"] == item["message"]["id"]), "{item}");
    assert_eq!(item.as_object().unwrap().len(), 9, "{item}");
    let frost = json!({ "error": item["error"], "frozenAt": item["frozenAt"] });
    assert_eq!(admin.get(&path(&ana)).await.ok(200)["frozen"], frost);
    let listed = admin.get("/sessions").await.ok(200);
    let listed = listed["items"].as_array().unwrap().iter().find(|i| i["sessionId"] == session_of(&ana));
    assert_eq!(listed.unwrap()["frozen"], frost);
    (client, ana, flow)
}

async fn frozen_sessions_go_on_in_order_and_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana, flow) = frozen(&setup, &server, &admin).await;
    let other = elsewhere(&setup, &admin).await;
    let stranger = scoped(&setup, &admin, &[&other]).await;
    assert_eq!(stranger.get("/sessions/frozen").await.ok(200)["items"], json!([]));
    let listed = admin.get("/sessions/frozen").await.ok(200);
    let router = listed["items"][0]["routerId"].as_str().unwrap();
    let of_router = stranger.get(&format!("/sessions/frozen?routerId={router}")).await;
    of_router.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let at = format!("{}/unfreeze", path(&ana));
    assert_eq!(admin.post(&at, &json!({ "action": "x" })).await.invalid_fields(), ["action"]);
    publish(&setup, &flow, 3, lost(&json!({ "blockId": "only" }))).await;
    let resume = json!({ "action": "resume" });
    let answer = admin.post(&at, &resume).await.ok(200);
    assert_eq!(answer, json!({ "ok": true, "sessionId": session_of(&ana), "action": "resume" }));
    // A second one does nothing more; a message meanwhile waits behind the others.
    let _again = admin.post(&at, &resume).await;
    client.say("quatro").await;
    assert_eq!(client.texts(4).await, ["viu um", "viu dois", "viu três", "viu quatro"]);
    client.say("cinco").await;
    assert_eq!(client.texts(1).await, ["viu cinco"], "nothing came twice");
    let items = history(&server, &ana).await;
    assert_eq!(texts_of(&items, "in"), ["um", "dois", "três", "quatro", "cinco"]);
    let said = [FAILED, "viu um", "viu dois", "viu três", "viu quatro", "viu cinco"];
    assert_eq!(texts_of(&items, "out"), said);
    assert_eq!(admin.get("/sessions/frozen").await.ok(200)["items"], json!([]));
    admin.post(&at, &resume).await.refused(409, "session_not_frozen", "A sessão não está congelada");
}

async fn a_caller_may_wait_for_resumptions_and_redirects(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana, flow) = frozen(&setup, &server, &admin).await;
    let at = format!("{}/unfreeze?wait=10", path(&ana));
    let resume = json!({ "action": "resume" });
    let again = admin.post(&at, &resume).await.ok(200);
    assert_eq!(again["outcome"]["result"], "frozen", "nothing was put right: {again}");
    assert_eq!(again["outcome"]["error"]["code"], "flow_not_found");
    let right = lost(&json!({ "blockId": "only" }));
    let mut slow = right.clone();
    slow["blocks"][0]["onEnter"] =
        json!([{ "type": "executeScript", "script": "for (;;);", "variable": "n" }]);
    publish(&setup, &flow, 3, slow.clone()).await;
    let later = admin.post(&at, &resume).await.ok(200);
    assert_eq!(later["outcome"]["result"], "frozen", "its script fails after a while: {later}");
    assert_eq!(later["outcome"]["error"]["code"], "script_timeout");
    publish(&setup, &flow, 4, right).await;
    let done = admin.post(&at, &resume).await.ok(200);
    let there = json!({ "result": "done", "mode": "flow", "flowId": flow, "blockId": "only" });
    assert_eq!(done["outcome"], there, "{done}");
    // The script failed after the resumption, so the visitor was told again.
    assert_eq!(client.texts(4).await, [FAILED, "viu um", "viu dois", "viu três"]);
    admin.post(&at, &resume).await.refused(409, "session_not_frozen", "A sessão não está congelada");
    publish(&setup, &flow, 5, slow).await;
    let redirect = json!({ "flowId": flow, "blockId": "only" });
    let led = admin.post(&format!("{}/redirect?wait=10", path(&ana)), &redirect).await.ok(200);
    assert_eq!(led["outcome"]["result"], "frozen", "the script of its block fails after a while: {led}");
    assert_eq!(led["outcome"]["error"]["code"], "script_timeout");
}

async fn frozen_sessions_survive_restarts(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (client, ana, flow) = frozen(&setup, &server, &admin).await;
    drop(client);
    server.kill();
    let server = setup.start().await;
    let admin = admin.at(&server);
    publish(&setup, &flow, 3, lost(&json!({ "blockId": "only" }))).await;
    admin.post(&format!("{}/unfreeze", path(&ana)), &json!({ "action": "resume" })).await.ok(200);
    // Cut off in the middle, or just before, or just after.
    server.kill();
    let server = setup.start().await;
    let admin = admin.at(&server);
    eventually("everything was replayed", || async {
        let frozen = admin.get("/sessions/frozen").await.ok(200);
        (frozen["items"] == json!([])).then_some(())
    })
    .await;
    let (mut client, _) = Client::enter(server.addr, ana.auth()).await;
    client.say("quatro").await;
    client.until("viu quatro").await;
    let items = history(&server, &ana).await;
    assert_eq!(texts_of(&items, "in"), ["um", "dois", "três", "quatro"]);
    assert_eq!(texts_of(&items, "out"), [FAILED, "viu um", "viu dois", "viu três", "viu quatro"]);
}

async fn frozen_sessions_are_deleted(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mut client, ana, flow) = frozen(&setup, &server, &admin).await;
    let at = format!("{}/unfreeze", path(&ana));
    let answer = admin.post(&at, &json!({ "action": "delete" })).await.ok(200);
    assert_eq!(answer["action"], "delete");
    assert_eq!(client.session().await, json!({ "mode": null }), "the page says that it has ended");
    admin.get(&path(&ana)).await.refused(404, "not_found", "Sessão não encontrada");
    admin.post(&at, &json!({ "action": "delete" })).await.refused(404, "not_found", "Sessão não encontrada");
    publish(&setup, &flow, 3, lost(&json!({ "blockId": "only" }))).await;
    client.say("de novo").await;
    assert_eq!(client.texts(1).await, ["viu de novo"], "a new session, and nothing of before");
}
