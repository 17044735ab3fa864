//! When agents may log in.

use async_trait::async_trait;
use flowsdk_auth::schedule::{AgentSchedule, LoginSchedule, LoginScheduleRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{fetch_all, id};
use super::statement::{Sql, sql};

const OF_USER: Sql = sql(
    "SELECT agent.router_id, router.tz, agent.login_schedule
     FROM agent JOIN router ON router.id = agent.router_id WHERE agent.user_id = $1 ORDER BY agent.router_id",
);

super::statement::statements! { OF_USER }

#[async_trait]
impl LoginScheduleRepository for SqlTx {
    async fn of_user(&mut self, user: &UserId) -> Result<Vec<AgentSchedule>, StorageError> {
        type Row = (String, String, Option<Json<LoginSchedule>>);
        let rows = fetch_all!(self.conn, Row, OF_USER, user.as_str())?;
        rows.into_iter()
            .map(|(router_id, tz, schedule)| {
                let schedule = schedule.map(|Json(schedule)| schedule).unwrap_or_default();
                Ok(AgentSchedule { router_id: id("agent", router_id)?, tz, schedule })
            })
            .collect()
    }
}
