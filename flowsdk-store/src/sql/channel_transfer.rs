//! Channels, as far as they travel with their router.

use async_trait::async_trait;
use flowsdk_channels::webchat::WebchatChannel;
use flowsdk_core::cell::Json;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, FlowId, RouterId};
use flowsdk_core::time::Timestamp;
use flowsdk_core::transfer::{ChannelTransfer, HasChannelTransfer, PortableChannel};
use serde_json::Value;

use super::SqlTx;
use super::channel::ChannelRow;
use super::statement::{RowsSql, Sql, sql};

const CHANNELS_OF: Sql =
    sql("SELECT id, name, appearance, allowed_origins, initial_flow_id, embed_secret_encrypted
     FROM webchat_channel WHERE router_id = $1 AND is_test_channel = 0 ORDER BY created_at, id");

static INSERT: RowsSql = RowsSql::insert::<WebchatChannel>("");

super::statement::statements! { CHANNELS_OF; INSERT }

super::accessor::has!(HasChannelTransfer::channel_transfer -> ChannelTransfer);

#[async_trait]
impl ChannelTransfer for SqlTx {
    async fn channels_of(&mut self, router: &RouterId) -> Result<Vec<PortableChannel>, StorageError> {
        type Row = (
            ChannelId,
            String,
            Option<Json<Value>>,
            Option<Json<Vec<String>>>,
            Option<FlowId>,
            Option<Encrypted>,
        );
        let rows = self.conn.fetch_all::<Row>(CHANNELS_OF, (router,)).await?;
        Ok(rows
            .into_iter()
            .map(|(id, name, appearance, origins, initial_flow_id, secret)| PortableChannel {
                id,
                name,
                appearance: appearance.map(|Json(value)| value),
                allowed_origins: origins.map(|Json(list)| list),
                initial_flow_id,
                is_closed: secret.is_some(),
            })
            .collect())
    }

    async fn insert_channels_of(
        &mut self,
        router: &RouterId,
        channels: &[(PortableChannel, Option<Encrypted>)],
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let channel = |(portable, embed_secret): &(PortableChannel, Option<Encrypted>)| {
            let PortableChannel { id, name, appearance, allowed_origins, initial_flow_id, .. } =
                portable.clone();
            WebchatChannel {
                appearance,
                initial_flow_id,
                embed_secret: embed_secret.clone(),
                allowed_origins,
                ..WebchatChannel::new(id, router.clone(), name, now)
            }
        };
        let channels: Vec<WebchatChannel> = channels.iter().map(channel).collect();
        self.conn.insert_rows(&INSERT, &channels).await?;
        let channels: Vec<ChannelRow> = channels.iter().map(ChannelRow::from).collect();
        self.conn.insert_channels(&channels).await
    }
}
