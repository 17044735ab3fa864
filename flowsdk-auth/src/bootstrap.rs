//! The administrator of a new installation (spec A 5.4, rulings A6): an idempotent step before the
//! server listens.

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_crypto::{PasswordError, PasswordHasher};
use secrecy::SecretString;

use crate::user::{Email, HasUsers, User, UserRole};

/// The first administrator of the installation.
#[derive(Debug, Clone)]
pub struct BootstrapAdmin {
    /// The address to log in with, of `ADMIN_EMAIL`.
    pub email: Email,
    /// `ADMIN_PASSWORD`; without it a random one is made.
    pub password: Option<SecretString>,
}

/// The result of the bootstrap.
#[derive(Debug)]
pub enum Bootstrapped {
    /// A user with this address was there.
    Existed,
    /// The administrator was created with the password given.
    Created,
    /// The administrator was created with this random password. It is shown once and stored nowhere.
    CreatedWith(SecretString),
}

/// The reason why there is no administrator.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The password cannot be used.
    #[error("ADMIN_PASSWORD cannot be used")]
    Password(#[from] PasswordError),
}

/// Ensures that a user with the administrator's address exists, in whatever state: one who was demoted stays so.
/// Two processes that start together create one. The password is hashed with `password_cost`.
///
/// # Errors
/// [`BootstrapError`].
pub async fn ensure_administrator<S: Store>(
    store: &S,
    cx: &OpContext,
    hasher: &PasswordHasher,
    password_cost: u32,
    admin: &BootstrapAdmin,
) -> Result<Bootstrapped, BootstrapError>
where
    S::Tx: HasUsers,
{
    if store.read().await?.users().find_by_email(&admin.email).await?.is_some() {
        return Ok(Bootstrapped::Existed);
    }
    let generated = admin.password.is_none();
    let password = admin.password.clone().unwrap_or_else(|| SecretString::from(cx.ids().secret(1)));
    let user = User {
        id: UserId::generate(cx.ids()),
        name: "Administrador".to_owned(),
        email: admin.email.clone(),
        phone: String::new(),
        password_hash: hasher.hash(&password, password_cost).await?,
        role: UserRole::Admin,
        group_id: None,
        logged_out_at: None,
        created_at: cx.now(),
        updated_at: cx.now(),
    };
    let mut tx = store.begin().await?;
    let created = tx.users().insert_if_absent(&user).await?;
    tx.commit().await?;
    Ok(match (created, generated) {
        (false, _) => Bootstrapped::Existed,
        (true, true) => Bootstrapped::CreatedWith(password),
        (true, false) => Bootstrapped::Created,
    })
}
