//! A new password by a code (spec A 4.1 rules 5 and 6, rulings A3).

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_auth::audit::{AuditAction, AuditStatus};
use flowsdk_auth::login::{LoginLimits, LoginSettings};
use flowsdk_auth::principal::Origin;
use flowsdk_auth::recovery::{HasPasswordRecoveries as _, Recoveries, RecoveryError, RecoverySender};
use flowsdk_auth::sms::{Sms, SmsError, SmsPurpose, SmsSender};
use flowsdk_auth::user::{HasUsers as _, UserChange};
use flowsdk_core::fault::{FaultKind, RateLimit};
use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use futures_util::future::{join, join_all};
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::store::TestStore;
use super::world::{PASSWORD, World, bearer, expected, login, origin, settings, told};
use crate::support::databases::on_every_database;

on_every_database! {
    a_code_gives_a_new_password_once,
    only_the_newest_code_counts,
    five_wrong_tries_complete_a_recovery,
    a_code_is_good_for_half_an_hour,
    every_wrong_try_looks_the_same,
    of_two_that_use_a_code_one_wins,
    a_password_that_may_not_be_chosen_costs_no_try,
    requests_are_limited_for_an_address,
    a_change_that_is_cut_off_changes_nothing,
    a_change_by_an_administrator_completes_the_recovery,
    what_may_pass_is_tried_again,
    nobody_gets_a_message_without_a_phone,
}

const NEW: &str = "another password";

/// Takes messages, after so many failures.
#[derive(Debug, Default)]
struct Inbox {
    messages: Mutex<Vec<Sms>>,
    failures: Mutex<Vec<SmsError>>,
}

#[async_trait]
impl SmsSender for Inbox {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        if let Some(error) = self.failures.lock().expect("a lock").pop() {
            return Err(error);
        }
        self.messages.lock().expect("a lock").push(sms.clone());
        Ok(())
    }
}

struct Desk {
    world: World,
    recoveries: Recoveries<TestStore>,
    sender: Option<RecoverySender<TestStore>>,
    inbox: Arc<Inbox>,
}

fn unlimited() -> LoginSettings {
    let limits = LoginLimits {
        failures_per_email: 0,
        failures_per_address: 0,
        recoveries_per_email: 0,
        ..LoginLimits::default()
    };
    LoginSettings { limits, ..settings() }
}

impl Desk {
    fn new(store: SqlStore) -> Self {
        Self::with(World::new(store), unlimited())
    }

    fn with(world: World, settings: LoginSettings) -> Self {
        let inbox = Arc::new(Inbox::default());
        let (recoveries, sender) = Recoveries::new(
            Arc::clone(&world.store),
            world.cx.clone(),
            world.hasher.clone(),
            Arc::clone(&inbox) as Arc<dyn SmsSender>,
            Arc::clone(&world.kv),
            world.audit.clone(),
            settings,
        );
        Self { world, recoveries, sender: Some(sender), inbox }
    }

    /// Runs the task that sends beside `work`, until everything that was asked for is done.
    async fn sending<T>(&mut self, work: impl AsyncFnOnce(&Self) -> T) -> T {
        let sender = self.sender.take().expect("once a test");
        let stop = CancellationToken::new();
        let (done, ()) = join(
            async {
                let done = work(self).await;
                stop.cancel();
                done
            },
            sender.run(stop.clone()),
        )
        .await;
        done
    }

    /// Asks for a code and gives it as soon as it is there.
    async fn code(&self, email: &str) -> String {
        let before = self.inbox.messages.lock().expect("a lock").len();
        self.recoveries.request(email, &origin()).await.expect("asked for");
        loop {
            if let Some(sms) = self.inbox.messages.lock().expect("a lock").get(before) {
                assert_eq!((sms.to.as_str(), sms.purpose), ("5511999990000", SmsPurpose::PasswordRecovery));
                let text = sms.text.expose_secret();
                let (_, code) = text.split_once(": ").expect("a code");
                return code[..6].to_owned();
            }
            tokio::task::yield_now().await;
        }
    }

    async fn validate(&self, email: &str, code: &str) -> Result<(), RecoveryError> {
        self.recoveries.validate(email, code, &NEW.into(), &origin()).await
    }

    async fn enters(&self, email: &str, password: &str) -> bool {
        self.world.logins(unlimited()).login(email, &password.into(), &origin()).await.is_ok()
    }
}

fn wrong(code: &str) -> String {
    code.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect()
}

fn is_invalid(outcome: &Result<(), RecoveryError>) -> bool {
    match outcome {
        Err(error @ RecoveryError::CodeInvalid) => {
            let invalid = expected(FaultKind::Invalid, "recovery_code_invalid", "Código inválido");
            told(error) == invalid
        }
        _ => false,
    }
}

async fn a_code_gives_a_new_password_once(store: SqlStore) {
    let mut desk = Desk::new(store);
    let ana = desk.world.user("ana@example.com").await;
    let entered = login(&desk.world.logins(unlimited()), "ana@example.com").await.expect("in");
    desk.world.pass(Duration::from_secs(1));
    desk.sending(async |desk| {
        let code = desk.code(" ANA@example.com").await;
        assert!(desk.validate("Ana@example.com", &code.to_uppercase()).await.is_ok());
        assert!(is_invalid(&desk.validate("ana@example.com", &code).await), "used");
    })
    .await;
    let world = &desk.world;
    assert!(!desk.enters("ana@example.com", PASSWORD).await);
    assert!(desk.enters("ana@example.com", NEW).await, "in the same millisecond");
    let user = world.stored(&ana).await.expect("a user");
    assert_eq!((user.logged_out_at, user.updated_at), (Some(world.cx.now()), world.cx.now()));
    assert!(world.authenticator().authenticate(Some(&bearer(&entered.tokens.access))).await.is_err());
    let changes: Vec<_> = world
        .recorded()
        .await
        .into_iter()
        .filter(|record| record.action == AuditAction::PasswordChange)
        .map(|record| (record.status, record.actor_id, record.metadata.expect("metadata")))
        .collect();
    let plain = json!({ "ip": "10.0.0.1", "userAgent": "test" });
    let mut failed = plain.clone();
    failed["email"] = "ana@example.com".into();
    assert_eq!(
        changes,
        [
            (AuditStatus::Success, Some(ana.to_string()), plain),
            (AuditStatus::Failure, Some(ana.to_string()), failed)
        ]
    );
}

async fn only_the_newest_code_counts(store: SqlStore) {
    let mut desk = Desk::new(store);
    desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        let first = desk.code("ana@example.com").await;
        let second = desk.code("ana@example.com").await;
        if first != second {
            assert!(is_invalid(&desk.validate("ana@example.com", &first).await));
        }
        assert!(desk.validate("ana@example.com", &second).await.is_ok());
    })
    .await;
}

async fn five_wrong_tries_complete_a_recovery(store: SqlStore) {
    let mut desk = Desk::new(store);
    let ana = desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        // An earlier one must not take its place.
        desk.code("ana@example.com").await;
        for (tries, good) in [(4, true), (5, false)] {
            let code = desk.code("ana@example.com").await;
            for _ in 0..tries {
                assert!(is_invalid(&desk.validate("ana@example.com", &wrong(&code)).await));
            }
            assert_eq!(desk.validate("ana@example.com", &code).await.is_ok(), good, "{tries} tries");
        }
        let mut tx = desk.world.store.begin().await.expect("begin");
        let now = desk.world.cx.now();
        assert_eq!(tx.password_recoveries().latest_for_update(&ana, now).await.expect("find"), None);
        drop(tx);
        // Tries at once are counted one by one.
        let code = desk.code("ana@example.com").await;
        let guess = wrong(&code);
        let guesses = join_all((0..20).map(|_| desk.validate("ana@example.com", &guess))).await;
        assert!(guesses.iter().all(is_invalid));
        assert!(is_invalid(&desk.validate("ana@example.com", &code).await));
    })
    .await;
}

async fn a_code_is_good_for_half_an_hour(store: SqlStore) {
    let mut desk = Desk::new(store);
    desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        let code = desk.code("ana@example.com").await;
        desk.world.pass(Duration::from_secs(30 * 60));
        assert!(is_invalid(&desk.validate("ana@example.com", &code).await));
        let code = desk.code("ana@example.com").await;
        desk.world.pass(Duration::from_millis(30 * 60 * 1_000 - 1));
        assert!(desk.validate("ana@example.com", &code).await.is_ok());
    })
    .await;
}

async fn every_wrong_try_looks_the_same(store: SqlStore) {
    let mut desk = Desk::new(store);
    desk.world.user("ana@example.com").await;
    desk.world.user("bia@example.com").await;
    desk.sending(async |desk| {
        let code = desk.code("ana@example.com").await;
        for (email, code) in [
            ("bia@example.com", code.as_str()),
            ("nobody@example.com", &code),
            ("no address", &code),
            ("ana@example.com", ""),
            ("ana@example.com", "not a code"),
            ("ana@example.com", &wrong(&code)),
        ] {
            assert!(is_invalid(&desk.validate(email, code).await), "{email} {code}");
        }
        desk.recoveries.request("nobody@example.com", &origin()).await.expect("as for everybody");
        desk.recoveries.request("no address", &origin()).await.expect("as for everybody");
    })
    .await;
    assert_eq!(desk.inbox.messages.lock().expect("a lock").len(), 1);
    let users: Vec<_> =
        desk.world.recorded().await.into_iter().map(|record| record.actor_id.is_some()).collect();
    assert_eq!(users, [true, false, false, true, true, true]);
}

async fn of_two_that_use_a_code_one_wins(store: SqlStore) {
    let mut desk = Desk::new(store);
    desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        for _ in 0..3 {
            let code = desk.code("ana@example.com").await;
            let (a, b) =
                join(desk.validate("ana@example.com", &code), desk.validate("ana@example.com", &code)).await;
            assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
            assert!(is_invalid(&a) || is_invalid(&b));
        }
    })
    .await;
}

async fn a_password_that_may_not_be_chosen_costs_no_try(store: SqlStore) {
    let mut desk = Desk::new(store);
    desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        let code = desk.code("ana@example.com").await;
        let choose = async |email: &str, password: &str| {
            let chosen = desk.recoveries.validate(email, &code, &password.into(), &origin()).await;
            told(&chosen.expect_err("refused"))
        };
        let refused = |text| expected(FaultKind::Invalid, "validation_failed", text);
        for email in ["ana@example.com", "nobody@example.com"] {
            let short = refused("A senha deve ter ao menos 8 caracteres");
            assert_eq!(choose(email, "1234567").await, short);
            let long = refused("A senha pode ter no máximo 72 bytes");
            assert_eq!(choose(email, &"a".repeat(73)).await, long);
        }
        for _ in 0..6 {
            choose("ana@example.com", "").await;
        }
        assert!(desk.validate("ana@example.com", &code).await.is_ok());
    })
    .await;
}

async fn requests_are_limited_for_an_address(store: SqlStore) {
    let mut desk = Desk::with(World::new(store), settings());
    desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        for email in ["ana@example.com", "nobody@example.com"] {
            let ask = async |ip: &str| {
                let origin = Origin { ip: ip.to_owned(), user_agent: None };
                desk.recoveries.request(email, &origin).await
            };
            for ip in ["10.0.0.1", "10.0.0.2", "10.0.0.3"] {
                ask(ip).await.expect("asked for");
            }
            let limited = ask("10.0.0.4").await.expect_err("limited");
            let text = "Muitas tentativas; tente novamente mais tarde";
            assert_eq!(told(&limited), expected(FaultKind::RateLimited, "rate_limited", text));
            let RecoveryError::RateLimited(RateLimit { retry_after, .. }) = limited else {
                panic!("{limited:?}")
            };
            assert!(retry_after <= Duration::from_secs(30 * 60));
            desk.world.pass(retry_after);
            ask("10.0.0.4").await.expect("asked for");
        }
        // Wrong codes count for the place.
        for _ in 0..99 {
            let tried = desk.validate("nobody@example.com", "000000").await;
            assert!(is_invalid(&tried), "{tried:?}");
        }
        assert!(is_invalid(&desk.validate("nobody@example.com", "000000").await));
        let last = desk.validate("nobody@example.com", "000000").await;
        assert!(matches!(last, Err(RecoveryError::RateLimited(_))), "{last:?}");
    })
    .await;
}

/// Runs the future until it stands still, then drops it, as when the connection breaks.
async fn cut_off(work: impl Future) {
    assert!(tokio::time::timeout(Duration::from_millis(300), work).await.is_err(), "it hangs");
}

async fn a_change_that_is_cut_off_changes_nothing(store: SqlStore) {
    let mut desk = Desk::new(store);
    desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        let code = desk.code("ana@example.com").await;
        desk.world.store.behaviour().commits_hang = true;
        cut_off(desk.validate("ana@example.com", &code)).await;
        cut_off(desk.validate("ana@example.com", &wrong(&code))).await;
        desk.world.store.behaviour().commits_hang = false;
        assert!(desk.enters("ana@example.com", PASSWORD).await, "the old password");
        assert!(desk.validate("ana@example.com", &code).await.is_ok(), "the code is still good");
        assert!(desk.enters("ana@example.com", NEW).await);
    })
    .await;
}

async fn a_change_by_an_administrator_completes_the_recovery(store: SqlStore) {
    let mut desk = Desk::new(store);
    let ana: UserId = desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        let code = desk.code("ana@example.com").await;
        let change = UserChange { password: Some("chosen by the admin".into()), ..UserChange::default() };
        desk.world.users().change(&desk.world.actor(), &ana, change).await.expect("changed");
        assert!(is_invalid(&desk.validate("ana@example.com", &code).await));
        assert!(desk.enters("ana@example.com", "chosen by the admin").await);
    })
    .await;
}

async fn what_may_pass_is_tried_again(store: SqlStore) {
    let mut desk = Desk::new(store);
    desk.world.user("ana@example.com").await;
    desk.sending(async |desk| {
        desk.inbox.failures.lock().expect("a lock").push(SmsError::Unavailable("as the test wants".into()));
        let code = desk.code("ana@example.com").await;
        assert!(desk.validate("ana@example.com", &code).await.is_ok());
        // What is refused for good is not sent again, and holds up nobody.
        desk.inbox.failures.lock().expect("a lock").push(SmsError::Refused { code: "21211".to_owned() });
        desk.recoveries.request("ana@example.com", &origin()).await.expect("asked for");
        while !desk.inbox.failures.lock().expect("a lock").is_empty() {
            tokio::task::yield_now().await;
        }
        desk.code("ana@example.com").await;
    })
    .await;
    assert_eq!(desk.inbox.messages.lock().expect("a lock").len(), 2);
}

async fn nobody_gets_a_message_without_a_phone(store: SqlStore) {
    let mut desk = Desk::new(store);
    let ana = desk.world.user("ana@example.com").await;
    let mut user = desk.world.stored(&ana).await.expect("a user");
    user.phone = " ".to_owned();
    let mut tx = desk.world.store.begin().await.expect("begin");
    tx.users().save(&user).await.expect("saved");
    tx.commit().await.expect("commit");
    desk.sending(async |desk| {
        desk.recoveries.request("ana@example.com", &origin()).await.expect("asked for");
    })
    .await;
    assert!(desk.inbox.messages.lock().expect("a lock").is_empty());
}
