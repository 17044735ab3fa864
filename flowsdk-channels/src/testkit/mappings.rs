//! Channel type mappings.

use flowsdk_core::session::Channel;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::{Samples, StoreUnderTest};

use super::{ChannelsTx, later};
use crate::type_mapping::{ChannelTypeMapping, ExternalType};

/// A mapping comes back as it was saved; a router has one of each channel, and takes them along.
pub async fn a_mapping_is_read_back_and_its_channel_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let samples = Samples {
        record: |id, router_id, number, at| ChannelTypeMapping {
            id: id.parse().expect("an id"),
            router_id: router_id.clone(),
            channel_type: [Channel::Phone, Channel::Webchat][number],
            label: "Ação 👋".to_owned(),
            external_type: ExternalType::parse("WABA").expect("a name"),
            created_at: at,
            updated_at: at,
        },
        states: |first| {
            let external_type = ExternalType::parse("outro").expect("a name");
            let label = "B".to_owned();
            vec![ChannelTypeMapping { label, external_type, updated_at: later(5), ..first.clone() }]
        },
        filter: |router| router,
        is_unique: true,
    };
    samples.are_kept(&subject).await;
}
