//! Every route of the OpenAPI document, against everybody who may not use it.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::harness::{Api, Setup, everywhere, http};

everywhere!(served);
everywhere!(in process: nobody_gets_in_who_may_not);

/// Routes without authentication: what each is, is in the contract (spec A 4.1).
const PUBLIC: [&str; 7] = [
    "POST /auth/login",
    "POST /auth/desk-login",
    "GET /auth/refresh",
    "POST /auth/password-recovery",
    "POST /auth/password-recovery/validate",
    // It knows its visitors by their keys.
    "POST /webchat/test/messages",
    // Whoever has a link may (tests/it/phone/media.rs).
    "GET /media/{id}/content",
];

/// Routes that change what is the caller's own, and name no router.
const OWN: [&str; 5] = [
    "PUT /agents/me/presence",
    "POST /agents/me/heartbeat",
    "POST /tickets/pickup",
    // They answer for each ticket; here for none.
    "POST /tickets/bulk/transfer",
    "POST /tickets/bulk/close",
];

struct Operation {
    method: String,
    path: String,
    spec: Value,
}

fn operations(document: &Value) -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, spec) in item.as_object().unwrap().iter().filter(|(name, _)| *name != "parameters") {
            found.push(Operation { method: method.to_uppercase(), path: path.clone(), spec: spec.clone() });
        }
    }
    found
}

impl Operation {
    /// The path with this router, and ids that nothing has.
    fn at(&self, router: &str) -> String {
        let mut path = self.path.clone();
        if path.starts_with("/routers/{id}") {
            path = path.replacen("{id}", router, 1);
        }
        while let (Some(open), Some(close)) = (path.find('{'), path.find('}')) {
            let value = if path[open..=close].contains("outer") { router } else { "cnothing" };
            path.replace_range(open..=close, value);
        }
        if self.asks_for_a_router() { format!("{path}?routerId={router}") } else { path }
    }

    /// Whether it cannot do without `?routerId=`.
    fn asks_for_a_router(&self) -> bool {
        let parameters = self.spec["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        parameters
            .iter()
            .any(|one| one["name"] == "routerId" && one["in"] == "query" && one["required"] == true)
    }

    fn filters_by_router(&self) -> bool {
        let parameters = self.spec["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        parameters.iter().any(|parameter| parameter["name"] == "routerId")
    }

    async fn call(&self, api: &Api, router: &str) -> http::Answer {
        let body = self.spec.get("requestBody").map(|_| b"{}".as_slice());
        let json = [("content-type", "application/json")];
        api.send(&self.method, &self.at(router), if body.is_some() { &json } else { &[] }, body).await
    }

    /// The same with a body that fits.
    async fn call_well(&self, api: &Api, document: &Value, router: &str) -> http::Answer {
        let Some(body) = self.spec.get("requestBody") else {
            return self.call(api, router).await;
        };
        let body = sample(document, &body["content"]["application/json"]["schema"], router);
        api.json(&self.method, &self.at(router), &[], &body).await
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// The least that fits a schema of the document; where a router is named, this one.
fn sample(document: &Value, schema: &Value, router: &str) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return sample(document, &document["components"]["schemas"][name], router);
    }
    for known in [&schema["examples"][0], &schema["example"], &schema["enum"][0], &schema["const"]] {
        if !known.is_null() {
            return known.clone();
        }
    }
    if let Some(first) = schema["oneOf"].as_array().and_then(|all| all.first()) {
        return sample(document, first, router);
    }
    let kind = schema["type"].as_array().map_or(&schema["type"], |kinds| &kinds[0]);
    match kind.as_str() {
        Some("object") => {
            let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
            let fields = required.iter().map(|name| {
                let name = name.as_str().unwrap();
                let value = match name {
                    "routerId" => json!(router),
                    _ => sample(document, &schema["properties"][name], router),
                };
                (name.to_owned(), value)
            });
            Value::Object(fields.collect())
        }
        Some("array") if schema["minItems"].as_u64().is_some_and(|least| least > 0) => {
            json!([sample(document, &schema["items"], router)])
        }
        Some("array") => json!([]),
        Some("string") => "a".repeat(schema["minLength"].as_u64().unwrap_or(1) as usize).into(),
        Some("integer" | "number") => schema["minimum"].as_i64().unwrap_or(1).into(),
        Some("boolean") => false.into(),
        _ => Value::Null,
    }
}

async fn nobody_gets_in_who_may_not(setup: Setup) {
    let server = setup.start().await;
    let (admin, api) = (Api::admin(&setup, &server).await, Api::anonymous(&server));
    let document = http::get(server.addr, "/openapi.json", &[]).await.json();
    let operations = operations(&document);
    assert!(operations.len() >= 30, "{}", operations.len());
    let powerless = admin.member(&setup, &json!([]), &[]).await;
    let all: Vec<_> = document["components"]["schemas"]["ResourceName"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| json!({ "resource": resource, "actions": ["read", "write", "admin"] }))
        .collect();
    assert_eq!(all.len(), 14);
    let here = setup.seeded.router.as_str();
    let scoped = admin.member(&setup, &json!(all), &[here]).await;
    let routers = admin.get("/routers").await.ok(200);
    let elsewhere = routers["items"].as_array().unwrap().iter().find(|router| router["id"] != here).unwrap();
    let elsewhere = elsewhere["id"].as_str().unwrap();
    let mut almosts: HashMap<String, Api> = HashMap::new();
    for operation in &operations {
        let name = operation.name();
        let access =
            operation.spec["x-permission"].as_str().unwrap_or_else(|| panic!("{name} has no x-permission"));
        let statuses = operation.spec["responses"].as_object().unwrap();
        if access == "public" {
            assert!(PUBLIC.contains(&name.as_str()), "{name} is open to everybody");
            continue;
        }
        operation.call(&api, here).await.refused(401, "token_missing", "Token não informado");
        operation.call(&api.with("x.y.z"), here).await.refused(401, "token_invalid", "Token JWT inválido");
        assert!(operation.spec["security"].as_array().is_some_and(|s| !s.is_empty()), "{name}");
        assert!(statuses.contains_key("401") && statuses.contains_key("429"), "{name}");
        if name == "POST /auth/logout" {
            continue;
        }
        let answer = operation.call(&powerless, here).await;
        match access {
            "authenticated" | "user" => assert_ne!(answer.status, 403, "{name}: {answer:?}"),
            "admin" => answer.refused(403, "admin_only", "Acesso restrito a administradores"),
            permission => {
                let (resource, action) = permission.split_once(':').unwrap();
                assert!(all.iter().any(|entry| entry["resource"] == resource), "{name}: {permission}");
                assert!(["read", "write", "admin"].contains(&action), "{name}: {permission}");
                answer.refused(403, "permission_denied", "Sem permissão");
                assert!(statuses.contains_key("403"), "{name}");
                // One action does not stand in for another.
                let almost = match almosts.get(access) {
                    Some(almost) => Api::clone(almost),
                    None => {
                        let others = ["read", "write", "admin"].into_iter().filter(|other| *other != action);
                        let entry = json!({ "resource": resource, "actions": others.collect::<Vec<_>>() });
                        admin.member(&setup, &json!([entry]), &[]).await
                    }
                };
                almosts.insert(access.to_owned(), almost.clone());
                operation.call(&almost, here).await.refused(403, "permission_denied", "Sem permissão");
                // Everything, but in another router.
                let answer = operation.call_well(&scoped, &document, elsewhere).await;
                if ["users", "settings"].contains(&resource) {
                    answer.assert_error(403);
                    assert_eq!(answer.json()["code"], "resource_global", "{name}");
                } else if operation.path.contains('{') {
                    assert!([403, 404].contains(&answer.status), "{name}: {answer:?}");
                } else if operation.method == "GET" && operation.asks_for_a_router() {
                    answer.refused(403, "router_out_of_scope", "Roteador fora do escopo");
                } else if operation.method == "GET" {
                    assert_eq!(answer.status, 200, "{name}: {answer:?}");
                    assert!(!answer.body.contains(elsewhere), "{name} shows another router");
                    // Where a list can be asked for a router, another one is refused by name.
                    if operation.filters_by_router() {
                        let path = format!("{}?routerId={elsewhere}", operation.at(here));
                        let refused = scoped.get(&path).await;
                        refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
                    }
                } else if OWN.contains(&name.as_str()) {
                    assert_eq!(answer.status, 200, "{name}: {answer:?}");
                    assert!(!answer.body.contains(elsewhere), "{name} shows another router");
                } else {
                    // Its body names the router, or it would make one.
                    answer.refused(403, "router_out_of_scope", "Roteador fora do escopo");
                }
            }
        }
        // What the document does not list does not exist, in either twin.
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let listed =
                operations.iter().any(|other| other.method == method && other.path == operation.path);
            if !listed {
                for prefix in ["", "/api"] {
                    let path = format!("{prefix}{}", operation.at(here));
                    let answer = admin.send(method, &path, &[], None).await;
                    assert_eq!(answer.status, 405, "{method} {path} is not in the document");
                }
            }
        }
    }
}

async fn served(setup: Setup) {
    let server = setup.start().await;
    let document = http::get(server.addr, "/openapi.json", &[]).await.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(http::get(server.addr, "/api/openapi.json", &[]).await.json(), document);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(committed).unwrap()).unwrap();
    assert!(committed == document, "docs/openapi.json is not what the server says");
    for operation in operations(&document) {
        let (name, spec) = (operation.name(), &operation.spec);
        for field in ["operationId", "summary"] {
            assert!(spec[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        assert!(spec["tags"].as_array().is_some_and(|tags| tags.len() == 1), "{name} has no tag");
        assert!(
            spec["responses"].as_object().unwrap().keys().any(|status| status.starts_with('2')),
            "{name}"
        );
    }
    let page = http::get(server.addr, "/docs/", &[]).await;
    assert!(page.status == 200 && page.headers["content-type"].starts_with("text/html"), "{page:?}");
    assert!(!page.body.contains("https://"), "the page loads from elsewhere");
    let loaded: Vec<_> = page.body.split("=\"./").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(loaded.contains(&"swagger-ui-bundle.js"), "{loaded:?}");
    for file in loaded.iter().filter(|file| !file.ends_with(".png")) {
        let part = http::get(server.addr, &format!("/docs/{file}"), &[]).await;
        assert!(part.status == 200 && !part.body.is_empty(), "{file}: {}", part.status);
    }
}
