//! Users (spec A 4.2).

use std::time::Duration;

use flowsdk_auth::audit::{AuditAction, AuditRecord};
use flowsdk_auth::permission::{Action, Resource};
use flowsdk_auth::user::{Email, NewUser, Phone, UserChange, UserError, UserFilter, UserRole, UserWithGroup};
use flowsdk_core::change::{EntityKind, Recorded as _};
use flowsdk_core::fault::{Fault as _, FaultKind};
use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::idempotency::{IdempotencyKey, IdempotentRequest, Once, Outcome, StoredAnswer};
use flowsdk_core::page::PageRequest;
use flowsdk_store::sql::SqlStore;
use futures_util::future::join_all;
use serde_json::json;
use tokio::task::JoinSet;

use super::world::{COST, PASSWORD, World, bearer, done, expected, login, settings, told};
use crate::support::databases::on_every_database;

on_every_database! {
    a_user_is_created_shown_changed_and_deleted,
    every_refusal_has_its_text,
    a_new_password_voids_all_tokens,
    one_administrator_stays,
    administrators_who_demote_each_other_leave_one,
    a_repeated_request_creates_one_user,
    a_list_shows_groups_with_one_query,
    a_creation_that_is_cut_off_creates_nothing,
}

fn new(email: &str) -> NewUser {
    NewUser {
        name: "Ana".to_owned(),
        email: Email::parse(email).expect("an address"),
        phone: Phone::parse("5511999990000").expect("a number"),
        password: PASSWORD.into(),
        role: UserRole::Member,
        group_id: None,
    }
}

fn role(role: UserRole) -> UserChange {
    UserChange { role: Some(role), ..UserChange::default() }
}

async fn create(world: &World, new: NewUser) -> Result<UserWithGroup, UserError> {
    world.users().create(&world.actor(), new, None).await.map(done)
}

async fn a_user_is_created_shown_changed_and_deleted(store: SqlStore) {
    let world = World::new(store);
    let (users, actor) = (world.users(), world.actor());
    let group = world.group(Resource::Flows, Action::Read, &[]).await;
    let group_id = Some(group.id.clone());
    let (user, shown) =
        create(&world, NewUser { group_id, ..new("ana@example.com") }).await.expect("created");
    assert_eq!((shown.as_ref(), user.group_id.as_ref()), (Some(&group), Some(&group.id)));
    assert!(login(&world.logins(settings()), "ana@example.com").await.is_ok());
    let (found, shown) = users.get(&user.id).await.expect("a user");
    assert_eq!((found.email, shown.as_ref()), (user.email.clone(), Some(&group)));

    world.pass(Duration::from_secs(1));
    let change = UserChange {
        name: Some("Bia".to_owned()),
        email: Some(Email::parse("bia@example.com").expect("an address")),
        phone: Some(Phone::parse("5511888880000").expect("a number")),
        ..UserChange::default()
    };
    let (changed, shown) = users.change(&actor, &user.id, change).await.expect("changed");
    assert_eq!((changed.name.as_str(), changed.email.as_str()), ("Bia", "bia@example.com"));
    assert_eq!((changed.role, shown.as_ref()), (UserRole::Member, Some(&group)));
    assert_eq!((changed.created_at, changed.updated_at), (user.created_at, world.cx.now()));
    let change = UserChange { group_id: Some(None), ..UserChange::default() };
    assert_eq!(users.change(&actor, &user.id, change).await.expect("changed").1, None);
    users.delete(&actor, &user.id).await.expect("deleted");
    assert!(matches!(users.get(&user.id).await, Err(UserError::NotFound)));

    let of_group = |record: &AuditRecord| record.entity_type == Some(EntityKind::Group);
    let records = world.recorded().await.into_iter().filter(|record| !of_group(record));
    let records: Vec<_> = records.filter(|record| record.entity_type.is_some()).collect();
    for record in &records {
        assert_eq!(record.entity_type, Some(EntityKind::User));
        assert_eq!(
            (record.entity_id.as_deref(), record.actor_id.as_deref()),
            (Some(user.id.as_str()), Some("cactor"))
        );
        assert_eq!(
            (&record.router_id, &record.metadata),
            (&None, &Some(json!({ "ip": "10.0.0.1", "userAgent": "test" })))
        );
        assert!(!format!("{record:?}").contains("$2b$"));
    }
    let changes: Vec<_> =
        records.into_iter().map(|record| (record.action, record.changes.expect("changes"))).collect();
    let entity = json!({ "id": user.id, "name": "Ana", "email": "ana@example.com", "phone": "5511999990000",
        "userRole": "member", "groupId": group.id, "createdAt": user.created_at.to_iso(), "updatedAt": user.created_at.to_iso() });
    let mut last = entity.clone();
    for (field, value) in [("name", "Bia"), ("email", "bia@example.com"), ("phone", "5511888880000")] {
        last[field] = value.into();
    }
    (last["groupId"], last["updatedAt"]) = (json!(null), json!(changed.updated_at.to_iso()));
    assert_eq!(
        changes,
        [
            (AuditAction::Create, entity),
            (
                AuditAction::Update,
                json!({ "name": { "from": "Ana", "to": "Bia" },
                    "email": { "from": "ana@example.com", "to": "bia@example.com" },
                    "phone": { "from": "5511999990000", "to": "5511888880000" } })
            ),
            (AuditAction::Update, json!({ "groupId": { "from": group.id, "to": null } })),
            (AuditAction::Delete, last),
        ]
    );
}

async fn every_refusal_has_its_text(store: SqlStore) {
    let world = World::new(store);
    let (users, actor) = (world.users(), world.actor());
    let ana = world.user("ana@example.com").await;
    let bia = world.user("bia@example.com").await;
    let nobody = UserId::parse("cnobody").expect("an id");
    let nowhere = GroupId::parse("cnowhere").expect("an id");

    let not_found = expected(FaultKind::NotFound, "not_found", "Usuário não encontrado");
    assert_eq!(told(&users.get(&nobody).await.expect_err("refused")), not_found);
    assert_eq!(told(&users.delete(&actor, &nobody).await.expect_err("refused")), not_found);
    let refused = users.change(&actor, &nobody, role(UserRole::Member)).await.expect_err("refused");
    assert_eq!(told(&refused), not_found);

    let taken = expected(FaultKind::Conflict, "email_taken", "E-mail já cadastrado");
    assert_eq!(told(&create(&world, new("ANA@example.com")).await.expect_err("refused")), taken);
    let email = Some(Email::parse("ana@example.com").expect("an address"));
    let change = UserChange { email: email.clone(), ..UserChange::default() };
    assert_eq!(told(&users.change(&actor, &bia, change).await.expect_err("refused")), taken);
    let change = UserChange { email, ..UserChange::default() };
    assert!(users.change(&actor, &ana, change).await.is_ok(), "their own address");

    let group = expected(FaultKind::Unprocessable, "group_unknown", "Grupo não encontrado");
    let refused = create(&world, NewUser { group_id: Some(nowhere.clone()), ..new("c@example.com") }).await;
    assert_eq!(told(&refused.expect_err("refused")), group);
    let change = UserChange { group_id: Some(Some(nowhere)), ..UserChange::default() };
    assert_eq!(told(&users.change(&actor, &ana, change).await.expect_err("refused")), group);

    for (password, text) in [
        ("1234567".to_owned(), "A senha deve ter ao menos 8 caracteres"),
        ("é".repeat(37), "A senha pode ter no máximo 72 bytes"),
    ] {
        let rule = expected(FaultKind::Invalid, "validation_failed", text);
        let refused =
            create(&world, NewUser { password: password.clone().into(), ..new("c@example.com") }).await;
        assert_eq!(told(&refused.expect_err("refused")), rule);
        let change = UserChange { password: Some(password.into()), ..UserChange::default() };
        assert_eq!(told(&users.change(&actor, &ana, change).await.expect_err("refused")), rule);
    }
    assert_eq!(world.recorded().await, [], "neither what was refused nor what changed nothing is recorded");
}

async fn a_new_password_voids_all_tokens(store: SqlStore) {
    let world = World::new(store);
    let ana = world.user("ana@example.com").await;
    let logins = world.logins(settings());
    let header = bearer(&login(&logins, "ana@example.com").await.expect("in").tokens.access);
    world.pass(Duration::from_millis(1));
    let is_in = async || world.authenticator().authenticate(Some(&header)).await.is_ok();
    let change = UserChange { name: Some("Bia".to_owned()), ..UserChange::default() };
    world.users().change(&world.actor(), &ana, change).await.expect("changed");
    assert!(is_in().await, "another name voids nothing");
    let change = UserChange { password: Some("another password".into()), ..UserChange::default() };
    world.users().change(&world.actor(), &ana, change).await.expect("changed");
    assert!(!is_in().await);
    assert!(login(&logins, "ana@example.com").await.is_err());
    let records = world.recorded().await;
    let last = records.iter().rfind(|record| record.action == AuditAction::Update).expect("a record");
    let hidden = json!({ "password": { "from": "***", "to": "***" } });
    assert_eq!(last.changes, Some(hidden), "the password is in no record");
}

async fn one_administrator_stays(store: SqlStore) {
    let world = World::new(store);
    let (users, actor) = (world.users(), world.actor());
    let root = world.admin("root@example.com").await;
    let ana = world.user("ana@example.com").await;
    let last = expected(FaultKind::Conflict, "last_administrator", "Deve restar ao menos um administrador");
    let refused = users.change(&actor, &root, role(UserRole::Member)).await.expect_err("refused");
    assert_eq!(told(&refused), last);
    assert_eq!(told(&users.delete(&actor, &root).await.expect_err("refused")), last);
    users.change(&actor, &root, role(UserRole::Admin)).await.expect("nothing changes");
    users.change(&actor, &ana, role(UserRole::Member)).await.expect("a member stays one");

    users.change(&actor, &ana, role(UserRole::Admin)).await.expect("promoted");
    users.change(&actor, &root, role(UserRole::Member)).await.expect("they may demote themselves");
    users.delete(&actor, &root).await.expect("a member may be deleted");
    assert!(matches!(users.delete(&actor, &ana).await, Err(UserError::LastAdministrator)));
}

async fn administrators_who_demote_each_other_leave_one(store: SqlStore) {
    let world = World::new(store);
    let mut ids = Vec::new();
    for n in 0..8 {
        ids.push(world.admin(&format!("admin{n}@example.com")).await);
    }
    let mut tasks = JoinSet::new();
    for (n, id) in ids.into_iter().enumerate() {
        let (users, actor) = (world.users(), world.actor());
        tasks.spawn(async move {
            // Contention is an answer, too; whoever gets it tries again.
            loop {
                let outcome = if n % 2 == 0 {
                    users.change(&actor, &id, role(UserRole::Member)).await.map(drop)
                } else {
                    users.delete(&actor, &id).await
                };
                match outcome {
                    Err(error) if error.kind() == FaultKind::Unavailable => {}
                    outcome => return outcome,
                }
            }
        });
    }
    let outcomes = tasks.join_all().await;
    let refused: Vec<_> = outcomes.iter().filter(|outcome| outcome.is_err()).collect();
    assert!(matches!(refused[..], [Err(UserError::LastAdministrator)]), "{outcomes:?}");
    let filter = UserFilter { role: Some(UserRole::Admin), group_id: None };
    let left = world.users().list(&filter, None, &PageRequest::default()).await.expect("a page");
    assert_eq!(left.items.len(), 1);
}

fn once(key: &str, digest: &str) -> Option<Once<UserWithGroup>> {
    let request = IdempotentRequest {
        principal_id: "cactor".to_owned(),
        key: IdempotencyKey::parse(key).expect("a key"),
        digest: digest.to_owned(),
    };
    Some(Once { request, answer: |(user, _)| StoredAnswer { status: 201, body: user.to_json().to_string() } })
}

async fn a_repeated_request_creates_one_user(store: SqlStore) {
    let world = World::new(store);
    let (users, actor) = (world.users(), world.actor());
    let found = join_all((0..5).map(|_| users.create(&actor, new("ana@example.com"), once("k", "d")))).await;
    let (mut created, mut replayed) = (Vec::new(), Vec::new());
    for outcome in found {
        match outcome.expect("answered") {
            Outcome::Done((user, _)) => created.push(user),
            Outcome::Replayed(answer) => replayed.push(answer),
        }
    }
    assert_eq!((created.len(), replayed.len()), (1, 4));
    let answer = StoredAnswer { status: 201, body: created[0].to_json().to_string() };
    assert!(replayed.iter().all(|replayed| *replayed == answer));
    let other = users.create(&actor, new("bia@example.com"), once("k", "other")).await.expect_err("refused");
    let text = "Idempotency-Key já usada com outro conteúdo";
    assert_eq!(told(&other), expected(FaultKind::Conflict, "idempotency_conflict", text));
    // A failure is no answer to be repeated.
    let taken = users.create(&actor, new("ana@example.com"), once("l", "d")).await;
    assert!(matches!(taken, Err(UserError::EmailTaken)));
    users.delete(&actor, &created[0].id).await.expect("deleted");
    done(users.create(&actor, new("ana@example.com"), once("l", "d")).await.expect("created"));
    assert_eq!(world.recorded().await.len(), 3, "a repetition is not recorded");
}

async fn a_list_shows_groups_with_one_query(store: SqlStore) {
    let world = World::new(store);
    let group = world.group(Resource::Flows, Action::Read, &[]).await;
    for n in 0..7 {
        world.pass(Duration::from_millis(1));
        let in_group = (n % 2 == 0).then(|| group.id.clone());
        world.user_with(&format!("user{n}@example.com"), UserRole::Member, in_group, COST).await;
    }
    let before = world.store.behaviour().reads;
    let mut request = PageRequest { limit: 3, after: None };
    let mut seen = Vec::new();
    loop {
        let page = world.users().list(&UserFilter::default(), None, &request).await.expect("a page");
        seen.extend(page.items.into_iter().map(|(user, group)| (user.email.to_string(), group.is_some())));
        match page.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    assert_eq!(world.store.behaviour().reads - before, 3);
    let expected: Vec<_> = (0..7).rev().map(|n| (format!("user{n}@example.com"), n % 2 == 0)).collect();
    assert_eq!(seen, expected);
    let filter = UserFilter { group_id: Some(group.id), role: Some(UserRole::Member) };
    let page = world.users().list(&filter, None, &PageRequest::default()).await.expect("a page");
    assert_eq!(page.items.len(), 4);
}

async fn a_creation_that_is_cut_off_creates_nothing(store: SqlStore) {
    let world = World::new(store);
    let (users, actor) = (world.users(), world.actor());
    world.store.behaviour().commits_hang = true;
    let cut = users.create(&actor, new("ana@example.com"), once("k", "d"));
    assert!(tokio::time::timeout(Duration::from_millis(300), cut).await.is_err(), "it hangs");
    world.store.behaviour().commits_hang = false;
    done(users.create(&actor, new("ana@example.com"), once("k", "d")).await.expect("created"));
    assert_eq!(world.recorded().await.len(), 1);
}
