//! Groups, API clients and devices (rulings H8).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::api_client::{ApiClientChange, ApiClientError, NewApiClient};
use flowsdk_auth::audit::AuditAction;
use flowsdk_auth::device::{NewUserDevice, UserDeviceChange, UserDeviceError, UserDevices};
use flowsdk_auth::group::{GroupChange, GroupError, NewGroup};
use flowsdk_auth::permission::{Action, Resource};
use flowsdk_auth::user::UserRole;
use flowsdk_core::change::EntityKind;
use flowsdk_core::fault::FaultKind;
use flowsdk_core::id::{ApiClientId, GroupId, RouterId, UserDeviceId};
use flowsdk_core::idempotency::{IdempotencyKey, IdempotentRequest, Once, Outcome, StoredAnswer};
use flowsdk_core::page::PageRequest;
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::SqlStore;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::world::{COST, NOW, World, expected, permission, told};
use crate::support::databases::on_every_database;

on_every_database! {
    a_group_is_administered,
    an_api_client_is_administered,
    a_device_belongs_to_its_user,
}

async fn a_group_is_administered(store: SqlStore) {
    let world = World::new(store);
    let (groups, actor) = (world.groups(), world.actor());
    let new = || NewGroup {
        name: "Support".to_owned(),
        permissions: permission(Resource::Flows, Action::Read),
        router_ids: vec![RouterId::parse("r1").expect("an id")],
    };
    let once = |digest: &str| {
        let key = IdempotencyKey::parse("k").expect("a key");
        let request = IdempotentRequest { principal_id: "cactor".to_owned(), key, digest: digest.to_owned() };
        Once {
            request,
            answer: |group: &flowsdk_auth::group::Group| StoredAnswer {
                status: 201,
                body: group.id.to_string(),
            },
        }
    };
    let Outcome::Done(group) = groups.create(&actor, new(), Some(once("d"))).await.expect("created") else {
        panic!("replayed");
    };
    let again = groups.create(&actor, new(), Some(once("d"))).await.expect("answered");
    assert_eq!(again, Outcome::Replayed(StoredAnswer { status: 201, body: group.id.to_string() }));
    let other = groups.create(&actor, new(), Some(once("e"))).await;
    assert!(matches!(other, Err(GroupError::Idempotency(_))));
    let page = groups.list(None, &PageRequest::default()).await.expect("a page");
    assert_eq!(page.items, std::slice::from_ref(&group));

    world.pass(Duration::from_secs(1));
    let change = GroupChange { name: Some("Sales".to_owned()), ..GroupChange::default() };
    let changed = groups.change(&actor, &group.id, change).await.expect("changed");
    assert_eq!((changed.name.as_str(), changed.permissions), ("Sales", group.permissions));
    assert_eq!((changed.updated_at, &changed.router_ids), (world.cx.now(), &group.router_ids));
    assert_eq!(groups.get(&group.id).await.expect("a group"), changed);

    let ana = world.user_with("ana@example.com", UserRole::Member, Some(group.id.clone()), COST).await;
    groups.delete(&actor, &group.id).await.expect("deleted");
    assert_eq!(world.stored(&ana).await.expect("a user").group_id, None);
    let not_found = expected(FaultKind::NotFound, "not_found", "Grupo não encontrado");
    let nowhere = GroupId::parse("cnowhere").expect("an id");
    assert_eq!(told(&groups.get(&nowhere).await.expect_err("refused")), not_found);
    assert_eq!(told(&groups.delete(&actor, &group.id).await.expect_err("refused")), not_found);
    let refused = groups.change(&actor, &nowhere, GroupChange::default()).await.expect_err("refused");
    assert_eq!(told(&refused), not_found);
    let records = world.recorded().await;
    assert!(records.iter().all(|record| record.entity_type == Some(EntityKind::Group)), "{records:?}");
    let found: Vec<_> = records.into_iter().map(|r| (r.action, r.changes.expect("changes"))).collect();
    let [(AuditAction::Create, new), (AuditAction::Update, changes), (AuditAction::Delete, gone)] =
        &found[..]
    else {
        panic!("{found:?}");
    };
    assert_eq!((&new["name"], &gone["name"]), (&json!("Support"), &json!("Sales")));
    assert_eq!(changes, &json!({ "name": { "from": "Support", "to": "Sales" } }));
}

async fn an_api_client_is_administered(store: SqlStore) {
    let world = World::new(store);
    let (clients, actor) = (world.api_clients(), world.actor());
    let new = NewApiClient {
        name: "Machine".to_owned(),
        permissions: permission(Resource::Flows, Action::Read),
        router_ids: vec![RouterId::parse("r1").expect("an id")],
        active: true,
        expires_at: Some(Timestamp::from_millis(NOW + 5).into()),
    };
    let (client, token) = clients.create(&actor, new).await.expect("created");
    assert!(token.expose_secret().starts_with("fai_") && token.expose_secret().len() == 68);
    assert!(!format!("{client:?} {token:?}").contains(client.token_hash.as_str()));
    assert_eq!(clients.get(&client.id).await.expect("a client"), client);
    let page = clients.list(None, &PageRequest::default()).await.expect("a page");
    assert_eq!(page.items, std::slice::from_ref(&client));

    let change =
        ApiClientChange { active: Some(false), expires_at: Some(None), ..ApiClientChange::default() };
    let changed = clients.change(&actor, &client.id, change).await.expect("changed");
    assert_eq!((changed.active, changed.expires_at, &changed.name), (false, None, &client.name));
    let (rotated, new_token) = clients.rotate(&actor, &client.id).await.expect("rotated");
    assert_ne!(rotated.token_hash, client.token_hash);
    assert_ne!(new_token.expose_secret(), token.expose_secret());
    clients.delete(&actor, &client.id).await.expect("deleted");

    let not_found = expected(FaultKind::NotFound, "not_found", "Cliente de API não encontrado");
    let nothing = ApiClientId::parse("cnothing").expect("an id");
    let refused: [ApiClientError; 4] = [
        clients.get(&nothing).await.expect_err("refused"),
        clients.change(&actor, &nothing, ApiClientChange::default()).await.expect_err("refused"),
        clients.rotate(&actor, &nothing).await.map(drop).expect_err("refused"),
        clients.delete(&actor, &client.id).await.expect_err("refused"),
    ];
    assert!(refused.iter().all(|refused| told(refused) == not_found));

    let records = world.recorded().await;
    for record in &records {
        assert_eq!(record.entity_type, Some(EntityKind::ApiClient));
        assert_eq!(record.entity_id.as_deref(), Some(client.id.as_str()));
        assert!(!format!("{record:?}").contains("fai_"));
        for hash in [&client.token_hash, &rotated.token_hash] {
            assert!(!format!("{record:?}").contains(hash.as_str()));
        }
    }
    let found: Vec<_> = records.into_iter().map(|r| (r.action, r.changes.expect("changes"))).collect();
    let at = |millis| Timestamp::from_millis(NOW + millis).to_iso();
    let entity = json!({ "id": client.id, "name": "Machine", "active": true, "routerIds": ["r1"],
        "permissions": [{ "resource": "flows", "actions": ["read"] }], "expiresAt": at(5), "lastUsedAt": null,
        "createdAt": at(0), "updatedAt": at(0) });
    let mut last = entity.clone();
    (last["active"], last["expiresAt"]) = (json!(false), json!(null));
    assert_eq!(
        found,
        [
            (AuditAction::Create, entity),
            (
                AuditAction::Update,
                json!({ "active": { "from": true, "to": false }, "expiresAt": { "from": at(5), "to": null } })
            ),
            (AuditAction::Update, json!({ "token": { "from": "***", "to": "***" } })),
            (AuditAction::Delete, last),
        ]
    );
}

fn device(token: &str, platform: &str) -> NewUserDevice {
    NewUserDevice { token: token.to_owned(), platform: platform.to_owned() }
}

fn android() -> UserDeviceChange {
    UserDeviceChange { token: None, platform: Some("android".to_owned()) }
}

async fn a_device_belongs_to_its_user(store: SqlStore) {
    let world = World::new(store);
    let (ana, bia) = (world.user("ana@example.com").await, world.user("bia@example.com").await);
    let devices = UserDevices::new(Arc::clone(&world.store), world.cx.clone(), world.audit.clone());
    let actor = world.actor();
    let first = devices.register(&actor, &ana, device("device-1", "ios")).await.expect("registered");
    world.pass(Duration::from_secs(1));
    let second = devices.register(&actor, &ana, device("device-2", "web")).await.expect("registered");
    assert!(!format!("{first:?}").contains("device-1"));
    let page = devices.list(&ana, &PageRequest::default()).await.expect("a page");
    assert_eq!(page.items, [second.clone(), first.clone()]);

    let not_found = expected(FaultKind::NotFound, "not_found", "Dispositivo não encontrado");
    assert_eq!(told(&devices.get(&bia, &first.id).await.expect_err("another's")), not_found);
    assert_eq!(told(&devices.delete(&actor, &bia, &first.id).await.expect_err("another's")), not_found);
    let change = devices.change(&actor, &bia, &first.id, android()).await;
    assert_eq!(told(&change.expect_err("another's")), not_found);
    let nothing = UserDeviceId::parse("cnothing").expect("an id");
    assert!(matches!(devices.get(&ana, &nothing).await, Err(UserDeviceError::NotFound)));

    let changed = devices.change(&actor, &ana, &first.id, android()).await.expect("changed");
    assert_eq!((changed.token.as_str(), changed.platform.as_str()), ("device-1", "android"));
    let same_token = UserDeviceChange { token: Some("device-2".to_owned()), platform: None };
    let taken = devices.change(&actor, &ana, &first.id, same_token).await.expect_err("taken");
    assert_eq!(told(&taken), expected(FaultKind::Conflict, "token_taken", "Token já cadastrado"));
    assert_eq!(devices.get(&ana, &first.id).await.expect("a device"), changed);

    // Who logs in on it last has the device.
    let moved = devices.register(&actor, &bia, device("device-1", "ios")).await.expect("registered");
    assert_eq!((&moved.id, &moved.user_id), (&first.id, &bia));
    assert!(devices.get(&ana, &first.id).await.is_err());
    devices.delete(&actor, &ana, &second.id).await.expect("deleted");
    assert!(devices.list(&ana, &PageRequest::default()).await.expect("a page").items.is_empty());
}
