//! Whether the PostgreSQL server answers. One that stands still, or is cut off, keeps its connections open and answers
//! nothing on them, which no statement notices by itself.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::fault::StorageError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::SqlStore;

/// How often the server is asked.
const PERIOD: Duration = Duration::from_secs(1);
/// How often it is asked while it is away.
const PERIOD_AWAY: Duration = Duration::from_millis(200);
/// How long it has for its answer. A statement may take longer while this connection is answered.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether the server answered when it was asked last. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Pulse(Arc<watch::Sender<bool>>);

impl Default for Pulse {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(true)))
    }
}

impl Pulse {
    /// # Errors
    /// [`StorageError::Unavailable`] while the server does not answer.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        if *self.0.borrow() { Ok(()) } else { Err(silent()) }
    }

    /// Waits for `work` on a connection, for as long as the server answers.
    ///
    /// # Errors
    /// Those of `work`, and [`StorageError::Unavailable`] when the server stands still. What the server then makes of
    /// the statement is not known, as after a connection was lost.
    pub(super) async fn guard<T>(
        &self,
        work: impl Future<Output = Result<T, StorageError>>,
    ) -> Result<T, StorageError> {
        let mut answers = self.0.subscribe();
        tokio::select! {
            biased;
            done = work => done,
            _ = answers.wait_for(|answers| !answers) => Err(silent()),
        }
    }

    fn set(&self, answers: bool) {
        let changed = self.0.send_if_modified(|before| std::mem::replace(before, answers) != answers);
        match (changed, answers) {
            (true, false) => tracing::error!("PostgreSQL does not answer"),
            (true, true) => tracing::info!("PostgreSQL answers again"),
            (false, _) => {}
        }
    }
}

fn silent() -> StorageError {
    StorageError::Unavailable("PostgreSQL does not answer".into())
}

impl SqlStore {
    /// Asks the PostgreSQL server once a second whether it is there, on a connection of its own, until `stop`. While it
    /// does not answer, or refuses connections, transactions fail with [`StorageError::Unavailable`] instead of waiting.
    /// Another engine needs no watch.
    pub async fn watch_server(&self, stop: &CancellationToken) {
        let Some((pool, pulse)) = self.server() else {
            return stop.cancelled().await;
        };
        let options = pool.connect_options();
        let mut connection = None;
        while !stop.is_cancelled() {
            let asked = timeout(PATIENCE, ask(&options, &mut connection)).await;
            // Other errors are answers, such as that there are too many connections.
            let answers = !matches!(asked, Err(_) | Ok(Err(sqlx::Error::Io(_) | sqlx::Error::Tls(_))));
            pulse.set(answers);
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(if answers { PERIOD } else { PERIOD_AWAY }) => {}
            }
        }
    }
}

/// Asks on the connection that there is, and on a new one when that one is lost: alone that says nothing of the server.
async fn ask(options: &PgConnectOptions, kept: &mut Option<PgConnection>) -> Result<(), sqlx::Error> {
    // Kept only once it has answered: one that was given up in the middle of a question is of no use.
    if let Some(mut connection) = kept.take()
        && connection.ping().await.is_ok()
    {
        *kept = Some(connection);
        return Ok(());
    }
    let mut connection = options.connect().await?;
    connection.ping().await?;
    *kept = Some(connection);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_ends_with_the_servers_silence() {
        let pulse = Pulse::default();
        assert!(matches!(pulse.guard(async { Ok(1) }).await, Ok(1)));
        let guarded = pulse.guard(std::future::pending::<Result<(), _>>());
        let silence = async {
            sleep(PERIOD).await;
            pulse.set(false);
        };
        let (ended, ()) = tokio::join!(guarded, silence);
        assert!(matches!(ended, Err(StorageError::Unavailable(_))));
        assert!(matches!(pulse.check(), Err(StorageError::Unavailable(_))));
        assert!(pulse.guard(std::future::pending::<Result<(), _>>()).await.is_err(), "it is silent still");
        pulse.set(true);
        assert!(pulse.check().is_ok());
    }
}
