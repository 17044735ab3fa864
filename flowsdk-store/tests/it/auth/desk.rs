//! The login of the desk (rulings A8).

use flowsdk_auth::audit::{AuditAction, AuditStatus};
use flowsdk_auth::login::LoginError;
use flowsdk_auth::schedule::{AgentSchedule, LoginRange, LoginSchedule};
use flowsdk_core::fault::FaultKind;
use flowsdk_core::id::RouterId;
use flowsdk_store::sql::SqlStore;

use super::world::{PASSWORD, World, expected, login, origin, settings, told};
use crate::support::databases::on_every_database;

on_every_database! {
    an_agent_is_let_in_within_his_schedule,
    who_does_not_know_the_password_learns_nothing_of_the_schedule,
}

/// It is Thursday, 07:57 in Sao Paulo.
fn schedule(from: &str, to: &str) -> AgentSchedule {
    AgentSchedule {
        router_id: RouterId::parse("r1").expect("an id"),
        tz: "America/Sao_Paulo".to_owned(),
        schedule: LoginSchedule(vec![LoginRange { weekday: 4, from: from.to_owned(), to: to.to_owned() }]),
    }
}

async fn an_agent_is_let_in_within_his_schedule(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    let logins = world.logins(settings());
    let desk = async || logins.desk_login("ana@example.com", &PASSWORD.into(), &origin()).await;
    assert!(desk().await.is_ok(), "no agent");
    world.store.behaviour().schedules = vec![schedule("07:00", "08:00")];
    assert!(desk().await.is_ok());
    world.store.behaviour().schedules = vec![schedule("08:00", "18:00")];
    let blocked = desk().await.expect_err("blocked");
    let text = "Fora do horário de acesso";
    assert_eq!(told(&blocked), expected(FaultKind::Forbidden, "schedule_blocked", text));
    assert!(login(&logins, "ana@example.com").await.is_ok(), "the other login asks for no schedule");
    world.store.behaviour().schedules.push(schedule("07:00", "08:00"));
    assert!(desk().await.is_ok(), "one router is enough");
    world.store.behaviour().schedules = vec![schedule("08:00", "18:00")];
    for _ in 0..20 {
        assert!(matches!(desk().await, Err(LoginError::ScheduleBlocked)), "a right password is no guess");
    }
    let blocked = world.recorded().await.into_iter().find(|record| record.status == AuditStatus::Failure);
    let blocked = blocked.expect("a failed login");
    assert_eq!(blocked.action, AuditAction::Login);
    assert_eq!(blocked.metadata.expect("metadata")["email"], "ana@example.com");
}

async fn who_does_not_know_the_password_learns_nothing_of_the_schedule(store: SqlStore) {
    let world = World::new(store);
    world.user("ana@example.com").await;
    world.store.behaviour().schedules = vec![schedule("08:00", "18:00")];
    let logins = world.logins(settings());
    for email in ["ana@example.com", "bia@example.com"] {
        let refused = logins.desk_login(email, &"wrong password".into(), &origin()).await;
        assert!(matches!(refused, Err(LoginError::Credentials)), "{refused:?}");
    }
}
