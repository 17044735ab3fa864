//! Devices.

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;

use super::tx::*;
use super::world::{HOSTILE, NOW, context, device, insert_user, later, pages, user};
use crate::device::UserDevice;

/// Two users.
async fn users<S: Store>(subject: &StoreUnderTest<S>) -> [UserId; 2]
where
    S::Tx: AuthTx,
{
    let cx = context();
    let users = [user(&cx, "ana@example.com"), user(&cx, "bia@example.com")];
    for user in &users {
        insert_user(subject, user).await;
    }
    users.map(|user| user.id)
}

async fn put<S: Store>(subject: &StoreUnderTest<S>, device: &UserDevice) -> UserDevice
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    let stored = tx.user_devices().put(device).await.expect("put");
    tx.commit().await.expect("commit");
    stored
}

/// A device comes back as it was stored, changes and goes, for its own user only.
pub async fn a_device_is_its_users_alone<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let [ana, bia] = users(&subject).await;
    let new = UserDevice { platform: HOSTILE.to_owned(), ..device(&cx, &ana, HOSTILE) };
    assert_eq!(put(&subject, &new).await, new);
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.user_devices().find(&ana, &new.id).await.expect("find").as_ref(), Some(&new));
    assert_eq!(tx.user_devices().find(&bia, &new.id).await.expect("find"), None);
    assert_eq!(tx.user_devices().list(&bia, &PageRequest::default()).await.expect("list").items, []);
    let changed = UserDevice {
        token: "t2".to_owned(),
        platform: "ios".to_owned(),
        updated_at: later(5),
        ..new.clone()
    };
    let foreign = UserDevice { user_id: bia.clone(), token: "t3".to_owned(), ..changed.clone() };
    tx.user_devices().save(&foreign).await.expect("save");
    tx.user_devices().save(&UserDevice { created_at: later(100), ..changed.clone() }).await.expect("save");
    assert_eq!(tx.user_devices().find(&ana, &new.id).await.expect("find"), Some(changed));
    assert!(!tx.user_devices().delete(&bia, &new.id).await.expect("delete"));
    assert!(tx.user_devices().delete(&ana, &new.id).await.expect("delete"));
    assert!(!tx.user_devices().delete(&ana, &new.id).await.expect("delete"));
}

/// A token that comes again keeps its device, which then is of the user who brought it.
pub async fn a_device_changes_hands<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let [ana, bia] = users(&subject).await;
    let first = put(&subject, &device(&cx, &ana, "t")).await;
    let second = UserDevice {
        platform: "android".to_owned(),
        created_at: later(7),
        updated_at: later(7),
        ..device(&cx, &bia, "t")
    };
    let expected = UserDevice { id: first.id.clone(), created_at: NOW, ..second.clone() };
    assert_eq!(put(&subject, &second).await, expected);
    let mut tx = subject.store.read().await.expect("read");
    assert_eq!(tx.user_devices().find(&ana, &first.id).await.expect("find"), None);
    assert_eq!(tx.user_devices().find(&bia, &first.id).await.expect("find"), Some(expected));
}

/// A device cannot get the token of another.
pub async fn a_taken_device_token_is_refused<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let [ana, bia] = users(&subject).await;
    put(&subject, &device(&cx, &ana, "t1")).await;
    let other = put(&subject, &device(&cx, &bia, "t2")).await;
    let mut tx = subject.store.begin().await.expect("begin");
    let refused = tx.user_devices().save(&UserDevice { token: "t1".to_owned(), ..other }).await;
    assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
}

/// Pages show each device of the user once, also those of one moment, whatever comes meanwhile.
pub async fn pages_of_devices_are_stable_under_inserts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let [ana, bia] = users(&subject).await;
    let mut expected = Vec::new();
    for n in 0..9u64 {
        let new = UserDevice { created_at: later(n / 4), ..device(&cx, &ana, &format!("t{n}")) };
        expected.insert(0, put(&subject, &new).await);
        put(&subject, &device(&cx, &bia, &format!("u{n}"))).await;
    }
    let mut new = 0;
    let listed = pages(
        async |page| {
            let mut tx = subject.store.read().await.expect("read");
            tx.user_devices().list(&ana, &page).await.expect("list")
        },
        async || {
            new += 1;
            let new = UserDevice { created_at: later(100), ..device(&cx, &ana, &format!("new{new}")) };
            put(&subject, &new).await;
        },
    )
    .await;
    assert_eq!(listed, expected);
}
