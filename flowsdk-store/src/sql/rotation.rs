//! Every encrypted value under the present master key (rulings A9).

use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::{Store as _, Transaction as _};

use super::SqlStore;
use super::statement::{Sql, sql};

/// Most values of one transaction: others write meanwhile.
const AT_ONCE: usize = 100;

/// What became of the values of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotatedColumn {
    /// Its table and name.
    pub column: &'static str,
    /// Values that are under the present key now.
    pub renewed: usize,
    /// Values that were already, or that somebody changed meanwhile.
    pub kept: usize,
    /// Ids of the rows whose value no key opens. They were left as they are.
    pub unreadable: Vec<String>,
}

struct Column {
    name: &'static str,
    /// Ids and values.
    values: Sql,
    /// Unless it was changed since it was read.
    save: Sql,
}

macro_rules! column {
    ($table:literal, $column:literal) => {
        column!($table, $column, "id")
    };
    ($table:literal, $column:literal, $id:literal) => {
        Column {
            name: concat!($table, ".", $column),
            values: sql(concat!(
                "SELECT ",
                $id,
                ", ",
                $column,
                " FROM ",
                $table,
                " WHERE ",
                $column,
                " IS NOT NULL"
            )),
            save: sql(concat!(
                "UPDATE ",
                $table,
                " SET ",
                $column,
                " = $3 WHERE ",
                $id,
                " = $1 AND ",
                $column,
                " = $2"
            )),
        }
    };
}

static COLUMNS: [Column; 10] = [
    column!("router", "channel_app_secret_encrypted"),
    column!("router_variable", "value_encrypted"),
    column!("flow_variable", "value_encrypted"),
    column!("webchat_channel", "embed_secret_encrypted"),
    column!("channel_number", "access_token_encrypted"),
    column!("channel_number", "encryption_private_key_encrypted"),
    column!("channel_number", "encryption_passphrase_encrypted"),
    column!("llm_credential", "api_key_encrypted"),
    column!("integration", "credentials_encrypted"),
    // One row, whose id is a number.
    column!("observability_settings", "logfire_token_encrypted", "CAST(id AS TEXT)"),
];

#[cfg(test)]
pub(super) fn statements() -> Vec<(&'static str, Sql)> {
    COLUMNS.iter().flat_map(|column| [(column.name, column.values), (column.name, column.save)]).collect()
}

#[cfg(test)]
pub(super) fn columns() -> Vec<&'static str> {
    COLUMNS.iter().map(|column| column.name).collect()
}

impl SqlStore {
    /// Encrypts every value again that is not under the present key of `master_key`. What is done is done when it is
    /// broken off, and what others write meanwhile stays.
    ///
    /// # Errors
    /// [`StorageError`]; what was renewed before stays so.
    pub async fn rotate_secrets(&self, master_key: &MasterKey) -> Result<Vec<RotatedColumn>, StorageError> {
        let mut rotated = Vec::with_capacity(COLUMNS.len());
        for column in &COLUMNS {
            rotated.push(self.rotate(column, master_key).await?);
        }
        Ok(rotated)
    }

    async fn rotate(&self, column: &Column, master_key: &MasterKey) -> Result<RotatedColumn, StorageError> {
        let mut done = RotatedColumn { column: column.name, renewed: 0, kept: 0, unreadable: Vec::new() };
        let mut tx = self.read().await?;
        let values = tx.conn.fetch_all::<(String, String)>(column.values, ()).await?;
        drop(tx);
        for chunk in values.chunks(AT_ONCE) {
            let mut tx = self.begin().await?;
            for (id, value) in chunk {
                match master_key.renew(&Encrypted::from_stored(value.clone())) {
                    Ok(None) => done.kept += 1,
                    Ok(Some(renewed)) => {
                        let saved = tx
                            .conn
                            .execute(column.save, (id.as_str(), value.as_str(), renewed.as_stored()))
                            .await?;
                        if saved == 1 { done.renewed += 1 } else { done.kept += 1 }
                    }
                    Err(_) => done.unreadable.push(id.clone()),
                }
            }
            tx.commit().await?;
        }
        Ok(done)
    }
}
