//! `flowsdk-server create-admin` and `reset-password`.

use std::path::{Path, PathBuf};

use flowsdk_auth::user::{Email, UserError, UserOperator};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use flowsdk_crypto::PasswordHasher;
use flowsdk_store::sql::{ClaimError, Hold, OutboxRoutes, SqlStore};
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{Environment, OperatorConfig};
use crate::demo::DataFolder;

/// Whose password is set, and where.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Account {
    /// The e-mail address of the user.
    pub email: String,
    /// The data folder of `demo`; without it, the database of `DATABASE_URL`.
    #[arg(long)]
    pub data: Option<PathBuf>,
    /// Take the password from the first line of standard input, instead of making one.
    #[arg(long)]
    pub password_stdin: bool,
}

/// What is done to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// The user is created, as an administrator.
    Create,
    /// The user gets another password, and their sessions end.
    Reset,
}

/// Does it, and returns what is printed: a password that was made is in it, and nowhere else.
///
/// # Errors
/// The database cannot be used, a server has it for itself, or the user is there already, or is not.
pub async fn run(deed: Deed, account: &Account) -> Result<String, BoxError> {
    let email =
        Email::parse(&account.email).map_err(|_| format!("`{}` is not an e-mail address", account.email))?;
    let config = config(account.data.as_deref())?;
    let cx = OpContext::system();
    let password = match account.password_stdin {
        true => crate::remote::login::line()?.into(),
        false => SecretString::from(cx.ids().secret(1)),
    };
    let hold = if config.is_shared { Hold::Shared } else { Hold::Alone };
    let claim = config.database.claim(hold).await.map_err(|error| match error {
        ClaimError::Taken => {
            BoxError::from(format!("{error}: stop the server first, and start it again afterwards"))
        }
        error => error.into(),
    })?;
    let store = SqlStore::connect(&config.database, OutboxRoutes::relayed()).await?;
    let hasher = PasswordHasher::new(1, 1);
    let operator = UserOperator::new(&store, &cx, &hasher, config.password_cost);
    let done = match deed {
        Deed::Create => operator.create_administrator(email.clone(), &password).await,
        Deed::Reset => operator.reset_password(&email, &password).await,
    };
    store.close().await;
    claim.release().await;
    done.map_err(|error| refused(error, &email))?;
    let mut text = match deed {
        Deed::Create => format!("{email} is an administrator"),
        Deed::Reset => format!("{email} has another password, and every session of theirs has ended"),
    };
    if !account.password_stdin {
        text += &format!("\npassword (shown once): {}", password.expose_secret());
    }
    Ok(text)
}

fn config(data: Option<&Path>) -> Result<OperatorConfig, BoxError> {
    let Some(folder) = data else {
        return Ok(OperatorConfig::read(Environment::process())?);
    };
    let database = DataFolder::database_url(folder)?;
    Ok(OperatorConfig::read(Environment::new(|name| match name {
        "DATABASE_URL" => Some(database.clone()),
        "REDIS_URL" => None,
        _ => std::env::var(name).ok(),
    }))?)
}

fn refused(error: UserError, email: &Email) -> BoxError {
    match error {
        UserError::EmailTaken => {
            format!("there is a user {email} already: reset-password gives them another password").into()
        }
        UserError::NotFound => format!("there is no user {email}").into(),
        error => error.into(),
    }
}
