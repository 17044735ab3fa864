//! The connections, their transactions, and the thread that commits them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use flowsdk_core::fault::StorageError;
use rusqlite::Connection;
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tokio::time::timeout;

use super::statement::Prepared;
use super::storage_error;
use crate::sql::bind::{Binder, Binds};
use crate::sql::damage::Damage;
use crate::sql::generation::Generations;

/// Prepared statements that are kept.
const STATEMENTS: usize = 256;

/// A connection and the texts that it was asked to run.
struct Open {
    connection: Connection,
    /// Texts as SQLite wants them, by the address of the text that is asked for.
    texts: RefCell<HashMap<(usize, usize), String>>,
    damage: Damage,
}

impl Open {
    fn file(path: &Path, pragmas: &str, patience: Duration, damage: Damage) -> Result<Self, StorageError> {
        let connection = Connection::open(path).map_err(storage_error)?;
        connection.busy_timeout(patience).map_err(storage_error)?;
        Self::new(connection, pragmas, damage)
    }

    fn new(connection: Connection, pragmas: &str, damage: Damage) -> Result<Self, StorageError> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.execute_batch(pragmas).map_err(storage_error)?;
        Ok(Self { connection, texts: RefCell::default(), damage })
    }
}

/// Whoever has it, has the connection; it is closed where there is none.
type Held = OwnedMutexGuard<Option<Open>>;

/// A transaction on its way to the disk.
struct Commit {
    held: Held,
    done: oneshot::Sender<Result<(), StorageError>>,
}

/// The one connection that writes. Clones share it.
#[derive(Clone)]
pub(in crate::sql) struct Writer {
    slot: Arc<Mutex<Option<Open>>>,
    commits: mpsc::Sender<Commit>,
    patience: Duration,
    logged: Arc<AtomicBool>,
    refused: Arc<Refused>,
}

/// Whether the disk refused the last commit.
#[derive(Debug, Default)]
struct Refused(AtomicBool);

impl Refused {
    /// A commit ended so. A broken rule is no fault of the disk.
    fn note(&self, result: &Result<(), StorageError>) {
        match result {
            Ok(()) => self.0.store(false, Ordering::Relaxed),
            Err(StorageError::Unavailable(_)) => self.0.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
    }

    fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

fn closed() -> StorageError {
    StorageError::Unavailable("the database is closed".into())
}

impl Writer {
    /// Opens `file`, which is there already, with these pragmas. Who waits longer than `patience` for the connection
    /// gives up.
    pub(in crate::sql) fn open(
        file: &Path,
        pragmas: &str,
        patience: Duration,
        generations: &Arc<Generations>,
        damage: Damage,
    ) -> Result<Self, StorageError> {
        Self::of(Open::file(file, pragmas, patience, damage)?, patience, generations)
    }

    /// Opens an empty database in memory with these pragmas, and lets `migrate` make its tables.
    pub(in crate::sql) fn open_in_memory(
        pragmas: &str,
        patience: Duration,
        generations: &Arc<Generations>,
        migrate: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<Self, StorageError> {
        let connection = Connection::open_in_memory().map_err(storage_error)?;
        let open = Open::new(connection, pragmas, Damage::default())?;
        migrate(&open.connection).map_err(storage_error)?;
        Self::of(open, patience, generations)
    }

    fn of(open: Open, patience: Duration, generations: &Arc<Generations>) -> Result<Self, StorageError> {
        let watching = Arc::clone(generations);
        let hook = move |_action, _database: &str, table: &str, _row| watching.touched(table);
        open.connection.update_hook(Some(hook)).map_err(storage_error)?;
        let (commits, waiting) = mpsc::channel();
        let generations = Arc::clone(generations);
        // A process that was killed may have left a log.
        let logged = Arc::new(AtomicBool::new(true));
        let noted = Arc::clone(&logged);
        let refused = Arc::new(Refused::default());
        let disk = Arc::clone(&refused);
        thread::Builder::new()
            .name("sqlite-commit".to_owned())
            .spawn(move || commit_all(&waiting, &generations, &noted, &disk))
            .map_err(|error| StorageError::Other(Box::new(error)))?;
        Ok(Self { slot: Arc::new(Mutex::new(Some(open))), commits, patience, logged, refused })
    }

    /// Begins a transaction, as soon as no other one is open.
    pub(in crate::sql) async fn begin(&self) -> Result<DirectTx, StorageError> {
        let tx = DirectTx { held: Some(self.hold().await?), commits: Some(self.commits.clone()) };
        tx.prepare("BEGIN IMMEDIATE").execute()?;
        Ok(tx)
    }

    /// Commits the statement `probe` if the disk refused the last commit: a server that gets no more messages because of
    /// it would never notice that there is space again.
    ///
    /// # Errors
    /// The disk still refuses.
    pub(in crate::sql) async fn try_again(&self, probe: &'static str) -> Result<(), StorageError> {
        if !self.refused.is_so() {
            return Ok(());
        }
        let tx = self.begin().await?;
        tx.prepare(probe).execute()?;
        tx.commit().await
    }

    /// Runs something that takes a while beside everything else, between two transactions.
    pub(in crate::sql) async fn pause_for(&self, sql: &'static str) -> Result<(), StorageError> {
        let held = self.hold().await?;
        let run = move || match &*held {
            Some(open) => open.connection.query_row(sql, [], |_| Ok(())).map_err(storage_error),
            None => Err(closed()),
        };
        tokio::task::spawn_blocking(run).await.map_err(|error| StorageError::Other(Box::new(error)))?
    }

    /// Returns whether anything was committed since the last call, or since [`Writer::note_logged`].
    pub(in crate::sql) fn take_logged(&self) -> bool {
        self.logged.swap(false, Ordering::Relaxed)
    }

    /// The log still holds something that is not in the file.
    pub(in crate::sql) fn note_logged(&self) {
        self.logged.store(true, Ordering::Relaxed);
    }

    /// Closes the connection when the last transaction is over.
    pub(in crate::sql) async fn close(&self) {
        let mut held = Arc::clone(&self.slot).lock_owned().await;
        let open = held.take();
        // The last one to close a file moves its log into it.
        if let Err(error) = tokio::task::spawn_blocking(move || drop(open)).await {
            tracing::warn!(%error, "the database was not closed in order");
        }
    }

    async fn hold(&self) -> Result<Held, StorageError> {
        let held = timeout(self.patience, Arc::clone(&self.slot).lock_owned());
        let held = held.await.map_err(|late| StorageError::Contention(Box::new(late)))?;
        if held.is_some() { Ok(held) } else { Err(closed()) }
    }
}

/// A connection for looks at a few rows. Clones share it.
#[derive(Clone)]
pub(in crate::sql) struct Glances(Arc<Mutex<Option<Open>>>);

impl fmt::Debug for Glances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Glances").finish_non_exhaustive()
    }
}

impl Glances {
    /// Opens `file`, which is there already, with these pragmas.
    pub(in crate::sql) fn open(
        file: &Path,
        pragmas: &str,
        patience: Duration,
        damage: Damage,
    ) -> Result<Self, StorageError> {
        Ok(Self(Arc::new(Mutex::new(Some(Open::file(file, pragmas, patience, damage)?)))))
    }

    /// Begins a transaction that reads; `None` while another one is open.
    pub(in crate::sql) fn begin(&self) -> Result<Option<DirectTx>, StorageError> {
        let Ok(held) = Arc::clone(&self.0).try_lock_owned() else {
            return Ok(None);
        };
        if held.is_none() {
            return Err(closed());
        }
        let tx = DirectTx { held: Some(held), commits: None };
        tx.prepare("BEGIN").execute()?;
        Ok(Some(tx))
    }

    /// Closes the connection when its last read is done.
    pub(in crate::sql) async fn close(&self) {
        drop(self.0.lock().await.take());
    }
}

/// An open transaction. It is rolled back when it is dropped.
pub(in crate::sql) struct DirectTx {
    held: Option<Held>,
    /// Where it is committed; `None` where it only reads.
    commits: Option<mpsc::Sender<Commit>>,
}

impl fmt::Debug for DirectTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectTx").finish_non_exhaustive()
    }
}

impl DirectTx {
    /// A statement, ready for its binds.
    pub(in crate::sql) fn prepare(&self, sql: &'static str) -> Prepared<'_> {
        let Some(open) = self.held.as_ref().and_then(|held| held.as_ref()) else {
            return Prepared::new(Err(rusqlite::Error::InvalidQuery), sql, None);
        };
        let mut texts = open.texts.borrow_mut();
        let text = texts.entry((sql.as_ptr() as usize, sql.len())).or_insert_with(|| numbered(sql));
        Prepared::new(open.connection.prepare_cached(text), sql, Some(&open.damage))
    }

    /// A statement with its binds.
    pub(in crate::sql) fn bound(
        &self,
        sql: &'static str,
        binds: impl Binds,
    ) -> Result<Prepared<'_>, StorageError> {
        let mut prepared = self.prepare(sql);
        let mut binder = Binder::new(&mut prepared);
        binds.bind_all(&mut binder);
        binder.done()?;
        Ok(prepared)
    }

    /// Makes the transaction durable, on the thread that commits. It is, or is not, also when nobody waits for that any
    /// more.
    pub(in crate::sql) async fn commit(mut self) -> Result<(), StorageError> {
        let Some(commits) = self.commits.take() else {
            return Ok(());
        };
        let held = self.held.take().ok_or_else(closed)?;
        let (done, answer) = oneshot::channel();
        commits.send(Commit { held, done }).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for DirectTx {
    fn drop(&mut self) {
        if let Some(open) = self.held.as_ref().and_then(|held| held.as_ref()) {
            roll_back(&open.connection);
        }
    }
}

/// An error may have rolled it back already.
fn roll_back(connection: &Connection) {
    if !connection.is_autocommit()
        && let Err(error) = connection.prepare_cached("ROLLBACK").and_then(|mut end| end.raw_execute())
    {
        tracing::error!(%error, "a transaction was not rolled back");
    }
}

/// Commits incoming work until every writer is gone.
fn commit_all(
    waiting: &mpsc::Receiver<Commit>,
    generations: &Generations,
    logged: &AtomicBool,
    refused: &Refused,
) {
    while let Ok(Commit { held, done }) = waiting.recv() {
        let result = match &*held {
            Some(open) => {
                let done =
                    open.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.raw_execute());
                open.damage.note(done.map(drop).map_err(|error| {
                    roll_back(&open.connection);
                    storage_error(error)
                }))
            }
            None => Err(closed()),
        };
        refused.note(&result);
        generations.committed();
        logged.store(true, Ordering::Relaxed);
        // The next transaction may begin before this one's owner is told.
        drop(held);
        let _gone: Result<(), _> = done.send(result);
    }
}

/// `$1` as `?1`: names have the number of their first place, numbers are their own.
fn numbered(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find('$') {
        let (before, bind) = rest.split_at(at);
        text.push_str(before);
        let is_bind = bind[1..].starts_with(|next: char| next.is_ascii_digit());
        text.push(if is_bind { '?' } else { '$' });
        rest = &bind[1..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
