//! When agents may log in.

use async_trait::async_trait;
use flowsdk_auth::schedule::{
    AgentSchedule, HasLoginSchedules, LoginRange, LoginSchedule, LoginScheduleRepository,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, UserId};

use super::SqlTx;
use super::statement::{Sql, sql};

const OF_USER: Sql = sql(
    "SELECT agent.router_id, router.tz, CAST(agent.login_schedule AS TEXT)
     FROM agent JOIN router ON router.id = agent.router_id WHERE agent.user_id = $1 ORDER BY agent.router_id",
);

super::statement::statements! { OF_USER }

super::accessor::has!(HasLoginSchedules::login_schedules -> LoginScheduleRepository);

#[async_trait]
impl LoginScheduleRepository for SqlTx {
    async fn of_user(&mut self, user: &UserId) -> Result<Vec<AgentSchedule>, StorageError> {
        type Row = (RouterId, String, Option<String>);
        let rows = self.conn.fetch_all::<Row>(OF_USER, (user,)).await?;
        let schedule = |(router_id, tz, schedule): Row| AgentSchedule {
            router_id,
            tz,
            schedule: schedule.map(|text| parse(&text)).unwrap_or_default(),
        };
        Ok(rows.into_iter().map(schedule).collect())
    }
}

/// An unreadable schedule lets nobody in, like an unreadable range: it was meant as a restriction.
fn parse(text: &str) -> LoginSchedule {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::warn!(%error, "the login schedule of an agent cannot be read");
        LoginSchedule(vec![LoginRange { weekday: u8::MAX, from: String::new(), to: String::new() }])
    })
}
