//! Commits of other processes, by Postgres' LISTEN and NOTIFY: so that the relay need not poll.

use std::time::Duration;

use sqlx::postgres::PgListener;
use tokio_util::sync::CancellationToken;

use super::SqlStore;

const CHANNEL: &str = "flowsdk_outbox";
/// Run in the transaction that puts something into the outbox; it takes effect with the commit.
pub(super) const TELL: &str = "SELECT pg_notify('flowsdk_outbox', '')";
/// Pause before another connection.
const PAUSE: Duration = Duration::from_secs(1);

impl SqlStore {
    /// Wakes the readers of this process at every commit that put something into the outbox, whichever
    /// process made it, until `stop`. On SQLite there is no other process.
    pub async fn follow_commits(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => return,
                error = self.listen() => {
                    tracing::warn!(%error, "commits of other processes are seen late");
                }
            }
            // Wakes for the notifications missed meanwhile.
            self.published().notify_waiters();
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    /// Ends with an error only.
    async fn listen(&self) -> sqlx::Error {
        let Some(pool) = self.postgres() else {
            return std::future::pending().await;
        };
        let listen = async {
            let mut listener = PgListener::connect_with(pool).await?;
            listener.listen(CHANNEL).await?;
            loop {
                listener.recv().await?;
                self.published().notify_waiters();
            }
        };
        match listen.await {
            Ok(never) => never,
            Err(error) => error,
        }
    }
}
