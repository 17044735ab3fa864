//! The administrator of a new installation.

use std::sync::Arc;

use flowsdk_auth::bootstrap::{BootstrapAdmin, Bootstrapped, ensure_administrator};
use flowsdk_auth::user::{Email, HasUsers as _, UserRole};
use flowsdk_core::context::OpContext;
use flowsdk_core::store::Store as _;
use flowsdk_crypto::PasswordHasher;
use flowsdk_store::sql::SqlStore;
use tokio::task::JoinSet;

use crate::support::databases::on_every_database;

on_every_database! {
    processes_that_start_together_create_one_administrator,
}

async fn processes_that_start_together_create_one_administrator(store: SqlStore) {
    let hasher = Arc::new(PasswordHasher::new(2, 8));
    let email = Email::parse("admin@example.com").expect("an address");
    let mut tasks = JoinSet::new();
    for _ in 0..2 {
        let (store, hasher, email) = (store.clone(), Arc::clone(&hasher), email.clone());
        tasks.spawn(async move {
            let admin = BootstrapAdmin { email, password: None };
            ensure_administrator(&store, &OpContext::system(), &hasher, 4, &admin).await.expect("ensured")
        });
    }
    let done = tasks.join_all().await;
    let created = done.iter().filter(|done| matches!(done, Bootstrapped::CreatedWith(_))).count();
    let existed = done.iter().filter(|done| matches!(done, Bootstrapped::Existed)).count();
    assert_eq!((created, existed), (1, 1));
    let found = store.read().await.expect("read").users().find_by_email(&email).await.expect("find");
    assert_eq!(found.expect("a user").role, UserRole::Admin);
}
