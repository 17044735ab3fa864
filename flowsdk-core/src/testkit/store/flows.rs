//! Flows, their versions and static variables.

use serde_json::json;

use super::StoreUnderTest;
use super::world::{NOW, World, flow, version};
use crate::crypto::Encrypted;
use crate::fault::StorageError;
use crate::flow::Flow;
use crate::prelude::*;
use crate::router::{StaticVariable, VariableOwner};
use crate::store::Store;
use crate::testkit::store::StoreTx;

/// A version comes back as it was published, and becomes the published one of its flow; older ones stay.
pub async fn published_versions_are_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let (flow, other) = (flow("f1", &world.router), flow("f2", &world.router));
    for flow in [&flow, &other] {
        tx.flows().insert(flow).await.expect("a flow");
    }
    let definition = json!({ "b": 1, "a": [null, 1.5, -7, "é👋\\\"\n"], "": {}, "n": i64::MAX });
    let versions = [version(&flow, 1, definition), version(&flow, 2, json!({}))];
    for version in &versions {
        tx.flows().publish(version).await.expect("publish");
        let found = tx.flows().find_many(std::slice::from_ref(&flow.id)).await.expect("find");
        let published_version_id = Some(version.id.clone());
        assert_eq!(found, [Flow { published_version_id, ..flow.clone() }]);
    }
    let ids = [versions[0].id.clone(), versions[1].id.clone(), "none".parse().expect("an id")];
    let mut found = tx.flows().find_versions(&ids).await.expect("find");
    found.sort_unstable_by_key(|version| version.number);
    assert_eq!(found, versions);
    assert_eq!(tx.flows().find_many(std::slice::from_ref(&other.id)).await.expect("find"), [other]);
    tx.commit().await.expect("commit");
}

/// A flow has one version of each number.
pub async fn a_version_number_is_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let flow = flow("f1", &world.router);
    tx.flows().insert(&flow).await.expect("a flow");
    let first = version(&flow, 1, json!({}));
    tx.flows().publish(&first).await.expect("publish");
    let second = crate::flow::FlowVersion { id: "other".parse().expect("an id"), ..first };
    let refused = tx.flows().publish(&second).await;
    assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
}

/// Static variables are those of their owners; a key that is set again has the new value.
pub async fn static_variables_are_of_their_owner<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let flow = flow("f1", &world.router);
    tx.flows().insert(&flow).await.expect("a flow");
    let of_router = VariableOwner::Router(world.router.clone());
    let of_flow = VariableOwner::Flow(flow.id.clone());
    let clear = |owner: &VariableOwner, key: &str, value: &str| StaticVariable {
        owner: owner.clone(),
        key: key.to_owned(),
        value: Some(value.to_owned()),
        encrypted: None,
    };
    let secret = StaticVariable {
        owner: of_router.clone(),
        key: "token".to_owned(),
        value: None,
        encrypted: Some(Encrypted::from_stored("ab:cd".to_owned())),
    };
    let variables = [
        clear(&of_router, "brand", "ACME"),
        clear(&of_router, "brand", "Ação 👋"),
        clear(&of_router, "token", "was clear"),
        secret,
        clear(&of_flow, "brand", ""),
    ];
    for (n, variable) in variables.iter().enumerate() {
        tx.routers().put_static_variable(&format!("v{n}"), variable, NOW).await.expect("put");
    }
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let owners = [of_router, of_flow, VariableOwner::Flow("nobody".parse().expect("an id"))];
    let mut found: Vec<_> = tx
        .routers()
        .static_variables(&owners)
        .await
        .expect("find")
        .into_iter()
        .map(|v| (v.owner == owners[0], v.key, v.value, v.encrypted.map(|e| e.as_stored().to_owned())))
        .collect();
    found.sort_unstable();
    let text = |text: &str| Some(text.to_owned());
    let expected = [
        (false, "brand".to_owned(), text(""), None),
        (true, "brand".to_owned(), text("Ação 👋"), None),
        (true, "token".to_owned(), None, text("ab:cd")),
    ];
    assert_eq!(found, expected);
    let one = tx.routers().static_variables(&owners[1..2]).await.expect("find");
    assert_eq!(one.len(), 1);
}
