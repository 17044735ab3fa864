//! SQLite in a file.

use std::sync::Arc;

use flowsdk_core::kv::KeyValue as _;
use flowsdk_core::session::HasSessions as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::testkit::{self, KeyValueUnderTest};
use flowsdk_core::time::{Clock as _, SystemClock};
use flowsdk_store::sql::{DatabaseUrl, SqlKeyValue, SqlStore};

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

#[test]
fn a_checkpoint_moves_the_log_into_the_file_and_the_next_process_sees_everything() {
    testkit::run(
        "a_checkpoint",
        || async { Some(()) },
        |()| async {
            let url = databases::new_file();
            let DatabaseUrl::SqliteFile { path, .. } = &url else { panic!("{url:?}") };
            let size = || std::fs::metadata(path).expect("a file").len();
            let first = SqlStore::connect(&url, databases::routes()).await.expect("a database");
            let before = size();
            let kv = SqlKeyValue::new(first.clone(), Arc::new(SystemClock));
            kv.set("long", &"v".repeat(100_000), None).await.expect("set");
            assert_eq!(size(), before, "it stands in the log");
            first.checkpoint().await.expect("checkpoint");
            assert!(size() > before, "{} bytes", size());
            first.ping().await.expect("pong");
            // What a reader still needs is moved later, also when nothing more is committed.
            let between = size();
            let mut reader = first.read().await.expect("a reader");
            reader.sessions().due(SystemClock.now(), None, SystemClock.now(), 1).await.expect("a snapshot");
            kv.set("longer", &"v".repeat(1_000_000), None).await.expect("set");
            first.checkpoint().await.expect("checkpoint");
            assert_eq!(size(), between);
            // Dropped, it would end at some later time.
            reader.commit().await.expect("the end");
            first.checkpoint().await.expect("checkpoint");
            assert!(size() > between, "{} bytes", size());
            let second = SqlStore::connect(&url, databases::routes()).await.expect("it is migrated already");
            let kv = SqlKeyValue::new(first.clone(), Arc::new(SystemClock));
            kv.set("k", "v", None).await.expect("set");
            let kv = SqlKeyValue::new(second.clone(), Arc::new(SystemClock));
            assert_eq!(kv.get("k").await.expect("get").as_deref(), Some("v"));
            first.close().await;
            second.close().await;
        },
    );
}

/// Other accounts of the machine must not read conversations.
#[cfg(unix)]
#[tokio::test]
async fn a_file_and_its_log_belong_to_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let url = databases::new_file();
    let DatabaseUrl::SqliteFile { path, .. } = &url else { panic!("{url:?}") };
    let store = SqlStore::connect(&url, databases::routes()).await.expect("connected");
    for ending in ["", "-wal", "-shm"] {
        let file = format!("{}{ending}", path.display());
        let mode = std::fs::metadata(&file).expect("a file beside it").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file}: {mode:o}");
    }
    store.close().await;
}
