//! Whether a process has the settings of the others on its database.
//!
//! They are kept in the database, secrets as fingerprints. The first process writes them; another one that differs
//! would read what nobody writes, or fail to read what others have written, so it does not start.

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use flowsdk_core::kv::{KeyValue, KeyValueError};
use flowsdk_store::sql::{ClaimError, Hold, OutboxRoutes, SqlKeyValue, SqlStore};

use crate::config::{Agreed, Config};

/// A process has another value of a setting than the processes before it.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(
        "{0} differs from that of the processes which have worked on this database; give this one the same, or see \
         \"Settings in common\" in docs/configuration.md"
    )]
    Differs(String),
    #[error(transparent)]
    Unknown(#[from] KeyValueError),
}

fn key(setting: &Agreed) -> String {
    format!("setting:{}", setting.name)
}

/// The settings that count in a set-up: of one process alone those by which its data was stored.
fn counted(config: &Config) -> impl Iterator<Item = &Agreed> {
    let alone = config.redis.is_none();
    config.agreed.iter().filter(move |setting| setting.stored || !alone)
}

/// Compares the settings of `config` with those that are known, and notes those that are not known yet.
///
/// # Errors
/// A setting differs, or the database is away.
pub(super) async fn check(config: &Config, store: &SqlStore, cx: &OpContext) -> Result<(), BoxError> {
    let known = SqlKeyValue::new(store.clone(), cx.clock());
    let mut different = Vec::new();
    for setting in counted(config) {
        let before = known.set_if_absent(&key(setting), &setting.value, None).await.map_err(Refusal::from)?;
        match before {
            Some(before) if !setting.fits(&before) => different.push(setting.name),
            // The secret has changed, and this process knows both.
            Some(before) if before != setting.value => note(&known, setting).await?,
            Some(_) | None => {}
        }
    }
    if different.is_empty() { Ok(()) } else { Err(Refusal::Differs(different.join(", ")).into()) }
}

/// Names the settings of `config` with which a process would not start on its database, and changes nothing.
///
/// # Errors
/// The database is away.
pub async fn differing(config: &Config) -> Result<Vec<&'static str>, BoxError> {
    let store = SqlStore::connect(&config.database, OutboxRoutes::relayed()).await?;
    let known = SqlKeyValue::new(store.clone(), OpContext::system().clock());
    let mut different = Vec::new();
    for setting in counted(config) {
        let before = known.get(&key(setting)).await?;
        if before.is_some_and(|before| !setting.fits(&before)) {
            different.push(setting.name);
        }
    }
    store.close().await;
    Ok(different)
}

async fn note(known: &SqlKeyValue, setting: &Agreed) -> Result<(), KeyValueError> {
    known.set(&key(setting), &setting.value, None).await
}

/// Makes the settings of `config` those that processes must have from now on; returns the names of those that changed.
/// The number of partitions may only change while no process runs.
///
/// # Errors
/// The database is away, or a process works on it.
pub async fn adopt(config: &Config) -> Result<Vec<&'static str>, BoxError> {
    let cx = OpContext::system();
    let hold = if config.redis.is_some() { Hold::Shared } else { Hold::Alone };
    let mut claim = config.database.claim(hold).await?;
    let store = Arc::new(SqlStore::connect(&config.database, OutboxRoutes::relayed()).await?);
    let known = SqlKeyValue::new((*store).clone(), cx.clock());
    let mut changed = Vec::new();
    for setting in counted(config) {
        let before = known.get(&key(setting)).await?;
        if before.as_ref() == Some(&setting.value) {
            continue;
        }
        if setting.name == "STREAM_PARTITIONS" && before.is_some() {
            claim.release().await;
            claim = config.database.claim(Hold::Alone).await.map_err(|error| match error {
                ClaimError::Taken => {
                    BoxError::from("STREAM_PARTITIONS changes only while no process works on this database")
                }
                error => error.into(),
            })?;
        }
        note(&known, setting).await?;
        changed.push(setting.name);
    }
    store.close().await;
    claim.release().await;
    Ok(changed)
}

/// Notes a new `CRYPTO_SECRET` after every value was encrypted under it.
///
/// # Errors
/// The database is away.
pub(crate) async fn note_rotated(store: &SqlStore, agreed: &Agreed) -> Result<(), BoxError> {
    let known = SqlKeyValue::new(store.clone(), OpContext::system().clock());
    Ok(note(&known, agreed).await?)
}
