//! Groups.

use std::sync::Arc;

use flowsdk_core::id::GroupId;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use tokio::task::JoinSet;

use super::tx::*;
use super::world::{SIZES, context, group, later, pages, router_id, user};
use crate::group::Group;
use crate::permission::Permissions;
use crate::user::User;

async fn insert<S: Store>(subject: &StoreUnderTest<S>, groups: &[Group])
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    for group in groups {
        tx.groups().insert(group).await.expect("insert");
    }
    tx.commit().await.expect("commit");
}

/// Of many groups those that are asked for come as they were stored, each once.
pub async fn a_group_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut groups: Vec<_> = (0..300).map(|_| group(&cx)).collect();
    groups[0].router_ids.clear();
    groups[0].permissions = Permissions::default();
    insert(&subject, &groups).await;
    let mut tx = subject.store.begin().await.expect("begin");
    for size in SIZES {
        let mut ids: Vec<_> = groups[..size].iter().map(|group| group.id.clone()).collect();
        ids.extend([groups[0].id.clone(), groups[0].id.clone(), GroupId::generate(cx.ids())]);
        let mut found = tx.groups().find_many(&ids).await.expect("find");
        found.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(found, groups[..size.max(1)]);
    }
    assert_eq!(tx.groups().find_many(&[]).await.expect("find"), []);
    let found = tx.groups().find_for_update(&groups[1].id).await.expect("find");
    assert_eq!(found.as_ref(), Some(&groups[1]));
    assert_eq!(tx.groups().find_for_update(&GroupId::generate(cx.ids())).await.expect("find"), None);
}

/// Everything else of a group is rewritten, and no other group is.
pub async fn a_saved_group_keeps_when_it_came<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let (group, other) = (group(&cx), group(&cx));
    insert(&subject, &[group.clone(), other.clone()]).await;
    let changed = Group {
        name: "Vendas".to_owned(),
        permissions: Permissions::default(),
        router_ids: vec![router_id(7)],
        updated_at: later(3),
        ..group
    };
    let mut tx = subject.store.begin().await.expect("begin");
    tx.groups().save(&Group { created_at: later(100), ..changed.clone() }).await.expect("save");
    tx.commit().await.expect("commit");
    let mut tx = subject.store.read().await.expect("read");
    for expected in [changed, other] {
        let found = tx.groups().find_many(std::slice::from_ref(&expected.id)).await.expect("find");
        assert_eq!(found, [expected]);
    }
}

/// Sixteen that read, change and write one group lose no change.
pub async fn writers_of_one_group_wait_for_each_other<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let group = Group { router_ids: Vec::new(), ..group(&context()) };
    insert(&subject, std::slice::from_ref(&group)).await;
    let mut tasks = JoinSet::new();
    for n in 0..16 {
        let (store, id) = (Arc::clone(&subject.store), group.id.clone());
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let mut group = tx.groups().find_for_update(&id).await.expect("find").expect("a group");
            group.router_ids.push(router_id(n));
            tokio::task::yield_now().await;
            tx.groups().save(&group).await.expect("save");
            tx.commit().await.expect("commit");
        });
    }
    tasks.join_all().await;
    let mut tx = subject.store.read().await.expect("read");
    let found = tx.groups().find_many(&[group.id]).await.expect("find");
    assert_eq!(found[0].router_ids.len(), 16);
}

/// Pages show each group once, also those of one moment, whatever comes meanwhile.
pub async fn pages_of_groups_are_stable_under_inserts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut groups: Vec<_> = (0..9u64).map(|n| Group { created_at: later(n / 4), ..group(&cx) }).collect();
    insert(&subject, &groups).await;
    groups.reverse();
    let listed = pages(
        async |page| {
            let mut tx = subject.store.read().await.expect("read");
            tx.groups().list(&page).await.expect("list")
        },
        async || insert(&subject, &[Group { created_at: later(100), ..group(&cx) }]).await,
    )
    .await;
    assert_eq!(listed, groups);
}

/// Users of a deleted group stay, without a group; those of another keep theirs.
pub async fn a_deleted_group_leaves_its_users<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let groups = [group(&cx), group(&cx)];
    insert(&subject, &groups).await;
    let mut tx = subject.store.begin().await.expect("begin");
    let mut users = Vec::new();
    for n in 0..6 {
        let group_id = Some(groups[n % 2].id.clone());
        let user = User { group_id, ..user(&cx, &format!("user{n}@example.com")) };
        assert!(tx.users().insert_if_absent(&user).await.expect("insert"));
        users.push(user);
    }
    assert!(tx.groups().delete(&groups[0].id).await.expect("delete"));
    assert!(!tx.groups().delete(&groups[0].id).await.expect("delete"));
    tx.commit().await.expect("commit");
    let mut tx = subject.store.read().await.expect("read");
    for (n, user) in users.into_iter().enumerate() {
        let found = tx.users().find(&user.id).await.expect("find").expect("a user");
        assert_eq!(found.group_id, user.group_id.filter(|_| n % 2 == 1));
    }
}
