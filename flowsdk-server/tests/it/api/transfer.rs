//! Routers and flows from one server to another.

use std::cell::Cell;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::building::{act, answer, details, id, published, records, router, says, shop, visitor};
use crate::harness::{Api, Setup, everywhere};

everywhere!(the_same_conversation_on_another_server, hostile_files);
everywhere!(in process:
    names_that_are_there_already,
    a_name_of_several_flows_replaces_none,
    all_or_nothing,
    one_flow_finds_the_flows_that_it_leads_to,
    h13_an_import_is_done_once,
    scope,
    channels_ask_for_their_own_permission,
    the_missing_names_the_records_to_fill_in,
    a_flow_comes_without_its_ai_agents,
    a_replaced_draft_is_on_record,
);

async fn h13_an_import_is_done_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, flow, _) = shop(&admin, "Uma vez", &says("oi")).await;
    let mut file = admin.get(&format!("/routers/{router}/export")).await.ok(200);
    file["router"]["name"] = json!("Uma vez só");
    let conflict = (409, "idempotency_conflict", "Idempotency-Key já usada com outro conteúdo");
    let key = [("idempotency-key", "import-1")];
    let first = admin.json("POST", "/routers/import", &key, &file).await;
    let again = admin.json("POST", "/api/routers/import", &key, &file).await;
    assert_eq!(first.ok(201), again.ok(201));
    assert_eq!(first.headers["location"], again.headers["location"]);
    assert_eq!(again.headers["idempotency-replayed"], "true");
    let renamed = admin.json("POST", "/routers/import?onConflict=rename", &key, &file).await;
    renamed.refused(conflict.0, conflict.1, conflict.2);
    file["router"]["name"] = json!("Outra");
    let other = admin.json("POST", "/routers/import", &key, &file).await;
    other.refused(conflict.0, conflict.1, conflict.2);
    let routers = admin.get("/routers?limit=200").await.ok(200);
    let named = |name: &str| {
        routers["items"].as_array().unwrap().iter().filter(|router| router["name"] == name).count()
    };
    assert_eq!((named("Uma vez só"), named("Outra")), (1, 0));

    let file = admin.get(&format!("/flows/{flow}/export")).await.ok(200);
    let path = format!("/routers/{router}/import?onConflict=rename");
    let key = [("idempotency-key", "import-2")];
    let first = admin.json("POST", &path, &key, &file).await;
    let again = admin.json("POST", &path, &key, &file).await;
    assert_eq!(first.ok(200), again.ok(200));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert!(!again.headers.contains_key("location"), "{again:?}");
    let flows = admin.get(&format!("/flows?routerId={router}")).await.ok(200);
    assert_eq!(flows["items"].as_array().unwrap().len(), 2, "the one that was there and the one that came");
    let refused = admin.json("POST", &path, &[("idempotency-key", "a b")], &file).await;
    assert_eq!(refused.invalid_fields(), ["Idempotency-Key"]);
}

/// The answer to a visitor of each channel, whatever they say.
async fn conversation(server: &crate::harness::Server, channels: &[String]) -> Vec<String> {
    let mut heard = Vec::new();
    for channel in channels {
        let mut client = visitor(server, channel).await;
        for text in ["oi", "ir", "de novo"] {
            heard.push(answer(&mut client, text).await);
        }
    }
    heard
}

async fn the_same_conversation_on_another_server(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut begins = says("{{router.marca}} {{flow.saudacao}} {{router.token}} {{input}}");
    let (router, flow, channel) = shop(&admin, "Loja que viaja", &says("x")).await;
    let other = published(&admin, &router, "Outro fluxo", &says("outro {{flow.saudacao}} {{input}}")).await;
    begins["blocks"][0]["outputConditions"] = json!([{
        "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["ir"] }],
        "target": { "flowId": other },
    }]);
    let path = format!("/flows/{flow}");
    admin.patch(&path, &json!({ "definition": begins, "revision": 1 })).await.ok(200);
    super::building::act(&admin, &format!("{path}/publish")).await.ok(200);
    let broken = json!({ "definition": { "broken": true }, "revision": 1 });
    admin.patch(&format!("/flows/{other}"), &broken).await.ok(200);
    let secret = "nunca-viaja";
    setup.plant(secret);
    let variables = [
        (format!("/routers/{router}/variables"), json!({ "key": "marca", "value": "ACME" })),
        (
            format!("/routers/{router}/variables"),
            json!({ "key": "token", "value": secret, "isSecret": true }),
        ),
        (format!("{path}/variables"), json!({ "key": "saudacao", "value": "olá" })),
        (format!("/flows/{other}/variables"), json!({ "key": "saudacao", "value": "hey" })),
    ];
    for (path, variable) in &variables {
        admin.post(path, variable).await.ok(201);
    }
    let settings = json!({ "tz": "Europe/Lisbon", "channelAppSecret": secret, "copilotConfig": { "a": 1 } });
    admin.patch(&format!("/routers/{router}"), &settings).await.ok(200);
    let own = json!({ "routerId": router, "name": "Direto", "initialFlowId": other });
    let direct = id(&admin.post("/webchat/channels", &own).await.ok(201));
    let closed = json!({ "routerId": router, "name": "Fechado", "allowedOrigins": ["https://a.example"] });
    let closed = id(&admin.post("/webchat/channels", &closed).await.ok(201));
    let made = super::building::act(&admin, &format!("/webchat/channels/{closed}/embed-secret")).await;
    setup.plant(made.ok(200)["embedSecret"].as_str().unwrap());
    admin.get(&format!("/routers/{router}/webchat/test")).await.ok(200);

    let exported = admin.get(&format!("/routers/{router}/export")).await;
    let file = exported.ok(200);
    assert_eq!(
        exported.headers["content-disposition"],
        "attachment; filename=\"Loja-que-viaja.router.json\"; filename*=UTF-8''Loja%20que%20viaja.router.json"
    );
    let one = admin.get(&format!("/flows/{flow}/export")).await;
    assert!(one.headers["content-disposition"].ends_with("''In%C3%ADcio.flow.json"), "{one:?}");
    for gone in [secret, router.as_str(), flow.as_str(), other.as_str(), "ncrypted"] {
        assert!(!exported.body.contains(gone), "{gone}: {file}");
    }
    assert_eq!(file["router"]["initialFlow"], "inicio");
    assert_eq!(file["channels"].as_array().unwrap().len(), 3, "the test channel stays");

    let there = setup.another().await;
    there.plant(secret);
    let other_server = there.start().await;
    let other_admin = Api::admin(&there, &other_server).await;
    let answered = other_admin.post("/routers/import", &file).await;
    let report = answered.ok(201);
    assert_eq!(
        answered.headers["location"],
        format!("/api/routers/{}", report["routerId"].as_str().unwrap())
    );
    let missing: Vec<_> = report["missing"].as_array().unwrap().clone();
    let missing: Vec<_> =
        missing.iter().map(|m| (m["kind"].as_str().unwrap(), m["place"].as_str().unwrap())).collect();
    assert_eq!(
        missing,
        [("channelAppSecret", "router"), ("secretVariable", "variables[1]"), ("embedSecret", "channels[2]")]
    );
    assert_eq!(report["flows"][0]["publishedVersion"], 1);
    // What is missing is filled in by hand.
    let path = format!("/routers/{}/variables", report["routerId"].as_str().unwrap());
    let list = other_admin.get(&path).await.ok(200);
    let token = list["items"].as_array().unwrap().iter().find(|one| one["key"] == "token").unwrap();
    assert_eq!(token["isSecret"], true);
    // As long as it is empty, it is missing; a file that names it as one does not make a secret of what is none.
    let again = json!({ "format": "flowsdk", "formatVersion": 1, "flows": [],
        "variables": [{ "key": "token", "value": null, "isSecret": true },
                      { "key": "marca", "value": null, "isSecret": true }] });
    let import = format!("/routers/{}/import?onConflict=replace", report["routerId"].as_str().unwrap());
    let missing = async || other_admin.post(&import, &again).await.ok(200)["missing"].clone();
    let empty =
        json!([{ "kind": "secretVariable", "place": "variables[0]", "name": "token", "id": id(token) }]);
    assert_eq!(missing().await, empty);
    other_admin.put(&format!("{path}/{}", id(token)), &json!({ "value": secret })).await.ok(200);
    assert_eq!(missing().await, json!([]));

    let channels: Vec<String> = report["channels"].as_array().unwrap().iter().map(id).collect();
    let here = conversation(&server, &[channel, direct]).await;
    assert_eq!(
        here[..3],
        [format!("ACME olá {secret} oi"), "outro hey ir".to_owned(), "outro hey de novo".to_owned()]
    );
    assert_eq!(conversation(&other_server, &channels[..2]).await, here);
    let closed = other_admin.get(&format!("/webchat/channels/{}", channels[2])).await.ok(200);
    assert_eq!(
        (&closed["hasEmbedSecret"], &closed["allowedOrigins"]),
        (&json!(true), &json!(["https://a.example"]))
    );
    // There and back again: the same file.
    let back = format!("/routers/{}/export", report["routerId"].as_str().unwrap());
    let mut back = other_admin.get(&back).await.ok(200);
    assert_eq!(back["router"]["hasChannelAppSecret"], false);
    back["router"]["hasChannelAppSecret"] = json!(true);
    assert_eq!(back, file);
    let log = records(&other_admin, &format!("routerId={}", report["routerId"].as_str().unwrap()), 13).await;
    for kind in ["ROUTER", "FLOW", "ROUTER_VARIABLE", "FLOW_VARIABLE", "WEBCHAT_CHANNEL"] {
        assert!(
            log.iter().any(|record| record["entityType"] == kind && record["action"] == "CREATE"),
            "{kind}"
        );
    }
}

fn file_of(name: &str, text: &str) -> Value {
    json!({ "format": "flowsdk", "formatVersion": 1,
        "variables": [{ "key": "a", "value": text, "isSecret": false },
                      { "key": "s", "value": null, "isSecret": true }],
        "flows": [{ "slug": "f", "name": name, "kind": "flow", "draft": says(text), "published": says(text),
            "variables": [{ "key": "b", "value": text, "isSecret": false }] }] })
}

async fn names_that_are_there_already(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let path = format!("/routers/{router}/import");
    let landed = |report: &Value| {
        let one = |item: &Value| item["landed"].as_str().unwrap().to_owned();
        let list = |name: &str| report[name].as_array().unwrap().iter().map(one).collect::<Vec<_>>();
        (list("flows"), list("variables"))
    };
    let first = admin.post(&path, &file_of("Fluxo", "um")).await.ok(200);
    assert_eq!(landed(&first), (vec!["created".to_owned()], vec!["created".to_owned(); 2]));
    let flow = id(&first["flows"][0]);
    let refused = admin.post(&path, &file_of("Fluxo", "dois")).await;
    refused.refused(409, "name_taken", "Nome já existe");
    assert_eq!(details(&refused)[0], ("variables[0].key".to_owned(), "a".to_owned()));
    let mut only_flows = file_of("Fluxo", "dois");
    only_flows["variables"] = json!([]);
    let refused = admin.post(&path, &only_flows).await;
    refused.refused(409, "name_taken", "Nome já existe");
    assert_eq!(details(&refused), [("flows[0].name".to_owned(), "Fluxo".to_owned())]);

    let renamed = admin.post(&format!("{path}?onConflict=rename"), &file_of("Fluxo", "dois")).await.ok(200);
    assert_eq!(landed(&renamed), (vec!["renamed".to_owned()], vec!["kept".to_owned(); 2]));
    assert_eq!(renamed["flows"][0]["name"], "Fluxo (2)");
    let replaced = admin.post(&format!("{path}?onConflict=replace"), &file_of("Fluxo", "três")).await.ok(200);
    assert_eq!(
        landed(&replaced),
        (vec!["replaced".to_owned()], vec!["replaced".to_owned(), "kept".to_owned()])
    );
    assert_eq!(
        (id(&replaced["flows"][0]), &replaced["flows"][0]["publishedVersion"]),
        (flow.clone(), &json!(2))
    );
    let shown = admin.get(&format!("/flows/{flow}")).await.ok(200);
    assert_eq!((&shown["definition"], &shown["revision"]), (&says("três"), &json!(2)));
    let variables = admin.get(&format!("/flows/{flow}/variables")).await.ok(200);
    assert_eq!(variables["items"][0]["value"], "três");
    let invalid = admin.post(&format!("{path}?onConflict=merge"), &file_of("F", "x")).await;
    assert_eq!(invalid.invalid_fields(), ["onConflict"]);

    let whole = |name: &str| {
        let mut file = file_of("Fluxo", "um");
        file["router"] = json!({ "name": name, "tz": "America/Sao_Paulo", "initialFlow": "f" });
        file
    };
    let refused = admin.post("/routers/import", &whole("R")).await;
    refused.refused(409, "name_taken", "Nome já existe");
    assert_eq!(details(&refused), [("router.name".to_owned(), "R".to_owned())]);
    for name in ["R (2)", "R (3)"] {
        let made = admin.post("/routers/import?onConflict=rename", &whole("R")).await.ok(201);
        assert_eq!(made["routerName"], name);
    }
    let invalid = admin.post("/routers/import?onConflict=replace", &whole("R")).await;
    assert_eq!(invalid.invalid_fields(), ["onConflict"]);
    let nothing = admin.post("/routers/import", &file_of("F", "x")).await;
    nothing.refused(422, "import_invalid", "O arquivo não pode ser importado");
    assert_eq!(details(&nothing)[0].0, "router");
}

/// Names are not unique: where several flows bear one, it does not say which is meant.
async fn a_name_of_several_flows_replaces_none(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let replace = format!("/routers/{router}/import?onConflict=replace");
    let flows = [
        published(&admin, &router, "Vendas", &says("a")).await,
        published(&admin, &router, "Vendas", &says("b")).await,
        published(&admin, &router, "Suporte", &says("c")).await,
    ];
    let shown = async || {
        let mut all = Vec::new();
        for flow in &flows {
            all.push(admin.get(&format!("/flows/{flow}")).await.ok(200));
        }
        let list = admin.get(&format!("/flows?routerId={router}")).await.ok(200);
        let variables = admin.get(&format!("/routers/{router}/variables")).await.ok(200);
        (all, list, variables)
    };
    let before = shown().await;
    let mut of_router = file_of("Suporte", "novo");
    let mut second = file_of("Vendas", "novo")["flows"][0].clone();
    second["slug"] = json!("g");
    of_router["flows"].as_array_mut().unwrap().push(second);
    let mut of_file = file_of("Suporte", "novo");
    let mut second = of_file["flows"][0].clone();
    second["slug"] = json!("g");
    of_file["flows"].as_array_mut().unwrap().push(second);
    for (file, places, name) in [
        (&of_router, &["flows[1].name"][..], "roteador se chamam Vendas"),
        (&of_file, &["flows[0].name", "flows[1].name"], "arquivo se chamam Suporte"),
    ] {
        let refused = admin.post(&replace, file).await;
        refused.refused(422, "import_invalid", "O arquivo não pode ser importado");
        let found = details(&refused);
        assert_eq!(found.iter().map(|(place, _)| place.as_str()).collect::<Vec<_>>(), places);
        assert!(found[0].1.contains(name), "{found:?}");
        assert_eq!(shown().await, before, "nothing changed");
    }
    // Other names are replaced as ever.
    let done = admin.post(&replace, &file_of("Suporte", "novo")).await.ok(200);
    assert_eq!((&done["flows"][0]["landed"], id(&done["flows"][0])), (&json!("replaced"), flows[2].clone()));
}

async fn all_or_nothing(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let path = format!("/routers/{router}/import");
    let mut file = file_of("Novo", "um");
    let mut second = file["flows"][0].clone();
    second["slug"] = json!("g");
    second["published"]["startBlockId"] = json!("nowhere");
    file["flows"].as_array_mut().unwrap().push(second.clone());
    let refused = admin.post(&path, &file).await;
    refused.refused(422, "import_invalid", "O arquivo não pode ser importado");
    assert_eq!(details(&refused)[0].0, "flows[1].published/startBlockId");
    // What is published is of the kind of its flow; a draft may be wrong.
    let mut other_kind = file_of("Ferramenta", "um");
    other_kind["flows"][0]["kind"] = json!("tool");
    let refused = admin.post(&path, &other_kind).await;
    refused.refused(422, "import_invalid", "O arquivo não pode ser importado");
    assert_eq!(details(&refused)[0].0, "flows[0].published/kind");
    // So is a script that is not JavaScript, found together with the other errors.
    let mut broken = other_kind;
    broken["flows"][0]["published"]["blocks"][0]["onEnter"] =
        json!([{ "type": "executeScript", "script": "return (", "continueOnError": true }]);
    let refused = admin.post(&path, &broken).await;
    refused.refused(422, "import_invalid", "O arquivo não pode ser importado");
    let places: Vec<_> = details(&refused).into_iter().map(|(place, _)| place).collect();
    assert_eq!(places, ["flows[0].published/kind", "flows[0].published/blocks/0/onEnter/0/script"]);
    // A conflict that is found late undoes what was written early.
    admin.post(&format!("/routers/{router}/variables"), &json!({ "key": "a", "value": "v" })).await.ok(201);
    admin.post("/flows", &json!({ "routerId": router, "name": "Novo" })).await.ok(201);
    let mut late = file_of("Novo", "um");
    late["variables"] = json!([{ "key": "z", "value": "v", "isSecret": false }]);
    admin.post(&path, &late).await.refused(409, "name_taken", "Nome já existe");
    let left = admin.get(&format!("/routers/{router}/variables")).await.ok(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        admin.get(&format!("/flows?routerId={router}")).await.ok(200)["items"].as_array().unwrap().len(),
        1
    );
    let before = admin.get("/routers?limit=200").await.ok(200)["items"].as_array().unwrap().len();
    file["router"] = json!({ "name": "Outro", "tz": "America/Sao_Paulo", "initialFlow": "h" });
    let refused = admin.post("/routers/import", &file).await;
    let places: Vec<_> = details(&refused).into_iter().map(|(place, _)| place).collect();
    assert!(places.contains(&"router.initialFlow".to_owned()), "{places:?}");
    assert_eq!(admin.get("/routers?limit=200").await.ok(200)["items"].as_array().unwrap().len(), before);
    admin.post("/routers/cnothing/import", &file_of("F", "x")).await.refused(
        404,
        "not_found",
        "Roteador não encontrado",
    );
}

async fn one_flow_finds_the_flows_that_it_leads_to(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (first, target, _) = shop(&admin, "A", &says("alvo {{input}}")).await;
    let mut leads = says("início");
    leads["blocks"][0]["defaultOutput"] = json!({ "flowId": target });
    let flow = published(&admin, &first, "Condutor", &leads).await;
    let file = admin.get(&format!("/flows/{flow}/export")).await.ok(200);
    assert_eq!(file["flows"].as_array().unwrap().len(), 1);
    let named = &file["flows"][0]["published"]["blocks"][0]["defaultOutput"];
    assert_eq!(named, &json!({ "flowId": "inicio" }));
    // A router that has a flow of this name: the reference leads there.
    let (second, theirs, channel) = shop(&admin, "B", &says("deles {{input}}")).await;
    let report = admin.post(&format!("/routers/{second}/import"), &file).await.ok(200);
    assert_eq!(report["missing"], json!([]));
    let own = json!({ "flowId": id(&report["flows"][0]) });
    admin.put(&format!("/webchat/channels/{channel}/initial-flow"), &own).await.ok(200);
    let mut client = visitor(&server, &channel).await;
    assert_eq!(answer(&mut client, "a").await, "início");
    assert_eq!(answer(&mut client, "b").await, "deles b");
    assert_ne!(theirs, target);
    // One that has none: it is told.
    let third = router(&admin, "C").await;
    let report = admin.post(&format!("/routers/{third}/import"), &file).await.ok(200);
    let told =
        json!([{ "kind": "flowId", "place": "flows[0]", "name": "inicio", "id": report["flows"][0]["id"] }]);
    assert_eq!(report["missing"], told);
}

/// Clear errors, in little time and memory.
async fn hostile_files(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let path = format!("/routers/{router}/import");
    let started = Instant::now();
    let json_type = [("content-type", "application/json")];
    let mut large = file_of("F", "x").to_string().into_bytes();
    large.resize(33 << 20, b' ');
    let answer = admin.send("POST", &path, &json_type, Some(&large)).await;
    answer.refused(413, "payload_too_large", "O corpo pode ter no máximo 33554432 bytes");
    // Almost as large, and nothing but a list: others are answered meanwhile.
    let zeros = format!("{{\"format\":\"flowsdk\",\"x\":[{}0]}}", "0,".repeat(15_000_000));
    let is_done = Cell::new(false);
    let busy = async {
        let answer = admin.send("POST", &path, &json_type, Some(zeros.as_bytes())).await;
        is_done.set(true);
        answer
    };
    // All the time, whenever the list is read and refused.
    let others = async {
        let (mut longest, mut every) = (Duration::ZERO, tokio::time::interval(Duration::from_millis(50)));
        while !is_done.get() {
            every.tick().await;
            let asked = Instant::now();
            admin.get("/auth/me").await.ok(200);
            longest = longest.max(asked.elapsed());
        }
        longest
    };
    let (answer, waited) = futures_util::future::join(busy, others).await;
    assert_eq!(answer.invalid_fields(), [""]);
    assert!(answer.body.contains("200000 valores"), "{answer:?}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 400_000, "{peak} kB");
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    for (bad, fields) in [
        (json!({}), &["format", "formatVersion"][..]),
        (json!([]), &[""]),
        (json!({ "format": "other", "formatVersion": 1 }), &["format"]),
        (
            json!({ "format": "flowsdk", "formatVersion": 1, "flows": [{}] }),
            &["flows[0].draft", "flows[0].kind", "flows[0].name", "flows[0].slug"],
        ),
        (json!({ "format": "flowsdk", "formatVersion": 1, "secrets": [] }), &["secrets"]),
    ] {
        assert_eq!(admin.post(&path, &bad).await.invalid_fields(), fields, "{bad}");
    }
    for bad in [&b"{\"format\":\"\xff\"}"[..], b"{\"a\":{\"b\":\"\\u0000\"}}", &b"[".repeat(1 << 20)] {
        admin.send("POST", &path, &json_type, Some(bad)).await.assert_error(400);
    }
    // 10,000 blocks in a circle; 500 flows; a definition that no route would take.
    let circle: Vec<_> = (0..10_000)
        .map(|n| {
            let next = format!("b{}", (n + 1) % 10_000);
            json!({ "id": format!("b{n}"), "type": "content", "defaultOutput": { "blockId": next } })
        })
        .collect();
    let mut file = file_of("F", "x");
    file["flows"][0]["published"] = json!({ "schemaVersion": 1, "startBlockId": "b0", "blocks": circle });
    admin.post(&path, &file).await.refused(422, "import_invalid", "O arquivo não pode ser importado");
    let mut file = file_of("F", "x");
    file["flows"][0]["draft"] = json!({ "x": "a".repeat(2 << 20) });
    let refused = admin.post(&path, &file).await;
    assert_eq!(details(&refused)[0].0, "flows[0].draft");
    let mut file = file_of("F", "x");
    let flow = file["flows"][0].clone();
    let flows = (0..500).map(|n| {
        let mut flow = flow.clone();
        flow["slug"] = json!(format!("f{n}"));
        flow["name"] = json!(format!("F {n}"));
        flow
    });
    file["flows"] = flows.collect();
    let report = admin.post(&path, &file).await.ok(200);
    assert_eq!(report["flows"].as_array().unwrap().len(), 500);
    admin.delete(&format!("/routers/{router}")).await.ok(204);
    assert!(started.elapsed() < Duration::from_secs(90), "{:?}", started.elapsed());
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, other) = (router(&admin, "A").await, router(&admin, "B").await);
    let all = json!([{ "resource": "routers", "actions": ["read", "write"] },
        { "resource": "flows", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let refused = "Roteador fora do escopo";
    let file = file_of("F", "x");
    bia.get(&format!("/routers/{other}/export")).await.refused(403, "router_out_of_scope", refused);
    bia.post(&format!("/routers/{other}/import"), &file).await.refused(403, "router_out_of_scope", refused);
    let mut whole = file.clone();
    whole["router"] = json!({ "name": "N", "tz": "America/Sao_Paulo" });
    bia.post("/routers/import", &whole).await.refused(403, "router_out_of_scope", refused);
    let report = bia.post(&format!("/routers/{mine}/import"), &file).await.ok(200);
    bia.get(&format!("/routers/{mine}/export")).await.ok(200);
    let foreign = id(&admin.post("/flows", &json!({ "routerId": other, "name": "F" })).await.ok(201));
    bia.get(&format!("/flows/{foreign}/export")).await.refused(404, "not_found", "Flow não encontrado");
    bia.get(&format!("/flows/{}/export", id(&report["flows"][0]))).await.ok(200);
    // Flows are guarded by `flows`, however they travel.
    let routers = json!([{ "resource": "routers", "actions": ["read", "write"] }]);
    let eva = admin.member(&setup, &routers, &[]).await;
    for answer in [
        eva.get(&format!("/routers/{mine}/export")).await,
        eva.post(&format!("/routers/{mine}/import"), &file).await,
        eva.post("/routers/import", &whole).await,
    ] {
        answer.refused(403, "permission_denied", "Sem permissão");
    }
}

/// Channels are guarded by `channel_numbers`, however they travel.
async fn channels_ask_for_their_own_permission(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (shop, _, channel) = shop(&admin, "Com canal", &says("oi")).await;
    let bare = router(&admin, "Sem canal").await;
    let grant = |extra: &[Value]| {
        let both = ["routers", "flows"].map(|name| json!({ "resource": name, "actions": ["read", "write"] }));
        json!([both.as_slice(), extra].concat())
    };
    let (reads, writes) = (
        json!({ "resource": "channel_numbers", "actions": ["read"] }),
        json!({ "resource": "channel_numbers", "actions": ["write"] }),
    );
    let without = admin.member(&setup, &grant(&[]), &[]).await;
    let reader = admin.member(&setup, &grant(std::slice::from_ref(&reads)), &[]).await;
    let writer = admin.member(&setup, &grant(std::slice::from_ref(&writes)), &[]).await;
    let export = format!("/routers/{shop}/export");
    let mut file = reader.get(&export).await.ok(200);
    assert_eq!(file["channels"].as_array().unwrap().len(), 1);
    without.get(&format!("/routers/{bare}/export")).await.ok(200);
    let refused = without.get(&export).await;
    refused.refused(403, "permission_denied", "Sem permissão");
    assert!(!refused.body.contains(&channel));
    for (caller, name, status) in [(&without, "W", 403), (&reader, "R", 403), (&writer, "C", 201)] {
        file["router"]["name"] = json!(name);
        let answer = caller.post("/routers/import", &file).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
    // Into a router that is there the channels of a file do not come.
    without.post(&format!("/routers/{bare}/import"), &file).await.ok(200);
    file["channels"] = json!([]);
    file["router"]["name"] = json!("Vazio");
    without.post("/routers/import", &file).await.ok(201);
}

async fn the_missing_names_the_records_to_fill_in(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut leads = says("oi");
    leads["blocks"][0]["defaultOutput"] = json!({ "flowId": "la" });
    let file = json!({ "format": "flowsdk", "formatVersion": 1,
        "router": { "name": "N", "tz": "America/Sao_Paulo", "hasChannelAppSecret": true },
        "variables": [{ "key": "token", "value": null, "isSecret": true }],
        "flows": [{ "slug": "f", "name": "F", "kind": "flow", "draft": leads,
            "variables": [{ "key": "chave", "value": null, "isSecret": true }] }],
        "channels": [{ "type": "webchat", "name": "C", "isClosed": true }] });
    let report = admin.post("/routers/import", &file).await.ok(201);
    let (router, flow) = (report["routerId"].as_str().unwrap(), id(&report["flows"][0]));
    let variable = async |path: &str| id(&admin.get(path).await.ok(200)["items"][0]);
    let expected = [
        ("channelAppSecret", router.to_owned()),
        ("secretVariable", variable(&format!("/flows/{flow}/variables")).await),
        ("flowId", flow.clone()),
        ("secretVariable", variable(&format!("/routers/{router}/variables")).await),
        ("embedSecret", id(&report["channels"][0])),
    ];
    let missing = report["missing"].as_array().unwrap().iter();
    let missing: Vec<_> = missing.map(|one| (one["kind"].as_str().unwrap(), id(one))).collect();
    assert_eq!(missing, expected);
    // One PUT fills in what is missing.
    let path = format!("/routers/{router}/variables/{}", expected[3].1);
    admin.put(&path, &json!({ "value": "x" })).await.ok(200);
}

/// AI agents do not travel. A flow that names them is imported as it was, and published again when it names those of
/// its router.
async fn a_flow_comes_without_its_ai_agents(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let mut file = file_of("F", "x");
    let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "agent", "agentId": "cgone", "maxMessages": 5, "defaultOutput": { "end": true } }] });
    for which in ["draft", "published"] {
        file["flows"][0][which] = definition.clone();
    }
    let report = admin.post(&format!("/routers/{router}/import"), &file).await.ok(200);
    let flow = &report["flows"][0];
    assert_eq!(flow["publishedVersion"], 1);
    let missing = report["missing"].as_array().unwrap();
    assert!(missing.iter().any(|one| one["kind"] == "agentId" && one["id"] == flow["id"]), "{report}");
    let refused = act(&admin, &format!("/flows/{}/publish", id(flow))).await;
    refused.refused(422, "flow_invalid", "Definição do flow inválida");
}

async fn a_replaced_draft_is_on_record(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let flow = id(&admin.post("/flows", &json!({ "routerId": router, "name": "F" })).await.ok(201));
    let path = format!("/routers/{router}/import?onConflict=replace");
    let mut file = file_of("F", "x");
    file["flows"][0]["published"] = Value::Null;
    admin.post(&path, &file).await.ok(200);
    let log = records(&admin, &format!("entityType=FLOW&action=UPDATE&routerId={router}"), 1).await;
    assert_eq!((&log[0]["entityId"], &log[0]["changes"]["revision"]["to"]), (&json!(flow), &json!(2)));
}
