//! Webhooks of routers.

use flowsdk_webhooks::webhook::Webhook;

use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    Webhook in "webhook" {
        id, router_id, created_at;
        name, url, event_types: json, secret = secret_encrypted, previous_secret = previous_secret_encrypted,
        previous_secret_ends_at, is_active, paused_at, failing_since, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<Webhook>(&[]);

super::statement::statements! { ; TABLE }

impl RouterTable for Webhook {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}
