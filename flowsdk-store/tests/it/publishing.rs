//! Publishing while others write the same draft.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use flowsdk_channels::webchat::channels::{WebchatChannelError, WebchatChannels};
use flowsdk_core::admin::flow::{FlowError, Flows};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{Flow, FlowDraft, HasFlowCatalog as _, HasFlows as _};
use flowsdk_core::id::FlowId;
use flowsdk_core::router::{HasRouters as _, Reach, Router};
use flowsdk_core::store::{Records, Store, Transaction as _};
use flowsdk_store::sql::{SqlStore, SqlTx};
use serde_json::{Value, json};

use crate::support::databases::on_every_database;

on_every_database! {
    what_was_written_while_it_was_checked_is_checked_too,
    a_draft_that_never_stands_still_is_a_conflict,
    a_draft_is_checked_while_no_writer_waits,
}

/// More than anybody tries.
const FOR_EVER: u32 = 100;

/// A store in which somebody else writes the draft between the reading of it and the first `races` transactions
/// that may write.
#[derive(Debug)]
struct Racing {
    store: SqlStore,
    flow: FlowId,
    races: u32,
    begun: AtomicU32,
}

#[async_trait]
impl Store for Racing {
    type Tx = SqlTx;

    async fn begin(&self) -> Result<SqlTx, StorageError> {
        let begun = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        assert!(begun < FOR_EVER, "it never ends");
        if begun <= self.races {
            write(&self.store, &self.flow, i64::from(begun) + 1, definition(&begun.to_string())).await;
        }
        self.store.begin().await
    }

    async fn read(&self) -> Result<SqlTx, StorageError> {
        self.store.read().await
    }

    fn generation(&self, of: Records) -> Option<u64> {
        self.store.generation(of)
    }
}

fn definition(block: &str) -> Value {
    json!({ "schemaVersion": 1, "startBlockId": block,
        "blocks": [{ "id": block, "type": "content", "defaultOutput": { "end": true } }] })
}

async fn write(store: &SqlStore, flow: &FlowId, revision: i64, definition: Value) {
    let draft = FlowDraft { revision, definition: definition.into(), updated_at: OpContext::system().now() };
    let mut tx = store.begin().await.expect("begin");
    tx.flow_catalog().put_draft(flow, &draft).await.expect("a draft");
    tx.commit().await.expect("commit");
}

/// A flow whose draft, at revision 1, is `draft`, and whose store races so often.
async fn racing(store: SqlStore, draft: Value, races: u32) -> Arc<Racing> {
    let cx = OpContext::system();
    let router = Router::new("router1".parse().expect("an id"), "R", cx.now());
    let flow = Flow::new("flow1".parse().expect("an id"), router.id.clone(), "F", cx.now());
    let mut tx = store.begin().await.expect("begin");
    tx.routers().insert(&router).await.expect("a router");
    tx.flows().insert(&flow).await.expect("a flow");
    tx.commit().await.expect("commit");
    write(&store, &flow.id, 1, draft).await;
    Arc::new(Racing { store, flow: flow.id, races, begun: AtomicU32::new(0) })
}

fn author() -> Author {
    Author { id: "ana".to_owned(), ip: "10.0.0.1".to_owned(), user_agent: None }
}

fn flows(store: &Arc<Racing>) -> Flows<Racing> {
    Flows::new(Arc::clone(store), OpContext::system(), Arc::new(NoChangeLog))
}

fn channels(store: &Arc<Racing>) -> WebchatChannels<Racing> {
    let key = Arc::new(MasterKey::new(&"0".repeat(32)).expect("a key"));
    WebchatChannels::new(Arc::clone(store), OpContext::system(), key, Arc::new(NoChangeLog))
}

async fn what_was_written_while_it_was_checked_is_checked_too(store: SqlStore) {
    let racing = racing(store, definition("first"), 1).await;
    let (version, _) =
        flows(&racing).publish(&author(), Reach::ALL, &racing.flow, None).await.expect("published");
    assert_eq!((version.number, version.definition), (1, definition("1").into()));
    let racing = Arc::new(Racing {
        store: racing.store.clone(),
        flow: racing.flow.clone(),
        races: 1,
        begun: AtomicU32::new(0),
    });
    write(&racing.store, &racing.flow, 1, definition("first")).await;
    let tested =
        channels(&racing).publish_test(&author(), Reach::ALL, &racing.flow, None).await.expect("published");
    assert_eq!(tested.revision, 2);
}

async fn a_draft_that_never_stands_still_is_a_conflict(store: SqlStore) {
    let racing = racing(store, definition("first"), FOR_EVER).await;
    let published = flows(&racing).publish(&author(), Reach::ALL, &racing.flow, None).await;
    assert!(matches!(published, Err(FlowError::StaleRevision { .. })), "{published:?}");
    let begun = racing.begun.load(Ordering::SeqCst);
    let named = flows(&racing).publish(&author(), Reach::ALL, &racing.flow, Some(i64::from(begun) + 1)).await;
    assert!(matches!(named, Err(FlowError::StaleRevision { .. })), "{named:?}");
    assert_eq!(racing.begun.load(Ordering::SeqCst), begun + 1, "who names a revision has no other published");
    let tested = channels(&racing).publish_test(&author(), Reach::ALL, &racing.flow, None).await;
    let stale = |error: &WebchatChannelError| {
        matches!(error, WebchatChannelError::Flow(FlowError::StaleRevision { .. }))
    };
    assert!(tested.as_ref().is_err_and(stale), "{tested:?}");
}

async fn a_draft_is_checked_while_no_writer_waits(store: SqlStore) {
    let racing = racing(store, json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [] }), 0).await;
    let published = flows(&racing).publish(&author(), Reach::ALL, &racing.flow, None).await;
    assert!(matches!(published, Err(FlowError::Invalid(_))), "{published:?}");
    let tested = channels(&racing).publish_test(&author(), Reach::ALL, &racing.flow, None).await;
    let invalid =
        |error: &WebchatChannelError| matches!(error, WebchatChannelError::Flow(FlowError::Invalid(_)));
    assert!(tested.as_ref().is_err_and(invalid), "{tested:?}");
    assert_eq!(racing.begun.load(Ordering::SeqCst), 0, "no transaction that may write");
}
