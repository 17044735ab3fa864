//! How often a login may be tried (rulings H10).

use std::time::Duration;

use flowsdk_auth::login::{LoginError, LoginLimits, LoginSettings};
use flowsdk_auth::principal::Origin;
use flowsdk_core::fault::{FaultKind, RateLimit};
use flowsdk_store::sql::SqlStore;
use futures_util::future::join_all;

use super::store::TestStore;
use super::world::{World, expected, login, origin, settings, told};
use crate::support::databases::on_every_database;

on_every_database! {
    ten_failures_a_minute_for_an_address,
    a_hundred_failures_a_minute_from_a_place,
    fifty_guesses_at_once_are_ten_guesses,
    who_knows_his_password_is_not_limited,
    nothing_is_limited_by_0,
    an_outage_is_no_failure,
}

type Logins = flowsdk_auth::login::Logins<TestStore>;

async fn guess(logins: &Logins, email: &str, ip: &str) -> Result<(), LoginError> {
    let origin = Origin { ip: ip.to_owned(), user_agent: None };
    logins.login(email, &"wrong password".into(), &origin).await.map(drop)
}

fn is_limited(outcome: &Result<(), LoginError>) -> bool {
    match outcome {
        Err(LoginError::RateLimited(_)) => true,
        Err(LoginError::Credentials) => false,
        other => panic!("{other:?}"),
    }
}

async fn ten_failures_a_minute_for_an_address(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let logins = world.logins(settings());
    for email in ["ana@example.com", "nobody@example.com"] {
        for n in 0..10 {
            // From everywhere, and in any case.
            let spelling = if n % 2 == 0 { email.to_owned() } else { format!(" {}", email.to_uppercase()) };
            assert!(!is_limited(&guess(&logins, &spelling, &format!("10.0.1.{n}")).await), "{n}");
        }
        let limited = guess(&logins, email, "10.0.2.1").await.expect_err("limited");
        let text = "Muitas tentativas; tente novamente mais tarde";
        assert_eq!(told(&limited), expected(FaultKind::RateLimited, "rate_limited", text));
        let LoginError::RateLimited(RateLimit { retry_after, .. }) = limited else { panic!("{limited:?}") };
        assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_secs(120), "{retry_after:?}");
        assert!(is_limited(&login(&logins, email).await.map(drop)), "the right password does not help");
    }
    // A caller may try again at the time that was told, and not before.
    let Err(LoginError::RateLimited(RateLimit { retry_after, .. })) = login(&logins, "ana@example.com").await
    else {
        panic!("not limited");
    };
    world.pass(retry_after - Duration::from_millis(1));
    assert!(is_limited(&login(&logins, "ana@example.com").await.map(drop)));
    world.pass(Duration::from_millis(1));
    assert!(login(&logins, "ana@example.com").await.is_ok());
    world.pass(Duration::from_secs(180));
    for _ in 0..10 {
        assert!(!is_limited(&guess(&logins, "ana@example.com", "10.0.1.1").await));
    }
}

async fn a_hundred_failures_a_minute_from_a_place(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let limits = LoginLimits { failures_per_address: 20, ..LoginLimits::default() };
    assert_eq!(LoginLimits::default().failures_per_address, 100);
    let logins = world.logins(LoginSettings { limits, ..settings() });
    for n in 0..20 {
        assert!(!is_limited(&guess(&logins, &format!("user{n}@example.com"), "10.0.0.1").await), "{n}");
    }
    assert!(is_limited(&guess(&logins, "user99@example.com", "10.0.0.1").await));
    assert!(is_limited(&login(&logins, "ana@example.com").await.map(drop)), "also with a right password");
    assert!(!is_limited(&guess(&logins, "user99@example.com", "10.0.0.2").await), "elsewhere");
    // Callers whose place is unknown are not taken for one.
    for n in 0..30 {
        assert!(!is_limited(&guess(&logins, &format!("other{n}@example.com"), "").await), "{n}");
    }
}

async fn fifty_guesses_at_once_are_ten_guesses(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let logins = world.logins(settings());
    let found = join_all((0..50).map(|_| guess(&logins, "ana@example.com", "10.0.0.1"))).await;
    let compared = found.iter().filter(|outcome| !is_limited(outcome)).count();
    assert_eq!(compared, 10);
    // What was refused did not count: the place has 90 left.
    let limits = LoginLimits { failures_per_email: 0, ..LoginLimits::default() };
    let logins = world.logins(LoginSettings { limits, ..settings() });
    for n in 0..90 {
        assert!(!is_limited(&guess(&logins, "bia@example.com", "10.0.0.1").await), "{n}");
    }
    assert!(is_limited(&guess(&logins, "bia@example.com", "10.0.0.1").await));
}

async fn who_knows_his_password_is_not_limited(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let logins = world.logins(settings());
    for _ in 0..9 {
        guess(&logins, "ana@example.com", "10.0.0.1").await.expect_err("wrong");
    }
    for _ in 0..30 {
        assert!(login(&logins, "ana@example.com").await.is_ok());
    }
    assert!(!is_limited(&guess(&logins, "ana@example.com", "10.0.0.1").await));
    assert!(is_limited(&login(&logins, "ana@example.com").await.map(drop)));
}

async fn nothing_is_limited_by_0(store: SqlStore) {
    let world = World::new(store);
    let limits = LoginLimits {
        failures_per_email: 0,
        failures_per_address: 0,
        recoveries_per_email: 0,
        ..LoginLimits::default()
    };
    let logins = world.logins(LoginSettings { limits, ..settings() });
    for _ in 0..150 {
        assert!(!is_limited(&guess(&logins, "ana@example.com", "10.0.0.1").await));
    }
}

async fn an_outage_is_no_failure(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let logins = world.logins(settings());
    world.store.behaviour().away = 20;
    for _ in 0..20 {
        let failed = logins.login("ana@example.com", &"wrong password".into(), &origin()).await;
        assert!(matches!(failed, Err(LoginError::Storage(_))));
    }
    assert!(login(&logins, "ana@example.com").await.is_ok());
}
