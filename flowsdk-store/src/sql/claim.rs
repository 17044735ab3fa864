//! Who works on a database: one process where streams are in the database, because two would run turns of one session
//! at the same time; or any number of processes whose streams are in Redis. Never both.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowsdk_core::fault::{Chain, StorageError};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::DatabaseUrl;
use super::executor::storage_error;

/// How often a claim is looked at.
const PERIOD: Duration = Duration::from_secs(2);
/// How long the database has to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who else may work on the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Nobody.
    Alone,
    /// Those who share it too.
    Shared,
}

/// A database that nobody takes from this process. The operating system or the server ends a claim however the process
/// ends.
#[derive(Debug)]
pub struct Claim(Held);

#[derive(Debug)]
enum Held {
    /// The lock of a file.
    File { _lock: File },
    /// The lock of a database on a server.
    Database(Box<DatabaseClaim>),
    /// A database in memory belongs to one process anyway.
    Memory,
}

/// The reason why a process cannot take a database for itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// Others have it, in a way that does not go together with the wanted one.
    #[error("another process works on this database")]
    Taken,
    /// The folder of the file does not exist.
    #[error("the folder of the database is not there: {}", .0.display())]
    NoFolder(PathBuf),
    /// The lock beside the file cannot be made.
    #[error("{}: {error}", .path.display())]
    Lock {
        /// The file of the lock.
        path: PathBuf,
        /// The operating system's reason.
        error: std::io::Error,
    },
    /// The database server cannot be reached, or not in time.
    #[error("PostgreSQL at {server} cannot be used: {why}")]
    NoServer {
        /// Its host and port.
        server: String,
        /// The reason, without a password.
        why: String,
    },
    /// The database server refused a statement.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl DatabaseUrl {
    /// Takes the database for this process.
    ///
    /// # Errors
    /// Any [`ClaimError`].
    pub async fn claim(&self, hold: Hold) -> Result<Claim, ClaimError> {
        Ok(Claim(match self {
            Self::SqliteMemory => Held::Memory,
            Self::SqliteFile { path, .. } => {
                Held::File { _lock: lock(&path.with_added_extension("lock"), hold)? }
            }
            Self::Postgres(options) => {
                let no_server = |why| ClaimError::NoServer {
                    server: format!("{}:{}", options.get_host(), options.get_port()),
                    why,
                };
                let taken = timeout(PATIENCE, DatabaseClaim::take((**options).clone(), hold)).await;
                let claim = match taken.map_err(|_| no_server("it does not answer".to_owned()))? {
                    Err(ClaimError::Storage(error)) => return Err(no_server(Chain(&error).to_string())),
                    claim => claim?,
                };
                Held::Database(Box::new(claim))
            }
        }))
    }
}

impl Claim {
    /// Keeps the claim until `stop`. A database server that was restarted has forgotten it: it is taken again as soon as
    /// the server answers.
    ///
    /// # Errors
    /// [`ClaimError::Taken`] when another process was faster: this one must stop.
    pub async fn keep(&self, stop: &CancellationToken) -> Result<(), ClaimError> {
        let Held::Database(claim) = &self.0 else {
            stop.cancelled().await;
            return Ok(());
        };
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = sleep(PERIOD) => {}
            }
            match timeout(PATIENCE, claim.renew()).await {
                Ok(Err(ClaimError::Taken)) => return Err(ClaimError::Taken),
                Ok(Err(error)) => {
                    tracing::warn!(error = %Chain(&error), "the claim on the database is in doubt")
                }
                Err(_) => tracing::warn!("the claim on the database is in doubt: no answer"),
                Ok(Ok(())) => {}
            }
        }
    }

    /// Releases the database, so that it is free when this returns.
    pub async fn release(self) {
        match self.0 {
            Held::File { _lock: lock } => drop(lock),
            Held::Database(claim) => {
                if let Err(error) = claim.release().await {
                    tracing::warn!(error = %Chain(&error), "the database is given back with the connection");
                }
            }
            Held::Memory => {}
        }
    }
}

fn lock(path: &Path, hold: Hold) -> Result<File, ClaimError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        return Err(ClaimError::NoFolder(folder.to_owned()));
    }
    let failed = |error| ClaimError::Lock { path: path.to_owned(), error };
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    // Whoever can open the file can hold the lock.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(failed)?;
    super::private::close(path);
    let taken = match hold {
        Hold::Alone => file.try_lock(),
        Hold::Shared => file.try_lock_shared(),
    };
    match taken {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ClaimError::Taken),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Any number that nobody else uses. It must never change: processes of different versions exclude each other by it.
const LOCK_ALONE: &str = "SELECT pg_try_advisory_lock(28834229018419051)";
const LOCK_SHARED: &str = "SELECT pg_try_advisory_lock_shared(28834229018419051)";
/// Gives back every lock of the connection.
const UNLOCK: &str = "SELECT pg_advisory_unlock_all()";

/// The connection of this session, told apart from later ones with the same number.
const SESSION: &str =
    "SELECT pid, CAST(backend_start AS text) FROM pg_stat_activity WHERE pid = pg_backend_pid()";
/// Ends a session that the server may believe alive while its client has lost it.
const END_SESSION: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE pid = $1 AND CAST(backend_start AS text) = $2";

/// The advisory lock of a database, held as long as its connection lives.
#[derive(Debug)]
struct DatabaseClaim {
    options: PgConnectOptions,
    hold: Hold,
    session: Mutex<Session>,
}

/// A connection that has the lock.
#[derive(Debug)]
struct Session {
    connection: PgConnection,
    id: (i32, String),
}

impl DatabaseClaim {
    async fn take(options: PgConnectOptions, hold: Hold) -> Result<Self, ClaimError> {
        let connection = options.connect().await.map_err(storage_error)?;
        let session = Session::lock(connection, hold).await?;
        Ok(Self { options, hold, session: Mutex::new(session) })
    }

    /// Takes the lock again if its connection is gone.
    async fn renew(&self) -> Result<(), ClaimError> {
        let mut session = self.session.lock().await;
        if session.connection.ping().await.is_ok() {
            return Ok(());
        }
        let mut connection = self.options.connect().await.map_err(storage_error)?;
        let (pid, began) = &session.id;
        let ended = sqlx::query(END_SESSION).bind(pid).bind(began).execute(&mut connection).await;
        ended.map_err(storage_error)?;
        *session = Session::lock(connection, self.hold).await?;
        tracing::info!("the claim on the database is renewed");
        Ok(())
    }

    /// Releases the database at once. Without it the server does so when it notices that the connection is gone.
    ///
    /// # Errors
    /// The server cannot be told; the connection is gone all the same.
    async fn release(self) -> Result<(), StorageError> {
        let mut connection = self.session.into_inner().connection;
        sqlx::query(UNLOCK).execute(&mut connection).await.map_err(storage_error)?;
        connection.close().await.map_err(storage_error)
    }
}

impl Session {
    /// # Errors
    /// [`ClaimError::Taken`] when the lock belongs to others.
    async fn lock(mut connection: PgConnection, hold: Hold) -> Result<Self, ClaimError> {
        let lock = match hold {
            Hold::Alone => LOCK_ALONE,
            Hold::Shared => LOCK_SHARED,
        };
        let (taken,): (bool,) =
            sqlx::query_as(lock).fetch_one(&mut connection).await.map_err(storage_error)?;
        if !taken {
            return Err(ClaimError::Taken);
        }
        let id = sqlx::query_as(SESSION).fetch_one(&mut connection).await.map_err(storage_error)?;
        Ok(Self { connection, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_taken_by_one_process_or_shared() {
        let folder = tempfile::tempdir().expect("a folder");
        let url: DatabaseUrl =
            format!("sqlite:{}", folder.path().join("a.db").display()).parse().expect("an address");
        let alone = url.claim(Hold::Alone).await.expect("free");
        for hold in [Hold::Alone, Hold::Shared] {
            assert!(matches!(url.claim(hold).await, Err(ClaimError::Taken)));
        }
        alone.release().await;
        let _shared =
            (url.claim(Hold::Shared).await.expect("free"), url.claim(Hold::Shared).await.expect("shared"));
        assert!(matches!(url.claim(Hold::Alone).await, Err(ClaimError::Taken)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nobody_else_can_hold_the_lock_of_a_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.db");
        let url: DatabaseUrl = format!("sqlite:{}", file.display()).parse().expect("an address");
        let lock = file.with_added_extension("lock");
        // The second one has the mode that files of an earlier version had.
        for before in [None, Some(0o606)] {
            if let Some(mode) = before {
                std::fs::set_permissions(&lock, std::fs::Permissions::from_mode(mode)).expect("set");
            }
            let _claim = url.claim(Hold::Alone).await.expect("free");
            assert_eq!(std::fs::metadata(&lock).expect("a file").permissions().mode() & 0o777, 0o600);
        }
    }
}
