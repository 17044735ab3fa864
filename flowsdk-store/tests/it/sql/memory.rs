//! SQLite in memory.

use std::sync::Arc;

use flowsdk_core::stream::broker::Broker;
use flowsdk_core::testkit::KeyValueUnderTest;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_store::sql::SqlStore;

use crate::support::databases;

async fn store() -> StoreUnderTest<SqlStore> {
    let store = databases::memory().await;
    let streams = super::broker(&store);
    StoreUnderTest::of_one_connection(Arc::new(store), streams)
}

async fn broker() -> Arc<dyn Broker> {
    super::broker(&databases::memory().await)
}

async fn key_values() -> KeyValueUnderTest {
    super::key_values(databases::memory().await)
}

mod rows {
    flowsdk_core::store_conformance!(super::store);
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
