//! Import drafts.

use std::time::Duration;

use serde_json::{Value, json};

use super::building::{act, actions, id, published, records, router, says};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: the_plan_is_what_the_import_does, a_changed_router_is_told, files_with_errors, limits, scope, twice);

const PATH: &str = "/import-drafts";

/// A router with two flows, of which one leads to the other, and two variables.
async fn shop(admin: &Api) -> String {
    let router = router(admin, "Loja").await;
    let mut begin = says("oi");
    begin["blocks"][0]["defaultOutput"] =
        json!({ "flowId": published(admin, &router, "Fim", &says("fim")).await });
    published(admin, &router, "Início", &begin).await;
    for (key, value) in [("a", "1"), ("b", "2")] {
        let variable = json!({ "key": key, "value": value, "isSecret": false });
        admin.post(&format!("/routers/{router}/variables"), &variable).await.ok(201);
    }
    router
}

async fn export(admin: &Api, router: &str) -> Value {
    admin.get(&format!("/routers/{router}/export")).await.ok(200)
}

fn draft(router: &str, on_conflict: &str, file: &Value) -> Value {
    json!({ "routerId": router, "onConflict": on_conflict, "file": file })
}

/// The planned changes: kind, name and outcome.
fn plan(draft: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let changes = draft["changes"].as_array().unwrap_or_else(|| panic!("no changes: {draft}"));
    changes.iter().map(|one| (text(&one["kind"]), text(&one["name"]), text(&one["outcome"]))).collect()
}

fn planned(changes: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    changes
        .iter()
        .map(|(kind, name, outcome)| ((*kind).to_owned(), (*name).to_owned(), (*outcome).to_owned()))
        .collect()
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = shop(&admin).await;
    let file = export(&admin, &router).await;
    let answer = admin.post(PATH, &draft(&router, "replace", &file)).await;
    let made = answer.ok(201);
    let path = format!("{PATH}/{}", id(&made));
    assert_eq!(answer.headers["location"], format!("/api{path}"));
    assert_eq!((&made["routerId"], &made["onConflict"]), (&json!(router), &json!("replace")));
    assert_eq!((&made["status"], &made["isValid"]), (&json!("pending"), &json!(true)));
    assert_eq!((&made["errors"], &made["changesLeftOut"]), (&json!([]), &json!(0)));
    assert_eq!(made["warnings"], json!([{ "place": "router", "message": "Fica no arquivo" }]));
    assert_eq!(made.as_object().unwrap().len(), 13, "{made}");
    assert_eq!(admin.get(&path).await.ok(200), made);
    assert_eq!(admin.get(&format!("{path}/file")).await.ok(200), file);
    let list = admin.get(&format!("{PATH}?routerId={router}")).await.ok(200);
    assert_eq!(list["items"][0]["id"], made["id"]);
    assert_eq!(
        (list["items"].as_array().unwrap().len(), list["items"][0].as_object().unwrap().len()),
        (1, 9)
    );
    // Nothing was imported, and then it is, once.
    assert_eq!(export(&admin, &router).await, file);
    let report = act(&admin, &format!("{path}/apply")).await.ok(200);
    assert_eq!(
        (&report["flows"][0]["landed"], report["flows"].as_array().unwrap().len()),
        (&json!("replaced"), 2)
    );
    let again = act(&admin, &format!("{path}/apply")).await;
    again.refused(409, "draft_applied", "O rascunho já foi aplicado");
    let applied = admin.get(&path).await.ok(200);
    assert_eq!(applied["status"], "applied");
    assert!(applied["appliedAt"].is_string(), "{applied}");
    assert_eq!(export(&admin, &router).await, file);
    admin.delete(&path).await.ok(204);
    for answer in [
        admin.get(&path).await,
        admin.get(&format!("{path}/file")).await,
        act(&admin, &format!("{path}/apply")).await,
        admin.delete(&path).await,
    ] {
        answer.refused(404, "not_found", "Rascunho de importação não encontrado");
    }
    let log = records(&admin, "entityType=IMPORT_DRAFT", 3).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "DELETE"]);
    assert_eq!(log[1]["changes"], json!({ "status": { "from": "pending", "to": "applied" } }));
    let second = id(&admin.post(PATH, &draft(&router, "rename", &file)).await.ok(201));
    admin.delete(&format!("/routers/{router}?force=true")).await.ok(204);
    admin.get(&format!("{PATH}/{second}")).await.assert_error(404);
}

async fn the_plan_is_what_the_import_does(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = shop(&admin).await;
    let mut file = export(&admin, &router).await;
    file.as_object_mut().unwrap().remove("router");
    let flow =
        |name: &str| file["flows"].as_array().unwrap().iter().position(|flow| flow["name"] == name).unwrap();
    let (begin, end) = (flow("Início"), flow("Fim"));
    let order = |first: &'static str, second: &'static str| {
        if end < begin { [first, second] } else { [second, first] }
    };
    let same = admin.post(PATH, &draft(&router, "replace", &file)).await.ok(201);
    let [one, two] = order("Fim", "Início");
    let variables = |a, b| [("variable", "a", a), ("variable", "b", b)];
    let expected =
        [&variables("unchanged", "unchanged")[..], &[("flow", one, "unchanged"), ("flow", two, "unchanged")]];
    assert_eq!(plan(&same), planned(&expected.concat()));
    assert_eq!(same["warnings"], json!([]));
    // Names that are there: one is another flow, one is new, one variable differs, and one is in the router only.
    let mut other = file.clone();
    other["variables"] = json!([{ "key": "b", "value": "3", "isSecret": false }, { "key": "c", "value": "4", "isSecret": false }]);
    other["flows"][end]["draft"]["blocks"][0]["contents"][0]["text"]["body"] = json!("adeus");
    other["flows"][begin]["name"] = json!("Novo");
    other["flows"][begin]["draft"]["blocks"][0]["defaultOutput"]["flowId"] = json!("nenhum");
    let replaced = admin.post(PATH, &draft(&router, "replace", &other)).await.ok(201);
    let outcome = |name| if name == "Fim" { "updated" } else { "created" };
    let [one, two] = order("Fim", "Novo");
    let expected = [
        ("variable", "b", "updated"),
        ("variable", "c", "created"),
        ("flow", one, outcome(one)),
        ("flow", two, outcome(two)),
        ("variable", "a", "not_in_file"),
        ("flow", "Início", "not_in_file"),
    ];
    assert_eq!(plan(&replaced), planned(&expected));
    let unknown = json!([{ "place": format!("flows[{begin}]"), "message": "Flow não encontrado: nenhum" }]);
    assert_eq!(replaced["warnings"], unknown);
    let report = act(&admin, &format!("{PATH}/{}/apply", id(&replaced))).await.ok(200);
    let landed = |list: &Value, named: &str| {
        let all = list.as_array().unwrap().iter();
        all.map(|one| (one[named].as_str().unwrap().to_owned(), one["landed"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        landed(&report["variables"], "key"),
        [("b".into(), "replaced".into()), ("c".into(), "created".into())]
    );
    let flows = landed(&report["flows"], "name");
    assert!(
        flows.contains(&("Fim".into(), "replaced".into()))
            && flows.contains(&("Novo".into(), "created".into()))
    );
    // With rename, variables that are there stay, and flows get other names.
    let renamed = admin.post(PATH, &draft(&router, "rename", &file)).await.ok(201);
    let [one, two] = order("Fim (2)", "Início (2)");
    let expected = [&variables("kept", "kept")[..], &[("flow", one, "renamed"), ("flow", two, "renamed")]];
    assert_eq!(plan(&renamed)[..4], planned(&expected.concat()));
    act(&admin, &format!("{PATH}/{}/apply", id(&renamed))).await.ok(200);
}

/// What a draft shows is what happens, or nothing does.
async fn a_changed_router_is_told(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = shop(&admin).await;
    let file = export(&admin, &router).await;
    let made = admin.post(PATH, &draft(&router, "replace", &file)).await.ok(201);
    let apply = format!("{PATH}/{}/apply", id(&made));
    // Flows that the file does not have change nothing.
    published(&admin, &router, "Outro", &says("outro")).await;
    let flows = admin.get(&format!("/flows?routerId={router}")).await.ok(200);
    let end = flows["items"].as_array().unwrap().iter().find(|flow| flow["name"] == "Fim").unwrap();
    let change = json!({ "definition": says("mudou"), "revision": end["revision"] });
    server.advance(Duration::from_secs(1)).await;
    admin.patch(&format!("/flows/{}", id(end)), &change).await.ok(200);
    let before = export(&admin, &router).await;
    let stale = act(&admin, &apply).await;
    stale.refused(409, "draft_stale", "O roteador mudou desde a verificação; envie o arquivo de novo");
    assert_eq!(
        super::building::details(&stale),
        [("flow.Fim".to_owned(), "era unchanged, agora updated".to_owned())]
    );
    assert_eq!(export(&admin, &router).await, before, "nothing was imported");
    assert_eq!(admin.get(&format!("{PATH}/{}", id(&made))).await.ok(200)["status"], "pending");
    // A name that is taken meanwhile is a difference, too.
    let mut new = file.clone();
    new["variables"] = json!([]);
    new["flows"] = json!([file["flows"][0]]);
    new["flows"][0]["name"] = json!("Livre");
    let made = admin.post(PATH, &draft(&router, "refuse", &new)).await.ok(201);
    assert_eq!(made["isValid"], true);
    published(&admin, &router, "Livre", &says("livre")).await;
    let stale = act(&admin, &format!("{PATH}/{}/apply", id(&made))).await;
    stale.assert_error(409);
    assert_eq!(
        super::building::details(&stale),
        [("flows[0].name".to_owned(), "Nome já existe: Livre".to_owned())]
    );
}

async fn files_with_errors(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = shop(&admin).await;
    let file = export(&admin, &router).await;
    let names = |draft: &Value| {
        let errors = draft["errors"].as_array().unwrap().iter();
        errors.map(|error| error["place"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Names that are there refuse the file, without a plan.
    let refused = admin.post(PATH, &draft(&router, "refuse", &file)).await.ok(201);
    assert_eq!((&refused["isValid"], &refused["changes"]), (&json!(false), &json!([])));
    assert_eq!(names(&refused), ["variables[0].key", "variables[1].key", "flows[0].name", "flows[1].name"]);
    assert_eq!(refused["errors"][0]["message"], "Nome já existe: a");
    let english = [("accept-language", "en")];
    let path = format!("{PATH}/{}", id(&refused));
    let shown = admin.send("GET", &path, &english, None).await.ok(200);
    assert_eq!(shown["errors"][0]["message"], "Name already exists: a");
    let apply = act(&admin, &format!("{path}/apply")).await;
    apply.refused(409, "draft_invalid", "O rascunho tem erros e não pode ser aplicado");
    assert_eq!(super::building::details(&apply).len(), 4);
    let mut broken = file.clone();
    broken["formatVersion"] = json!(2);
    broken["flows"][0]["published"]["blocks"] = json!([]);
    let broken = admin.post(PATH, &draft(&router, "replace", &broken)).await.ok(201);
    assert_eq!(
        names(&broken),
        ["formatVersion", "flows[0].published/blocks", "flows[0].published/startBlockId"]
    );
    // What does not fit the schema is not kept.
    let mut body = draft(&router, "replace", &file);
    body["onConflict"] = json!("merge");
    body["file"]["flows"][0]["kind"] = json!("agent");
    let fields = admin.post(PATH, &body).await.invalid_fields();
    assert_eq!(fields, ["file.flows[0].kind", "onConflict"]);
    let nowhere = admin.post(PATH, &draft("cnothing", "replace", &file)).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
}

async fn limits(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let file = json!({ "format": "flowsdk", "formatVersion": 1 });
    let mut last = String::new();
    for _ in 0..10 {
        last = id(&admin.post(PATH, &draft(&router, "replace", &file)).await.ok(201));
    }
    let many = admin.post(PATH, &draft(&router, "replace", &file)).await;
    many.refused(409, "too_many_drafts", "O roteador já tem o máximo de rascunhos de importação");
    // A draft is kept for 7 days.
    server.advance(Duration::from_secs(7 * 24 * 60 * 60 - 1)).await;
    let admin = Api::admin(&setup, &server).await;
    admin.get(&format!("{PATH}/{last}")).await.ok(200);
    server.advance(Duration::from_secs(2)).await;
    for answer in [
        admin.get(&format!("{PATH}/{last}")).await,
        act(&admin, &format!("{PATH}/{last}/apply")).await,
        admin.delete(&format!("{PATH}/{last}")).await,
    ] {
        answer.assert_error(404);
    }
    assert_eq!(admin.get(PATH).await.ok(200)["items"], json!([]));
    admin.post(PATH, &draft(&router, "replace", &file)).await.ok(201);
}

/// Members see and apply the drafts of their routers only, and need the permissions of imports.
async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let file = json!({ "format": "flowsdk", "formatVersion": 1 });
    let own = id(&admin.post(PATH, &draft(&mine, "replace", &file)).await.ok(201));
    let foreign =
        format!("{PATH}/{}", id(&admin.post(PATH, &draft(&theirs, "replace", &file)).await.ok(201)));
    let entry = |resource: &str| json!({ "resource": resource, "actions": ["read", "write"] });
    let bia = admin.member(&setup, &json!([entry("routers"), entry("flows")]), &[&mine]).await;
    let list = bia.get(PATH).await.ok(200);
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(ids, std::slice::from_ref(&own));
    for answer in [
        bia.get(&foreign).await,
        bia.get(&format!("{foreign}/file")).await,
        act(&bia, &format!("{foreign}/apply")).await,
        bia.delete(&foreign).await,
    ] {
        answer.refused(404, "not_found", "Rascunho de importação não encontrado");
    }
    for answer in [
        bia.post(PATH, &draft(&theirs, "replace", &file)).await,
        bia.get(&format!("{PATH}?routerId={theirs}")).await,
    ] {
        answer.assert_error(403);
    }
    act(&bia, &format!("{PATH}/{own}/apply")).await.ok(200);
    let eva = admin.member(&setup, &json!([entry("routers")]), &[]).await;
    for answer in [
        eva.post(PATH, &draft(&mine, "replace", &file)).await,
        eva.get(PATH).await,
        eva.get(&foreign).await,
        eva.get(&format!("{foreign}/file")).await,
        act(&eva, &format!("{foreign}/apply")).await,
        eva.delete(&foreign).await,
    ] {
        answer.refused(403, "permission_denied", "Sem permissão");
    }
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let file = json!({ "format": "flowsdk", "formatVersion": 1 });
    let key = [("idempotency-key", "d-1")];
    let first = admin.json("POST", PATH, &key, &draft(&router, "replace", &file)).await.ok(201);
    assert_eq!(admin.json("POST", PATH, &key, &draft(&router, "replace", &file)).await.ok(201), first);
    assert_eq!(admin.get(PATH).await.ok(200)["items"].as_array().unwrap().len(), 1);
}
