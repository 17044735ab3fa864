//! API clients.

use std::sync::Arc;

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ApiClientId;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use tokio::task::JoinSet;

use super::tx::*;
use super::world::{api_client, context, hash, later, pages};
use crate::api_client::ApiClient;
use crate::permission::Permissions;

async fn insert<S: Store>(subject: &StoreUnderTest<S>, client: &ApiClient)
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    tx.api_clients().insert(client).await.expect("insert");
    tx.commit().await.expect("commit");
}

async fn find<S: Store>(subject: &StoreUnderTest<S>, id: &ApiClientId) -> Option<ApiClient>
where
    S::Tx: AuthTx,
{
    subject.store.read().await.expect("read").api_clients().find(id).await.expect("find")
}

/// A client comes back as it was stored.
pub async fn an_api_client_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let full = ApiClient {
        active: false,
        expires_at: Some(later(3)),
        last_used_at: Some(later(2)),
        updated_at: later(1),
        ..api_client(&cx, 1)
    };
    let bare = ApiClient {
        permissions: Permissions::default(),
        router_ids: Vec::new(),
        name: String::new(),
        ..api_client(&cx, 2)
    };
    for client in [full, bare] {
        assert_eq!(find(&subject, &client.id).await, None);
        insert(&subject, &client).await;
        assert_eq!(find(&subject, &client.id).await.as_ref(), Some(&client));
        let mut tx = subject.store.begin().await.expect("begin");
        let found = tx.api_clients().find_for_update(&client.id).await.expect("find");
        assert_eq!(found, Some(client));
    }
}

/// No two clients have one token.
pub async fn a_token_has_one_api_client<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let other = api_client(&cx, 2);
    insert(&subject, &api_client(&cx, 1)).await;
    insert(&subject, &other).await;
    let mut tx = subject.store.begin().await.expect("begin");
    let refused = tx.api_clients().insert(&api_client(&cx, 1)).await;
    assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
    drop(tx);
    let mut tx = subject.store.begin().await.expect("begin");
    let refused = tx.api_clients().save(&ApiClient { token_hash: hash(1), ..other }).await;
    assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
}

/// Everything else of a client is rewritten, and no other client is.
pub async fn a_saved_api_client_keeps_when_it_was_used<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let client = ApiClient { last_used_at: Some(later(1)), ..api_client(&cx, 1) };
    let other = api_client(&cx, 2);
    insert(&subject, &client).await;
    insert(&subject, &other).await;
    let changed = ApiClient {
        name: "Outro".to_owned(),
        token_hash: hash(3),
        permissions: Permissions::default(),
        router_ids: Vec::new(),
        active: false,
        expires_at: Some(later(50)),
        updated_at: later(9),
        ..client
    };
    let mut tx = subject.store.begin().await.expect("begin");
    let written = ApiClient { created_at: later(100), last_used_at: None, ..changed.clone() };
    tx.api_clients().save(&written).await.expect("save");
    tx.commit().await.expect("commit");
    for expected in [changed, other] {
        assert_eq!(find(&subject, &expected.id).await, Some(expected));
    }
}

/// Sixteen that read, change and write one client lose no change.
pub async fn writers_of_one_api_client_wait_for_each_other<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let client = ApiClient { name: String::new(), ..api_client(&context(), 1) };
    insert(&subject, &client).await;
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let (store, id) = (Arc::clone(&subject.store), client.id.clone());
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let mut client = tx.api_clients().find_for_update(&id).await.expect("find").expect("a client");
            client.name.push('x');
            tokio::task::yield_now().await;
            tx.api_clients().save(&client).await.expect("save");
            tx.commit().await.expect("commit");
        });
    }
    tasks.join_all().await;
    assert_eq!(find(&subject, &client.id).await.expect("a client").name.len(), 16);
}

/// Pages show each client once, also those of one moment, whatever comes meanwhile.
pub async fn pages_of_api_clients_are_stable_under_inserts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut expected = Vec::new();
    for n in 0..9 {
        let client = ApiClient { created_at: later(n as u64 / 4), ..api_client(&cx, n) };
        insert(&subject, &client).await;
        expected.insert(0, client);
    }
    let mut new = 100;
    let listed = pages(
        async |page| {
            let mut tx = subject.store.read().await.expect("read");
            tx.api_clients().list(&page).await.expect("list")
        },
        async || {
            new += 1;
            insert(&subject, &ApiClient { created_at: later(100), ..api_client(&cx, new) }).await;
        },
    )
    .await;
    assert_eq!(listed, expected);
}

/// A deleted client is gone, and the others are not.
pub async fn a_deleted_api_client_is_gone<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let (client, other) = (api_client(&cx, 1), api_client(&cx, 2));
    insert(&subject, &client).await;
    insert(&subject, &other).await;
    let mut tx = subject.store.begin().await.expect("begin");
    assert!(tx.api_clients().delete(&client.id).await.expect("delete"));
    assert!(!tx.api_clients().delete(&client.id).await.expect("delete"));
    tx.commit().await.expect("commit");
    assert_eq!(find(&subject, &client.id).await, None);
    assert_eq!(find(&subject, &other.id).await, Some(other));
}
