//! The administrative API as a client sees it.

use std::net::SocketAddr;
use std::sync::Arc;

use ::http::{Request, Response};
use axum::body::{Body, Bytes};
use flowsdk_server::testkit::TestApp;
use serde_json::{Value, json};

use super::http::{self, Answer};
use super::{Server, Setup};

/// The administrator of every test.
pub const ADMIN: &str = "admin@flowsdk.local";

/// Calls with one token, or without any.
#[derive(Debug, Clone)]
pub struct Api {
    addr: SocketAddr,
    /// Asked without a socket, where it is in this process.
    app: Option<Arc<TestApp>>,
    pub token: Option<String>,
}

impl Api {
    /// Calls without a token.
    pub fn anonymous(server: &Server) -> Self {
        Self { addr: server.addr, app: server.app().cloned(), token: None }
    }

    /// Calls as the administrator.
    pub async fn admin(setup: &Setup, server: &Server) -> Self {
        Self::anonymous(server).login(setup, ADMIN, setup.admin_password()).await
    }

    /// Calls with this token.
    pub fn with(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same calls to another process.
    pub fn at(&self, server: &Server) -> Self {
        Self { token: self.token.clone(), ..Self::anonymous(server) }
    }

    /// Calls as this user. His tokens may not be logged.
    pub async fn login(&self, setup: &Setup, email: &str, password: &str) -> Self {
        let body = json!({ "email": email, "password": password });
        let session = self.post("/auth/login", &body).await.ok(200);
        for name in ["accessToken", "refreshToken"] {
            setup.plant(session[name].as_str().unwrap());
        }
        self.with(session["accessToken"].as_str().unwrap())
    }

    /// A new user with these permissions in these routers, logged in.
    pub async fn member(&self, setup: &Setup, permissions: &Value, routers: &[&str]) -> Self {
        let name = flowsdk_core::context::OpContext::system().ids().next_id();
        let group = json!({ "name": name, "permissions": permissions, "routerIds": routers });
        let group = self.post("/groups", &group).await.ok(201);
        let password = format!("senha-{name}");
        setup.plant(&password);
        let email = format!("{name}@example.com");
        let user = json!({ "name": "Bia", "email": email, "phone": "5511999990000", "password": password,
            "groupId": group["id"] });
        self.post("/users", &user).await.ok(201);
        Self::login(&Self { token: None, ..self.clone() }, setup, &email, &password).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.json("POST", path, &[], body).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.json("PUT", path, &[], body).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.json("PATCH", path, &[], body).await
    }

    pub async fn json(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let headers = [headers, &[("content-type", "application/json")]].concat();
        self.send(method, path, &headers, Some(body.to_string().as_bytes())).await
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut all = headers.to_vec();
        all.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        if let Some(app) = &self.app
            && let Some(request) = request(method, path, &all, body)
        {
            return Answer::of(app.send(request).await);
        }
        http::send(self.addr, method, path, &all, body).await.expect("an answer")
    }
}

/// `None` for what only raw bytes can say.
fn request(method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Option<Request<Body>> {
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(body) = body {
        request = request.header("content-length", body.len());
    }
    request.body(body.map_or_else(Body::empty, |body| Body::from(body.to_vec()))).ok()
}

impl Answer {
    fn of(response: Response<Bytes>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let headers = response.headers().iter();
        Self {
            status: response.status().as_u16(),
            headers: headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect(),
            body: text(response.body()),
        }
    }

    /// The body of an answer with this status.
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// Asserts this error; the Portuguese text is the contract's.
    pub fn refused(&self, status: u16, code: &str, message: &str) {
        self.assert_error(status);
        let body = self.json();
        assert_eq!(
            (body["code"].as_str(), body["message"].as_str()),
            (Some(code), Some(message)),
            "{self:?}"
        );
    }

    /// The fields that `details` names, sorted.
    pub fn invalid_fields(&self) -> Vec<String> {
        self.assert_error(400);
        let body = self.json();
        assert_eq!(body["code"], "validation_failed", "{self:?}");
        let details = body["details"].as_array().unwrap_or_else(|| panic!("no details: {self:?}"));
        let mut fields: Vec<_> = details.iter().map(|d| d["field"].as_str().unwrap().to_owned()).collect();
        fields.sort();
        fields
    }
}
