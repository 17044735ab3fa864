//! Reads the tables into records.

use anyhow::{Context as _, Result};
use serde_json::Value;
use sqlx::{AssertSqlSafe, ColumnIndex, Connection as _, Decode, PgConnection, Row, SqliteConnection, Type};

use super::record::{Database, Direction, Session, Stored};
use super::seed::Seeded;

/// Where the servers of a set-up store.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Sqlite(String),
    Postgres { database: String, redis: String },
}

impl Place {
    /// Returns the address of the database.
    pub(super) fn database(&self) -> &str {
        match self {
            Self::Sqlite(url) | Self::Postgres { database: url, .. } => url,
        }
    }

    fn is_sqlite(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Returns the rows of a query whose columns are texts.
    async fn rows(&self, query: &str) -> Result<Vec<Vec<Option<String>>>> {
        let statement = sqlx::raw_sql(AssertSqlSafe(query.to_owned()));
        match self {
            Self::Sqlite(url) => {
                let mut connection = SqliteConnection::connect(url).await?;
                let rows = statement.fetch_all(&mut connection).await.context(query.to_owned())?;
                connection.close().await?;
                rows.iter().map(texts).collect()
            }
            Self::Postgres { database, .. } => {
                let mut connection = PgConnection::connect(database).await?;
                let rows = statement.fetch_all(&mut connection).await.context(query.to_owned())?;
                connection.close().await?;
                rows.iter().map(texts).collect()
            }
        }
    }

    /// Returns the rows of a query as one text each.
    async fn lines(&self, query: &str) -> Result<Vec<String>> {
        let rows = self.rows(query).await?;
        let line = |row: Vec<Option<String>>| {
            row.into_iter().map(|column| column.unwrap_or_default()).collect::<Vec<_>>().join(" | ")
        };
        Ok(rows.into_iter().map(line).collect())
    }

    /// Returns the entries that the streams still hold.
    pub(super) async fn undelivered(&self) -> Result<Vec<String>> {
        let outbox =
            "SELECT topic, grp, key, CAST(COUNT(*) AS TEXT) FROM stream_entry GROUP BY topic, grp, key";
        let mut left = self.lines(outbox).await?;
        if let Self::Postgres { redis, .. } = self {
            left.extend(super::redis::undelivered(redis).await?);
        }
        Ok(left)
    }

    /// Reads everything but the streams: of the visitors of the soak the messages and sessions, and the faults of all.
    pub(super) async fn read(&self, now: i64, seeded: &Seeded) -> Result<Database> {
        let mut messages = self.messages().await?;
        let damage = self.damage().await?;
        messages.retain(|message| seeded.owns(&message.session));
        let mut sessions = self.sessions().await?;
        sessions.retain(|session| seeded.owns(&session.id));
        // Attackers use up the budgets of their own sessions, which freezes these.
        let owned = |mut lines: Vec<String>| {
            lines.retain(|line| seeded.owns(line));
            lines
        };
        Ok(Database {
            sessions,
            frozen: owned(
                self.lines("SELECT session_id, error_code, error_message FROM frozen_session").await?,
            ),
            kept: owned(self.lines("SELECT session_id, CAST(entry AS TEXT) FROM kept_entry").await?),
            dead_letters: self.lines("SELECT topic, grp, key, reason, payload FROM dead_letter").await?,
            damage,
            messages,
            read_at: now,
            ..Database::default()
        })
    }

    async fn messages(&self) -> Result<Vec<Stored>> {
        let query = "SELECT id, chat_id, session_id, CAST(seq AS TEXT), direction, CAST(content AS TEXT)
             FROM message ORDER BY message.chat_id, message.seq, message.id";
        self.rows(query).await?.into_iter().map(stored).collect()
    }

    async fn sessions(&self) -> Result<Vec<Session>> {
        let query =
            "SELECT id, mode, CAST(state AS TEXT), CAST(ahead AS TEXT), CAST(wake_at AS TEXT) FROM session";
        let session = |mut row: Vec<Option<String>>| {
            let mut next = || row.remove(0);
            Session {
                id: next().unwrap_or_default(),
                mode: next().unwrap_or_default(),
                state: next().unwrap_or_default(),
                ahead: next(),
                wake_at: next().and_then(|text| text.parse().ok()),
            }
        };
        Ok(self.rows(query).await?.into_iter().map(session).collect())
    }

    /// Returns the faults that the database itself, or its chains of messages, show.
    async fn damage(&self) -> Result<Vec<String>> {
        if !self.is_sqlite() {
            self.lines("CREATE EXTENSION IF NOT EXISTS amcheck").await?;
            let indexes = "SELECT CAST(bt_index_check(index.indexrelid, true) AS TEXT) FROM pg_index index
                 JOIN pg_class class ON class.oid = index.indexrelid JOIN pg_am am ON am.oid = class.relam
                 JOIN pg_namespace space ON space.oid = class.relnamespace
                 WHERE am.amname = 'btree' AND space.nspname = 'public'";
            return Ok(self
                .lines(indexes)
                .await
                .err()
                .map(|error| format!("{error:#}"))
                .into_iter()
                .collect());
        }
        let mut damage = self.lines("PRAGMA integrity_check").await?;
        damage.retain(|line| line != "ok");
        // One statement, because the messages of attackers are still being answered.
        let chains = "SELECT 'message ' || id || ' names ' || COALESCE(previous, 'none') || ' as the one before it, which is '
                || COALESCE(before, 'none')
             FROM (SELECT id, previous, LAG(id) OVER (PARTITION BY chat_id ORDER BY seq, id) AS before FROM message)
             WHERE previous IS NOT before";
        damage.extend(self.lines(chains).await?);
        Ok(damage)
    }

    /// The address that servers are given.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = vec![("DATABASE_URL", self.database().to_owned())];
        if let Self::Postgres { redis, .. } = self {
            environment.push(("REDIS_URL", redis.clone()));
            environment.push(("STREAM_PARTITIONS", "4".to_owned()));
        }
        environment
    }
}

/// Returns the columns of a row.
fn texts<R: Row>(row: &R) -> Result<Vec<Option<String>>>
where
    usize: ColumnIndex<R>,
    for<'r> Option<String>: Decode<'r, R::Database> + Type<R::Database>,
{
    (0..row.len()).map(|column| Ok(row.try_get(column)?)).collect()
}

fn stored(mut row: Vec<Option<String>>) -> Result<Stored> {
    let mut next = || row.remove(0).unwrap_or_default();
    Ok(Stored {
        id: next(),
        chat: next(),
        session: next(),
        seq: next().parse()?,
        direction: if next() == "in" { Direction::In } else { Direction::Out },
        text: text(&serde_json::from_str(&next())?),
    })
}

/// Returns the text of a stored content.
fn text(content: &Value) -> String {
    let body = content.pointer("/text/body").or_else(|| content.pointer("/body"));
    body.and_then(Value::as_str).map_or_else(|| content.to_string(), str::to_owned)
}
