//! Presence: whether an agent is there. It is said by them, and forgotten if they do not say it again.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::cell::Named;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{DeskAgent, DeskAgentView, HasPresence};
use crate::dispatch::{DispatchTx, Dispatcher};

/// How long a presence holds without being renewed (spec B 8).
pub const PRESENCE_LIFETIME: Duration = Duration::from_secs(60);

/// Whether an agent is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum PresenceStatus {
    /// There, and takes tickets.
    Online,
    /// Not at the desk.
    Away,
    /// There, and takes no further tickets.
    Busy,
    /// Not there.
    Offline,
}

/// Why a user takes no tickets, as somebody else says it: that a user is there only they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum Absence {
    /// Not at the desk.
    Away,
    /// There, and takes no further tickets.
    Busy,
    /// Not there.
    Offline,
}

impl From<Absence> for PresenceStatus {
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::Away => Self::Away,
            Absence::Busy => Self::Busy,
            Absence::Offline => Self::Offline,
        }
    }
}

impl PresenceStatus {
    /// Returns until when it holds that a user has it since `now`.
    pub(crate) fn until(self, now: Timestamp) -> Timestamp {
        if self == Self::Offline { now } else { now + PRESENCE_LIFETIME }
    }
}

/// Sets and shows who is there.
#[derive(Debug)]
pub struct Presence<S> {
    store: Arc<S>,
    cx: OpContext,
    dispatcher: Arc<Dispatcher<S>>,
}

impl<S: Store> Presence<S>
where
    S::Tx: HasPresence + DispatchTx,
{
    /// Creates the service over `store`. `dispatcher` gives waiting tickets to whoever comes online.
    pub fn new(store: Arc<S>, cx: OpContext, dispatcher: Arc<Dispatcher<S>>) -> Self {
        Self { store, cx, dispatcher }
    }

    /// Sets the presence of a user for the next [`PRESENCE_LIFETIME`].
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn set(&self, user: &UserId, status: PresenceStatus) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.presence().set(user, status, status.until(self.cx.now())).await?;
        tx.commit().await?;
        if status == PresenceStatus::Online
            && let Err(error) = self.dispatcher.dispatch_to(user).await
        {
            tracing::warn!(error = %Chain(&error), "waiting tickets wait for the next sweep");
        }
        Ok(())
    }

    /// Renews the presence of a user that still holds, and returns it. One that has run out is offline.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn renew(&self, user: &UserId) -> Result<PresenceStatus, StorageError> {
        let now = self.cx.now();
        let mut tx = self.store.begin().await?;
        let renewed = tx.presence().renew(user, now, now + PRESENCE_LIFETIME).await?;
        tx.commit().await?;
        Ok(renewed.unwrap_or(PresenceStatus::Offline))
    }

    /// Adds names and presence to agents.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn of(&self, agents: Vec<DeskAgent>) -> Result<Vec<DeskAgentView>, StorageError> {
        let users: Vec<UserId> = agents.iter().map(|agent| agent.user_id.clone()).collect();
        let mut tx = self.store.read().await?;
        let people = tx.presence().people(&users, self.cx.now()).await?;
        let view = |agent: DeskAgent| {
            let person = people.iter().find(|person| person.user_id == agent.user_id);
            DeskAgentView::new(agent, person)
        };
        Ok(agents.into_iter().map(view).collect())
    }
}
