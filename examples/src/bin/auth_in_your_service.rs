//! Tokens and permissions in a service of your own: your users, your login, your routes.
//!
//! `cargo run -p flowsdk-examples --bin auth_in_your_service` serves on port 4000 and prints requests to try. FlowSDK
//! signs and checks the tokens and decides on permissions; the table of users stays yours. All that is asked of it is
//! the lookup of [`AccessRepository`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{get, post};
use axum::{Json, Router};
use flowsdk_auth::access::{AccessRepository, ApiClientAccess, Authenticator, Grant, HasAccess, UserAccess};
use flowsdk_auth::api_client::TokenHash;
use flowsdk_auth::permission::{Action, Denied, Permission, Resource, RouterScope};
use flowsdk_auth::token::{TokenSettings, Tokens, api_token};
use flowsdk_auth::user::UserRole;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{BoxError, Fault, FaultKind, StorageError};
use flowsdk_core::id::{ApiClientId, RouterId, UserId};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::{PASSWORD_COST, PasswordHasher};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

/// Your user, with everything you know of them.
#[derive(Debug, Clone)]
struct Person {
    id: UserId,
    password_hash: String,
    manages: bool,
    /// The shops they work for; a shop is a router.
    shops: Vec<RouterId>,
}

/// Your table of users, by their names, and of machines, by the hashes of their tokens.
#[derive(Debug, Clone, Default)]
struct Staff {
    people: Arc<Mutex<HashMap<String, Person>>>,
    machines: Arc<Mutex<HashMap<TokenHash, ApiClientId>>>,
}

/// Here a transaction is a look at the tables.
struct Look(Staff);

#[async_trait]
impl Store for Staff {
    type Tx = Look;

    async fn begin(&self) -> Result<Look, StorageError> {
        Ok(Look(self.clone()))
    }

    async fn read(&self) -> Result<Look, StorageError> {
        Ok(Look(self.clone()))
    }

    // Nobody looks for changes here: every request reads.
    fn generation(&self, _of: Records) -> Option<u64> {
        None
    }
}

#[async_trait]
impl Transaction for Look {
    async fn commit(self) -> Result<(), StorageError> {
        Ok(())
    }
}

impl HasAccess for Look {
    fn access(&mut self) -> &mut dyn AccessRepository {
        self
    }
}

/// People may read the reports of their own shops; machines read those of all.
fn grant(shops: Vec<RouterId>) -> Grant {
    let read = Permission { resource: Resource::Reports, actions: vec![Action::Read] };
    Grant { permissions: vec![read].into(), scope: RouterScope::of(shops) }
}

#[async_trait]
impl AccessRepository for Look {
    async fn users(&mut self, ids: &[UserId]) -> Result<Vec<UserAccess>, StorageError> {
        let people = self.0.people.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = people.iter().filter(|(_, person)| ids.contains(&person.id));
        Ok(wanted
            .map(|(name, person)| UserAccess {
                id: person.id.clone(),
                name: name.clone(),
                role: if person.manages { UserRole::Admin } else { UserRole::Member },
                logged_out_at: None,
                // An empty list would mean every shop.
                grant: (!person.shops.is_empty()).then(|| grant(person.shops.clone())),
            })
            .collect())
    }

    async fn api_clients(
        &mut self,
        hashes: &[TokenHash],
    ) -> Result<Vec<(TokenHash, ApiClientAccess)>, StorageError> {
        let machines = self.0.machines.lock().unwrap_or_else(PoisonError::into_inner);
        let access = |id: &ApiClientId| ApiClientAccess {
            id: id.clone(),
            name: "machine".to_owned(),
            active: true,
            expires_at: None,
            last_used_at: None,
            grant: grant(Vec::new()),
        };
        let known = hashes.iter().filter_map(|hash| Some((hash.clone(), access(machines.get(hash)?))));
        Ok(known.collect())
    }

    async fn touch_api_clients(&mut self, _: &[(ApiClientId, Timestamp)]) -> Result<(), StorageError> {
        Ok(())
    }
}

#[derive(Clone)]
struct Service {
    cx: OpContext,
    staff: Staff,
    hasher: PasswordHasher,
    tokens: Arc<Tokens>,
    authenticator: Arc<Authenticator<Staff>>,
}

/// Any error of FlowSDK as an answer.
struct Refused(StatusCode, Value);

impl<F: Fault> From<F> for Refused {
    fn from(fault: F) -> Self {
        let status = match fault.kind() {
            FaultKind::Unauthenticated => StatusCode::UNAUTHORIZED,
            FaultKind::Forbidden => StatusCode::FORBIDDEN,
            FaultKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, json!({ "code": fault.code(), "message": fault.text().english() }))
    }
}

impl axum::response::IntoResponse for Refused {
    fn into_response(self) -> axum::response::Response {
        (self.0, Json(self.1)).into_response()
    }
}

/// Your login. An unknown name costs the same comparison as a wrong password.
async fn login(
    State(service): State<Service>,
    Json(form): Json<HashMap<String, String>>,
) -> Result<Json<Value>, Refused> {
    let field = |name: &str| form.get(name).cloned().unwrap_or_default();
    let (name, password) = (field("name"), SecretString::from(field("password")));
    let known = service.staff.people.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
    let stored = known.as_ref().map(|person| person.password_hash.as_str());
    let right = service.hasher.verify_or_pretend(&password, stored, PASSWORD_COST).await;
    match known {
        Some(person) if right == Ok(true) => {
            let pair = service.tokens.issue(&person.id, &name, service.cx.now(), service.cx.ids());
            Ok(Json(json!({ "accessToken": pair.access.expose_secret() })))
        }
        _ => Err(Refused(StatusCode::UNAUTHORIZED, json!({ "code": "invalid_credentials" }))),
    }
}

/// Your route: `reports:read`, and within the shops of the caller.
async fn report(
    State(service): State<Service>,
    Path(shop): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, Refused> {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let caller = service.authenticator.authenticate(authorization).await?;
    let scope = caller.require(Resource::Reports, Action::Read)?;
    scope.admit(RouterId::parse(shop.as_str()).map_err(|_| Denied::Router)?)?;
    Ok(Json(json!({ "shop": shop, "sold": 42, "readBy": caller.principal.name() })))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let cx = OpContext::system();
    let staff = Staff::default();
    let hasher = PasswordHasher::new(2, 64);
    for (name, manages, shops) in [("maria", true, vec![]), ("ana", false, vec![RouterId::parse("shop-1")?])]
    {
        let password_hash = hasher.hash(&"correct horse".into(), PASSWORD_COST).await?;
        let person = Person { id: UserId::generate(cx.ids()), password_hash, manages, shops };
        staff.people.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), person);
    }
    let (machine_token, hash) = api_token::generate();
    let machine = ApiClientId::generate(cx.ids());
    staff.machines.lock().unwrap_or_else(PoisonError::into_inner).insert(hash, machine);

    let tokens = Arc::new(Tokens::new(TokenSettings {
        access_secret: cx.ids().secret(2).into(),
        refresh_secret: cx.ids().secret(2).into(),
        access_lifetime: Duration::from_secs(60 * 60),
        refresh_lifetime: Duration::from_secs(24 * 60 * 60),
    }));
    let authenticator =
        Arc::new(Authenticator::new(Arc::new(staff.clone()), cx.clone(), Arc::clone(&tokens)));
    let service = Service { cx, staff, hasher, tokens, authenticator };
    let app = Router::new()
        .route("/login", post(login))
        .route("/shops/{shop}/report", get(report))
        .with_state(service);

    println!(
        "T=$(curl -s localhost:4000/login --json '{{\"name\":\"ana\",\"password\":\"correct horse\"}}' | jq -r .accessToken)"
    );
    println!("curl -H \"Authorization: Bearer $T\" localhost:4000/shops/shop-1/report   # hers");
    println!("curl -H \"Authorization: Bearer $T\" localhost:4000/shops/shop-2/report   # not hers");
    println!(
        "curl -H 'Authorization: Bearer {}' localhost:4000/shops/shop-2/report",
        machine_token.expose_secret()
    );
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 4000)).await?;
    axum::serve(listener, app).await?;
    Ok(())
}
