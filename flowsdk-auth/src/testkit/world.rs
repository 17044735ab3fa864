//! The records that the cases use.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::{ApiClientId, Cuids, GroupId, RouterId, UserDeviceId, UserId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::{ManualClock, Timestamp};

use super::tx::*;
use crate::api_client::{ApiClient, TokenHash};
use crate::device::UserDevice;
use crate::group::Group;
use crate::permission::{Action, Permission, Permissions, Resource};
use crate::user::{Email, User, UserRole};

pub(super) const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);
/// Sizes of batches around those into which an adapter may cut a list.
pub(super) const SIZES: [usize; 9] = [0, 1, 2, 7, 64, 127, 128, 129, 300];
/// A text that people may type.
pub(super) const HOSTILE: &str = "João 👋🏽 'O\"Neil\\'; --%_\n\t";

pub(super) fn context() -> OpContext {
    let clock = ManualClock::at(NOW.as_millis());
    OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock)))
}

pub(super) fn later(millis: u64) -> Timestamp {
    NOW + Duration::from_millis(millis)
}

pub(super) fn router_id(n: usize) -> RouterId {
    RouterId::parse(format!("router{n}")).expect("an id")
}

pub(super) fn permissions() -> Permissions {
    let entry = |resource, actions: &[Action]| Permission { resource, actions: actions.to_vec() };
    vec![entry(Resource::Flows, &[Action::Read, Action::Write]), entry(Resource::AuditLogs, &[Action::Read])]
        .into()
}

pub(super) fn user(cx: &OpContext, email: &str) -> User {
    User {
        id: UserId::generate(cx.ids()),
        name: HOSTILE.to_owned(),
        email: Email::parse(email).expect("an address"),
        phone: "+5511999".to_owned(),
        password_hash: "$2b$08$hash".to_owned(),
        role: UserRole::Member,
        group_id: None,
        logged_out_at: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(super) fn group(cx: &OpContext) -> Group {
    Group {
        id: GroupId::generate(cx.ids()),
        name: HOSTILE.to_owned(),
        permissions: permissions(),
        router_ids: vec![router_id(2), router_id(1)],
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(super) fn hash(n: usize) -> TokenHash {
    TokenHash::from_stored(format!("{n:064x}"))
}

pub(super) fn api_client(cx: &OpContext, n: usize) -> ApiClient {
    ApiClient {
        id: ApiClientId::generate(cx.ids()),
        name: HOSTILE.to_owned(),
        token_hash: hash(n),
        permissions: permissions(),
        router_ids: vec![router_id(1)],
        active: true,
        expires_at: None,
        last_used_at: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(super) fn device(cx: &OpContext, user: &UserId, token: &str) -> UserDevice {
    UserDevice {
        id: UserDeviceId::generate(cx.ids()),
        user_id: user.clone(),
        token: token.to_owned(),
        platform: "web".to_owned(),
        created_at: NOW,
        updated_at: NOW,
    }
}

/// Stores a user.
pub(super) async fn insert_user<S: Store>(subject: &StoreUnderTest<S>, user: &User)
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    assert!(tx.users().insert_if_absent(user).await.expect("insert"));
    tx.commit().await.expect("commit");
}

/// Reads a list to its end, in pages of two; `grow` adds newer rows between one page and the next.
pub(super) async fn pages<T>(
    mut read: impl AsyncFnMut(PageRequest) -> Page<T>,
    mut grow: impl AsyncFnMut(),
) -> Vec<T> {
    let (mut items, mut after) = (Vec::new(), None);
    loop {
        let page = read(PageRequest { limit: 2, after }).await;
        let full = page.items.len() == 2;
        items.extend(page.items);
        grow().await;
        after = page.next;
        if after.is_none() {
            return items;
        }
        assert!(full, "only the last page has room");
    }
}
