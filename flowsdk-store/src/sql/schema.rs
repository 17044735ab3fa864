//! How the schema of a database compares with that of this program.

use std::time::Duration;

use flowsdk_core::fault::StorageError;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::time::timeout;

use super::executor::storage_error;
use super::{DatabaseUrl, migrations};

/// The migrations that were run.
const APPLIED: &str = "SELECT version FROM _sqlx_migrations WHERE success";
/// How long the database has to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What connecting would do to the schema of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaState {
    /// There is no schema: it is made.
    Missing,
    /// This many migrations are run.
    Behind(usize),
    /// Nothing.
    Current,
    /// It fails: a later version of this program ran migrations that this one does not know.
    Ahead,
}

impl DatabaseUrl {
    /// Compares the schema of the database with that of this program. It changes nothing.
    ///
    /// # Errors
    /// The database cannot be reached within 5 seconds, or cannot be read.
    pub async fn schema(&self) -> Result<SchemaState, StorageError> {
        let read = async {
            match self {
                Self::SqliteMemory => Ok(None),
                Self::SqliteFile { path, .. } if !path.exists() => Ok(None),
                Self::SqliteFile { path, .. } => {
                    let options = SqliteConnectOptions::new().filename(path).read_only(true);
                    let mut connection = options.connect().await?;
                    let applied = sqlx::query_scalar::<_, i64>(APPLIED).fetch_all(&mut connection).await;
                    connection.close().await?;
                    applied.map(Some)
                }
                Self::Postgres(options) => {
                    let mut connection = options.connect().await?;
                    let applied = sqlx::query_scalar::<_, i64>(APPLIED).fetch_all(&mut connection).await;
                    connection.close().await?;
                    applied.map(Some)
                }
            }
        };
        let read = timeout(PATIENCE, read).await.map_err(|late| StorageError::Unavailable(Box::new(late)))?;
        let applied = match read {
            Ok(applied) => applied.unwrap_or_default(),
            Err(error) if has_no_table(&error) => Vec::new(),
            Err(error) => return Err(storage_error(error)),
        };
        Ok(self.compared(&applied))
    }

    fn compared(&self, applied: &[i64]) -> SchemaState {
        let known = match self {
            Self::Postgres(_) => migrations::postgres(),
            Self::SqliteFile { .. } | Self::SqliteMemory => migrations::sqlite(),
        };
        let known: Vec<i64> = known.iter().map(|migration| migration.version).collect();
        let missing = known.iter().filter(|version| !applied.contains(version)).count();
        if applied.iter().any(|version| !known.contains(version)) {
            SchemaState::Ahead
        } else if missing == known.len() {
            SchemaState::Missing
        } else if missing > 0 {
            SchemaState::Behind(missing)
        } else {
            SchemaState::Current
        }
    }
}

/// Postgres has a code for a table that is not there, SQLite only the words.
fn has_no_table(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| {
        error.code().as_deref() == Some("42P01") || error.message().starts_with("no such table")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{OutboxRoutes, SqlStore};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_schema_is_compared_and_not_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let url: DatabaseUrl = format!("sqlite:{}", path.display()).parse().expect("an address");
        assert_eq!(url.schema().await.expect("read"), SchemaState::Missing);
        assert!(!path.exists(), "nothing is made");
        let store = SqlStore::connect(&url, OutboxRoutes::relayed()).await.expect("connects");
        assert_eq!(url.schema().await.expect("read"), SchemaState::Current);
        store.close().await;
        std::fs::write(&path, "no database").expect("written");
        url.schema().await.expect_err("not a database");
    }

    #[test]
    fn what_is_missing_is_counted_and_what_is_unknown_stops() {
        let url = DatabaseUrl::SqliteMemory;
        let all: Vec<i64> = migrations::sqlite().iter().map(|migration| migration.version).collect();
        assert_eq!(url.compared(&[]), SchemaState::Missing);
        assert_eq!(url.compared(&all[..all.len() - 2]), SchemaState::Behind(2));
        assert_eq!(url.compared(&all), SchemaState::Current);
        assert_eq!(url.compared(&[all, vec![9_999]].concat()), SchemaState::Ahead);
    }
}
