//! Channels, as far as they travel with their router.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::webchat::WebchatChannel;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;
use flowsdk_core::transfer::{ChannelTransfer, HasChannelTransfer, PortableChannel};

use super::SqlTx;
use super::channel::ChannelRow;
use super::record::Record as _;
use super::statement::{RowsSql, Sql, sql};

const CHANNELS_OF: Sql = sql(concat!(
    WebchatChannel::SELECT,
    " WHERE router_id = $1 AND is_test_channel = 0 ORDER BY created_at, id"
));

static INSERT: RowsSql = RowsSql::insert::<WebchatChannel>("");

super::statement::statements! { CHANNELS_OF; INSERT }

super::accessor::has!(HasChannelTransfer::channel_transfer -> ChannelTransfer);

#[async_trait]
impl ChannelTransfer for SqlTx {
    async fn channels_of(&mut self, router: &RouterId) -> Result<Vec<PortableChannel>, StorageError> {
        let channels = self.conn.fetch_all::<WebchatChannel>(CHANNELS_OF, (router,)).await?;
        let portable = |channel: WebchatChannel| PortableChannel {
            id: channel.id,
            name: channel.name,
            appearance: channel.appearance,
            allowed_origins: channel.allowed_origins,
            initial_flow_id: channel.initial_flow_id,
            start_on: channel.start_on,
            fallback_texts: channel.fallback_texts,
            attachments: channel.attachments,
            is_closed: channel.embed_secret.is_some(),
        };
        Ok(channels.into_iter().map(portable).collect())
    }

    async fn insert_channels_of(
        &mut self,
        router: &RouterId,
        channels: &[(PortableChannel, Option<Encrypted>)],
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let channel = |(portable, embed_secret): &(PortableChannel, Option<Encrypted>)| {
            let PortableChannel {
                id,
                name,
                appearance,
                allowed_origins,
                initial_flow_id,
                start_on,
                fallback_texts,
                attachments,
                ..
            } = portable.clone();
            WebchatChannel {
                appearance,
                initial_flow_id,
                start_on,
                fallback_texts,
                attachments,
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
