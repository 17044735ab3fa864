//! The use cases of login and logout (spec A 4.1 rules 1, 2 and 4).

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::UserId;
use flowsdk_core::kv::KeyValue;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::PasswordHasher;
use secrecy::SecretString;

use super::credentials::{is_cheap, is_right};
use super::{LoginError, LoginSettings};
use crate::attempt::{Attempts, place};
use crate::audit::{AuditAction, AuditRecord, AuditRecorder};
use crate::group::{Group, HasGroups};
use crate::principal::Origin;
use crate::schedule::{HasLoginSchedules, rules};
use crate::token::{TokenPair, Tokens};
use crate::user::{Email, HasUsers, User};

/// Logs users in and out.
#[derive(Debug)]
pub struct Logins<S> {
    pub(super) store: Arc<S>,
    pub(super) cx: OpContext,
    hasher: PasswordHasher,
    pub(super) tokens: Arc<Tokens>,
    pub(super) kv: Arc<dyn KeyValue>,
    pub(super) attempts: Attempts,
    pub(super) audit: AuditRecorder,
    pub(super) settings: LoginSettings,
}

/// The result of a login.
#[derive(Debug, Clone)]
pub struct LoggedIn {
    /// The user who logged in.
    pub user: User,
    /// The group of the user, if they have one.
    pub group: Option<Group>,
    /// The new tokens of the user.
    pub tokens: TokenPair,
}

/// The login of the studio or of the desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Studio,
    Desk,
}

impl<S: Store> Logins<S>
where
    S::Tx: HasUsers + HasLoginSchedules + HasGroups,
{
    /// Creates a service over `store`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        hasher: PasswordHasher,
        tokens: Arc<Tokens>,
        kv: Arc<dyn KeyValue>,
        audit: AuditRecorder,
        settings: LoginSettings,
    ) -> Self {
        let attempts = Attempts::new(Arc::clone(&kv));
        Self { store, cx, hasher, tokens, kv, attempts, audit, settings }
    }

    /// The same service, with the marks of used refresh tokens in `kv`. Counters may be forgotten with the process;
    /// these may not.
    #[must_use]
    pub fn with_marks_in(mut self, kv: Arc<dyn KeyValue>) -> Self {
        self.kv = kv;
        self
    }

    /// Logs a user in by their address, in any case, and their password.
    ///
    /// Failures are recorded. Attempts beyond a limit are not: they are not compared, and would let strangers fill
    /// the log.
    ///
    /// # Errors
    /// Any [`LoginError`] but [`LoginError::ScheduleBlocked`].
    pub async fn login(
        &self,
        email: &str,
        password: &SecretString,
        origin: &Origin,
    ) -> Result<LoggedIn, LoginError> {
        self.enter(Door::Studio, email, password, origin).await
    }

    /// Logs an agent in at the desk, within their login schedule. A caller who does not know the password learns
    /// nothing of the schedule.
    ///
    /// # Errors
    /// Any [`LoginError`].
    pub async fn desk_login(
        &self,
        email: &str,
        password: &SecretString,
        origin: &Origin,
    ) -> Result<LoggedIn, LoginError> {
        self.enter(Door::Desk, email, password, origin).await
    }

    /// Voids every token of the user that was issued before now.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn logout(&self, user: &UserId, origin: &Origin) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.users().end_sessions(user, self.cx.now()).await?;
        tx.commit().await?;
        self.audit.record(AuditRecord::auth_success(&self.cx, AuditAction::Logout, user, origin));
        Ok(())
    }

    async fn enter(
        &self,
        door: Door,
        email: &str,
        password: &SecretString,
        origin: &Origin,
    ) -> Result<LoggedIn, LoginError> {
        // The tokens are as old as this: a logout or another password while the old one is being compared
        // voids them.
        let now = self.cx.now();
        let given = email.trim().to_lowercase();
        let (limits, place) = (&self.settings.limits, place(&origin.ip));
        let limits = [(limits.by_email(), given.as_str()), (limits.by_address(), place.as_str())];
        let counted = self.attempts.count(&limits, now).await;
        let counted = counted.map_err(LoginError::RateLimited)?;

        let compared = self.compare(&given, password).await;
        if !matches!(compared, Ok((_, false))) {
            // A right password is not a guess, and an attempt that was not compared told nobody anything.
            self.attempts.give_back(counted).await;
        }
        let (known, right) = compared?;
        let entered = match &known {
            Some(user) if right => self.admit(door, user, now).await,
            _ => Err(LoginError::Credentials),
        };
        match entered {
            Ok((user, group)) => {
                if is_cheap(&user.password_hash, self.settings.password_cost) {
                    self.hash_anew(&user, password).await;
                }
                let tokens = self.tokens.issue(&user.id, &user.name, now, self.cx.ids());
                self.audit.record(AuditRecord::auth_success(&self.cx, AuditAction::Login, &user.id, origin));
                Ok(LoggedIn { user, group, tokens })
            }
            Err(error) => {
                if matches!(error, LoginError::Credentials | LoginError::ScheduleBlocked) {
                    let id = known.as_ref().map(|user| &user.id);
                    let record =
                        AuditRecord::auth_failure(&self.cx, AuditAction::Login, id, origin, Some(email));
                    self.audit.record(record);
                }
                Err(error)
            }
        }
    }

    /// Returns the user of the address, if there is one, and whether the password is theirs.
    async fn compare(
        &self,
        email: &str,
        password: &SecretString,
    ) -> Result<(Option<User>, bool), LoginError> {
        let known = match Email::parse(email) {
            Ok(email) => self.store.read().await?.users().find_by_email(&email).await?,
            Err(_) => None,
        };
        let right = is_right(&self.hasher, password, known.as_ref(), self.settings.password_cost).await?;
        Ok((known, right))
    }

    /// Returns the user whose password was right, as they are now, with their group.
    async fn admit(
        &self,
        door: Door,
        compared: &User,
        now: Timestamp,
    ) -> Result<(User, Option<Group>), LoginError> {
        let mut tx = self.store.read().await?;
        // Comparing takes a while: the compared password may have been replaced.
        let user = tx.users().find(&compared.id).await?.ok_or(LoginError::Credentials)?;
        if user.password_hash != compared.password_hash {
            return Err(LoginError::Credentials);
        }
        if door == Door::Desk && !rules::admits(&tx.login_schedules().of_user(&user.id).await?, now) {
            return Err(LoginError::ScheduleBlocked);
        }
        let group = match &user.group_id {
            Some(id) => tx.groups().find_many(std::slice::from_ref(id)).await?.pop(),
            None => None,
        };
        Ok((user, group))
    }

    /// Hashes the password with the present cost (rulings A5). It is the same password, so no token is voided,
    /// and a login does not fail because of it.
    async fn hash_anew(&self, user: &User, password: &SecretString) {
        let hash = match self.hasher.hash(password, self.settings.password_cost).await {
            Ok(hash) => hash,
            Err(error) => return tracing::warn!(%error, user = user.id.as_str(), "a cheap hash stays"),
        };
        if let Err(error) = self.store_hash(user, hash).await {
            tracing::warn!(error = %Chain(&error), user = user.id.as_str(), "a cheap hash stays");
        }
    }

    async fn store_hash(&self, user: &User, hash: String) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        let Some(mut present) = tx.users().find_for_update(&user.id).await? else {
            return Ok(());
        };
        // Unless the user has chosen another one meanwhile.
        if present.password_hash == user.password_hash {
            present.password_hash = hash;
            tx.users().save(&present).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}
