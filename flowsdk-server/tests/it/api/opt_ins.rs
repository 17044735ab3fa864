//! Opt-ins (spec A 2.4, 3.4, 4.6).

use serde_json::{Value, json};

use crate::harness::{Api, Setup, everywhere};

everywhere!(the_newest_record_counts);
everywhere!(in process:
    h13_an_import_is_done_once,
    lists_of_a_router,
    tables,
    hostile_tables,
    all_or_nothing,
);

fn bulk(setup: &Setup) -> String {
    format!("/routers/{}/opt-ins/bulk", setup.seeded.router)
}

async fn table(api: &Api, path: &str, kind: &str, bytes: &[u8]) -> crate::harness::http::Answer {
    api.send("POST", path, &[("content-type", kind)], Some(bytes)).await
}

async fn h13_an_import_is_done_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let path = bulk(&setup);
    let count = || async {
        let list = format!("/routers/{}/opt-ins?limit=200", setup.seeded.router);
        admin.get(&list).await.ok(200)["items"].as_array().unwrap().len()
    };
    let before = count().await;
    let conflict = (409, "idempotency_conflict", "Idempotency-Key já usada com outro conteúdo");
    let rows = json!({ "rows": [
        { "phoneNumber": "+55 11 97777-0001", "status": "accepted" }, { "phoneNumber": "?" },
    ] });
    let key = [("idempotency-key", "o-1")];
    let first = admin.json("POST", &path, &key, &rows).await;
    let again = admin.json("POST", &path, &key, &rows).await;
    assert_eq!(first.ok(200), again.ok(200));
    assert_eq!((&first.ok(200)["imported"], &first.ok(200)["createdContacts"]), (&json!(1), &json!(1)));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    let other = admin.json("POST", &path, &key, &json!({ "rows": [] })).await;
    other.refused(conflict.0, conflict.1, conflict.2);

    let send = |kind: &'static str, key: &'static str, bytes: &'static [u8]| {
        let (admin, path) = (&admin, &path);
        async move {
            let headers = [("content-type", kind), ("idempotency-key", key)];
            admin.send("POST", path, &headers, Some(bytes)).await
        }
    };
    let table = b"phoneNumber,status\n+55 11 97777-0002,accepted\n";
    let first = send("text/csv", "o-2", table).await;
    let again = send("text/csv", "o-2", table).await;
    assert_eq!(first.ok(200), again.ok(200));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    for (kind, bytes) in [
        ("text/csv; charset=windows-1252", &table[..]),
        ("text/csv", b"phoneNumber,status\n+55 11 97777-0003,accepted\n"),
    ] {
        send(kind, "o-2", bytes).await.refused(conflict.0, conflict.1, conflict.2);
    }
    assert_eq!(send("text/csv", "a b", table).await.invalid_fields(), ["Idempotency-Key"]);
    assert_eq!(count().await, before + 2);
}

async fn the_newest_record_counts(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let contact = admin.post("/contacts", &json!({ "phoneNumber": "5511987654321" })).await.ok(201);
    let id = contact["id"].as_str().unwrap();
    let router = &setup.seeded.router;
    let current = || async { admin.get(&format!("/contacts/{id}/opt-in?routerId={router}")).await.ok(200) };
    let none = json!({ "contactId": id, "routerId": router, "status": null, "record": null });
    assert_eq!(current().await, none);
    let at = |status: &str, at: &str| json!({ "phoneNumber": "+55 11 98765-4321", "status": status, "recordedAt": at });
    // Older ones come later; of one moment the last counts.
    let rows = json!({ "rows": [
        at("accepted", "2026-01-02T00:00:00Z"), at("revoked", "2026-01-01T00:00:00Z"),
    ] });
    let report = admin.post(&bulk(&setup), &rows).await.ok(200);
    assert_eq!(report, json!({ "total": 2, "imported": 2, "createdContacts": 0, "refused": [] }));
    assert_eq!(current().await["status"], "accepted");
    let same = json!({ "rows": [
        at("accepted", "2026-01-03T00:00:00Z"), at("revoked", "2026-01-03T00:00:00Z"),
    ] });
    admin.post(&bulk(&setup), &same).await.ok(200);
    let found = current().await;
    assert_eq!((&found["status"], &found["record"]["source"]), (&json!("revoked"), &json!("import")));
    assert_eq!(
        (&found["record"]["chatId"], &found["record"]["recordedAt"]),
        (&json!(null), &json!("2026-01-03T00:00:00.000Z"))
    );
    // The log keeps everything, newest first.
    let history = admin.get(&format!("/contacts/{id}/opt-ins?limit=3")).await.ok(200);
    let statuses: Vec<_> = history["items"].as_array().unwrap().iter().map(|r| r["status"].clone()).collect();
    assert_eq!(statuses, ["revoked", "accepted", "accepted"]);
    let next = format!("/contacts/{id}/opt-ins?cursor={}", history["nextCursor"].as_str().unwrap());
    assert_eq!(admin.get(&next).await.ok(200)["items"].as_array().unwrap().len(), 1);
    // Per router.
    let routers = admin.get("/routers").await.ok(200);
    let other = routers["items"].as_array().unwrap().iter().find(|r| r["id"] != *router).unwrap();
    let other = other["id"].as_str().unwrap();
    let there = admin.get(&format!("/contacts/{id}/opt-in?routerId={other}")).await.ok(200);
    assert_eq!(there["status"], json!(null));
    let path = format!("/contacts/{id}/opt-in");
    assert_eq!(admin.get(&path).await.invalid_fields(), ["routerId"]);
    assert_eq!(admin.get(&format!("{path}?routerId=a%20b")).await.invalid_fields(), ["routerId"]);
    let reads = json!([{ "resource": "contacts", "actions": ["read", "write"] }]);
    let stranger = admin.member(&setup, &reads, &[other]).await;
    let scope = (403, "router_out_of_scope", "Roteador fora do escopo");
    stranger.get(&format!("{path}?routerId={router}")).await.refused(scope.0, scope.1, scope.2);
    stranger.get(&format!("/routers/{router}/opt-ins")).await.refused(scope.0, scope.1, scope.2);
    stranger.post(&bulk(&setup), &json!({ "rows": [] })).await.refused(scope.0, scope.1, scope.2);
    // A contact that their router does not know cannot be named.
    let unknown = json!({ "rows": [{ "contactId": id, "status": "accepted" }] });
    let report = stranger.post(&format!("/routers/{other}/opt-ins/bulk"), &unknown).await.ok(200);
    assert_eq!((&report["imported"], &report["refused"][0]["field"]), (&json!(0), &json!("contactId")));
    // Nor by the number. An import by a caller who may see the contact lets the router know them.
    stranger.get(&format!("/contacts/{id}")).await.assert_error(404);
    let named = json!({ "rows": [{ "phoneNumber": "5511987654321", "status": "accepted" }] });
    let report = stranger.post(&format!("/routers/{other}/opt-ins/bulk"), &named).await.ok(200);
    assert_eq!((&report["imported"], &report["refused"][0]["field"]), (&json!(0), &json!("phoneNumber")));
    stranger.get(&format!("/contacts/{id}")).await.assert_error(404);
    admin.post(&format!("/routers/{other}/opt-ins/bulk"), &named).await.ok(200);
    stranger.get(&format!("/contacts/{id}")).await.ok(200);
    let seen = stranger.get(&format!("/contacts/{id}/opt-ins")).await.ok(200);
    assert_eq!(seen["items"].as_array().unwrap().len(), 1, "those of their router");
}

async fn lists_of_a_router(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let rows: Vec<Value> = (0..9)
        .map(|n| {
            json!({ "phoneNumber": format!("551190000000{n}"), "name": format!("Contato Nº {n}"),
            "status": if n % 3 == 0 { "revoked" } else { "accepted" } })
        })
        .chain([json!({ "phoneNumber": "5511900000001", "status": "revoked" })])
        .collect();
    let report = admin.post(&bulk(&setup), &json!({ "rows": rows })).await.ok(200);
    assert_eq!((&report["imported"], &report["createdContacts"]), (&json!(10), &json!(9)));
    let path = format!("/routers/{}/opt-ins", setup.seeded.router);
    let count = |query: &str| {
        let (admin, at) = (admin.clone(), format!("{path}?{query}"));
        async move { admin.get(&at).await.ok(200)["items"].as_array().unwrap().len() }
    };
    assert_eq!(count("").await, 9, "one a contact");
    assert_eq!((count("status=revoked").await, count("status=accepted").await), (4, 5));
    assert_eq!(
        (count("q=contato").await, count("q=CONTATO%207").await, count("q=5511900000001").await),
        (9, 1, 1)
    );
    assert_eq!((count("q=contato&status=revoked").await, count("q=nobody").await), (4, 0));
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = admin.get(&format!("{path}?limit=4{cursor}")).await.ok(200);
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["contact"]["name"].clone()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!((seen.len(), &seen[0], &seen[8]), (9, &json!("Contato Nº 1"), &json!("Contato Nº 0")));
    admin.get("/routers/nothing/opt-ins").await.refused(404, "not_found", "Roteador não encontrado");
    assert_eq!(admin.get(&format!("{path}?status=x")).await.invalid_fields(), ["status"]);
}

async fn tables(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let csv = "phoneNumber;name;status;recordedAt;x\r\n\
        +55 (11) 98765-4321;\"Souza; \"\"Ana\"\"\";accepted;2026-01-02T03:04:05Z;y\r\n\
        5511987654322;=HYPERLINK(\"http://x\");revoked;;\r\n\
        abc;Ninguém;accepted;;\r\n\
        5511987654323;Tarde;perhaps;;\r\n";
    let report = table(&admin, &bulk(&setup), "text/csv; charset=utf-8", csv.as_bytes()).await.ok(200);
    assert_eq!(
        (&report["total"], &report["imported"], &report["createdContacts"]),
        (&json!(4), &json!(2), &json!(2))
    );
    let refused: Vec<_> = report["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["row"].clone(), r["field"].clone()))
        .collect();
    assert_eq!(refused, [(json!(2), json!("phoneNumber")), (json!(3), json!("status"))]);
    assert!(report["refused"][0]["reason"].as_str().unwrap().contains("E.164"));
    // All that tells of a row counts alike, whatever stands between the rows, and names the file's line.
    let rows = "phone;name;status\r\n\r\n5511987654399;\"a\nb\";x\r\n\r\n5511987654398;c;y\r\n";
    let report = table(&admin, &bulk(&setup), "text/csv", rows.as_bytes()).await.ok(200);
    let numbers = |n: usize| (report["refused"][n]["row"].clone(), report["refused"][n]["line"].clone());
    assert_eq!((numbers(0), numbers(1)), ((json!(0), json!(3)), (json!(1), json!(6))), "{report}");
    let strict = format!("{}?strict=true", bulk(&setup));
    let answer = table(&admin, &strict, "text/csv", rows.as_bytes()).await.json();
    assert_eq!(answer["details"][1]["field"], "rows[1].status");
    let text = "Deve ser um de: accepted, revoked (linha 6 do arquivo)";
    assert_eq!(answer["details"][1]["message"], text);
    let found = admin.get("/contacts?q=souza").await.ok(200);
    assert_eq!(found["items"][0]["name"], "Souza; \"Ana\"");
    assert_eq!(found["items"][0]["nameLocked"], false);
    let formula = admin.get("/contacts?q=5511987654322").await.ok(200);
    assert_eq!(formula["items"][0]["name"], "=HYPERLINK(\"http://x\")", "a text like any other");
    // As spreadsheets save it.
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(
            "phone\tname\tstatus\n5511987654324\tJoão\taccepted\n".encode_utf16().flat_map(u16::to_le_bytes),
        )
        .collect();
    table(&admin, &bulk(&setup), "text/csv", &utf16).await.ok(200);
    let latin = b"phone,name,status\n5511987654325,Jo\xe3o,accepted\n";
    assert_eq!(table(&admin, &bulk(&setup), "text/csv", latin).await.invalid_fields(), ["rows"]);
    table(&admin, &bulk(&setup), "text/csv; charset=windows-1252", latin).await.ok(200);
    let joaos = admin.get("/contacts?q=joao").await.ok(200);
    assert_eq!(joaos["items"].as_array().unwrap().len(), 2);
    // The largest that is taken.
    let many: String = (0..10_000).map(|n| format!("55119{n:08},accepted\n")).collect();
    let report =
        table(&admin, &bulk(&setup), "text/csv", format!("phone,status\n{many}").as_bytes()).await.ok(200);
    assert_eq!((&report["imported"], &report["createdContacts"]), (&json!(10_000), &json!(10_000)));
    let more = format!("phone,status\n{many}5511000000000,accepted\n");
    assert_eq!(table(&admin, &bulk(&setup), "text/csv", more.as_bytes()).await.invalid_fields(), ["rows"]);
}

async fn hostile_tables(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for kind in ["text/plain", "multipart/form-data", "text/csvx", "application/vnd.ms-excel"] {
        let text = "O conteúdo deve ser application/json ou text/csv";
        table(&admin, &bulk(&setup), kind, b"phone\n1").await.refused(415, "unsupported_media_type", text);
    }
    let large = vec![b'a'; (32 << 20) + 1];
    let answer = table(&admin, &bulk(&setup), "text/csv", &large).await;
    answer.refused(413, "payload_too_large", "O corpo pode ter no máximo 33554432 bytes");
    for bytes in [
        &b""[..],
        b"\0",
        b"phone,status\n55\0",
        b"\xff\xfe\x00",
        b"PK\x03\x04",
        b"name\nx",
        b"phoneNumber;Status do aceite\n5511987654321;revoked\n",
        b"\xef\xbb\xbf",
        b"\xc3\x28\n1",
    ] {
        assert_eq!(
            table(&admin, &bulk(&setup), "text/csv", bytes).await.invalid_fields(),
            ["rows"],
            "{bytes:?}"
        );
    }
    // Strange, but tables: each row is told or taken, and none spoils another.
    let quotes = format!("phone,name,status\n\"{}\n5511987654321,x", "\"\"".repeat(10_000));
    let unclosed = table(&admin, &bulk(&setup), "text/csv", quotes.as_bytes()).await;
    assert_eq!(unclosed.invalid_fields(), ["rows"]);
    let quotes = format!("phone,name,status\n5511987654321,\"{}\",accepted", "\"\"".repeat(100));
    let wide = format!("phone,status{}\n5511987654321{}\n", ",a".repeat(5_000), ",b".repeat(9_000));
    let long = format!(
        "phone,name,status\n5511987654322,{},accepted\n5511987654323,ok,accepted\n",
        "n".repeat(1 << 20)
    );
    for (csv, imported) in
        [(quotes.as_str(), 1), (wide.as_str(), 0), (long.as_str(), 1), ("phone,status\n\n\n\n", 0)]
    {
        let report = table(&admin, &bulk(&setup), "text/csv", csv.as_bytes()).await.ok(200);
        assert_eq!(report["imported"], imported, "{report}");
    }
    let injected = "phone,name,status\n5511987654324,\"'); DROP TABLE contact;--\",accepted\n\
        5511987654325,\u{202e}abc,accepted\n5511987654326,\"a\u{7}b\",accepted\n";
    let report = table(&admin, &bulk(&setup), "text/csv", injected.as_bytes()).await.ok(200);
    assert_eq!((&report["imported"], &report["refused"][0]["row"]), (&json!(2), &json!(2)));
    let bad = json!({ "rows": [{ "phoneNumber": 5, "more": 1 }] });
    assert_eq!(
        admin.post(&bulk(&setup), &bad).await.invalid_fields(),
        ["rows[0].more", "rows[0].phoneNumber"]
    );
    let many: Vec<_> = (0..10_001).map(|_| json!({})).collect();
    assert_eq!(admin.post(&bulk(&setup), &json!({ "rows": many })).await.invalid_fields(), ["rows"]);
    admin.post("/routers/nothing/opt-ins/bulk", &json!({ "rows": [] })).await.assert_error(404);
}

async fn all_or_nothing(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let rows = json!({ "rows": [
        { "phoneNumber": "5511987654321", "status": "accepted" }, { "phoneNumber": "x", "status": "accepted" },
        { "contactId": "nobody", "status": "accepted" }, { "phoneNumber": "5511987654322" },
    ] });
    let strict = format!("{}?strict=true", bulk(&setup));
    let answer = admin.post(&strict, &rows).await;
    answer.refused(422, "import_refused", "Há linhas inválidas; nada foi importado");
    let fields: Vec<_> =
        answer.json()["details"].as_array().unwrap().iter().map(|d| d["field"].clone()).collect();
    assert_eq!(fields, [json!("rows[1].phoneNumber"), json!("rows[2].contactId"), json!("rows[3].status")]);
    assert_eq!(admin.get("/contacts").await.ok(200)["items"], json!([]));
    let report = admin.post(&bulk(&setup), &rows).await.ok(200);
    assert_eq!((&report["imported"], &report["refused"].as_array().unwrap().len()), (&json!(1), &3));
    assert_eq!(
        report["refused"][2],
        json!({ "row": 3, "line": null, "field": "status", "reason": "Campo obrigatório" })
    );
    let good = json!({ "rows": [{ "phoneNumber": "5511987654321", "status": "revoked" }] });
    admin.post(&strict, &good).await.ok(200);
    // Two imports of the same numbers at once make no contact twice.
    let rows: Vec<_> =
        (0..300).map(|n| json!({ "phoneNumber": format!("55119{n:08}"), "status": "accepted" })).collect();
    let rows = json!({ "rows": rows });
    let imports = (0..4).map(|_| {
        let (admin, at, rows) = (admin.clone(), bulk(&setup), rows.clone());
        async move { admin.post(&at, &rows).await.ok(200)["imported"].as_i64().unwrap() }
    });
    assert_eq!(futures_util::future::join_all(imports).await, [300; 4]);
    let found = admin.get("/contacts?q=55119000&limit=200").await.ok(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 200);
    assert_eq!(admin.get("/contacts?q=5511900000007").await.ok(200)["items"].as_array().unwrap().len(), 1);
}
