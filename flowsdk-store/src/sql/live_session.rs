//! The sessions that depend on something.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{AgentId, RouterId};
use flowsdk_core::session::{HasLiveSessions, LiveSessions, SessionId, SessionsOf};

use super::SqlTx;
use super::statement::{Sql, sql, sql_per};

/// A session that froze before its first commit is in `frozen_session` alone.
macro_rules! counted {
    ($of:literal, $unbegun_of:literal) => {
        sql(concat!(
            "SELECT (SELECT COUNT(*) FROM session WHERE ",
            $of,
            ") + (SELECT COUNT(*) FROM frozen_session WHERE ",
            $unbegun_of,
            " AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = frozen_session.session_id))"
        ))
    };
}

macro_rules! end_of_unbegun {
    ($unbegun_of:literal) => {
        sql(concat!(
            "DELETE FROM frozen_session WHERE ",
            $unbegun_of,
            " AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = frozen_session.session_id)
             RETURNING session_id"
        ))
    };
}

const COUNT_OF_ROUTER: Sql = counted!("router_id = $1", "router_id = $1");
const UNBEGUN_OF_ROUTER: Sql = end_of_unbegun!("router_id = $1");
const END_OF_ROUTER: Sql = sql("DELETE FROM session WHERE router_id = $1 RETURNING id");

/// Those that stand in the flow, and those that come back to it: each engine looks into the list of calls in its own
/// way.
macro_rules! of_flow {
    ($head:literal, $tail:literal) => {
        sql_per(
            concat!(
                $head,
                " FROM session WHERE router_id = $1 AND (state->'position'->>'flowId' = $2
                 OR EXISTS (SELECT 1 FROM json_each(session.state, '$.calls') AS call
                            WHERE call.value->>'flowId' = $2))",
                $tail
            ),
            concat!(
                $head,
                " FROM session WHERE router_id = $1 AND (state->'position'->>'flowId' = $2
                 OR state->'calls' @> jsonb_build_array(jsonb_build_object('flowId', $2::text)))",
                $tail
            ),
        )
    };
}

const COUNT_OF_FLOW: Sql = of_flow!("SELECT COUNT(*)", "");
const END_OF_FLOW: Sql = of_flow!("DELETE", " RETURNING id");

/// Those that an AI agent has, and those that come back to it from another one.
const COUNT_OF_AGENT: Sql = sql_per(
    "SELECT COUNT(*) FROM session WHERE router_id = $1 AND mode = 'agent'
     AND EXISTS (SELECT 1 FROM json_each(session.state, '$.agent.agentChain') AS entry
                 WHERE entry.value->>'agentId' = $2)",
    "SELECT COUNT(*) FROM session WHERE router_id = $1 AND mode = 'agent'
     AND state->'agent'->'agentChain' @> jsonb_build_array(jsonb_build_object('agentId', $2::text))",
);

/// Ids of sessions begin with their channel, `wc-<channelId>-` or `wa-<phoneNumberId>-`; the bounds are those of its primary key.
const COUNT_OF_CHANNEL: Sql = counted!("id >= $1 AND id < $2", "session_id >= $1 AND session_id < $2");
const UNBEGUN_OF_CHANNEL: Sql = end_of_unbegun!("session_id >= $1 AND session_id < $2");
const END_OF_CHANNEL: Sql = sql("DELETE FROM session WHERE id >= $1 AND id < $2 RETURNING id");

super::statement::statements! {
    COUNT_OF_ROUTER, UNBEGUN_OF_ROUTER, END_OF_ROUTER, COUNT_OF_FLOW, END_OF_FLOW, COUNT_OF_AGENT, COUNT_OF_CHANNEL,
    UNBEGUN_OF_CHANNEL, END_OF_CHANNEL
}

/// The texts that the ids of a channel's sessions stand between; `.` comes after `-`.
fn bounds(prefix: &str, channel: &str) -> (String, String) {
    (format!("{prefix}-{channel}-"), format!("{prefix}-{channel}."))
}

impl SqlTx {
    async fn end_of_channel(&mut self, prefix: &str, channel: &str) -> Result<Vec<SessionId>, StorageError> {
        let (from, to) = bounds(prefix, channel);
        let unbegun: Vec<SessionId> = self.conn.fetch_column(UNBEGUN_OF_CHANNEL, (&from, &to)).await?;
        let begun = self.conn.fetch_column(END_OF_CHANNEL, (&from, &to)).await?;
        Ok([unbegun, begun].concat())
    }
}

super::accessor::has!(HasLiveSessions::live_sessions -> LiveSessions);

#[async_trait]
impl LiveSessions for SqlTx {
    async fn count(&mut self, of: SessionsOf<'_>) -> Result<i64, StorageError> {
        let row = match of {
            SessionsOf::Router(router) => {
                self.conn.fetch_optional::<(i64,)>(COUNT_OF_ROUTER, (router,)).await
            }
            SessionsOf::Flow(router, flow) => {
                self.conn.fetch_optional::<(i64,)>(COUNT_OF_FLOW, (router, flow)).await
            }
            SessionsOf::WebchatChannel(channel) => {
                let (from, to) = bounds("wc", channel.as_str());
                self.conn.fetch_optional::<(i64,)>(COUNT_OF_CHANNEL, (&from, &to)).await
            }
            SessionsOf::PhoneNumber(number) => {
                let (from, to) = bounds("wa", number);
                self.conn.fetch_optional::<(i64,)>(COUNT_OF_CHANNEL, (&from, &to)).await
            }
        }?;
        Ok(row.map_or(0, |(count,)| count))
    }

    async fn count_of_agent(&mut self, router: &RouterId, agent: &AgentId) -> Result<i64, StorageError> {
        let row: Option<(i64,)> = self.conn.fetch_optional(COUNT_OF_AGENT, (router, agent)).await?;
        Ok(row.map_or(0, |(count,)| count))
    }

    async fn end(&mut self, of: SessionsOf<'_>) -> Result<Vec<SessionId>, StorageError> {
        // First the entries that froze them, then the sessions, as a replay does.
        let ended: Vec<SessionId> = match of {
            SessionsOf::Router(router) => {
                let unbegun: Vec<SessionId> = self.conn.fetch_column(UNBEGUN_OF_ROUTER, (router,)).await?;
                let begun = self.conn.fetch_column(END_OF_ROUTER, (router,)).await?;
                [unbegun, begun].concat()
            }
            SessionsOf::Flow(router, flow) => self.conn.fetch_column(END_OF_FLOW, (router, flow)).await?,
            SessionsOf::WebchatChannel(channel) => self.end_of_channel("wc", channel.as_str()).await?,
            SessionsOf::PhoneNumber(number) => self.end_of_channel("wa", number).await?,
        };
        self.conn.end_dependants(&ended).await?;
        Ok(ended)
    }
}
