//! What operators do to users at the machine of the database: the way in where nobody can log in.

use flowsdk_core::change::Recorded as _;
use flowsdk_core::context::OpContext;
use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_crypto::PasswordHasher;
use secrecy::SecretString;
use serde_json::Value;

use super::{Email, HasUsers, PasswordRule, User, UserError, UserRole};
use crate::audit::{AuditAction, AuditRecord, HasAuditLogs};
use crate::recovery::HasPasswordRecoveries;

/// Changes users without anybody who is logged in. Each change is on record as one of the system.
#[derive(Debug)]
pub struct UserOperator<'a, S> {
    store: &'a S,
    cx: &'a OpContext,
    hasher: &'a PasswordHasher,
    password_cost: u32,
}

impl<'a, S: Store> UserOperator<'a, S>
where
    S::Tx: HasUsers + HasPasswordRecoveries + HasAuditLogs,
{
    /// Works on `store`; passwords are hashed with `password_cost`.
    pub fn new(store: &'a S, cx: &'a OpContext, hasher: &'a PasswordHasher, password_cost: u32) -> Self {
        Self { store, cx, hasher, password_cost }
    }

    /// Creates an administrator.
    ///
    /// # Errors
    /// [`UserError::Password`], [`UserError::EmailTaken`], [`UserError::Busy`], [`UserError::Storage`].
    pub async fn create_administrator(&self, email: Email, password: &SecretString) -> Result<(), UserError> {
        let user = User {
            id: UserId::generate(self.cx.ids()),
            name: "Administrador".to_owned(),
            email,
            phone: String::new(),
            password_hash: self.hash(password).await?,
            role: UserRole::Admin,
            group_id: None,
            logged_out_at: None,
            created_at: self.cx.now(),
            updated_at: self.cx.now(),
        };
        let mut tx = self.store.begin().await?;
        if !tx.users().insert_if_absent(&user).await? {
            return Err(UserError::EmailTaken);
        }
        let created = self.record(AuditAction::Create, &user, Some(user.to_json()));
        tx.audit_logs().append(&[created]).await?;
        Ok(tx.commit().await?)
    }

    /// Gives a user another password. It ends every session of the user and voids codes that are on their way.
    ///
    /// # Errors
    /// [`UserError::NotFound`], [`UserError::Password`], [`UserError::Busy`], [`UserError::Storage`].
    pub async fn reset_password(&self, email: &Email, password: &SecretString) -> Result<(), UserError> {
        let hash = self.hash(password).await?;
        let mut tx = self.store.begin().await?;
        let found = tx.users().find_by_email(email).await?.ok_or(UserError::NotFound)?;
        let mut user = tx.users().find_for_update(&found.id).await?.ok_or(UserError::NotFound)?;
        user.set_password(hash, self.cx.now());
        tx.users().save(&user).await?;
        tx.password_recoveries().complete_all(&user.id).await?;
        tx.audit_logs().append(&[self.record(AuditAction::PasswordChange, &user, None)]).await?;
        Ok(tx.commit().await?)
    }

    async fn hash(&self, password: &SecretString) -> Result<String, UserError> {
        PasswordRule::check(password)?;
        Ok(self.hasher.hash(password, self.password_cost).await?)
    }

    fn record(&self, action: AuditAction, user: &User, changes: Option<Value>) -> AuditRecord {
        let entity = user.entity();
        AuditRecord {
            entity_type: Some(entity.kind),
            entity_id: Some(entity.id.to_owned()),
            ..AuditRecord::system(self.cx, action, changes)
        }
    }
}
