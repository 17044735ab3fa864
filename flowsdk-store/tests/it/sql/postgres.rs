//! Postgres.

use std::sync::Arc;

use flowsdk_core::stream::broker::Broker;
use flowsdk_core::testkit::KeyValueUnderTest;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_store::sql::SqlStore;

use crate::support::databases;

async fn store() -> Option<StoreUnderTest<SqlStore>> {
    Some(super::under_test(databases::postgres().await?))
}

async fn broker() -> Option<Arc<dyn Broker>> {
    Some(super::broker(&databases::postgres().await?))
}

async fn key_values() -> Option<KeyValueUnderTest> {
    Some(super::key_values(databases::postgres().await?))
}

mod rows {
    flowsdk_core::store_conformance!(super::store);
}

mod accounts {
    flowsdk_auth::auth_store_conformance!(super::store);
}

mod channels {
    flowsdk_channels::channel_store_conformance!(super::store);
}

mod streams {
    flowsdk_core::broker_conformance!(super::broker);
}

mod keys {
    flowsdk_core::key_value_conformance!(super::key_values);
}

mod leases {
    flowsdk_core::lease_conformance!(super::key_values);
}
