//! SQLite in a file.

use std::sync::Arc;

use flowsdk_core::stream::broker::Broker;
use flowsdk_core::testkit::KeyValueUnderTest;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_store::sql::SqlStore;

use crate::support::databases;

async fn store() -> StoreUnderTest<SqlStore> {
    super::under_test(databases::file().await)
}

async fn broker() -> Arc<dyn Broker> {
    super::broker(&databases::file().await)
}

async fn key_values() -> KeyValueUnderTest {
    super::key_values(databases::file().await)
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
