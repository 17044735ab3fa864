//! Agents who may write to contacts first.

use async_trait::async_trait;
use flowsdk_channels::phone::dispatch::{DispatchAgentRepository, HasDispatchAgents};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};

use super::SqlTx;
use super::statement::{Sql, sql};

const CAN_DISPATCH: Sql = sql("SELECT can_active_dispatch FROM agent WHERE router_id = $1 AND user_id = $2");

const IS_ACTIVE_QUEUE: Sql = sql("SELECT is_active FROM queue WHERE id = $2 AND router_id = $1");

super::statement::statements! { CAN_DISPATCH, IS_ACTIVE_QUEUE }

super::accessor::has!(HasDispatchAgents::dispatch_agents -> DispatchAgentRepository);

#[async_trait]
impl DispatchAgentRepository for SqlTx {
    async fn can_dispatch(&mut self, router: &RouterId, user: &UserId) -> Result<Option<bool>, StorageError> {
        Ok(self.conn.fetch_optional::<(bool,)>(CAN_DISPATCH, (router, user)).await?.map(|(can,)| can))
    }

    async fn is_active_queue(&mut self, router: &RouterId, queue: &QueueId) -> Result<bool, StorageError> {
        let found = self.conn.fetch_optional::<(bool,)>(IS_ACTIVE_QUEUE, (router, queue)).await?;
        Ok(found.is_some_and(|(is_active,)| is_active))
    }
}
