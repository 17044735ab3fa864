//! SQLite in memory.

use std::sync::Arc;

use flowsdk_core::kv::KeyValue as _;
use flowsdk_core::store::Store as _;
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::testkit::{self, KeyValueUnderTest};
use flowsdk_core::time::SystemClock;
use flowsdk_store::sql::{SqlKeyValue, SqlStore};
use tokio::task::JoinSet;

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

mod accounts {
    flowsdk_auth::auth_store_conformance!(super::store);
}

mod channels {
    flowsdk_channels::channel_store_conformance!(super::store);
}

mod helpdesk {
    flowsdk_helpdesk::helpdesk_store_conformance!(super::store);
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

/// A task that waits for the one connection may be gone before it gets it: the connection, and with it the
/// database, must stay.
#[test]
fn the_database_survives_those_who_give_up() {
    testkit::run("the_database_survives", databases::memory, |store: SqlStore| async move {
        let kv = SqlKeyValue::new(store.clone(), Arc::new(SystemClock));
        kv.set("k", "v", None).await.expect("set");
        for round in 0..300 {
            let mut tasks = JoinSet::new();
            for _ in 0..4 {
                let store = store.clone();
                tasks.spawn(async move { drop(store.begin().await) });
                let kv = kv.clone();
                tasks.spawn(async move { drop(kv.set("other", "v", None).await) });
            }
            for _ in 0..round % 40 {
                tokio::task::yield_now().await;
            }
            tasks.shutdown().await;
            assert_eq!(kv.get("k").await.expect("get").as_deref(), Some("v"), "round {round}");
        }
    });
}
