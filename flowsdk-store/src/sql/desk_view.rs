//! Which ticket each desk looks at.

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{TicketId, UserId};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::viewer::{HasViewers, Look, Viewer, ViewerRepository};

use super::SqlTx;
use super::statement::{Sql, sql, sql_list};

/// Whoever looks again at the same ticket goes on typing.
const LOOK: Sql = sql("INSERT INTO desk_view (desk, ticket_id, user_id, until, typing_until) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (desk) DO UPDATE SET ticket_id = excluded.ticket_id, user_id = excluded.user_id, until = excluded.until,
        typing_until = CASE WHEN excluded.typing_until IS NULL AND desk_view.ticket_id = excluded.ticket_id
            THEN desk_view.typing_until ELSE excluded.typing_until END");

const LOOK_AWAY: Sql = sql("DELETE FROM desk_view WHERE desk = $1");

const RENEW: Sql = sql_list!("UPDATE desk_view SET until = $2 WHERE desk ", "$1", "");

const VIEWERS: Sql = sql_list!(
    "SELECT desk_view.ticket_id, desk_view.user_id, user_account.name, MAX(desk_view.typing_until)
     FROM desk_view JOIN user_account ON user_account.id = desk_view.user_id
     WHERE desk_view.until > $2 AND desk_view.ticket_id ",
    "$1",
    " GROUP BY desk_view.ticket_id, desk_view.user_id, user_account.name ORDER BY user_account.name, desk_view.user_id"
);

const PURGE: Sql = sql("DELETE FROM desk_view WHERE until < $1");

super::statement::statements! { LOOK, LOOK_AWAY, RENEW, VIEWERS, PURGE }

super::accessor::has!(HasViewers::viewers -> ViewerRepository);

#[async_trait]
impl ViewerRepository for SqlTx {
    async fn look(&mut self, look: &Look) -> Result<(), StorageError> {
        let Look { desk, ticket_id, user_id, until, typing_until } = look;
        self.conn.execute(LOOK, (desk, ticket_id, user_id, *until, *typing_until)).await.map(drop)
    }

    async fn look_away(&mut self, desk: &str) -> Result<(), StorageError> {
        self.conn.execute(LOOK_AWAY, (desk,)).await.map(drop)
    }

    async fn renew(&mut self, desks: &[String], until: Timestamp) -> Result<(), StorageError> {
        self.conn.execute(RENEW, (Json(desks), until)).await.map(drop)
    }

    async fn viewers(&mut self, tickets: &[TicketId], now: Timestamp) -> Result<Vec<Viewer>, StorageError> {
        type Row = (TicketId, UserId, String, Option<Timestamp>);
        let rows: Vec<Row> = self.conn.fetch_all(VIEWERS, (Json(tickets), now)).await?;
        let viewer =
            |(ticket_id, user_id, name, typing_until): Row| Viewer { ticket_id, user_id, name, typing_until };
        Ok(rows.into_iter().map(viewer).collect())
    }

    async fn purge(&mut self, before: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (before,)).await
    }
}
