//! Users.

use std::collections::BTreeSet;
use std::sync::Arc;

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{PasswordRecoveryId, UserId};
use flowsdk_core::page::PageRequest;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::Timestamp;
use tokio::task::JoinSet;

use super::tx::*;
use super::world::{NOW, context, device, group, insert_user, later, pages, user};
use crate::recovery::PasswordRecovery;
use crate::user::{Email, User, UserFilter, UserRole};

/// Everything of a user, to compare.
fn whole(user: &User) -> String {
    let User { id, name, email, phone, password_hash, role, group_id, logged_out_at, created_at, updated_at } =
        user;
    format!(
        "{id} {name:?} {email} {phone:?} {password_hash} {role:?} {group_id:?} {logged_out_at:?} {created_at} {updated_at}"
    )
}

async fn find<S: Store>(subject: &StoreUnderTest<S>, id: &UserId) -> Option<User>
where
    S::Tx: AuthTx,
{
    subject.store.read().await.expect("read").users().find(id).await.expect("find")
}

/// A user comes back as they were stored, by id and by address.
pub async fn a_user_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let group = group(&cx);
    let mut tx = subject.store.begin().await.expect("begin");
    tx.groups().insert(&group).await.expect("a group");
    tx.commit().await.expect("commit");
    let member = User {
        group_id: Some(group.id.clone()),
        logged_out_at: Some(later(5)),
        updated_at: later(9),
        ..user(&cx, "Ana@Example.com")
    };
    let admin = User { role: UserRole::Admin, phone: String::new(), ..user(&cx, "bia@example.com") };
    for user in [member, admin] {
        assert!(find(&subject, &user.id).await.is_none());
        insert_user(&subject, &user).await;
        let mut tx = subject.store.begin().await.expect("begin");
        let address = Email::parse(user.email.as_str().to_uppercase()).expect("an address");
        for found in [
            tx.users().find(&user.id).await,
            tx.users().find_for_update(&user.id).await,
            tx.users().find_by_email(&address).await,
        ] {
            assert_eq!(whole(&found.expect("find").expect("a user")), whole(&user));
        }
    }
    let mut tx = subject.store.begin().await.expect("begin");
    let nobody = UserId::generate(cx.ids());
    assert!(tx.users().find_for_update(&nobody).await.expect("find").is_none());
    let address = Email::parse("nobody@example.com").expect("an address");
    assert!(tx.users().find_by_email(&address).await.expect("find").is_none());
}

/// Of sixteen that create a user with one address at once one does, and the others are listed.
pub async fn an_address_has_one_user<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let (store, user) = (Arc::clone(&subject.store), user(&cx, "ana@example.com"));
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let inserted = tx.users().insert_if_absent(&user).await.expect("insert");
            tx.commit().await.expect("commit");
            inserted.then_some(user.id)
        });
    }
    let inserted: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(inserted.len(), 1);
    assert!(find(&subject, &inserted[0]).await.is_some());
}

/// A user cannot get the address of another.
pub async fn a_taken_address_is_refused<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let (ana, bia) = (user(&cx, "ana@example.com"), user(&cx, "bia@example.com"));
    insert_user(&subject, &ana).await;
    insert_user(&subject, &bia).await;
    let mut tx = subject.store.begin().await.expect("begin");
    let refused = tx.users().save(&User { email: ana.email.clone(), ..bia.clone() }).await;
    assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
    drop(tx);
    assert_eq!(whole(&find(&subject, &bia.id).await.expect("a user")), whole(&bia));
}

/// Everything else of a user is rewritten, and no other user is.
pub async fn a_saved_user_keeps_when_he_came<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let (ana, bia) = (user(&cx, "ana@example.com"), user(&cx, "bia@example.com"));
    let group = group(&cx);
    insert_user(&subject, &ana).await;
    insert_user(&subject, &bia).await;
    let changed = User {
        name: "Ana Maria".to_owned(),
        email: Email::parse("maria@example.com").expect("an address"),
        phone: "1".to_owned(),
        password_hash: "other".to_owned(),
        role: UserRole::Admin,
        group_id: Some(group.id.clone()),
        logged_out_at: Some(later(1)),
        updated_at: later(2),
        ..ana
    };
    let mut tx = subject.store.begin().await.expect("begin");
    tx.groups().insert(&group).await.expect("a group");
    tx.users().save(&User { created_at: later(100), ..changed.clone() }).await.expect("save");
    tx.commit().await.expect("commit");
    for user in [changed, bia] {
        assert_eq!(whole(&find(&subject, &user.id).await.expect("a user")), whole(&user));
    }
}

/// Sixteen that read, change and write one user lose no change.
pub async fn writers_of_one_user_wait_for_each_other<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let ana = User { phone: "0".to_owned(), ..user(&context(), "ana@example.com") };
    insert_user(&subject, &ana).await;
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let (store, id) = (Arc::clone(&subject.store), ana.id.clone());
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let mut user = tx.users().find_for_update(&id).await.expect("find").expect("a user");
            user.phone = (user.phone.parse::<u32>().expect("a number") + 1).to_string();
            tokio::task::yield_now().await;
            tx.users().save(&user).await.expect("save");
            tx.commit().await.expect("commit");
        });
    }
    tasks.join_all().await;
    assert_eq!(find(&subject, &ana.id).await.expect("a user").phone, "16");
}

/// Neither a save nor an end of sessions brings tokens back that are void.
pub async fn the_end_of_sessions_never_goes_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let ana = user(&cx, "ana@example.com");
    insert_user(&subject, &ana).await;
    let mut tx = subject.store.begin().await.expect("begin");
    for (at, stored) in [(5, 5), (3, 5), (5, 5), (8, 8)] {
        assert!(tx.users().end_sessions(&ana.id, later(at)).await.expect("end"));
        let found = tx.users().find(&ana.id).await.expect("find").expect("a user");
        assert_eq!(found.logged_out_at, Some(later(stored)));
        assert_eq!(found.updated_at, NOW);
    }
    for (at, stored) in [(None, 8), (Some(7), 8), (Some(9), 9)] {
        let saved = User { logged_out_at: at.map(later), ..ana.clone() };
        tx.users().save(&saved).await.expect("save");
        let found = tx.users().find(&ana.id).await.expect("find").expect("a user");
        assert_eq!(found.logged_out_at, Some(later(stored)));
    }
    assert!(!tx.users().end_sessions(&UserId::generate(cx.ids()), NOW).await.expect("end"));
}

/// A list shows those of a group, of a role, of both, or all.
pub async fn users_are_listed_by_group_and_role<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let groups = [group(&cx), group(&cx)];
    let mut tx = subject.store.begin().await.expect("begin");
    for group in &groups {
        tx.groups().insert(group).await.expect("a group");
    }
    let mut users = Vec::new();
    for n in 0..24usize {
        let user = User {
            role: if n % 2 == 0 { UserRole::Admin } else { UserRole::Member },
            group_id: groups.get(n % 3).map(|group| group.id.clone()),
            created_at: later(n as u64),
            ..user(&cx, &format!("user{n}@example.com"))
        };
        assert!(tx.users().insert_if_absent(&user).await.expect("insert"));
        users.insert(0, user);
    }
    tx.commit().await.expect("commit");
    let mut tx = subject.store.read().await.expect("read");
    let nobodys = group(&cx).id;
    for group in [None, Some(&groups[0].id), Some(&groups[1].id), Some(&nobodys)] {
        for role in [None, Some(UserRole::Admin), Some(UserRole::Member)] {
            let filter = UserFilter { group_id: group.cloned(), role };
            let page = PageRequest::default();
            let found = tx.users().list(&filter, &page).await.expect("list");
            assert_eq!(found.next, None);
            let fits = |user: &&User| {
                group.is_none_or(|group| user.group_id.as_ref() == Some(group))
                    && role.is_none_or(|role| user.role == role)
            };
            let expected: Vec<_> = users.iter().filter(fits).map(whole).collect();
            assert_eq!(found.items.iter().map(whole).collect::<Vec<_>>(), expected, "{filter:?}");
        }
    }
}

/// Pages show each user once, also those of one moment, whoever comes meanwhile.
pub async fn pages_of_users_are_stable_under_inserts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut expected = Vec::new();
    for n in 0..9u64 {
        let user = User { created_at: later(n / 4), ..user(&cx, &format!("user{n}@example.com")) };
        insert_user(&subject, &user).await;
        expected.insert(0, user.id);
    }
    let mut new = 0;
    let users = pages(
        async |page| {
            let mut tx = subject.store.read().await.expect("read");
            tx.users().list(&UserFilter::default(), &page).await.expect("list")
        },
        async || {
            new += 1;
            let user = User { created_at: later(100), ..user(&cx, &format!("new{new}@example.com")) };
            insert_user(&subject, &user).await;
        },
    )
    .await;
    assert_eq!(users.into_iter().map(|user| user.id).collect::<Vec<_>>(), expected);
}

/// Devices and recoveries go with their user, and nobody else's do.
pub async fn a_deleted_user_takes_what_is_his_along<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let users = [user(&cx, "ana@example.com"), user(&cx, "bia@example.com")];
    let mut tx = subject.store.begin().await.expect("begin");
    for user in &users {
        assert!(tx.users().insert_if_absent(user).await.expect("insert"));
        tx.user_devices().put(&device(&cx, &user.id, user.email.as_str())).await.expect("a device");
        let recovery = PasswordRecovery {
            id: PasswordRecoveryId::generate(cx.ids()),
            user_id: user.id.clone(),
            code_hash: "hash".to_owned(),
            expires_at: later(1_000),
            completed: false,
            wrong_tries: 0,
            created_at: NOW,
        };
        tx.password_recoveries().insert(&recovery).await.expect("a recovery");
    }
    assert!(tx.users().delete(&users[0].id).await.expect("delete"));
    assert!(!tx.users().delete(&users[0].id).await.expect("delete"));
    tx.commit().await.expect("commit");
    let mut tx = subject.store.begin().await.expect("begin");
    for (user, left) in users.iter().zip([false, true]) {
        assert_eq!(tx.users().find(&user.id).await.expect("find").is_some(), left);
        let devices = tx.user_devices().list(&user.id, &PageRequest::default()).await.expect("list");
        assert_eq!(devices.items.len(), usize::from(left));
        let recovery = tx.password_recoveries().latest_for_update(&user.id, NOW).await.expect("find");
        assert_eq!(recovery.is_some(), left);
    }
    assert_eq!(tx.password_recoveries().purge(Timestamp::from_millis(i64::MAX)).await.expect("purge"), 1);
}

/// Administrators who each see another one and demote themselves at once leave one, and none waits for ever.
pub async fn of_administrators_that_demote_each_other_one_stays<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut admins = BTreeSet::new();
    for n in 0..8 {
        let admin = User { role: UserRole::Admin, ..user(&cx, &format!("admin{n}@example.com")) };
        insert_user(&subject, &admin).await;
        admins.insert(admin.id);
    }
    insert_user(&subject, &user(&cx, "member@example.com")).await;
    let mut tx = subject.store.begin().await.expect("begin");
    let locked = tx.users().administrators_for_update().await.expect("find");
    assert_eq!(locked.into_iter().collect::<BTreeSet<_>>(), admins);
    drop(tx);
    let mut tasks = JoinSet::new();
    for id in admins {
        let store = Arc::clone(&subject.store);
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let admins = tx.users().administrators_for_update().await.expect("no deadlock");
            let user = tx.users().find_for_update(&id).await.expect("find").expect("a user");
            if admins.len() > 1 {
                tx.users().save(&User { role: UserRole::Member, ..user }).await.expect("save");
            }
            tx.commit().await.expect("commit");
        });
    }
    tasks.join_all().await;
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.users().administrators_for_update().await.expect("find").len(), 1);
}
