//! A store that does what a test wants: it stops at a commit, fails, knows schedules, and counts.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use flowsdk_auth::access::{AccessRepository, HasAccess};
use flowsdk_auth::api_client::{ApiClientRepository, HasApiClients};
use flowsdk_auth::audit::{AuditRepository, HasAuditLogs};
use flowsdk_auth::device::{HasUserDevices, UserDeviceRepository};
use flowsdk_auth::group::{GroupRepository, HasGroups};
use flowsdk_auth::recovery::{HasPasswordRecoveries, PasswordRecoveryRepository};
use flowsdk_auth::schedule::{AgentSchedule, HasLoginSchedules, LoginScheduleRepository};
use flowsdk_auth::user::{HasUsers, UserRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::idempotency::{HasIdempotency, IdempotencyRepository};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_store::sql::{SqlStore, SqlTx};
use tokio::sync::Barrier;

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
    /// The next transaction that only reads waits here.
    pub(super) gate: Option<Arc<Barrier>>,
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
        let gate = {
            let mut behaviour = self.behaviour();
            behaviour.reads += 1;
            behaviour.gate.take()
        };
        if let Some(gate) = gate {
            gate.wait().await;
        }
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

macro_rules! as_stored {
    ($($accessor:ident::$name:ident -> $repository:ident),* $(,)?) => {$(
        impl $accessor for TestTx {
            fn $name(&mut self) -> &mut dyn $repository {
                $accessor::$name(&mut self.inner)
            }
        }
    )*};
}

as_stored! {
    HasIdempotency::idempotency -> IdempotencyRepository,
    HasAccess::access -> AccessRepository,
    HasUsers::users -> UserRepository,
    HasGroups::groups -> GroupRepository,
    HasApiClients::api_clients -> ApiClientRepository,
    HasUserDevices::user_devices -> UserDeviceRepository,
    HasPasswordRecoveries::password_recoveries -> PasswordRecoveryRepository,
    HasAuditLogs::audit_logs -> AuditRepository,
}

impl HasLoginSchedules for TestTx {
    fn login_schedules(&mut self) -> &mut dyn LoginScheduleRepository {
        &mut self.schedules
    }
}
