//! Postgres.

use std::sync::Arc;

use flowsdk_core::contact::{Contact, HasContactCatalog as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::prelude::*;
use flowsdk_core::router::Router;
use flowsdk_core::session::Channel;
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::testkit::KeyValueUnderTest;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::{Clock as _, SystemClock};
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};

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

/// A server has room for some thousands of locks by default; rows that are claimed take none of it.
#[tokio::test]
async fn an_import_of_contacts_takes_few_locks() {
    let Some((DatabaseUrl::Postgres(options), name)) = databases::new_postgres().await else { return };
    let pool =
        sqlx::postgres::PgPoolOptions::new().max_connections(2).connect_with(*options).await.expect("a pool");
    databases::connected(name);
    let store = SqlStore::on_pool(pool.clone(), OutboxRoutes::embedded([])).await.expect("a store");
    let cx = OpContext::system();
    // Each of them has another form.
    let contacts: Vec<Contact> = (0..10_000)
        .map(|nth| format!("55119{:08}", 80_000_000 + nth))
        .map(|number| Contact::create(&cx, number.clone(), number, Channel::Phone))
        .collect();
    let mut tx = store.begin().await.expect("begin");
    let created = tx.contact_catalog().insert_new(&contacts).await.expect("insert");
    assert_eq!(created.len(), contacts.len());
    let held: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM pg_locks").fetch_one(&pool).await.expect("a count");
    assert!(held < 1_000, "{held}");
    tx.commit().await.expect("commit");
    let claims: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM number_claim").fetch_one(&pool).await.expect("a count");
    assert_eq!(claims, 0);
}

/// A store works on the connections of the embedder.
#[tokio::test]
async fn a_pool_of_the_embedder_is_used() {
    let Some((DatabaseUrl::Postgres(options), name)) = databases::new_postgres().await else { return };
    let pool =
        sqlx::postgres::PgPoolOptions::new().max_connections(2).connect_with(*options).await.expect("a pool");
    databases::connected(name);
    let store = SqlStore::on_pool(pool.clone(), OutboxRoutes::embedded([])).await.expect("a store");
    let router = Router::new("r1".parse().expect("an id"), "Shop", SystemClock.now());
    let mut tx = store.begin().await.expect("begin");
    tx.routers().insert(&router).await.expect("insert");
    tx.commit().await.expect("commit");
    let found = store
        .read()
        .await
        .expect("read")
        .routers()
        .find_many(std::slice::from_ref(&router.id))
        .await
        .expect("find");
    assert_eq!(found, [router]);
    assert!(pool.size() > 0 && !pool.is_closed());
}
