//! Users, services and a clock that stands.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_auth::access::Authenticator;
use flowsdk_auth::api_client::{ApiClient, ApiClients, NewApiClient};
use flowsdk_auth::audit::{self, AuditFilter, AuditLogs, AuditRecord, AuditRecorder, AuditWriter};
use flowsdk_auth::group::{Group, Groups, NewGroup};
use flowsdk_auth::login::{LoggedIn, LoginError, LoginSettings, Logins};
use flowsdk_auth::permission::{Action, Permission, Resource};
use flowsdk_auth::principal::{Actor, Origin, Principal};
use flowsdk_auth::token::{TokenSettings, Tokens};
use flowsdk_auth::user::{Email, HasUsers as _, User, UserRole, Users};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{Fault, FaultKind};
use flowsdk_core::id::{Cuids, GroupId, RouterId, UserId};
use flowsdk_core::idempotency::Outcome;
use flowsdk_core::kv::{Keep, KeyValue, KeyValueError};
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::ManualClock;
use flowsdk_crypto::PasswordHasher;
use flowsdk_store::memory::MemoryKeyValue;
use flowsdk_store::sql::SqlStore;
use secrecy::{ExposeSecret as _, SecretString};
use tokio_util::sync::CancellationToken;

use super::store::TestStore;

/// A Thursday, 2026-11-19 at 10:57 in UTC, on a whole second.
pub(super) const NOW: i64 = 1_795_085_820_000;
/// The cost of passwords: the least that bcrypt knows.
pub(super) const COST: u32 = 4;
pub(super) const PASSWORD: &str = "right password";

pub(super) struct World {
    pub(super) store: Arc<TestStore>,
    clock: ManualClock,
    pub(super) cx: OpContext,
    pub(super) hasher: PasswordHasher,
    pub(super) tokens: Arc<Tokens>,
    pub(super) kv: Arc<dyn KeyValue>,
    pub(super) audit: AuditRecorder,
    writer: Mutex<Option<AuditWriter<TestStore>>>,
}

/// How an error looks from outside.
pub(super) fn told(error: &dyn Fault) -> (FaultKind, &'static str, String) {
    (error.kind(), error.code(), error.text().portuguese().to_owned())
}

pub(super) fn expected(kind: FaultKind, code: &'static str, text: &str) -> (FaultKind, &'static str, String) {
    (kind, code, text.to_owned())
}

pub(super) fn origin() -> Origin {
    Origin { ip: "10.0.0.1".to_owned(), user_agent: Some("test".to_owned()) }
}

pub(super) fn settings() -> LoginSettings {
    LoginSettings { password_cost: COST, ..LoginSettings::default() }
}

pub(super) fn bearer(token: &SecretString) -> String {
    format!("Bearer {}", token.expose_secret())
}

/// What was done now, and not replayed.
pub(super) fn done<T: std::fmt::Debug>(outcome: Outcome<T>) -> T {
    match outcome {
        Outcome::Done(done) => done,
        Outcome::Replayed(answer) => panic!("{answer:?} was replayed"),
    }
}

impl World {
    pub(super) fn new(store: SqlStore) -> Self {
        let clock = ManualClock::at(NOW);
        let cx = OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock.clone())));
        let store = Arc::new(TestStore::new(store));
        let (audit, writer) = audit::channel(Arc::clone(&store), 1_000);
        let tokens = TokenSettings {
            access_secret: "the secret of access tokens".into(),
            refresh_secret: "the secret of refresh tokens".into(),
            access_lifetime: Duration::from_secs(24 * 60 * 60),
            refresh_lifetime: Duration::from_secs(7 * 24 * 60 * 60),
        };
        Self {
            store,
            cx,
            hasher: PasswordHasher::new(2, 256),
            tokens: Arc::new(Tokens::new(tokens)),
            kv: Arc::new(MemoryKeyValue::new(Arc::new(clock.clone()))),
            audit,
            writer: Mutex::new(Some(writer)),
            clock,
        }
    }

    /// Lets time pass.
    pub(super) fn pass(&self, step: Duration) {
        self.clock.advance(step);
    }

    pub(super) fn logins(&self, settings: LoginSettings) -> Logins<TestStore> {
        self.logins_over(Arc::clone(&self.kv), settings)
    }

    pub(super) fn logins_over(&self, kv: Arc<dyn KeyValue>, settings: LoginSettings) -> Logins<TestStore> {
        Logins::new(
            Arc::clone(&self.store),
            self.cx.clone(),
            self.hasher.clone(),
            Arc::clone(&self.tokens),
            kv,
            self.audit.clone(),
            settings,
        )
    }

    pub(super) fn authenticator(&self) -> Authenticator<TestStore> {
        Authenticator::new(Arc::clone(&self.store), self.cx.clone(), Arc::clone(&self.tokens))
    }

    pub(super) fn users(&self) -> Users<TestStore> {
        let (store, hasher) = (Arc::clone(&self.store), self.hasher.clone());
        Users::new(store, self.cx.clone(), hasher, self.audit.clone(), COST)
    }

    pub(super) fn groups(&self) -> Groups<TestStore> {
        Groups::new(Arc::clone(&self.store), self.cx.clone(), self.audit.clone())
    }

    pub(super) fn api_clients(&self) -> ApiClients<TestStore> {
        ApiClients::new(Arc::clone(&self.store), self.cx.clone(), self.audit.clone())
    }

    /// Somebody who is not a row: the one who administers in tests.
    pub(super) fn actor(&self) -> Actor {
        let id = UserId::parse("cactor").expect("an id");
        Actor { principal: Principal::User { id, name: "Actor".to_owned() }, origin: origin() }
    }

    /// A user as stored, with [`PASSWORD`] hashed at `cost`.
    pub(super) async fn user_with(
        &self,
        email: &str,
        role: UserRole,
        group_id: Option<GroupId>,
        cost: u32,
    ) -> UserId {
        let user = User {
            id: UserId::generate(self.cx.ids()),
            name: "Ana".to_owned(),
            email: Email::parse(email).expect("an address"),
            phone: "5511999990000".to_owned(),
            password_hash: self.hasher.hash(&PASSWORD.into(), cost).await.expect("a hash"),
            role,
            group_id,
            logged_out_at: None,
            created_at: self.cx.now(),
            updated_at: self.cx.now(),
        };
        let mut tx = self.store.begin().await.expect("begin");
        assert!(tx.users().insert_if_absent(&user).await.expect("insert"));
        tx.commit().await.expect("commit");
        user.id
    }

    pub(super) async fn user(&self, email: &str) -> UserId {
        self.user_with(email, UserRole::Member, None, COST).await
    }

    pub(super) async fn admin(&self, email: &str) -> UserId {
        self.user_with(email, UserRole::Admin, None, COST).await
    }

    pub(super) async fn stored(&self, id: &UserId) -> Option<User> {
        self.store.read().await.expect("read").users().find(id).await.expect("find")
    }

    pub(super) async fn group(&self, resource: Resource, action: Action, routers: &[&str]) -> Group {
        let new = NewGroup {
            name: "Group".to_owned(),
            permissions: permission(resource, action),
            router_ids: routers.iter().map(|id| RouterId::parse(*id).expect("an id")).collect(),
        };
        done(self.groups().create(&self.actor(), new, None).await.expect("created"))
    }

    pub(super) async fn api_client(&self, resource: Resource, action: Action) -> (ApiClient, SecretString) {
        let new = NewApiClient {
            name: "Machine".to_owned(),
            permissions: permission(resource, action),
            router_ids: Vec::new(),
            active: true,
            expires_at: None,
        };
        self.api_clients().create(&self.actor(), new).await.expect("created")
    }

    /// What was recorded, oldest first. Nothing is recorded after this.
    pub(super) async fn recorded(&self) -> Vec<AuditRecord> {
        let writer = self.writer.lock().expect("a lock").take().expect("asked for once");
        let stop = CancellationToken::new();
        stop.cancel();
        writer.run(stop).await;
        let logs = AuditLogs::new(Arc::clone(&self.store));
        let page = logs
            .list(Reach::ALL, Admitted::trusted(AuditFilter::default()), None, 200)
            .await
            .expect("a page");
        page.items.into_iter().rev().map(|item| item.record).collect()
    }
}

pub(super) fn permission(resource: Resource, action: Action) -> flowsdk_auth::permission::Permissions {
    vec![Permission { resource, actions: vec![action] }].into()
}

/// A login with the password of everybody.
pub(super) async fn login(logins: &Logins<TestStore>, email: &str) -> Result<LoggedIn, LoginError> {
    logins.login(email, &PASSWORD.into(), &origin()).await
}

/// A key-value store that is not there.
#[derive(Debug)]
pub(super) struct Away;

fn away<T>() -> Result<T, KeyValueError> {
    Err(KeyValueError::Unavailable("as the test wants".into()))
}

#[async_trait]
impl KeyValue for Away {
    async fn get(&self, _: &str) -> Result<Option<String>, KeyValueError> {
        away()
    }
    async fn set(&self, _: &str, _: &str, _: Option<Duration>) -> Result<(), KeyValueError> {
        away()
    }
    async fn set_if_absent(
        &self,
        _: &str,
        _: &str,
        _: Option<Duration>,
    ) -> Result<Option<String>, KeyValueError> {
        away()
    }
    async fn take(&self, _: &str) -> Result<Option<String>, KeyValueError> {
        away()
    }
    async fn delete(&self, _: &str) -> Result<bool, KeyValueError> {
        away()
    }
    async fn keep(&self, _: &[Keep<'_>], _: &str, _: Duration) -> Result<Vec<bool>, KeyValueError> {
        away()
    }
    async fn add(&self, _: &str, _: i64, _: Duration) -> Result<i64, KeyValueError> {
        away()
    }
    async fn delete_if(&self, _: &str, _: &str) -> Result<bool, KeyValueError> {
        away()
    }
}
