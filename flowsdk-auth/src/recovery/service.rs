//! The use cases of a recovery, as a user who has forgotten their password sees them.

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::UserId;
use flowsdk_core::kv::KeyValue;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_crypto::PasswordHasher;
use secrecy::SecretString;
use tokio::sync::mpsc;

use super::tries::after_wrong_try;
use super::{HasPasswordRecoveries, RecoveryError, RecoverySender, code};
use crate::attempt::{Attempts, place};
use crate::audit::{AuditAction, AuditRecord, AuditRecorder};
use crate::login::LoginSettings;
use crate::principal::Origin;
use crate::sms::SmsSender;
use crate::user::{Email, HasUsers, PasswordRule};

/// Most requests that wait to be looked up.
const CAPACITY: usize = 1_024;

/// Sets new passwords by a code.
#[derive(Debug)]
pub struct Recoveries<S> {
    store: Arc<S>,
    cx: OpContext,
    hasher: PasswordHasher,
    attempts: Attempts,
    audit: AuditRecorder,
    settings: LoginSettings,
    requests: mpsc::Sender<Email>,
}

impl<S: Store> Recoveries<S>
where
    S::Tx: HasUsers + HasPasswordRecoveries,
{
    /// Creates a service over `store`, and the task that sends its codes.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        hasher: PasswordHasher,
        sms: Arc<dyn SmsSender>,
        kv: Arc<dyn KeyValue>,
        audit: AuditRecorder,
        settings: LoginSettings,
    ) -> (Self, RecoverySender<S>) {
        let (requests, receiver) = mpsc::channel(CAPACITY);
        let sender = RecoverySender::new(Arc::clone(&store), cx.clone(), sms, receiver);
        (Self { store, cx, hasher, attempts: Attempts::new(kv), audit, settings, requests }, sender)
    }

    /// Asks for a code. The request is only put into a queue, so that neither the answer nor its time tells
    /// whether somebody has the address.
    ///
    /// # Errors
    /// [`RecoveryError::RateLimited`]; [`RecoveryError::Busy`] when the queue is full.
    pub async fn request(&self, email: &str, origin: &Origin) -> Result<(), RecoveryError> {
        let given = email.trim().to_lowercase();
        let (limits, place) = (&self.settings.limits, place(&origin.ip));
        let limits = [(limits.recoveries(), given.as_str()), (limits.by_address(), place.as_str())];
        let counted = self.attempts.count(&limits, self.cx.now()).await;
        let counted = counted.map_err(RecoveryError::RateLimited)?;
        // A text that is not an address belongs to nobody.
        let Ok(email) = Email::parse(&given) else {
            return Ok(());
        };
        if self.requests.try_send(email).is_err() {
            self.attempts.give_back(counted).await;
            return Err(RecoveryError::Busy);
        }
        Ok(())
    }

    /// Sets another password for the user of the address, if `code` is the last one sent to them. All of their
    /// tokens are void afterwards, and so is every code.
    ///
    /// The password is hashed first, for everybody: a code that is wrong costs as much as one that is right, and
    /// nothing slow happens while the user is locked. Failures count towards the limit of the network address.
    ///
    /// # Errors
    /// Any [`RecoveryError`].
    pub async fn validate(
        &self,
        email: &str,
        code: &str,
        password: &SecretString,
        origin: &Origin,
    ) -> Result<(), RecoveryError> {
        PasswordRule::check(password)?;
        let place = place(&origin.ip);
        let limits = [(self.settings.limits.by_address(), place.as_str())];
        let counted = self.attempts.count(&limits, self.cx.now()).await;
        let counted = counted.map_err(RecoveryError::RateLimited)?;
        let changed = self.exchange(email, code, password).await;
        if !matches!(changed, Ok(Exchange::Wrong(_))) {
            self.attempts.give_back(counted).await;
        }
        let action = AuditAction::PasswordChange;
        match changed? {
            Exchange::Changed(user) => {
                self.audit.record(AuditRecord::auth_success(&self.cx, action, &user, origin));
                Ok(())
            }
            Exchange::Wrong(user) => {
                let record = AuditRecord::auth_failure(&self.cx, action, user.as_ref(), origin, Some(email));
                self.audit.record(record);
                Err(RecoveryError::CodeInvalid)
            }
        }
    }

    async fn exchange(
        &self,
        email: &str,
        code: &str,
        password: &SecretString,
    ) -> Result<Exchange, RecoveryError> {
        let hash = self.hasher.hash(password, self.settings.password_cost).await?;
        let mut tx = self.store.begin().await?;
        let known = match Email::parse(email) {
            Ok(email) => tx.users().find_by_email(&email).await?,
            Err(_) => None,
        };
        // The user is locked before their recovery, as wherever both are written.
        let locked = match &known {
            Some(user) => tx.users().find_for_update(&user.id).await?,
            None => None,
        };
        let Some(mut user) = locked else {
            return Ok(Exchange::Wrong(None));
        };
        let now = self.cx.now();
        let Some(recovery) = tx.password_recoveries().latest_for_update(&user.id, now).await? else {
            return Ok(Exchange::Wrong(Some(user.id)));
        };
        if !code::is_right(&recovery.id, code, &recovery.code_hash) {
            tx.password_recoveries().save(&after_wrong_try(recovery)).await?;
            tx.commit().await?;
            return Ok(Exchange::Wrong(Some(user.id)));
        }
        user.set_password(hash, now);
        tx.users().save(&user).await?;
        tx.password_recoveries().complete_all(&user.id).await?;
        tx.commit().await?;
        Ok(Exchange::Changed(user.id))
    }
}

/// The outcome of a code.
enum Exchange {
    Changed(UserId),
    /// The code was not this user's, if the address is somebody's.
    Wrong(Option<UserId>),
}
