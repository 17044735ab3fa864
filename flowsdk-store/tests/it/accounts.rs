//! Users and the administrator of a new installation.

use std::sync::Arc;

use flowsdk_auth::bootstrap::{BootstrapAdmin, Bootstrapped, ensure_administrator};
use flowsdk_auth::user::{AuthTx as _, Email, User, UserRole};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::PasswordHasher;
use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use tokio::task::JoinSet;

use crate::support::databases::on_every_database;

on_every_database! {
    a_user_is_read_back,
    an_address_has_one_user,
    processes_that_start_together_create_one_administrator,
}

fn user(cx: &OpContext, email: &str, role: UserRole) -> User {
    User {
        id: UserId::generate(cx.ids()),
        name: "João 👋".to_owned(),
        email: Email::parse(email).expect("an address"),
        phone: "5511999".to_owned(),
        password_hash: "$2b$10$hash".to_owned(),
        role,
        created_at: cx.now(),
    }
}

async fn insert(store: &SqlStore, user: &User) -> bool {
    let mut tx = store.begin().await.expect("begin");
    let inserted = tx.users().insert_if_absent(user).await.expect("insert");
    tx.commit().await.expect("commit");
    inserted
}

async fn find(store: &SqlStore, email: &str) -> Option<User> {
    let email = Email::parse(email).expect("an address");
    store.read().await.expect("read").users().find_by_email(&email).await.expect("find")
}

async fn a_user_is_read_back(store: SqlStore) {
    let cx = OpContext::system();
    for (email, role) in [("Ana@Example.com", UserRole::Admin), ("bia@example.com", UserRole::Member)] {
        assert!(find(&store, email).await.is_none());
        let user = user(&cx, email, role);
        assert!(insert(&store, &user).await);
        let found = find(&store, &email.to_uppercase()).await.expect("a user");
        assert_eq!((&found.id, &found.name, &found.email), (&user.id, &user.name, &user.email));
        assert_eq!((&found.phone, &found.password_hash), (&user.phone, &user.password_hash));
        assert_eq!((found.role, found.created_at), (role, user.created_at));
    }
}

async fn an_address_has_one_user(store: SqlStore) {
    let cx = OpContext::system();
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let (store, user) = (store.clone(), user(&cx, "ana@example.com", UserRole::Member));
        tasks.spawn(async move { insert(&store, &user).await.then_some(user.id) });
    }
    let inserted: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    let found = find(&store, "ana@example.com").await.expect("a user");
    assert_eq!(inserted, [found.id]);
}

async fn processes_that_start_together_create_one_administrator(store: SqlStore) {
    let hasher = Arc::new(PasswordHasher::new(2, 8));
    let mut tasks = JoinSet::new();
    for _ in 0..2 {
        let (store, hasher) = (store.clone(), Arc::clone(&hasher));
        tasks.spawn(async move {
            let email = Email::parse("admin@example.com").expect("an address");
            let admin = BootstrapAdmin { email, password: None };
            ensure_administrator(&store, &OpContext::system(), &hasher, &admin).await.expect("ensured")
        });
    }
    let done = tasks.join_all().await;
    let created = done.iter().filter(|done| matches!(done, Bootstrapped::CreatedWith(_))).count();
    let existed = done.iter().filter(|done| matches!(done, Bootstrapped::Existed)).count();
    assert_eq!((created, existed), (1, 1));
    assert_eq!(find(&store, "admin@example.com").await.expect("a user").role, UserRole::Admin);
}
