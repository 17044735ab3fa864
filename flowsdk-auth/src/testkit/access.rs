//! The permissions of principals.

use std::collections::BTreeMap;

use flowsdk_core::id::UserId;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;

use super::tx::*;
use super::world::{SIZES, api_client, context, group, hash, insert_user, later, user};
use crate::access::{ApiClientAccess, Grant, UserAccess};
use crate::api_client::ApiClient;
use crate::group::Group;
use crate::permission::{Permissions, RouterScope};
use crate::user::{User, UserRole};

fn grant(permissions: Permissions, router_ids: &[flowsdk_core::id::RouterId]) -> Grant {
    Grant { permissions, scope: RouterScope::of(router_ids.to_vec()) }
}

/// The requested users among many come, each once, with the grant of their group.
pub async fn users_come_with_their_grants<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let groups = [
        group(&cx),
        Group { router_ids: Vec::new(), ..group(&cx) },
        Group { permissions: Permissions::default(), ..group(&cx) },
    ];
    let mut tx = subject.store.begin().await.expect("begin");
    for group in &groups {
        tx.groups().insert(group).await.expect("a group");
    }
    let (mut ids, mut expected) = (Vec::new(), Vec::new());
    for n in 0..300usize {
        let group = groups.get(n % 4);
        let user = User {
            name: format!("Usuário {n}"),
            role: if n % 5 == 0 { UserRole::Admin } else { UserRole::Member },
            group_id: group.map(|group| group.id.clone()),
            logged_out_at: (n % 3 == 0).then(|| later(n as u64)),
            ..user(&cx, &format!("user{n}@example.com"))
        };
        assert!(tx.users().insert_if_absent(&user).await.expect("insert"));
        ids.push(user.id.clone());
        expected.push(UserAccess {
            id: user.id,
            name: user.name,
            role: user.role,
            logged_out_at: user.logged_out_at,
            grant: group.map(|group| grant(group.permissions, &group.router_ids)),
        });
    }
    tx.commit().await.expect("commit");
    let mut tx = subject.store.read().await.expect("read");
    for size in SIZES {
        let mut asked = ids[..size].to_vec();
        asked.extend([ids[0].clone(), UserId::generate(cx.ids())]);
        let mut found = tx.access().users(&asked).await.expect("find");
        found.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(found, expected[..size.max(1)]);
    }
    assert_eq!(tx.access().users(&[]).await.expect("find"), []);
}

/// The API clients of the requested tokens come, each once, with their grant.
pub async fn api_clients_come_with_their_grants<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut expected = Vec::new();
    let mut tx = subject.store.begin().await.expect("begin");
    for n in 0..300 {
        let mut client = api_client(&cx, n);
        client.active = n % 2 == 0;
        client.expires_at = (n % 3 == 0).then(|| later(1));
        client.last_used_at = (n % 4 == 0).then(|| later(2));
        if n % 5 == 0 {
            client.router_ids.clear();
        }
        tx.api_clients().insert(&client).await.expect("insert");
        let grant = grant(client.permissions, &client.router_ids);
        let ApiClient { id, name, token_hash, active, expires_at, last_used_at, .. } = client;
        let access = ApiClientAccess { id, name, active, expires_at, last_used_at, grant };
        expected.push((token_hash, access));
    }
    tx.commit().await.expect("commit");
    let mut tx = subject.store.read().await.expect("read");
    for size in SIZES {
        let mut asked: Vec<_> = (0..size).map(hash).collect();
        asked.extend([hash(0), hash(100_000)]);
        let mut found = tx.access().api_clients(&asked).await.expect("find");
        found.sort_unstable_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
        assert_eq!(found, expected[..size.max(1)]);
    }
    assert_eq!(tx.access().api_clients(&[]).await.expect("find"), []);
}

/// Of several moments the latest counts, also of one batch; unknown clients do no harm.
pub async fn the_last_use_never_goes_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let clients: Vec<_> = (0..300).map(|n| api_client(&cx, n)).collect();
    let mut tx = subject.store.begin().await.expect("begin");
    for client in &clients {
        tx.api_clients().insert(client).await.expect("insert");
    }
    let mut latest = BTreeMap::new();
    for (round, size) in SIZES.into_iter().enumerate() {
        // Later rounds go back in time for every other client.
        let at = |n: usize| later(if n.is_multiple_of(2) { 100 - round } else { 100 + round } as u64);
        let mut used: Vec<_> = (0..size).map(|n| (clients[n].id.clone(), at(n))).collect();
        used.push(("nobody".parse().expect("an id"), later(1)));
        if size > 0 {
            used.push((clients[0].id.clone(), later(3)));
            used.insert(0, (clients[0].id.clone(), later(2)));
        }
        tx.access().touch_api_clients(&used).await.expect("touch");
        for n in 0..size {
            let known = latest.entry(n).or_insert(at(n));
            *known = (*known).max(at(n));
        }
    }
    tx.access().touch_api_clients(&[]).await.expect("touch nobody");
    for (n, client) in clients.iter().enumerate() {
        let found = tx.api_clients().find(&client.id).await.expect("find").expect("a client");
        assert_eq!(found, ApiClient { last_used_at: latest.get(&n).copied(), ..client.clone() });
    }
}

/// A user who is not an agent of any router has no schedule.
pub async fn who_is_no_agent_has_no_schedule<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let ana = user(&cx, "ana@example.com");
    insert_user(&subject, &ana).await;
    let mut tx = subject.store.read().await.expect("read");
    assert_eq!(tx.login_schedules().of_user(&ana.id).await.expect("schedules"), []);
    assert_eq!(tx.login_schedules().of_user(&UserId::generate(cx.ids())).await.expect("schedules"), []);
}
