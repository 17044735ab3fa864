//! Agents who may write to contacts first.

use async_trait::async_trait;
use flowsdk_channels::phone::dispatch::{DispatchAgentRepository, HasDispatchAgents};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};

use super::SqlTx;
use super::statement::{Sql, sql};

/// What the group of an agent may, they may.
const CAN_DISPATCH: Sql = sql("SELECT MAX(can) FROM (
        SELECT agent.can_active_dispatch AS can FROM agent WHERE agent.router_id = $1 AND agent.user_id = $2
        UNION ALL
        SELECT agent_group.can_active_dispatch FROM agent JOIN agent_group ON agent_group.id = agent.group_id
        WHERE agent.router_id = $1 AND agent.user_id = $2) AS said");

const IS_ACTIVE_QUEUE: Sql = sql("SELECT is_active FROM queue WHERE id = $2 AND router_id = $1");

super::statement::statements! { CAN_DISPATCH, IS_ACTIVE_QUEUE }

super::accessor::has!(HasDispatchAgents::dispatch_agents -> DispatchAgentRepository);

#[async_trait]
impl DispatchAgentRepository for SqlTx {
    async fn can_dispatch(&mut self, router: &RouterId, user: &UserId) -> Result<Option<bool>, StorageError> {
        let found = self.conn.fetch_optional::<(Option<bool>,)>(CAN_DISPATCH, (router, user)).await?;
        Ok(found.and_then(|(can,)| can))
    }

    async fn is_active_queue(&mut self, router: &RouterId, queue: &QueueId) -> Result<bool, StorageError> {
        let found = self.conn.fetch_optional::<(bool,)>(IS_ACTIVE_QUEUE, (router, queue)).await?;
        Ok(found.is_some_and(|(is_active,)| is_active))
    }
}
