//! What of a flow is published, and what is only tested (spec A 4.3, B 4.1, 4.4).

use flowsdk_core::flow::HasFlowCatalog as _;
use serde_json::{Value, json};

use super::building::{UNANSWERED, act, answer, id, records, router, says, shop, visitor};
use super::flows::draft;
use crate::harness::{Api, Setup, everywhere};

everywhere!(versions_are_immutable_and_sessions_stay_on_theirs);
everywhere!(in process:
    an_unchanged_draft_makes_no_other_version,
    unpublished_flows_begin_nothing,
    only_the_test_channel_runs_the_test_version,
    superseded_test_versions_go_when_no_session_stands_in_them,
);

async fn versions_are_immutable_and_sessions_stay_on_theirs(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (_, flow, channel) = shop(&admin, "Loja", &says("um {{input}}")).await;
    let path = format!("/flows/{flow}");
    let mut first = visitor(&server, &channel).await;
    assert_eq!(answer(&mut first, "a").await, "um a");
    let mut two = says("dois {{input}}");
    two["blocks"][0]["title"] = json!("Título");
    admin.patch(&path, &json!({ "definition": two, "revision": 1 })).await.ok(200);
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "um a", "a draft runs nowhere");
    assert_eq!(act(&admin, &format!("{path}/publish")).await.ok(200)["number"], 2);
    assert_eq!(answer(&mut first, "b").await, "um b", "a running session stays");
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "dois a");

    let diff = admin.get(&format!("{path}/diff?from=1&to=2")).await.ok(200);
    assert_eq!(
        diff,
        json!({ "blocks": [{ "blockId": "start", "kind": "changed", "changes": [
            { "kind": "changed", "pointer": "/contents/0/text/body", "from": "um {{input}}", "to": "dois {{input}}" },
            { "kind": "added", "pointer": "/title", "to": "Título" } ] }],
            "definition": [], "truncated": false })
    );
    assert_eq!(admin.get(&format!("{path}/diff?from=2")).await.ok(200)["blocks"], json!([]), "the draft");
    assert_eq!(admin.get(&format!("{path}/diff?from=2&to=draft")).await.ok(200)["blocks"], json!([]));
    let back = admin.get(&format!("{path}/diff?from=draft&to=1")).await.ok(200);
    assert_eq!(back["blocks"].as_array().map(Vec::len), diff["blocks"].as_array().map(Vec::len));
    for bad in ["x", "0", "%2B1", "Draft"] {
        assert_eq!(admin.get(&format!("{path}/diff?from={bad}")).await.invalid_fields(), ["from"], "{bad}");
    }
    admin.get(&format!("{path}/diff?from=9")).await.refused(404, "not_found", "Versão não encontrada");

    let rolled = act(&admin, &format!("{path}/versions/1/rollback")).await.ok(200);
    assert_eq!(rolled["number"], 3);
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "um a");
    assert_eq!(admin.get(&path).await.ok(200)["definition"], two, "the draft stays");
    let versions = admin.get(&format!("{path}/versions")).await.ok(200);
    let numbers: Vec<_> = versions["items"].as_array().unwrap().iter().map(|v| v["number"].clone()).collect();
    assert_eq!(numbers, [3, 2, 1]);
    let old = admin.get(&format!("{path}/versions/2")).await.ok(200);
    assert_eq!(old["definition"], two);
    for missing in ["0", "-1", "9", "x"] {
        admin.get(&format!("{path}/versions/{missing}")).await.assert_error(404);
        act(&admin, &format!("{path}/versions/{missing}/rollback")).await.assert_error(404);
    }
    let log =
        records(&admin, &format!("action=PUBLISH&routerId={}", old_router(&admin, &path).await), 3).await;
    assert_eq!(log[0]["changes"]["rolledBackTo"], 1);
    // Many publish at once: a draft becomes one version, and each version has a number of its own.
    for (act_at, expected) in
        [(format!("{path}/publish"), [4; 6]), (format!("{path}/versions/1/rollback"), [5, 6, 7, 8, 9, 10])]
    {
        let answers = futures_util::future::join_all((0..6).map(|_| act(&admin, &act_at))).await;
        let mut numbers: Vec<_> = answers.iter().map(|one| one.ok(200)["number"].as_i64().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, expected);
    }
}

async fn old_router(api: &Api, path: &str) -> String {
    api.get(path).await.ok(200)["routerId"].as_str().unwrap().to_owned()
}

async fn an_unchanged_draft_makes_no_other_version(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let flow = id(&draft(&admin, &router, &says("um")).await);
    let (path, publish) = (format!("/flows/{flow}"), format!("/flows/{flow}/publish"));
    let first = act(&admin, &publish).await.ok(200);
    assert_eq!((&first["published"], &first["warnings"]), (&json!(true), &json!([])));
    assert_eq!(act(&admin, &publish).await.ok(200), first);
    // The test version of this draft ends all the same.
    act(&admin, &format!("{path}/publish-test")).await.ok(200);
    assert_eq!(act(&admin, &publish).await.ok(200), first);
    assert_eq!(admin.get(&path).await.ok(200)["hasTestVersion"], false);
    // A version bears the name of its flow.
    admin.patch(&path, &json!({ "name": "Outro" })).await.ok(200);
    let second = act(&admin, &publish).await.ok(200);
    assert_eq!((&second["number"], &second["flowName"]), (&json!(2), &json!("Outro")));
    let changed = json!({ "definition": says("dois"), "revision": 1 });
    admin.patch(&path, &changed).await.ok(200);
    assert_eq!(act(&admin, &publish).await.ok(200)["number"], 3);
    let shown = |versions: &Value| {
        let items = versions["items"].as_array().unwrap().clone();
        items.iter().map(|one| (one["number"].clone(), one["published"].clone())).collect::<Vec<_>>()
    };
    let versions = admin.get(&format!("{path}/versions")).await.ok(200);
    let of = |number: i64, published: bool| (json!(number), json!(published));
    assert_eq!(shown(&versions), [of(3, true), of(2, false), of(1, false)]);
    assert_eq!(admin.get(&format!("{path}/versions/3")).await.ok(200)["published"], true);
    assert_eq!(admin.get(&format!("{path}/versions/1")).await.ok(200)["published"], false);
    act(&admin, &format!("{path}/unpublish")).await;
    let versions = admin.get(&format!("{path}/versions")).await.ok(200);
    assert_eq!(shown(&versions), [of(3, false), of(2, false), of(1, false)]);
    assert_eq!(act(&admin, &publish).await.ok(200)["number"], 4, "nothing is published that it could be");
}

async fn unpublished_flows_begin_nothing(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, channel) = shop(&admin, "Loja", &says("eco {{input}}")).await;
    let path = format!("/flows/{flow}");
    let mut running = visitor(&server, &channel).await;
    assert_eq!(answer(&mut running, "a").await, "eco a");
    act(&admin, &format!("{path}/unpublish")).await.ok(204);
    act(&admin, &format!("{path}/unpublish")).await.refused(
        409,
        "flow_not_published",
        "Flow sem publicação ativa",
    );
    assert!(admin.get(&path).await.ok(200)["publishedVersion"].is_null());
    assert_eq!(answer(&mut running, "b").await, "eco b");
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, UNANSWERED);
    act(&admin, &format!("{path}/versions/1/rollback")).await.ok(200);
    assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "eco a");
    let log = records(&admin, &format!("action=UNPUBLISH&routerId={router}"), 1).await;
    assert_eq!((&log[0]["entityType"], &log[0]["entityId"]), (&json!("FLOW"), &json!(flow)));
}

async fn only_the_test_channel_runs_the_test_version(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, channel) = shop(&admin, "Loja", &says("público {{input}}")).await;
    let path = format!("/flows/{flow}");
    for n in 1..=2 {
        let change = json!({ "definition": says(&format!("teste {n} {{{{input}}}}")), "revision": n });
        admin.patch(&path, &change).await.ok(200);
        let tested = act(&admin, &format!("{path}/publish-test")).await.ok(200);
        assert_eq!(tested["revision"], n + 1);
        let test = &tested["channel"];
        assert_eq!((&test["isTestChannel"], &test["name"]), (&json!(true), &json!("Teste")));
        assert_eq!((&test["routerId"], &test["initialFlowId"]), (&json!(router), &json!(flow)));
        let mut same = admin.get(&format!("/routers/{router}/webchat/test")).await.ok(200);
        assert_eq!(
            same.as_object_mut().unwrap().remove("warnings"),
            Some(json!([])),
            "its test version answers"
        );
        assert_eq!(&same, test, "one test channel a router");
        assert_eq!(answer(&mut visitor(&server, &id(test)).await, "a").await, format!("teste {n} a"));
        assert_eq!(answer(&mut visitor(&server, &channel).await, "a").await, "público a");
    }
    let shown = admin.get(&path).await.ok(200);
    assert_eq!((&shown["publishedVersion"], &shown["hasTestVersion"]), (&json!(1), &json!(true)));
    let versions = admin.get(&format!("{path}/versions")).await.ok(200);
    assert_eq!(versions["items"].as_array().unwrap().len(), 1, "a test version is no version");
    // A session of the test channel stays on its version, too.
    let test = id(&admin.get(&format!("/routers/{router}/webchat/test")).await.ok(200));
    let mut running = visitor(&server, &test).await;
    assert_eq!(answer(&mut running, "a").await, "teste 2 a");
    // What is published next is what was tested: the test version ends.
    admin.patch(&path, &json!({ "definition": says("novo {{input}}"), "revision": 3 })).await.ok(200);
    act(&admin, &format!("{path}/publish")).await.ok(200);
    assert_eq!(answer(&mut visitor(&server, &test).await, "a").await, "novo a");
    assert_eq!(answer(&mut running, "b").await, "teste 2 b");
    assert_eq!(admin.get(&path).await.ok(200)["hasTestVersion"], false);
    // A flow that was never published can be tested; a tool has no conversations.
    let fresh = id(&draft(&admin, &router, &says("inédito {{input}}")).await);
    act(&admin, &format!("/flows/{fresh}/publish-test")).await.ok(200);
    assert_eq!(answer(&mut visitor(&server, &test).await, "a").await, "inédito a");
    let tool = json!({ "routerId": router, "name": "T", "kind": "tool", "definition": says("x") });
    let tool = id(&admin.post("/flows", &tool).await.ok(201));
    act(&admin, &format!("/flows/{tool}/publish-test")).await.refused(
        422,
        "flow_is_tool",
        "Uma ferramenta não tem canal de teste",
    );
    // A version that runs is a publication, in the scope of its router.
    let reader = json!([{ "resource": "flows", "actions": ["read"] }]);
    let reader = admin.member(&setup, &reader, &[&router]).await;
    act(&reader, &format!("/flows/{fresh}/publish-test")).await.refused(
        403,
        "permission_denied",
        "Sem permissão",
    );
    let writer = json!([{ "resource": "flows", "actions": ["write"] }]);
    let bia = admin.member(&setup, &writer, &[&router]).await;
    act(&bia, &format!("/flows/{fresh}/publish-test")).await.ok(200);
    let eva = admin.member(&setup, &writer, &["cother"]).await;
    act(&eva, &format!("/flows/{fresh}/publish-test")).await.refused(404, "not_found", "Flow não encontrado");
    // A member whose group is deleted may do nothing.
    let group = id(&bia.get("/auth/me").await.ok(200)["user"]["group"]);
    admin.delete(&format!("/groups/{group}")).await.ok(204);
    act(&bia, &format!("/flows/{fresh}/publish-test")).await.refused(
        403,
        "permission_denied",
        "Sem permissão",
    );
}

async fn superseded_test_versions_go_when_no_session_stands_in_them(setup: Setup) {
    use flowsdk_core::store::Store as _;
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let flow = id(&draft(&admin, &router, &says("1 {{input}}")).await);
    let path = format!("/flows/{flow}");
    let test = id(&act(&admin, &format!("{path}/publish-test")).await.ok(200)["channel"]);
    let mut first = visitor(&server, &test).await;
    assert_eq!(answer(&mut first, "a").await, "1 a");
    for n in 2..=5 {
        let change = json!({ "definition": says(&format!("{n} {{{{input}}}}")), "revision": n - 1 });
        admin.patch(&path, &change).await.ok(200);
        act(&admin, &format!("{path}/publish-test")).await.ok(200);
    }
    // They are numbered -1, -2, -3 ...: a session stands in the first, the last is run, the one before is the one
    // that a session may have begun with meanwhile.
    let (store, flow) = (setup.store().await, flow.parse().unwrap());
    let mut left = Vec::new();
    for number in [0, -1, -2, -3, -4, -5] {
        let mut tx = store.read().await.unwrap();
        let found = tx.flow_catalog().find_version(&flow, number).await.unwrap();
        left.extend(found.map(|version| version.number));
    }
    setup.done(store).await;
    assert_eq!(left, [-1, -4, -5]);
    assert_eq!(answer(&mut first, "b").await, "1 b");
    assert_eq!(answer(&mut visitor(&server, &test).await, "a").await, "5 a");
}
