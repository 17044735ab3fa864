//! Agents who may write to contacts first.

use async_trait::async_trait;
use flowsdk_channels::phone::dispatch::{DispatchAgentRepository, HasDispatchAgents};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, UserId};

use super::SqlTx;
use super::statement::{Sql, sql};

const CAN_DISPATCH: Sql = sql("SELECT can_active_dispatch FROM agent WHERE router_id = $1 AND user_id = $2");

super::statement::statements! { CAN_DISPATCH }

super::accessor::has!(HasDispatchAgents::dispatch_agents -> DispatchAgentRepository);

#[async_trait]
impl DispatchAgentRepository for SqlTx {
    async fn can_dispatch(&mut self, router: &RouterId, user: &UserId) -> Result<Option<bool>, StorageError> {
        Ok(self.conn.fetch_optional::<(bool,)>(CAN_DISPATCH, (router, user)).await?.map(|(can,)| can))
    }
}
