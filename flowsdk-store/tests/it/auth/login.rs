//! Login and logout (spec A 4.1 rules 1, 2 and 4, rulings A5).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::audit::{AuditAction, AuditStatus};
use flowsdk_auth::login::{LoginError, LoginSettings};
use flowsdk_auth::permission::{Action, Resource};
use flowsdk_auth::user::{HasUsers as _, UserChange, UserRole};
use flowsdk_core::fault::FaultKind;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_crypto::{PasswordHasher, cost_of};
use flowsdk_store::sql::SqlStore;
use futures_util::future::{join, join_all};
use serde_json::json;

use super::world::{Away, COST, PASSWORD, World, bearer, expected, login, origin, settings, told};
use crate::support::databases::on_every_database;

on_every_database! {
    a_login_gives_user_group_and_tokens,
    nobody_is_told_what_was_wrong,
    too_long_a_password_is_a_wrong_one,
    a_cheaper_hash_is_made_anew,
    a_password_that_is_changed_meanwhile_lets_nobody_in,
    without_the_key_value_store_users_are_let_in,
    beyond_its_queue_the_answer_is_that_it_is_busy,
    a_hash_that_is_none_is_a_fault_of_ours,
    logins_and_logouts_are_recorded,
}

async fn a_login_gives_user_group_and_tokens(store: SqlStore) {
    let world = World::new(store);
    let group = world.group(Resource::Flows, Action::Read, &[]).await;
    let ana = world.user_with("ana@example.com", UserRole::Member, Some(group.id.clone()), COST).await;
    let logins = world.logins(settings());
    for email in ["ana@example.com", "Ana@Example.COM", "  ANA@EXAMPLE.COM "] {
        let entered = login(&logins, email).await.expect("in");
        assert_eq!((&entered.user.id, entered.group.as_ref()), (&ana, Some(&group)));
        let who = world.authenticator().authenticate(Some(&bearer(&entered.tokens.access))).await;
        assert_eq!(who.expect("let in").principal.id(), ana.as_str());
        assert!(logins.refresh(Some(&bearer(&entered.tokens.refresh)), &origin()).await.is_ok());
        let shown = format!("{entered:?}");
        assert!(!shown.contains("$2b$") && !shown.contains("eyJ"), "{shown}");
    }
}

async fn nobody_is_told_what_was_wrong(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let logins = world.logins(settings());
    let wrong = expected(FaultKind::Unauthenticated, "invalid_credentials", "Credenciais inválidas");
    for (email, password) in [
        ("ana@example.com", "wrong password"),
        ("ana@example.com", ""),
        ("ana@example.com", "Right password"),
        ("bia@example.com", PASSWORD),
        ("no address", PASSWORD),
        ("", ""),
    ] {
        let refused = logins.login(email, &password.into(), &origin()).await.expect_err("refused");
        assert_eq!(told(&refused), wrong, "{email} {password}");
    }
    let found: Vec<_> = world
        .recorded()
        .await
        .into_iter()
        .map(|record| {
            assert_eq!((record.action, record.status), (AuditAction::Login, AuditStatus::Failure));
            assert_eq!((record.entity_type, record.changes), (None, None));
            (record.actor_id, record.metadata.expect("metadata"))
        })
        .collect();
    let metadata = |email: &str| json!({ "ip": "10.0.0.1", "userAgent": "test", "email": email });
    assert_eq!(found[0], (Some(ana.to_string()), metadata("ana@example.com")));
    assert_eq!(found[3], (None, metadata("bia@example.com")));
    assert_eq!((found[4].1["email"].as_str(), found.len()), (Some("no address"), 6));
}

async fn too_long_a_password_is_a_wrong_one(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let long = "a".repeat(72);
    let change = UserChange { password: Some(long.clone().into()), ..UserChange::default() };
    world.users().change(&world.actor(), &ana, change).await.expect("changed");
    let logins = world.logins(settings());
    assert!(logins.login("ana@example.com", &long.clone().into(), &origin()).await.is_ok());
    let longer = format!("{long}b");
    let refused = logins.login("ana@example.com", &longer.into(), &origin()).await;
    assert!(matches!(refused, Err(LoginError::Credentials)), "not cut to what is right");
}

async fn a_cheaper_hash_is_made_anew(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let dearer = LoginSettings { password_cost: COST + 1, ..settings() };
    let logins = world.logins(dearer);
    let cost = async || cost_of(&world.stored(&ana).await.expect("a user").password_hash);

    let wrong = logins.login("ana@example.com", &"wrong password".into(), &origin()).await;
    assert!(matches!(wrong, Err(LoginError::Credentials)));
    assert_eq!(cost().await, Some(COST));

    let first = login(&logins, "ana@example.com").await.expect("in");
    assert_eq!(cost().await, Some(COST + 1));
    let user = world.stored(&ana).await.expect("a user");
    assert_eq!((user.logged_out_at, user.updated_at), (None, user.created_at));
    assert!(world.authenticator().authenticate(Some(&bearer(&first.tokens.access))).await.is_ok());
    assert!(login(&logins, "ana@example.com").await.is_ok(), "the new hash is of the same password");

    // A dearer one stays.
    let before = world.stored(&ana).await.expect("a user").password_hash;
    assert!(login(&world.logins(settings()), "ana@example.com").await.is_ok());
    assert_eq!(world.stored(&ana).await.expect("a user").password_hash, before);
}

async fn a_password_that_is_changed_meanwhile_lets_nobody_in(store: SqlStore) {
    let world = World::new(store);
    // So dear that the change is done while the old password is being compared.
    let ana = world.user_with("ana@example.com", UserRole::Member, None, 11).await;
    let logins = world.logins(LoginSettings { password_cost: 11, ..settings() });
    world.store.behaviour().reads = 0;
    let change = async {
        while world.store.behaviour().reads == 0 {
            tokio::task::yield_now().await;
        }
        let change = UserChange { password: Some("another password".into()), ..UserChange::default() };
        world.users().change(&world.actor(), &ana, change).await.expect("changed");
    };
    let (entered, ()) = join(login(&logins, "ana@example.com"), change).await;
    assert!(matches!(entered, Err(LoginError::Credentials)), "{entered:?}");
}

async fn without_the_key_value_store_users_are_let_in(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let logins = world.logins_over(Arc::new(Away), settings());
    assert!(login(&logins, "ana@example.com").await.is_ok());
    let wrong = logins.login("ana@example.com", &"wrong password".into(), &origin()).await;
    assert!(matches!(wrong, Err(LoginError::Credentials)));
}

async fn beyond_its_queue_the_answer_is_that_it_is_busy(store: SqlStore) {
    let mut world = World::new(store);
    world.hasher = PasswordHasher::new(1, 0);
    // So dear that the second cannot miss the first.
    world.user_with("ana@example.com", UserRole::Member, None, 10).await;
    let logins = world.logins(LoginSettings { password_cost: 10, ..settings() });
    let found = join_all((0..8).map(|_| login(&logins, "ana@example.com"))).await;
    let busy: Vec<_> =
        found.iter().filter_map(|found| found.as_ref().err()).map(|error| told(error)).collect();
    assert!(!busy.is_empty() && busy.len() < 8, "{busy:?}");
    let unavailable = expected(FaultKind::Unavailable, "unavailable", "Serviço indisponível");
    assert!(busy.iter().all(|told| *told == unavailable), "{busy:?}");
    // None of them counts as a failure.
    for _ in 0..10 {
        assert!(login(&logins, "ana@example.com").await.is_ok());
    }
}

async fn a_hash_that_is_none_is_a_fault_of_ours(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let mut user = world.stored(&ana).await.expect("a user");
    user.password_hash = "plain".to_owned();
    let mut tx = world.store.begin().await.expect("begin");
    tx.users().save(&user).await.expect("saved");
    tx.commit().await.expect("commit");
    let failed = login(&world.logins(settings()), "ana@example.com").await.expect_err("failed");
    assert_eq!(told(&failed), expected(FaultKind::Internal, "internal", "Erro interno"));
}

async fn logins_and_logouts_are_recorded(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let logins = world.logins(settings());
    let entered = login(&logins, "ana@example.com").await.expect("in");
    world.pass(Duration::from_secs(1));
    let refreshed = logins.refresh(Some(&bearer(&entered.tokens.refresh)), &origin()).await;
    refreshed.expect("refreshed");
    logins.logout(&ana, &origin()).await.expect("out");
    let found: Vec<_> = world
        .recorded()
        .await
        .into_iter()
        .map(|record| {
            assert_eq!(record.actor_id.as_deref(), Some(ana.as_str()));
            assert_eq!(record.metadata, Some(json!({ "ip": "10.0.0.1", "userAgent": "test" })));
            assert_eq!((record.entity_type, record.entity_id, record.changes), (None, None, None));
            (record.action, record.status)
        })
        .collect();
    let success = |action| (action, AuditStatus::Success);
    assert_eq!(
        found,
        [success(AuditAction::Login), success(AuditAction::TokenRefresh), success(AuditAction::Logout)]
    );
}
