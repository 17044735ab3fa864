//! The conformance suites on the database adapters.

mod file;
mod memory;
mod postgres;

use std::sync::Arc;

use flowsdk_core::stream::broker::Broker;
use flowsdk_core::testkit::KeyValueUnderTest;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::ManualClock;
use flowsdk_store::sql::{SqlBroker, SqlKeyValue, SqlStore};

fn broker(store: &SqlStore) -> Arc<dyn Broker> {
    Arc::new(SqlBroker::new(store.clone()))
}

fn under_test(store: SqlStore) -> StoreUnderTest<SqlStore> {
    let streams = broker(&store);
    StoreUnderTest::new(Arc::new(store), streams)
}

fn key_values(store: SqlStore) -> KeyValueUnderTest {
    let clock = ManualClock::at(1_795_085_820_050);
    KeyValueUnderTest::manual(Arc::new(SqlKeyValue::new(store, Arc::new(clock.clone()))), clock)
}
