//! The channels of a file, which come with a whole router only.

use std::collections::HashMap;

use serde_json::json;

use super::Import;
use crate::change::{Change, EntityKind};
use crate::crypto::Encrypted;
use crate::id::{ChannelId, FlowId};
use crate::store::Store;
use crate::transfer::{
    HasChannelTransfer as _, ImportedChannel, Missing, PortableChannel, TransferError, TransferFile,
    TransferTx, Transfers,
};

impl<S: Store> Transfers<S>
where
    S::Tx: TransferTx,
{
    pub(super) async fn channels(
        &self,
        import: &mut Import<'_, S::Tx>,
        file: &TransferFile,
        ids: &HashMap<String, FlowId>,
    ) -> Result<(), TransferError> {
        let (router, now) = (import.router.clone(), import.now);
        let mut channels = Vec::with_capacity(file.channels.len());
        for (index, sent) in file.channels.iter().enumerate() {
            let channel = PortableChannel {
                id: ChannelId::generate(self.cx.ids()),
                name: sent.name.clone(),
                appearance: sent.appearance.clone(),
                allowed_origins: sent.allowed_origins.clone(),
                initial_flow_id: sent.initial_flow.as_ref().and_then(|slug| ids.get(slug)).cloned(),
                start_on: sent.start_on,
                fallback_texts: sent.fallback_texts.clone(),
                attachments: sent.attachments.clone(),
                is_closed: sent.is_closed,
            };
            // A closed channel stays closed: nobody knows its secret until somebody makes another.
            let secret: Option<Encrypted> =
                sent.is_closed.then(|| self.master_key.encrypt(&self.cx.ids().secret(2)));
            if sent.is_closed {
                let place = format!("channels[{index}]");
                import.report.missing.push(Missing {
                    kind: "embedSecret",
                    place,
                    name: None,
                    id: channel.id.to_string(),
                });
            }
            let shown = json!({ "id": channel.id, "routerId": router, "name": channel.name,
                "isTestChannel": false, "appearance": channel.appearance,
                "initialFlowId": channel.initial_flow_id, "startOn": channel.start_on,
                "fallbackTexts": channel.fallback_texts, "attachments": channel.attachments, "hasEmbedSecret": sent.is_closed,
                "allowedOrigins": channel.allowed_origins });
            let kind = EntityKind::WebchatChannel;
            import.note(kind, channel.id.to_string(), Change::Created(shown));
            let (id, name) = (channel.id.clone(), channel.name.clone());
            import.report.channels.push(ImportedChannel { id, name });
            channels.push((channel, secret));
        }
        Ok(import.tx.channel_transfer().insert_channels_of(&router, &channels, now).await?)
    }
}
