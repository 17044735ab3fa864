//! Who makes a request (spec A 5.1, 5.2, 5.3).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::access::AuthenticateError;
use flowsdk_auth::api_client::ApiClientChange;
use flowsdk_auth::group::GroupChange;
use flowsdk_auth::permission::{Action, Denied, Resource, RouterScope};
use flowsdk_auth::user::{UserChange, UserRole};
use flowsdk_core::fault::FaultKind;
use flowsdk_core::id::{RouterId, UserId};
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::JwtKey;
use flowsdk_store::sql::SqlStore;
use futures_util::future::{join, join_all};
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio::sync::Barrier;

use super::world::{COST, NOW, World, bearer, expected, login, origin, permission, settings, told};
use crate::support::databases::on_every_database;

on_every_database! {
    every_refusal_has_its_text,
    what_a_principal_may_is_read_anew_for_every_request,
    a_logout_voids_what_was_issued_before_it,
    requests_at_the_same_time_share_queries,
    uses_of_api_clients_are_written_once_a_minute,
    an_outage_is_no_refusal,
}

async fn refusal(world: &World, header: Option<&str>) -> (FaultKind, &'static str, String) {
    told(&world.authenticator().authenticate(header).await.expect_err("refused"))
}

fn unauthenticated(code: &'static str, text: &str) -> (FaultKind, &'static str, String) {
    expected(FaultKind::Unauthenticated, code, text)
}

async fn every_refusal_has_its_text(store: SqlStore) {
    let world = World::new(store);
    let missing = unauthenticated("token_missing", "Token não informado");
    for header in [None, Some(""), Some("Bearer"), Some("Bearer "), Some("Basic YTpi"), Some("abc")] {
        assert_eq!(refusal(&world, header).await, missing, "{header:?}");
    }

    let invalid = unauthenticated("token_invalid", "Token inválido");
    assert_eq!(refusal(&world, Some("Bearer fai_unknown")).await, invalid);
    let (client, token) = world.api_client(Resource::Flows, Action::Read).await;
    let header = bearer(&token);
    assert!(world.authenticator().authenticate(Some(&header)).await.is_ok());
    let change = |change| {
        let (clients, actor, id) = (world.api_clients(), world.actor(), client.id.clone());
        async move { clients.change(&actor, &id, change).await.expect("changed") }
    };
    change(ApiClientChange { active: Some(false), ..Default::default() }).await;
    assert_eq!(refusal(&world, Some(&header)).await, invalid);
    let end = Timestamp::from_millis(NOW + 1_000);
    change(ApiClientChange { active: Some(true), expires_at: Some(Some(end.into())), ..Default::default() })
        .await;
    world.pass(Duration::from_millis(999));
    assert!(world.authenticator().authenticate(Some(&header)).await.is_ok());
    world.pass(Duration::from_millis(1));
    let expired = unauthenticated("token_expired", "Token expirado");
    assert_eq!(refusal(&world, Some(&header)).await, expired);
    let (_, rotated) = world.api_clients().rotate(&world.actor(), &client.id).await.expect("rotated");
    assert_eq!(refusal(&world, Some(&header)).await, invalid, "the old token");
    assert_eq!(refusal(&world, Some(&bearer(&rotated))).await, expired, "the new one");

    let jwt = unauthenticated("token_invalid", "Token JWT inválido");
    let user = world.user("ana@example.com").await;
    let pair = world.tokens.issue(&user, "Ana", world.cx.now(), world.cx.ids());
    assert_eq!(refusal(&world, Some(&bearer(&pair.refresh))).await, jwt, "a refresh token");
    for header in ["Bearer abc", "Bearer a.b.c", "Bearer faix"] {
        assert_eq!(refusal(&world, Some(header)).await, jwt, "{header}");
    }
    // A JWT never stands for an API client, whoever signed it.
    let sub = json!({ "id": client.id, "name": "Machine", "kind": "api_client" }).to_string();
    let claims = json!({ "iat": NOW / 1_000, "exp": NOW / 1_000 + 60, "sub": sub });
    let forged = JwtKey::new(&"the secret of access tokens".into()).sign(&claims).expect("signed");
    assert_eq!(refusal(&world, Some(&bearer(&forged))).await, jwt, "an API client");

    let header = bearer(&pair.access);
    assert!(world.authenticator().authenticate(Some(&header)).await.is_ok());
    world.pass(Duration::from_millis(24 * 60 * 60 * 1_000 - 1));
    assert!(world.authenticator().authenticate(Some(&header)).await.is_ok());
    world.pass(Duration::from_millis(1));
    assert_eq!(refusal(&world, Some(&header)).await, jwt, "expired, at the exact second");
    let nobody = UserId::parse("cnobody").expect("an id");
    let pair = world.tokens.issue(&nobody, "Nobody", world.cx.now(), world.cx.ids());
    let unknown = unauthenticated("principal_unknown", "Usuário não encontrado");
    assert_eq!(refusal(&world, Some(&bearer(&pair.access))).await, unknown);
}

async fn what_a_principal_may_is_read_anew_for_every_request(store: SqlStore) {
    let world = World::new(store);
    let authenticator = world.authenticator();
    world.admin("root@example.com").await;
    let group = world.group(Resource::Flows, Action::Read, &["r1"]).await;
    let ana = world.user_with("ana@example.com", UserRole::Member, Some(group.id.clone()), COST).await;
    let header =
        bearer(&login(&world.logins(settings()), "ana@example.com").await.expect("in").tokens.access);
    let may = async |resource, action| {
        let who = authenticator.authenticate(Some(&header)).await.expect("let in");
        assert_eq!(who.principal.id(), ana.as_str());
        (who.require(resource, action), who.require_admin())
    };
    let r1 = RouterScope::Only(vec![RouterId::parse("r1").expect("an id")]);
    assert_eq!(may(Resource::Flows, Action::Read).await, (Ok(r1), Err(Denied::Admin)));
    assert_eq!(may(Resource::Flows, Action::Write).await.0, Err(Denied::Permission));

    let change = GroupChange {
        permissions: Some(permission(Resource::Users, Action::Read)),
        ..GroupChange::default()
    };
    world.groups().change(&world.actor(), &group.id, change).await.expect("changed");
    assert_eq!(may(Resource::Flows, Action::Read).await.0, Err(Denied::Permission));
    assert_eq!(may(Resource::Users, Action::Read).await.0, Err(Denied::Global));

    world.groups().delete(&world.actor(), &group.id).await.expect("deleted");
    assert_eq!(may(Resource::Users, Action::Read).await.0, Err(Denied::NoGroup));

    let change = UserChange { role: Some(UserRole::Admin), ..UserChange::default() };
    world.users().change(&world.actor(), &ana, change).await.expect("changed");
    assert_eq!(may(Resource::Users, Action::Read).await, (Ok(RouterScope::All), Ok(())));

    let (client, token) = world.api_client(Resource::Flows, Action::Read).await;
    let machine = authenticator.authenticate(Some(&bearer(&token))).await.expect("let in");
    assert_eq!(machine.principal.id(), client.id.as_str());
    assert_eq!(machine.require(Resource::Flows, Action::Read), Ok(RouterScope::All));
    assert_eq!(machine.require_admin(), Err(Denied::Admin));
    assert_eq!(machine.require_user(), Err(Denied::UserOnly));

    world.users().delete(&world.actor(), &ana).await.expect("deleted");
    let gone = authenticator.authenticate(Some(&header)).await;
    assert!(matches!(gone, Err(AuthenticateError::PrincipalUnknown)));
}

async fn a_logout_voids_what_was_issued_before_it(store: SqlStore) {
    let world = World::new(store);
    let (logins, authenticator) = (world.logins(settings()), world.authenticator());
    let ana = world.user("ana@example.com").await;
    let enter = async || bearer(&login(&logins, "ana@example.com").await.expect("in").tokens.access);
    let is_in = async |header: &str| authenticator.authenticate(Some(header)).await.is_ok();
    let (before, other) = (enter().await, world.user("bia@example.com").await);
    let bia = bearer(&world.tokens.issue(&other, "Bia", world.cx.now(), world.cx.ids()).access);
    world.pass(Duration::from_millis(1));
    let same = enter().await;
    logins.logout(&ana, &origin()).await.expect("out");
    let ended = unauthenticated("session_ended", "Sessão encerrada");
    assert_eq!(refusal(&world, Some(&before)).await, ended, "one millisecond before, in the same second");
    assert!(is_in(&same).await, "in the same millisecond");
    assert!(is_in(&enter().await).await, "logged in again at once");
    world.pass(Duration::from_millis(1));
    logins.logout(&ana, &origin()).await.expect("out");
    assert!(!is_in(&same).await);
    assert!(is_in(&bia).await, "others stay");

    // A token from before tokens had iatMs is compared by its second.
    let sub = json!({ "id": ana, "name": "Ana" }).to_string();
    let key = JwtKey::new(&"the secret of access tokens".into());
    for (iat, accepted) in [(NOW / 1_000 - 1, false), (NOW / 1_000, false), (NOW / 1_000 + 1, true)] {
        let claims = json!({ "iat": iat, "exp": NOW / 1_000 + 60, "sub": sub });
        let old = key.sign(&claims).expect("signed");
        assert_eq!(is_in(&format!("bearer {}", old.expose_secret())).await, accepted, "{iat}");
    }
}

async fn requests_at_the_same_time_share_queries(store: SqlStore) {
    let world = World::new(store);
    let authenticator = world.authenticator();
    let mut headers = Vec::new();
    for n in 0..10 {
        let user = world.user(&format!("user{n}@example.com")).await;
        headers.push(bearer(&world.tokens.issue(&user, "Ana", world.cx.now(), world.cx.ids()).access));
    }
    // The first query ends when every request has asked.
    let gate = Arc::new(Barrier::new(2));
    world.store.behaviour().gate = Some(Arc::clone(&gate));
    world.store.behaviour().reads = 0;
    let requests = join_all((0..100).map(|n| authenticator.authenticate(Some(&headers[n % 10]))));
    let (found, _) = join(requests, gate.wait()).await;
    assert!(found.iter().all(Result::is_ok));
    let reads = world.store.behaviour().reads;
    assert_eq!(reads, 2, "a hundred requests of ten users: the first alone, then the rest");
}

async fn uses_of_api_clients_are_written_once_a_minute(store: SqlStore) {
    let world = World::new(store);
    let authenticator = world.authenticator();
    let (client, token) = world.api_client(Resource::Flows, Action::Read).await;
    let header = bearer(&token);
    let last_used = async || {
        let found = world.api_clients().get(&client.id).await.expect("a client");
        found.last_used_at.map(|at| at.as_millis() - NOW)
    };
    let writes = || world.store.behaviour().writes;
    let before = writes();
    for _ in 0..20 {
        authenticator.authenticate(Some(&header)).await.expect("let in");
    }
    assert_eq!((last_used().await, writes()), (None, before), "not in the way of a request");
    // What cannot be written waits.
    world.store.behaviour().away = 1;
    authenticator.flush_last_used().await.expect_err("away");
    authenticator.flush_last_used().await.expect("written");
    authenticator.flush_last_used().await.expect("nothing to write");
    assert_eq!((last_used().await, writes()), (Some(0), before + 1));
    world.pass(Duration::from_secs(59));
    authenticator.authenticate(Some(&header)).await.expect("let in");
    authenticator.flush_last_used().await.expect("nothing to write");
    assert_eq!(last_used().await, Some(0));
    world.pass(Duration::from_secs(1));
    authenticator.authenticate(Some(&header)).await.expect("let in");
    authenticator.flush_last_used().await.expect("written");
    assert_eq!(last_used().await, Some(60_000));
}

async fn an_outage_is_no_refusal(store: SqlStore) {
    let world = World::new(store);
    let user = world.user("ana@example.com").await;
    let header = bearer(&world.tokens.issue(&user, "Ana", world.cx.now(), world.cx.ids()).access);
    world.store.behaviour().away = 1;
    let away = expected(FaultKind::Unavailable, "unavailable", "Serviço indisponível");
    assert_eq!(refusal(&world, Some(&header)).await, away);
    assert!(world.authenticator().authenticate(Some(&header)).await.is_ok());
}
