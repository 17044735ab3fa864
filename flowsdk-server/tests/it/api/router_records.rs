//! The walks that the records of a router take through their routes, whatever their kind.

use serde_json::{Value, json};

use super::building::{act, actions, id, records, router};
use crate::harness::http::Answer;
use crate::harness::{Api, Setup};

/// The routes of the records of one kind.
pub struct Routes {
    pub path: &'static str,
    /// A complete body, for a record of this router.
    pub body: fn(&str) -> Value,
    /// A shorter body, of another name.
    pub second: fn(&str) -> Value,
    /// A change of the first record.
    pub change: fn() -> Value,
    /// The number of fields that an answer has.
    pub fields: usize,
    /// Fields that lists leave out.
    pub unlisted: &'static [&'static str],
    /// Commands on a record, such as `publish`.
    pub commands: &'static [&'static str],
    /// The resource of the permission.
    pub resource: &'static str,
    /// The kind of the records in the audit log.
    pub kind: &'static str,
    /// The text of the answer where there is no such record.
    pub not_found: &'static str,
}

impl Routes {
    /// A record is created, shown, changed, listed and deleted; the audit log has it all. It goes with its router.
    pub async fn live(&self, setup: Setup) {
        let server = setup.start().await;
        let admin = Api::admin(&setup, &server).await;
        let router = router(&admin, "Loja").await;
        let body = (self.body)(&router);
        let answer = admin.post(self.path, &body).await;
        let made = answer.ok(201);
        let path = self.at(&id(&made));
        assert_eq!(answer.headers["location"], format!("/api{path}"));
        for (field, value) in body.as_object().unwrap() {
            assert_eq!(&made[field], value, "{field}");
        }
        assert_eq!(made.as_object().unwrap().len(), self.fields, "{made}");
        assert_eq!(admin.get(&path).await.ok(200), made);
        let change = (self.change)();
        let changed = admin.patch(&path, &change).await.ok(200);
        // An absent field stays.
        for (field, value) in made.as_object().unwrap() {
            if field != "updatedAt" {
                assert_eq!(&changed[field], change.get(field).unwrap_or(value), "{field}");
            }
        }
        assert_eq!(admin.get(&path).await.ok(200), changed);
        let second = admin.post(self.path, &(self.second)(&router)).await.ok(201);
        let list = admin.get(&format!("{}?routerId={router}", self.path)).await.ok(200);
        assert_eq!(list["items"], json!([self.listed(&second), self.listed(&changed)]));
        admin.delete(&path).await.ok(204);
        for answer in self.on_one(&admin, &path).await {
            answer.refused(404, "not_found", self.not_found);
        }
        // Its name is free again.
        admin.post(self.path, &body).await.ok(201);
        let log = records(&admin, &format!("entityType={}&routerId={router}", self.kind), 5).await;
        assert_eq!(actions(&log), ["CREATE", "UPDATE", "CREATE", "DELETE", "CREATE"]);
        let changes = change.as_object().unwrap().iter();
        let changes = changes.map(|(field, to)| (field.clone(), json!({ "from": made[field], "to": to })));
        assert_eq!(log[3]["changes"], Value::Object(changes.collect()));
        admin.delete(&format!("/routers/{router}?force=true")).await.ok(204);
        admin.get(&self.at(&id(&second))).await.refused(404, "not_found", self.not_found);
    }

    /// Members see and change the records of their routers only, and readers change none.
    pub async fn keep_to_their_router(&self, setup: Setup) {
        let server = setup.start().await;
        let admin = Api::admin(&setup, &server).await;
        let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
        let foreign = self.at(&id(&admin.post(self.path, &(self.body)(&theirs)).await.ok(201)));
        let all = json!([{ "resource": self.resource, "actions": ["read", "write"] }]);
        let bia = admin.member(&setup, &all, &[&mine]).await;
        let own = id(&bia.post(self.path, &(self.body)(&mine)).await.ok(201));
        let list = bia.get(self.path).await.ok(200);
        let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(id).collect();
        assert_eq!(ids, std::slice::from_ref(&own));
        bia.patch(&self.at(&own), &(self.change)()).await.ok(200);
        for answer in self.on_one(&bia, &foreign).await {
            answer.refused(404, "not_found", self.not_found);
        }
        for answer in [
            bia.post(self.path, &(self.second)(&theirs)).await,
            bia.get(&format!("{}?routerId={theirs}", self.path)).await,
        ] {
            answer.refused(403, "router_out_of_scope", "Roteador fora do escopo");
        }
        let read = json!([{ "resource": self.resource, "actions": ["read"] }]);
        let eva = admin.member(&setup, &read, &[]).await;
        eva.get(&foreign).await.ok(200);
        eva.post(self.path, &(self.second)(&mine)).await.refused(403, "permission_denied", "Sem permissão");
        for answer in self.on_one(&eva, &foreign).await.into_iter().skip(1) {
            answer.refused(403, "permission_denied", "Sem permissão");
        }
        Api::anonymous(&server).get(self.path).await.assert_error(401);
    }

    /// A record is created once for each key, and other content under the key is refused.
    pub async fn are_created_once(&self, setup: Setup) {
        let server = setup.start().await;
        let admin = Api::admin(&setup, &server).await;
        let router = router(&admin, "Loja").await;
        let key = [("idempotency-key", "k-1")];
        let body = (self.body)(&router);
        let first = admin.json("POST", self.path, &key, &body).await.ok(201);
        assert_eq!(admin.json("POST", self.path, &key, &body).await.ok(201), first);
        let conflict = admin.json("POST", self.path, &key, &(self.second)(&router)).await;
        conflict.assert_error(409);
        assert_eq!(conflict.json()["code"], "idempotency_conflict");
        let list = admin.get(self.path).await.ok(200);
        assert_eq!(list["items"], json!([self.listed(&first)]));
    }

    /// Each of these values is refused at its place, in a new record and in a change with the fields `beside`; the place
    /// begins with the field that has the value. A record stays with its router, and is not created in one that does not
    /// exist. Returns the path of a record, which is as its body made it.
    pub async fn refuse(&self, admin: &Api, router: &str, beside: &Value, wrong: &[(&str, Value)]) -> String {
        let path = self.at(&id(&admin.post(self.path, &(self.body)(router)).await.ok(201)));
        let before = admin.get(&path).await.ok(200);
        for (place, value) in wrong {
            let field = place.split(['[', '.']).next().unwrap();
            let (mut body, mut change) = ((self.body)(router), beside.clone());
            for body in [&mut body, &mut change] {
                body[field] = value.clone();
            }
            assert_eq!(admin.post(self.path, &body).await.invalid_fields(), [*place], "{value}");
            assert_eq!(admin.patch(&path, &change).await.invalid_fields(), [*place], "{value}");
        }
        assert_eq!(admin.patch(&path, &json!({ "routerId": router })).await.invalid_fields(), ["routerId"]);
        let nowhere = admin.post(self.path, &(self.body)("cnothing")).await;
        nowhere.refused(422, "router_unknown", "Roteador não encontrado");
        assert_eq!(admin.get(&path).await.ok(200), before);
        path
    }

    /// The path of a record.
    pub fn at(&self, id: &str) -> String {
        format!("{}/{id}", self.path)
    }

    /// The record as lists show it.
    fn listed(&self, record: &Value) -> Value {
        let mut record = record.clone();
        record.as_object_mut().unwrap().retain(|field, _| !self.unlisted.contains(&field.as_str()));
        record
    }

    /// The answers to everything that can be asked of one record; the first shows it.
    async fn on_one(&self, api: &Api, path: &str) -> Vec<Answer> {
        let mut answers = vec![api.get(path).await, api.patch(path, &json!({})).await];
        for command in self.commands {
            answers.push(act(api, &format!("{path}/{command}")).await);
        }
        answers.push(api.delete(path).await);
        answers
    }
}
