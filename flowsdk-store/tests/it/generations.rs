//! Whether what was read still holds ([`Store::generation`]).

use std::sync::Arc;

use flowsdk_auth::group::{Group, HasGroups as _};
use flowsdk_auth::permission::Permissions;
use flowsdk_core::context::OpContext;
use flowsdk_core::id::{GroupId, RouterId};
use flowsdk_core::kv::KeyValue as _;
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::store::{Records, Store as _, Transaction as _};
use flowsdk_store::sql::{SqlKeyValue, SqlStore};

use crate::support::databases::on_every_database;

on_every_database! {
    a_generation_lasts_until_a_commit_that_concerns_it,
}

/// Commits, without the second that passes meanwhile. `None` on Postgres, where others write too.
fn commits(store: &SqlStore) -> Option<(u64, u64)> {
    Some((store.generation(Records::Access)? >> 32, store.generation(Records::Routers)? >> 32))
}

fn group(cx: &OpContext) -> Group {
    Group {
        id: GroupId::generate(cx.ids()),
        name: "Suporte".to_owned(),
        permissions: Permissions::default(),
        router_ids: Vec::new(),
        created_at: cx.now(),
        updated_at: cx.now(),
    }
}

async fn a_generation_lasts_until_a_commit_that_concerns_it(store: SqlStore) {
    let cx = OpContext::system();
    let Some((access, routers)) = commits(&store) else {
        return;
    };
    let kv = SqlKeyValue::new(store.clone(), cx.clock());
    kv.set("a", "b", None).await.expect("set");
    assert_eq!(commits(&store), Some((access, routers)), "another table");

    let mut tx = store.begin().await.expect("begin");
    let mut group = group(&cx);
    tx.groups().insert(&group).await.expect("insert");
    assert_eq!(commits(&store), Some((access, routers)), "not before the commit");
    tx.commit().await.expect("commit");
    assert_eq!(commits(&store), Some((access + 1, routers)));

    let mut tx = store.begin().await.expect("begin");
    group.name = "Vendas".to_owned();
    tx.groups().save(&group).await.expect("save");
    let router = Router::new(RouterId::generate(cx.ids()), "Loja", cx.now());
    tx.routers().insert(&router).await.expect("insert");
    tx.commit().await.expect("commit");
    assert_eq!(commits(&store), Some((access + 2, routers + 1)));

    let mut tx = store.begin().await.expect("begin");
    tx.groups().delete(&group.id).await.expect("delete");
    tx.commit().await.expect("commit");
    assert_eq!(commits(&store), Some((access + 3, routers + 1)));

    // Clones of a store are one database.
    let other = Arc::new(store.clone());
    let mut tx = other.begin().await.expect("begin");
    tx.routers().set_initial_flow(&router.id, None).await.expect("set");
    tx.commit().await.expect("commit");
    assert_eq!(commits(&store), Some((access + 3, routers + 2)));
}
