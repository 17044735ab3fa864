//! Channel type mappings.

use flowsdk_channels::type_mapping::ChannelTypeMapping;

use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    ChannelTypeMapping in "channel_type_mapping" {
        id, router_id, channel_type, created_at;
        label, external_type, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<ChannelTypeMapping>(&[]);

super::statement::statements! { ; TABLE }

impl RouterTable for ChannelTypeMapping {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}
