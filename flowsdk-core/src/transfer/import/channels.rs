//! The channels of a file, which come with a whole router only.

use std::collections::HashMap;

use serde_json::json;

use super::Import;
use crate::change::{Change, EntityKind};
use crate::crypto::Encrypted;
use crate::id::{ChannelId, FlowId};
use crate::store::{BuilderTx, Store};
use crate::transfer::{ImportedChannel, Missing, PortableChannel, TransferError, TransferFile, Transfers};

impl<S: Store> Transfers<S>
where
    S::Tx: BuilderTx,
{
    pub(super) async fn channels(
        &self,
        import: &mut Import<S::Tx>,
        file: &TransferFile,
        ids: &HashMap<String, FlowId>,
    ) -> Result<(), TransferError> {
        for (index, sent) in file.channels.iter().enumerate() {
            let channel = PortableChannel {
                id: ChannelId::generate(self.cx.ids()),
                name: sent.name.clone(),
                appearance: sent.appearance.clone(),
                allowed_origins: sent.allowed_origins.clone(),
                initial_flow_id: sent.initial_flow.as_ref().and_then(|slug| ids.get(slug)).cloned(),
                is_closed: sent.is_closed,
            };
            // What was closed stays so: nobody knows its secret until somebody makes another.
            let secret: Option<Encrypted> =
                sent.is_closed.then(|| self.master_key.encrypt(&self.cx.ids().secret(2)));
            let (router, now) = (import.router.clone(), import.now);
            import.tx.channel_transfer().insert_channel_of(&router, &channel, secret.as_ref(), now).await?;
            if sent.is_closed {
                let place = format!("channels[{index}]");
                import.report.missing.push(Missing { kind: "embedSecret", place, name: None });
            }
            let shown = json!({ "id": channel.id, "routerId": router, "name": channel.name,
                "isTestChannel": false, "appearance": channel.appearance,
                "initialFlowId": channel.initial_flow_id, "hasEmbedSecret": sent.is_closed,
                "allowedOrigins": channel.allowed_origins });
            let kind = EntityKind::WebchatChannel;
            import.note(kind, channel.id.to_string(), Change::Created(shown));
            import.report.channels.push(ImportedChannel { id: channel.id, name: channel.name });
        }
        Ok(())
    }
}
