//! A store that does what a test wants: it stops at a commit, fails, knows schedules, and counts.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use flowsdk_auth::access::AccessRepository;
use flowsdk_auth::api_client::ApiClientRepository;
use flowsdk_auth::audit::AuditRepository;
use flowsdk_auth::device::UserDeviceRepository;
use flowsdk_auth::group::GroupRepository;
use flowsdk_auth::recovery::PasswordRecoveryRepository;
use flowsdk_auth::schedule::{AgentSchedule, LoginScheduleRepository};
use flowsdk_auth::user::UserRepository;
use flowsdk_auth::{AccessTx, AuthTx};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::idempotency::{IdempotencyRepository, IdempotencyTx};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_store::sql::{SqlStore, SqlTx};

/// What the store does beside storing.
#[derive(Debug, Default)]
pub(super) struct Behaviour {
    /// Commits hang for ever, as when the process is about to die.
    pub(super) commits_hang: bool,
    /// So many transactions more do not begin.
    pub(super) away: u32,
    /// The schedules of every user.
    pub(super) schedules: Vec<AgentSchedule>,
    /// Transactions that only read.
    pub(super) reads: u32,
    /// Transactions that may write.
    pub(super) writes: u32,
}

#[derive(Debug, Clone)]
pub(super) struct TestStore {
    inner: SqlStore,
    behaviour: Arc<Mutex<Behaviour>>,
}

pub(super) struct TestTx {
    inner: SqlTx,
    behaviour: Arc<Mutex<Behaviour>>,
    schedules: Schedules,
}

struct Schedules(Vec<AgentSchedule>);

impl TestStore {
    pub(super) fn new(inner: SqlStore) -> Self {
        Self { inner, behaviour: Arc::default() }
    }

    pub(super) fn behaviour(&self) -> MutexGuard<'_, Behaviour> {
        self.behaviour.lock().expect("a lock")
    }

    fn tx(&self, inner: SqlTx) -> TestTx {
        let schedules = Schedules(self.behaviour().schedules.clone());
        TestTx { inner, behaviour: Arc::clone(&self.behaviour), schedules }
    }

    fn is_there(&self) -> Result<(), StorageError> {
        let mut behaviour = self.behaviour();
        if behaviour.away == 0 {
            return Ok(());
        }
        behaviour.away -= 1;
        Err(StorageError::Unavailable("as the test wants".into()))
    }
}

#[async_trait]
impl Store for TestStore {
    type Tx = TestTx;

    async fn begin(&self) -> Result<TestTx, StorageError> {
        self.is_there()?;
        self.behaviour().writes += 1;
        Ok(self.tx(self.inner.begin().await?))
    }

    async fn read(&self) -> Result<TestTx, StorageError> {
        self.is_there()?;
        self.behaviour().reads += 1;
        Ok(self.tx(self.inner.read().await?))
    }

    fn generation(&self, of: Records) -> Option<u64> {
        self.inner.generation(of)
    }
}

#[async_trait]
impl Transaction for TestTx {
    async fn commit(self) -> Result<(), StorageError> {
        let hangs = self.behaviour.lock().expect("a lock").commits_hang;
        if hangs {
            let () = pending().await;
        }
        self.inner.commit().await
    }
}

#[async_trait]
impl LoginScheduleRepository for Schedules {
    async fn of_user(&mut self, _user: &UserId) -> Result<Vec<AgentSchedule>, StorageError> {
        Ok(self.0.clone())
    }
}

impl IdempotencyTx for TestTx {
    fn idempotency(&mut self) -> &mut dyn IdempotencyRepository {
        self.inner.idempotency()
    }
}

impl AccessTx for TestTx {
    fn access(&mut self) -> &mut dyn AccessRepository {
        self.inner.access()
    }
}

impl AuthTx for TestTx {
    fn users(&mut self) -> &mut dyn UserRepository {
        AuthTx::users(&mut self.inner)
    }
    fn groups(&mut self) -> &mut dyn GroupRepository {
        self.inner.groups()
    }
    fn api_clients(&mut self) -> &mut dyn ApiClientRepository {
        AuthTx::api_clients(&mut self.inner)
    }
    fn user_devices(&mut self) -> &mut dyn UserDeviceRepository {
        self.inner.user_devices()
    }
    fn password_recoveries(&mut self) -> &mut dyn PasswordRecoveryRepository {
        self.inner.password_recoveries()
    }
    fn login_schedules(&mut self) -> &mut dyn LoginScheduleRepository {
        &mut self.schedules
    }
    fn audit_logs(&mut self) -> &mut dyn AuditRepository {
        self.inner.audit_logs()
    }
}
