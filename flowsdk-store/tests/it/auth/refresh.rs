//! New tokens for old ones (spec A 4.1 rule 3, rulings A2).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::audit::{AuditAction, AuditStatus};
use flowsdk_auth::login::{LoginSettings, RefreshError, Rotation};
use flowsdk_core::fault::FaultKind;
use flowsdk_crypto::JwtKey;
use flowsdk_store::sql::SqlStore;
use futures_util::future::join_all;
use serde_json::json;

use super::world::{Away, World, bearer, expected, login, origin, settings, told};
use crate::support::databases::on_every_database;

on_every_database! {
    any_good_refresh_token_gives_new_tokens,
    every_other_one_is_refused,
    a_one_time_token_has_a_minute_for_parallel_tabs,
    a_one_time_token_that_comes_again_ends_the_sessions,
    what_anybody_can_make_up_is_not_recorded,
}

fn strict() -> LoginSettings {
    LoginSettings { rotation: Rotation::Strict, ..settings() }
}

async fn any_good_refresh_token_gives_new_tokens(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let logins = world.logins(settings());
    let first = bearer(&login(&logins, "ana@example.com").await.expect("in").tokens.refresh);
    for _ in 0..3 {
        world.pass(Duration::from_secs(24 * 60 * 60));
        let pair = logins.refresh(Some(&first), &origin()).await.expect("refreshed");
        let who = world.authenticator().authenticate(Some(&bearer(&pair.access))).await.expect("in");
        assert_eq!(who.principal.id(), ana.as_str());
        assert!(logins.refresh(Some(&bearer(&pair.refresh)), &origin()).await.is_ok());
    }
    world.pass(Duration::from_secs(4 * 24 * 60 * 60));
    assert!(matches!(logins.refresh(Some(&first), &origin()).await, Err(RefreshError::Invalid(_))));
}

async fn every_other_one_is_refused(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let logins = world.logins(settings());
    let refusal =
        async |header: Option<&str>| told(&logins.refresh(header, &origin()).await.expect_err("refused"));
    let unauthenticated = |code, text| expected(FaultKind::Unauthenticated, code, text);

    for header in [None, Some("Bearer "), Some("Basic YTpi")] {
        assert_eq!(refusal(header).await, unauthenticated("token_missing", "Token não informado"));
    }
    let pair = login(&logins, "ana@example.com").await.expect("in").tokens;
    for header in [bearer(&pair.access), "Bearer fai_abc".to_owned(), "Bearer a.b.c".to_owned()] {
        let refused = refusal(Some(&header)).await;
        assert_eq!(refused, unauthenticated("token_invalid", "Token JWT inválido"), "{header}");
    }
    world.pass(Duration::from_millis(1));
    logins.logout(&ana, &origin()).await.expect("out");
    let header = bearer(&pair.refresh);
    assert_eq!(refusal(Some(&header)).await, unauthenticated("session_ended", "Sessão encerrada"));
    let again = login(&logins, "ana@example.com").await.expect("in").tokens;
    assert!(logins.refresh(Some(&bearer(&again.refresh)), &origin()).await.is_ok(), "in again at once");
    world.users().delete(&world.actor(), &ana).await.expect("deleted");
    let unknown = unauthenticated("principal_unknown", "Usuário não encontrado");
    assert_eq!(refusal(Some(&bearer(&again.refresh))).await, unknown);
}

async fn a_one_time_token_has_a_minute_for_parallel_tabs(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let logins = world.logins(strict());
    let first = bearer(&login(&logins, "ana@example.com").await.expect("in").tokens.refresh);
    world.pass(Duration::from_secs(60 * 60));
    let origin = origin();
    let found = join_all((0..8).map(|_| logins.refresh(Some(&first), &origin))).await;
    assert!(found.iter().all(Result::is_ok), "{found:?}");
    world.pass(Duration::from_secs(60));
    let last = logins.refresh(Some(&first), &origin).await.expect("still within the minute");
    assert!(logins.refresh(Some(&bearer(&last.refresh)), &origin).await.is_ok(), "each has its own minute");
}

async fn a_one_time_token_that_comes_again_ends_the_sessions(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let logins = world.logins(strict());
    let first = bearer(&login(&logins, "ana@example.com").await.expect("in").tokens.refresh);
    let second = logins.refresh(Some(&first), &origin()).await.expect("refreshed");
    world.pass(Duration::from_millis(60_001));
    let refused = logins.refresh(Some(&first), &origin()).await.expect_err("refused");
    let ended = expected(FaultKind::Unauthenticated, "session_ended", "Sessão encerrada");
    assert_eq!(told(&refused), ended);
    assert_eq!(world.stored(&ana).await.expect("a user").logged_out_at, Some(world.cx.now()));
    assert!(world.authenticator().authenticate(Some(&bearer(&second.access))).await.is_err());
    assert!(logins.refresh(Some(&bearer(&second.refresh)), &origin()).await.is_err());

    // The stolen token ends nothing a second time.
    world.pass(Duration::from_secs(1));
    let again = login(&logins, "ana@example.com").await.expect("in").tokens;
    logins.refresh(Some(&first), &origin()).await.expect_err("refused");
    assert!(world.authenticator().authenticate(Some(&bearer(&again.access))).await.is_ok());

    // One without an id could be used for ever.
    let sub = json!({ "id": ana, "name": "Ana" }).to_string();
    let now = world.cx.now().as_millis() / 1_000 + 1;
    let claims = json!({ "iat": now, "exp": now + 600, "sub": sub });
    let unnamed = JwtKey::new(&"the secret of refresh tokens".into()).sign(&claims).expect("signed");
    let refused = logins.refresh(Some(&bearer(&unnamed)), &origin()).await;
    assert!(matches!(refused, Err(RefreshError::Invalid(_))));
    assert!(world.logins(settings()).refresh(Some(&bearer(&unnamed)), &origin()).await.is_ok());

    // Nor is the rule given up while nobody can tell.
    let logins = world.logins_over(Arc::new(Away), strict());
    let refused = logins.refresh(Some(&bearer(&again.refresh)), &origin()).await.expect_err("refused");
    assert_eq!(told(&refused), expected(FaultKind::Unavailable, "unavailable", "Serviço indisponível"));

    let refreshes: Vec<_> = world
        .recorded()
        .await
        .into_iter()
        .filter(|record| record.action == AuditAction::TokenRefresh)
        .map(|record| (record.status, record.actor_id == Some(ana.to_string())))
        .collect();
    let (success, failure) = ((AuditStatus::Success, true), (AuditStatus::Failure, true));
    assert_eq!(refreshes, [success, failure, failure, failure, failure, success]);
}

async fn what_anybody_can_make_up_is_not_recorded(store: SqlStore) {
    let world = World::new(store);
    let logins = world.logins(settings());
    for header in [None, Some("Bearer a.b.c"), Some("Bearer fai_x")] {
        logins.refresh(header, &origin()).await.expect_err("refused");
    }
    assert_eq!(world.recorded().await, []);
}
