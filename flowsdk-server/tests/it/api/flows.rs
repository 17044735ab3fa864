//! Flows: drafts and what is wrong with them, lists, deletion, pictures (spec A 4.3, rulings S13). What of them is published
//! is in `flow_versions`.

use serde_json::{Value, json};

use super::building::{
    UNANSWERED, act, actions, answer, details, id, published, records, router, says, shop, visitor,
};
use crate::harness::{Api, Setup, everywhere};

everywhere!(a_draft_may_be_wrong_and_what_is_published_not);
everywhere!(in process:
    a_flow_and_its_definition_are_of_one_kind,
    a_script_that_is_not_javascript_is_a_problem,
    two_authors_do_not_overwrite_each_other,
    the_order_of_keys_is_kept,
    authors_are_warned_of_secrets_variables_and_flows_that_are_not_there,
    a_handoff_that_nobody_takes_is_warned_of,
    a_block_needs_an_agent_in_service,
    a_flow_in_use_is_not_deleted,
    lists_and_scope,
    hostile_definitions,
    pictures,
    the_schema_of_definitions,
);

pub async fn draft(api: &Api, router: &str, definition: &Value) -> Value {
    let body = json!({ "routerId": router, "name": "F", "definition": definition });
    api.post("/flows", &body).await.ok(201)
}

/// A definition whose keys are in no order of the alphabet.
fn ordered(id: &str) -> String {
    format!(
        r#"{{"startBlockId":"{id}","schemaVersion":1,"blocks":[{{"type":"content","id":"{id}","input":{{"variable":"v"}},"defaultOutput":{{"end":true}}}}]}}"#
    )
}

async fn the_order_of_keys_is_kept(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let of_json = [("content-type", "application/json")];
    let send = async |method: &str, path: &str, body: String| {
        let answer = admin.send(method, path, &of_json, Some(body.as_bytes())).await;
        assert!(answer.status < 300, "{answer:?}");
        answer.body
    };
    let is_in = |definition: &str, body: &str| {
        assert!(body.contains(&format!(r#""definition":{definition}"#)), "{body}");
    };
    let spaced = ordered("a").replace(':', " : ").replace(',', ",\n");
    let created = format!(r#"{{"name":"F","definition":{spaced},"routerId":"{router}"}}"#);
    let created = send("POST", "/flows", created).await;
    is_in(&ordered("a"), &created);
    let path = format!("/flows/{}", id(&serde_json::from_str(&created).unwrap()));
    let change = format!(r#"{{"definition":{},"revision":1}}"#, ordered("b"));
    is_in(&ordered("b"), &send("PATCH", &path, change).await);
    // A change of another field leaves it as it is.
    admin.patch(&path, &json!({ "name": "G" })).await.ok(200);
    is_in(&ordered("b"), &admin.get(&path).await.body);
    act(&admin, &format!("{path}/publish")).await.ok(200);
    is_in(&ordered("b"), &admin.get(&format!("{path}/versions/1")).await.body);
    admin.patch(&path, &json!({ "definition": says("oi"), "revision": 2 })).await.ok(200);
    act(&admin, &format!("{path}/versions/1/rollback")).await.ok(200);
    is_in(&ordered("b"), &admin.get(&format!("{path}/versions/2")).await.body);
    is_in(&says("oi").to_string(), &admin.get(&path).await.body);
}

async fn a_draft_may_be_wrong_and_what_is_published_not(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let empty = admin.post("/flows", &json!({ "routerId": router, "name": "Vazio" })).await.ok(201);
    assert_eq!((&empty["revision"], &empty["kind"]), (&json!(1), &json!("flow")));
    assert_eq!(empty["definition"]["blocks"], json!([]));
    assert!(empty["publishedVersion"].is_null() && empty["hasTestVersion"] == false);

    let mut wrong = says("oi");
    wrong["blocks"][0]["defaultOutput"] = json!({ "blockId": "nowhere" });
    wrong["blocks"].as_array_mut().unwrap().push(json!({ "id": "odd", "type": "teleport" }));
    let flow = draft(&admin, &router, &wrong).await;
    assert_eq!(flow["definition"], wrong, "kept as it is");
    let path = format!("/flows/{}", id(&flow));
    assert_eq!(admin.get(&path).await.ok(200), flow);
    let found = act(&admin, &format!("{path}/validate")).await.ok(200);
    assert_eq!((&found["valid"], &found["revision"]), (&json!(false), &json!(1)));
    let problem = &found["problems"][0];
    assert_eq!(problem["severity"], "error");
    assert_eq!((&problem["pointer"], &problem["blockId"]), (&json!("/blocks/1/type"), &json!("odd")));
    assert_eq!(
        problem["message"],
        "o tipo de bloco `teleport` não é suportado; há `content`, `agent`, `human`, `flow`"
    );
    let english = [("accept-language", "en")];
    let found = admin.send("POST", &format!("{path}/validate"), &english, None).await.ok(200);
    assert_eq!(
        found["problems"][0]["message"],
        "block type `teleport` is not supported; there are `content`, `agent`, `human`, `flow`"
    );
    let refused = act(&admin, &format!("{path}/publish")).await;
    refused.refused(422, "flow_invalid", "Definição do flow inválida");
    assert_eq!(details(&refused)[0].0, "definition/blocks/1/type");
    act(&admin, &format!("{path}/publish-test")).await.refused(
        422,
        "flow_invalid",
        "Definição do flow inválida",
    );

    wrong["blocks"].as_array_mut().unwrap().pop();
    let fixed = json!({ "definition": wrong, "revision": 1 });
    assert_eq!(admin.patch(&path, &fixed).await.ok(200)["revision"], 2);
    let refused = act(&admin, &format!("{path}/publish")).await;
    assert_eq!(details(&refused)[0].0, "definition/blocks/0/defaultOutput/blockId");
    assert!(details(&refused)[0].1.starts_with("start: "), "the block is named");
    let fixed = json!({ "definition": says("oi"), "revision": 2 });
    admin.patch(&path, &fixed).await.ok(200);
    act(&admin, &format!("{path}/publish?revision=2")).await.refused(
        409,
        "stale_revision",
        "O rascunho foi alterado; a revisão atual é 3",
    );
    let version = act(&admin, &format!("{path}/publish?revision=3")).await.ok(200);
    assert_eq!((&version["number"], &version["flowName"]), (&json!(1), &json!("F")));
    assert_eq!(admin.get(&path).await.ok(200)["publishedVersion"], 1);
    for (body, field) in [
        (json!({ "routerId": router, "name": "F", "definition": [] }), "definition"),
        (json!({ "routerId": router, "name": "F", "kind": "agent" }), "kind"),
        (json!({ "routerId": router }), "name"),
        (json!({ "name": "F" }), "routerId"),
    ] {
        assert_eq!(admin.post("/flows", &body).await.invalid_fields(), [field], "{body}");
    }
    let nowhere = admin.post("/flows", &json!({ "routerId": "cnothing", "name": "F" })).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    let log = records(&admin, &format!("entityType=FLOW&routerId={router}"), 5).await;
    let of_flow: Vec<_> = log.into_iter().filter(|record| record["entityId"] == flow["id"]).collect();
    assert_eq!(actions(&of_flow), ["CREATE", "UPDATE", "UPDATE", "PUBLISH"]);
    assert_eq!(of_flow[1]["changes"], json!({ "revision": { "from": 2, "to": 3 } }));
    assert_eq!(of_flow[0]["changes"]["number"], 1);
}

/// Who may begin with a flow is decided by its kind, what it does by its definition's: a router that begins with
/// what is no conversation would leave its visitors without a word.
async fn a_flow_and_its_definition_are_of_one_kind(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let tool = json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] });
    let mut of_flow = says("x");
    for (kind, definition) in [("flow", &tool), ("tool", &of_flow)] {
        let body = json!({ "routerId": router, "name": "F", "kind": kind, "definition": definition });
        let made = admin.post("/flows", &body).await.ok(201);
        assert_eq!(&made["definition"], definition, "a draft may be wrong");
        let path = format!("/flows/{}", id(&made));
        let found = act(&admin, &format!("{path}/validate")).await.ok(200);
        assert_eq!(found["valid"], false);
        let problem = &found["problems"][0];
        assert_eq!((&problem["code"], &problem["severity"]), (&json!("kind_mismatch"), &json!("error")));
        assert_eq!(problem["pointer"], "/kind");
        for how in if kind == "flow" { &["publish", "publish-test"][..] } else { &["publish"] } {
            let refused = act(&admin, &format!("{path}/{how}")).await;
            refused.refused(422, "flow_invalid", "Definição do flow inválida");
            assert_eq!(details(&refused)[0].0, "definition/kind");
            assert!(details(&refused)[0].1.ends_with("(kind_mismatch)"), "{refused:?}");
        }
        assert!(admin.get(&path).await.ok(200)["publishedVersion"].is_null());
    }
    // What fits is published; a tool that is created without a definition begins as one.
    let body = json!({ "routerId": router, "name": "T", "kind": "tool", "definition": tool });
    let made = id(&admin.post("/flows", &body).await.ok(201));
    act(&admin, &format!("/flows/{made}/publish")).await.ok(200);
    let empty = json!({ "routerId": router, "name": "T", "kind": "tool" });
    assert_eq!(admin.post("/flows", &empty).await.ok(201)["definition"]["kind"], "tool");
    of_flow["kind"] = json!("flow");
    let made = id(&draft(&admin, &router, &of_flow).await);
    act(&admin, &format!("/flows/{made}/publish")).await.ok(200);
}

async fn a_script_that_is_not_javascript_is_a_problem(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let with = |script: &str| {
        let mut definition = says("oi");
        definition["blocks"][0]["onEnter"] =
            json!([{ "type": "executeScript", "continueOnError": true, "script": script }]);
        definition
    };
    let flow = draft(&admin, &router, &with("const a = 1\nreturn a +* 2")).await;
    let path = format!("/flows/{}", id(&flow));
    let english = [("accept-language", "en")];
    let found = admin.send("POST", &format!("{path}/validate"), &english, None).await.ok(200);
    let problem = &found["problems"][0];
    assert_eq!((&found["valid"], &problem["code"]), (&json!(false), &json!("bad_script")), "{found}");
    assert_eq!(
        (&problem["pointer"], &problem["blockId"]),
        (&json!("/blocks/0/onEnter/0/script"), &json!("start"))
    );
    let message = problem["message"].as_str().unwrap();
    assert!(message.starts_with("the script is not JavaScript: line 2, column 11: "), "{message}");
    for publish in ["publish", "publish-test"] {
        let refused = act(&admin, &format!("{path}/{publish}")).await;
        refused.refused(422, "flow_invalid", "Definição do flow inválida");
        let (place, text) = details(&refused).remove(0);
        assert_eq!(place, "definition/blocks/0/onEnter/0/script");
        assert!(text.starts_with("start: o script não é JavaScript: linha 2, coluna 11: "), "{text}");
    }
    // What runs for ever is not run, and what only fails when it runs is not wrong.
    for (revision, script) in [(1, "for (;;);"), (2, "if (input) return null.x")] {
        let change = json!({ "definition": with(script), "revision": revision });
        admin.patch(&path, &change).await.ok(200);
        for publish in ["validate", "publish", "publish-test"] {
            act(&admin, &format!("{path}/{publish}")).await.ok(200);
        }
    }
}

async fn two_authors_do_not_overwrite_each_other(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let path = format!("/flows/{}", id(&draft(&admin, &router, &says("a")).await));
    let alone = json!({ "definition": says("b") });
    assert_eq!(admin.patch(&path, &alone).await.invalid_fields(), ["revision"]);
    let bodies: Vec<_> =
        (0..8).map(|n| json!({ "definition": says(&format!("autor {n}")), "revision": 1 })).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| admin.patch(&path, body))).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 7));
    lost.iter().for_each(|answer| {
        answer.refused(409, "stale_revision", "O rascunho foi alterado; a revisão atual é 2");
    });
    assert_eq!(admin.get(&path).await.ok(200)["definition"], won[0].json()["definition"]);
    // A name is not a change of the draft.
    assert_eq!(admin.patch(&path, &json!({ "name": "Novo" })).await.ok(200)["revision"], 2);
}

async fn authors_are_warned_of_secrets_variables_and_flows_that_are_not_there(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let elsewhere = super::building::router(&admin, "S").await;
    let foreign = id(&draft(&admin, &elsewhere, &says("oi")).await);
    let mut definition = says("{{router.marca}} {{router.token}} {{flow.pin}} {{router.gone}}");
    definition["blocks"][0]["defaultOutput"] = json!({ "flowId": foreign });
    let flow = id(&draft(&admin, &router, &definition).await);
    for (path, key, secret) in [
        (format!("/routers/{router}/variables"), "marca", false),
        (format!("/routers/{router}/variables"), "token", true),
        (format!("/flows/{flow}/variables"), "pin", false),
    ] {
        let variable = json!({ "key": key, "value": "v-1", "isSecret": secret });
        admin.post(&path, &variable).await.ok(201);
    }
    let found = act(&admin, &format!("/flows/{flow}/validate")).await.ok(200);
    let shown = |problems: &Value| {
        let problems = problems.as_array().unwrap().clone();
        let of =
            |one: &Value| format!("{} {}", one["code"].as_str().unwrap(), one["pointer"].as_str().unwrap());
        problems.iter().map(of).collect::<Vec<_>>()
    };
    let expected = [
        "secret_in_text /blocks/0/contents/0",
        "unknown_variable /blocks/0/contents/0/text/body",
        "target_flow_not_found /blocks/0/defaultOutput/flowId",
    ];
    assert_eq!(
        (&found["valid"], shown(&found["problems"])),
        (&json!(true), expected.map(String::from).to_vec())
    );
    let published = act(&admin, &format!("/flows/{flow}/publish")).await.ok(200);
    assert_eq!(shown(&published["warnings"]), expected);
    let text = "`router.token`: um segredo fica legível onde este texto é enviado ou armazenado";
    assert_eq!(published["warnings"][0]["message"], text);
}

/// Rulings S20.
async fn a_handoff_that_nobody_takes_is_warned_of(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "human", "queueId": "cgone", "userId": "cnobody", "defaultOutput": { "end": true } }] });
    let flow = id(&draft(&admin, &router, &definition).await);
    let codes = async || {
        let found = act(&admin, &format!("/flows/{flow}/validate")).await.ok(200);
        assert_eq!(found["valid"], true);
        found["problems"].as_array().unwrap().iter().map(|one| one["code"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(codes().await, ["no_queue"]);
    let queue = id(&admin.post("/queues", &json!({ "routerId": router, "name": "Fila" })).await.ok(201));
    assert_eq!(codes().await, ["queue_not_active", "user_not_agent"]);
    admin.patch(&format!("/queues/{queue}"), &json!({ "isActive": false })).await.ok(200);
    assert_eq!(codes().await, ["no_queue"]);
    let published = act(&admin, &format!("/flows/{flow}/publish")).await.ok(200);
    assert_eq!(published["warnings"][0]["code"], "no_queue", "it can be published");
}

/// A flow whose agent takes no conversations is not published, neither for all nor for a test.
async fn a_block_needs_an_agent_in_service(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (here, elsewhere) = (router(&admin, "R").await, router(&admin, "S").await);
    let agent = async |router: &str| {
        let body = json!({ "routerId": router, "type": "specialist", "name": "Sales", "model": "m" });
        id(&admin.post("/ai-agents", &body).await.ok(201))
    };
    let (mine, foreign) = (agent(&here).await, agent(&elsewhere).await);
    let definition = |agent: &str| {
        json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "agent", "agentId": agent, "maxMessages": 5, "defaultOutput": { "end": true } }] })
    };
    let refused = async |agent: &str, code: &str| {
        let path = format!("/flows/{}", id(&draft(&admin, &here, &definition(agent)).await));
        let found = act(&admin, &format!("{path}/validate")).await.ok(200);
        let problem = &found["problems"][0];
        assert_eq!((&found["valid"], &problem["code"]), (&json!(false), &json!(code)));
        assert_eq!(
            (&problem["severity"], &problem["pointer"]),
            (&json!("error"), &json!("/blocks/0/agentId"))
        );
        for how in ["publish", "publish-test"] {
            let refused = act(&admin, &format!("{path}/{how}")).await;
            refused.refused(422, "flow_invalid", "Definição do flow inválida");
            assert_eq!(details(&refused)[0].0, "definition/blocks/0/agentId");
            assert!(details(&refused)[0].1.ends_with(&format!("({code})")), "{refused:?}");
        }
    };
    refused("cnothing", "agent_unknown").await;
    refused(&foreign, "agent_unknown").await;
    let path = format!("/ai-agents/{mine}");
    admin.patch(&path, &json!({ "isActive": false })).await.ok(200);
    refused(&mine, "agent_not_in_service").await;
    admin.patch(&path, &json!({ "isActive": true, "type": "system", "task": "flow" })).await.ok(200);
    refused(&mine, "agent_not_in_service").await;
    admin.patch(&path, &json!({ "type": "orchestrator", "task": null })).await.ok(200);
    let flow = id(&draft(&admin, &here, &definition(&mine)).await);
    let warned = async |how: &str| -> Vec<Value> {
        let done = act(&admin, &format!("/flows/{flow}/{how}")).await.ok(200);
        done["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect()
    };
    assert_eq!(warned("publish").await, ["agent_without_prompt", "agent_without_credential"]);
    assert_eq!(warned("publish-test").await, ["agent_without_prompt", "agent_without_credential"]);
    let prompt = json!({ "routerId": here, "agentId": mine, "name": "N", "text": "Sell tea." });
    admin.post("/system-prompts", &prompt).await.ok(201);
    let credential = json!({ "name": "Production", "provider": "openai", "apiKey": "sk-1" });
    let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
    let change = json!({ "llmCredentialId": credential });
    admin.patch(&format!("/routers/{here}"), &change).await.ok(200);
    assert_eq!(warned("publish").await, [""; 0]);
    // What was published stays, and comes back, whatever became of the agent.
    admin.delete(&format!("{path}?force=true")).await.ok(204);
    act(&admin, &format!("/flows/{flow}/versions/1/rollback")).await.ok(200);
    act(&admin, &format!("/flows/{flow}/publish")).await.refused(
        422,
        "flow_invalid",
        "Definição do flow inválida",
    );
}

async fn a_flow_in_use_is_not_deleted(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, channel) = shop(&admin, "Loja", &says("eco {{input}}")).await;
    let path = format!("/flows/{flow}");
    let mut client = visitor(&server, &channel).await;
    assert_eq!(answer(&mut client, "a").await, "eco a");
    let own = json!({ "flowId": flow });
    admin.put(&format!("/webchat/channels/{channel}/initial-flow"), &own).await.ok(200);
    let mut leads = says("vai");
    leads["blocks"][0]["defaultOutput"] = json!({ "flowId": flow });
    let other = published(&admin, &router, "Outro", &leads).await;
    let refused = admin.delete(&path).await;
    refused.refused(409, "in_use", "Registro em uso");
    let expected = [
        ("sessions", "1 sessão aberta"),
        ("router.initialFlowId", router.as_str()),
        ("webchatChannel.initialFlowId", channel.as_str()),
        ("flow.published", other.as_str()),
    ];
    let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(details(&refused), expected);
    admin.delete(&format!("{path}?force=true")).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Flow não encontrado");
    assert!(admin.get(&format!("/routers/{router}")).await.ok(200)["initialFlowId"].is_null());
    let channel = admin.get(&format!("/webchat/channels/{channel}")).await.ok(200);
    assert!(channel["initialFlowId"].is_null());
    assert_eq!(answer(&mut client, "b").await, UNANSWERED, "its session has ended");
    let free = id(&draft(&admin, &router, &says("x")).await);
    admin.delete(&format!("/flows/{free}")).await.ok(204);
}

async fn lists_and_scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, other) = (router(&admin, "A").await, router(&admin, "B").await);
    let mut made = Vec::new();
    for n in 0..5 {
        let body = json!({ "routerId": mine, "name": format!("F{n}"), "kind": if n == 0 { "tool" } else { "flow" } });
        made.insert(0, id(&admin.post("/flows", &body).await.ok(201)));
    }
    let foreign = id(&draft(&admin, &other, &says("x")).await);
    let ids = |page: &Value| page["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>();
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/flows?routerId={mine}&limit=2{cursor}")).await.ok(200);
        seen.extend(ids(&page));
        assert!(page["items"][0].get("definition").is_none());
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, made);
    let tools = admin.get(&format!("/flows?routerId={mine}&kind=tool")).await.ok(200);
    assert_eq!(ids(&tools), made[4..]);
    assert_eq!(admin.get("/flows?kind=x&routerId=a%20b").await.invalid_fields(), ["kind", "routerId"]);
    let all = json!([{ "resource": "flows", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    assert_eq!(ids(&bia.get("/flows").await.ok(200)), made);
    let new = json!({ "routerId": other, "name": "F" });
    bia.post("/flows", &new).await.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let refused = bia.get(&format!("/flows?routerId={other}")).await;
    refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let path = format!("/flows/{foreign}");
    for answer in [
        bia.get(&path).await,
        bia.patch(&path, &json!({ "name": "x" })).await,
        bia.delete(&path).await,
        bia.get(&format!("{path}/versions")).await,
        bia.get(&format!("{path}/diff")).await,
        act(&bia, &format!("{path}/publish")).await,
        act(&bia, &format!("{path}/unpublish")).await,
        act(&bia, &format!("{path}/validate")).await,
        act(&bia, &format!("{path}/versions/1/rollback")).await,
    ] {
        answer.refused(404, "not_found", "Flow não encontrado");
    }
}

/// Clear errors, in little time.
async fn hostile_definitions(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let started = std::time::Instant::now();
    let block = |n: usize, next: &str, input: bool| {
        let mut block =
            json!({ "id": format!("b{n}"), "type": "content", "defaultOutput": { "blockId": next } });
        if input {
            block["input"] = json!({});
        }
        block
    };
    let chain = |count: usize, close: &str| {
        let blocks: Vec<_> = (0..count)
            .map(|n| block(n, &if n + 1 == count { close.to_owned() } else { format!("b{}", n + 1) }, false))
            .collect();
        json!({ "schemaVersion": 1, "startBlockId": "b0", "blocks": blocks })
    };
    let code = async |definition: Value| {
        let flow = id(&draft(&admin, &router, &definition).await);
        let found = act(&admin, &format!("/flows/{flow}/validate")).await.ok(200);
        act(&admin, &format!("/flows/{flow}/publish")).await.refused(
            422,
            "flow_invalid",
            "Definição do flow inválida",
        );
        found["problems"][0]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(chain(10_000, "b0")).await, "cycle_without_input");
    assert_eq!(code(chain(10_000, "nowhere")).await, "target_not_found");
    assert_eq!(code(json!({ "schemaVersion": 2 })).await, "schema_version");
    assert_eq!(code(json!({})).await, "malformed");
    assert_eq!(code(json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": "x" })).await, "malformed");
    let mut same = chain(2, "b0");
    same["blocks"] = json!(vec![block(0, "b0", true); 5_000]);
    assert_eq!(code(same).await, "duplicate_block");
    // 10,000 good blocks are a flow.
    let mut good = chain(10_000, "b0");
    good["blocks"][9_999]["input"] = json!({});
    let flow = id(&draft(&admin, &router, &good).await);
    act(&admin, &format!("/flows/{flow}/publish")).await.ok(200);
    // Bad encodings, and more than a body may have.
    let json_type = [("content-type", "application/json")];
    for bad in [
        &b"{\"routerId\":\"r\",\"name\":\"\xff\"}"[..],
        b"{\"name\":\"\\ud800\"}",
        b"\xef\xbb\xbf{}",
        b"{\"definition\":{\"a\":1,\"a\":2}}",
        b"{\"definition\":{\"a\":\"\\u0000\"}}",
        "[".repeat(100_000).as_bytes(),
    ] {
        admin.send("POST", "/flows", &json_type, Some(bad)).await.assert_error(400);
    }
    let large = json!({ "routerId": router, "name": "F", "definition": { "x": "a".repeat(1 << 20) } });
    admin.post("/flows", &large).await.assert_error(413);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

async fn pictures(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let mut definition = says("oi");
    definition["blocks"][0]["title"] = json!("</text><script>alert(1)</script>");
    let flow = draft(&admin, &router, &definition).await;
    let path = format!("/flows/{}", id(&flow));
    let (svg, mermaid) = (format!("{path}/graph.svg"), format!("{path}/graph.mmd"));

    let drawn = admin.get(&svg).await;
    assert_eq!((drawn.status, drawn.headers["content-type"].as_str()), (200, "image/svg+xml"));
    assert_eq!(drawn.headers["x-content-type-options"], "nosniff");
    assert_eq!(drawn.headers["cache-control"], "no-store");
    let policy = &drawn.headers["content-security-policy"];
    assert!(policy.contains("default-src 'none'") && policy.ends_with("sandbox"), "{policy}");
    assert!(!drawn.body.contains("<script") && drawn.body.contains("&lt;script&gt;"), "{}", drawn.body);
    let text = admin.get(&format!("/api{mermaid}")).await;
    assert_eq!((text.status, text.headers["content-type"].as_str()), (200, "text/plain; charset=utf-8"));
    assert_eq!(text.headers["x-content-type-options"], "nosniff");
    assert!(text.body.starts_with("flowchart TD\n") && !text.body.contains("<script"), "{}", text.body);

    // Of a version, of the published one, of the draft.
    for which in ["published", "1"] {
        let missing = admin.get(&format!("{svg}?version={which}")).await;
        missing.refused(404, "not_found", "Versão não encontrada");
    }
    act(&admin, &format!("{path}/publish")).await.ok(200);
    let mut changed = says("oi");
    changed["blocks"][0]["title"] = json!("Segundo");
    admin.patch(&path, &json!({ "definition": changed, "revision": 1 })).await.ok(200);
    act(&admin, &format!("{path}/publish")).await.ok(200);
    let mut third = says("oi");
    third["blocks"][0]["title"] = json!("Terceiro");
    admin.patch(&path, &json!({ "definition": third, "revision": 2 })).await.ok(200);
    for (which, title) in [
        ("", "Terceiro"),
        ("?version=draft", "Terceiro"),
        ("?version=published", "Segundo"),
        ("?version=2", "Segundo"),
        ("?version=1", "alert"),
    ] {
        for path in [&svg, &mermaid] {
            let drawn = admin.get(&format!("{path}{which}")).await;
            assert!(drawn.status == 200 && drawn.body.contains(title), "{which}: {drawn:?}");
        }
    }
    assert_eq!(admin.get(&format!("{svg}?version=latest")).await.invalid_fields(), ["version"]);
    for number in ["0", "-1", "9"] {
        admin.get(&format!("{svg}?version={number}")).await.assert_error(404);
    }
    // A draft may be wrong, and is drawn as far as it can be read.
    let broken =
        json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "teleport" }] });
    admin.patch(&path, &json!({ "definition": broken, "revision": 3 })).await.ok(200);
    let refused = admin.get(&svg).await;
    refused.refused(422, "flow_invalid", "Definição do flow inválida");
    assert_eq!(details(&refused)[0].0, "definition/blocks/0/type");

    // A member who may read the flows of one router.
    let read = json!([{ "resource": "flows", "actions": ["read"] }]);
    let here = admin.member(&setup, &read, &[&router]).await;
    let elsewhere = admin.member(&setup, &read, &["cother"]).await;
    let write = json!([{ "resource": "flows", "actions": ["write"] }]);
    let writer = admin.member(&setup, &write, &[&router]).await;
    for path in [format!("{svg}?version=published"), format!("{mermaid}?version=published")] {
        assert_eq!(here.get(&path).await.status, 200);
        elsewhere.get(&path).await.refused(404, "not_found", "Flow não encontrado");
        writer.get(&path).await.refused(403, "permission_denied", "Sem permissão");
    }
}

async fn the_schema_of_definitions(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for path in ["/flows/schema", "/api/flows/schema"] {
        let answer = admin.get(path).await;
        assert_eq!(answer.headers["content-type"], "application/schema+json", "{answer:?}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        let schema = answer.ok(200);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(schema["$defs"]["block"].is_object());
        admin.delete(path).await.refused(405, "method_not_allowed", "Método não permitido");
    }
    let none = admin.member(&setup, &json!([]), &[]).await;
    none.get("/flows/schema").await.refused(403, "permission_denied", "Sem permissão");
}
