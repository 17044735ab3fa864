//! When agents may log in.

use async_trait::async_trait;
use flowsdk_auth::schedule::{AgentSchedule, LoginRange, LoginSchedule, LoginScheduleRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;

use super::SqlTx;
use super::executor::{fetch_all, id};
use super::statement::{Sql, sql};

const OF_USER: Sql = sql(
    "SELECT agent.router_id, router.tz, CAST(agent.login_schedule AS TEXT)
     FROM agent JOIN router ON router.id = agent.router_id WHERE agent.user_id = $1 ORDER BY agent.router_id",
);

super::statement::statements! { OF_USER }

#[async_trait]
impl LoginScheduleRepository for SqlTx {
    async fn of_user(&mut self, user: &UserId) -> Result<Vec<AgentSchedule>, StorageError> {
        type Row = (String, String, Option<String>);
        let rows = fetch_all!(self.conn, Row, OF_USER, user.as_str())?;
        rows.into_iter()
            .map(|(router_id, tz, schedule)| {
                let schedule = schedule.map(|text| parse(&text)).unwrap_or_default();
                Ok(AgentSchedule { router_id: id("agent", router_id)?, tz, schedule })
            })
            .collect()
    }
}

/// What cannot be read lets nobody in, like a range that cannot be read: it was meant as a restriction.
fn parse(text: &str) -> LoginSchedule {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::warn!(%error, "the login schedule of an agent cannot be read");
        LoginSchedule(vec![LoginRange { weekday: u8::MAX, from: String::new(), to: String::new() }])
    })
}
