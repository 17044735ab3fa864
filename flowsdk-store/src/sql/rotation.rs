//! Every encrypted value under the present master key (rulings A9).

use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::{Store as _, Transaction as _};

use super::statement::Sql;
use super::{SqlStore, references};

/// Most values of one transaction: others write meanwhile.
const AT_ONCE: usize = 100;

/// The outcome for the values of one column.
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

impl SqlStore {
    /// Encrypts every value again that is not under the present key of `master_key`. When it is interrupted, finished
    /// values stay so. Values that others write meanwhile stay.
    ///
    /// # Errors
    /// [`StorageError`]; values renewed before it stay renewed.
    pub async fn rotate_secrets(&self, master_key: &MasterKey) -> Result<Vec<RotatedColumn>, StorageError> {
        let mut rotated = Vec::new();
        for (secret, [values, save]) in references::rotated() {
            rotated.push(self.rotate(secret.name, values, save, master_key).await?);
        }
        Ok(rotated)
    }

    async fn rotate(
        &self,
        column: &'static str,
        values: Sql,
        save: Sql,
        master_key: &MasterKey,
    ) -> Result<RotatedColumn, StorageError> {
        let mut done = RotatedColumn { column, renewed: 0, kept: 0, unreadable: Vec::new() };
        let mut tx = self.read().await?;
        let values = tx.conn.fetch_all::<(String, Encrypted)>(values, ()).await?;
        drop(tx);
        for chunk in values.chunks(AT_ONCE) {
            let mut tx = self.begin().await?;
            for (id, value) in chunk {
                match master_key.renew(value) {
                    Ok(None) => done.kept += 1,
                    Ok(Some(renewed)) => {
                        let saved = tx.conn.execute(save, (id, value, &renewed)).await?;
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
