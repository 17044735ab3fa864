//! `flowsdk-server rotate-secrets`: every stored secret under the present `CRYPTO_SECRET` (rulings A9).

use std::fmt::Write as _;

use flowsdk_auth::audit::{AuditAction, AuditRecord, HasAuditLogs as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{Hold, OutboxRoutes, RotatedColumn, SqlStore};
use serde_json::{Map, Value, json};

use crate::app::note_rotated;
use crate::config::RotationConfig;
use crate::printed::Printed;

/// Renews values that are not under the present key. Concurrent changes of others stay; where one process has the
/// database for itself it must not run.
///
/// # Errors
/// The database cannot be reached. Values encrypted before stay so, and the command can be run again.
pub async fn run(config: &RotationConfig) -> Result<Printed, BoxError> {
    let hold = if config.is_shared { Hold::Shared } else { Hold::Alone };
    let claim = config.database.claim(hold).await?;
    let store = SqlStore::connect(&config.database, OutboxRoutes::relayed()).await?;
    let rotated = store.rotate_secrets(&config.master_key).await;
    if let Ok(rotated) = &rotated {
        note(&store, rotated).await?;
        if rotated.iter().all(|column| column.unreadable.is_empty()) {
            note_rotated(&store, &config.agreed).await?;
        }
    }
    store.close().await;
    claim.release().await;
    Ok(report(&rotated?))
}

/// Puts the rotation on record: which columns, and how many values of each (rulings A11).
async fn note(store: &SqlStore, rotated: &[RotatedColumn]) -> Result<(), BoxError> {
    let renewed = rotated.iter().filter(|column| column.renewed > 0);
    let columns: Map<String, Value> =
        renewed.map(|column| (column.column.to_string(), column.renewed.into())).collect();
    if columns.is_empty() {
        return Ok(());
    }
    let changes = json!({ "rotatedSecrets": columns });
    let record = AuditRecord::system(&OpContext::system(), AuditAction::Update, Some(changes));
    let mut tx = store.begin().await?;
    tx.audit_logs().append(&[record]).await?;
    Ok(tx.commit().await?)
}

fn report(rotated: &[RotatedColumn]) -> Printed {
    let mut text = String::new();
    for RotatedColumn { column, renewed, kept, unreadable } in rotated {
        let _infallible = writeln!(
            text,
            "{column}: {renewed} encrypted again, {kept} as they were, {} unreadable",
            unreadable.len()
        );
        for id in unreadable {
            let _infallible = writeln!(text, "  no key opens that of {id}");
        }
    }
    let ok = rotated.iter().all(|column| column.unreadable.is_empty());
    if ok {
        text.push_str("CRYPTO_SECRET_PREVIOUS is needed no more.\n");
    }
    Printed { text, ok }
}
