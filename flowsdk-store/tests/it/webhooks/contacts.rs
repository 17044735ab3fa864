//! What happens to contacts is announced to the routers that know them, in the transaction of its cause.

use std::sync::Arc;

use flowsdk_core::admin::contact::{ContactNaming, Contacts, Import, NewContact, OptIns, SentRow};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::contact::{
    Contact, ContactAlias, ContactIdentity, HasContactCatalog as _, HasContacts as _,
};
use flowsdk_core::event::{WebhookEvent, WebhookEventType};
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::idempotency::Outcome;
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::session::{Channel, SentVariables};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::announced::{announced, subscribe};
use super::place::Place;
use crate::conversations::world::World;
use crate::support::databases::on_every_database;

on_every_database! {
    a_contact_that_writes_is_announced_to_the_router_once,
    what_people_do_to_contacts_is_announced,
    what_the_provider_tells_of_a_contact_is_announced,
    a_merge_ends_a_contact_and_changes_another,
    an_import_announces_contacts_that_the_router_did_not_know,
    nothing_is_announced_that_nobody_takes,
    what_is_rolled_back_was_never_announced,
    what_was_told_of_a_contact_goes_with_them_but_their_end,
}

const CONTACT_EVENTS: [WebhookEventType; 3] =
    [WebhookEventType::ContactCreated, WebhookEventType::ContactUpdated, WebhookEventType::ContactDeleted];

/// A world with two routers, of which webhooks take what happens to contacts.
async fn world(store: SqlStore) -> (World, RouterId) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    let second = "router2".parse().expect("an id");
    subscribe(&world, &world.router, &CONTACT_EVENTS).await;
    subscribe(&world, &second, &CONTACT_EVENTS).await;
    (world, second)
}

fn contacts(world: &World) -> Contacts<SqlStore> {
    Contacts::new(Arc::clone(&world.store), world.cx.clone(), Arc::new(NoChangeLog))
}

/// The events since the last look: type, contact and router of each.
async fn told(world: &World) -> Vec<(String, String, String)> {
    let events = announced(world).await;
    let short = |(kind, event): (String, Value)| {
        let contact = event["data"]["contact"]["id"].as_str().expect("an id").to_owned();
        assert_eq!(event["key"], contact.as_str());
        (kind, contact, event["routerId"].as_str().expect("a router").to_owned())
    };
    events.into_iter().map(short).collect()
}

fn event(kind: &str, contact: &ContactId, router: &RouterId) -> (String, String, String) {
    (kind.to_owned(), contact.to_string(), router.to_string())
}

/// Lets a router know a contact.
async fn link(world: &World, contact: &ContactId, router: &RouterId) {
    let mut tx = world.store.begin().await.expect("begin");
    let (contact, router) = (std::slice::from_ref(contact), std::slice::from_ref(router));
    tx.contact_catalog().link(contact, router).await.expect("linked");
    tx.commit().await.expect("commit");
}

fn new_contact(number: &str, router: Option<&RouterId>) -> Admitted<NewContact> {
    Admitted::trusted(NewContact {
        identity: ContactIdentity::parse(Channel::Phone, number).expect("a number"),
        name: Some("Zoë".to_owned()),
        name_locked: None,
        variables: SentVariables::default(),
        router_id: router.cloned(),
    })
}

async fn created(world: &World, number: &str, router: Option<&RouterId>) -> Contact {
    let new = new_contact(number, router);
    match contacts(world).create(&Author::default(), Reach::ALL, new, None).await.expect("created") {
        Outcome::Done(details) => details.contact,
        outcome => panic!("{outcome:?}"),
    }
}

async fn a_contact_that_writes_is_announced_to_the_router_once(store: SqlStore) {
    let (world, _) = world(store).await;
    let ana = world.contact("ana").await;
    assert_eq!(told(&world).await, [], "no router knows a visitor who has not written");
    world.say("ana", "a1", "oi").await;
    let events = announced(&world).await;
    let [(kind, event_of)] = events.as_slice() else { panic!("{events:?}") };
    let details = contacts(&world).get(Reach::ALL, &ana.id).await.expect("a contact");
    assert_eq!((kind.as_str(), &event_of["data"]["contact"]), ("contact.created", &details.to_json()));
    assert_eq!(event_of["data"]["contact"]["contactVariables"], json!({}));
    assert_eq!((&event_of["key"], &event_of["routerId"]), (&json!(ana.id), &json!(world.router)));
    assert_eq!(event_of["timestamp"], json!(world.cx.now()));
    // This block names the contact and sets a variable: one change in one transaction.
    world.say("ana", "a2", "x").await;
    assert_eq!(told(&world).await, []);
    world.say("ana", "a3", "name").await;
    let events = announced(&world).await;
    let [(kind, event_of)] = events.as_slice() else { panic!("{events:?}") };
    let contact = &event_of["data"]["contact"];
    assert_eq!((kind.as_str(), &contact["name"]), ("contact.updated", &json!("Ana")));
    assert_eq!(contact["contactVariables"], json!({ "named": "x" }));
}

async fn what_people_do_to_contacts_is_announced(store: SqlStore) {
    let (world, second) = world(store).await;
    let (service, author) = (contacts(&world), Author::default());
    let unknown = created(&world, "5511987650001", None).await;
    assert_eq!(told(&world).await, [], "no router knows it");
    let zoe = created(&world, "5511987650002", Some(&world.router)).await.id;
    assert_eq!(told(&world).await, [event("contact.created", &zoe, &world.router)]);
    link(&world, &zoe, &second).await;
    link(&world, &zoe, &second).await;
    assert_eq!(told(&world).await, [event("contact.created", &zoe, &second)]);
    let both = |kind: &str| [event(kind, &zoe, &world.router), event(kind, &zoe, &second)];
    let naming = ContactNaming { name: Some("Zoé".to_owned()), locked: None };
    service.rename(&author, Reach::ALL, &zoe, &naming).await.expect("renamed");
    assert_eq!(told(&world).await, both("contact.updated"));
    let sent = json!({ "plan": "pro" }).as_object().cloned().expect("an object");
    let sent = SentVariables::check(sent).expect("variables");
    service.merge_variables(&author, Reach::ALL, &zoe, &sent).await.expect("merged");
    let events = announced(&world).await;
    assert_eq!(events[0].1["data"]["contact"]["contactVariables"], json!({ "plan": "pro" }));
    // What stays as it is is told to nobody.
    service.rename(&author, Reach::ALL, &zoe, &naming).await.expect("renamed");
    service.merge_variables(&author, Reach::ALL, &zoe, &sent).await.expect("merged");
    assert_eq!(told(&world).await, []);
    service.remove_variable(&author, Reach::ALL, &zoe, "plan").await.expect("removed");
    assert_eq!(told(&world).await, both("contact.updated"));
    let alias = || "BR.1".to_owned().try_into().expect("an alias");
    service.add_alias(&author, Reach::ALL, &zoe, alias()).await.expect("added");
    let events = announced(&world).await;
    assert_eq!(events[1].1["data"]["contact"]["aliases"][0]["alias"], "BR.1");
    let taken = service.add_alias(&author, Reach::ALL, &unknown.id, alias()).await;
    assert!(taken.is_err() && told(&world).await.is_empty(), "{taken:?}");
    service.remove_alias(&author, Reach::ALL, &zoe, "BR.1").await.expect("removed");
    assert_eq!(told(&world).await, both("contact.updated"));
    service.delete(&author, Reach::ALL, &zoe, false).await.expect("deleted");
    let events = announced(&world).await;
    assert!(
        events.iter().all(|(_, event)| event["data"] == json!({ "contact": { "id": zoe } })),
        "{events:?}"
    );
    assert_eq!(events.len(), 2);
    service.delete(&author, Reach::ALL, &unknown.id, false).await.expect("deleted");
    assert_eq!(told(&world).await, []);
}

async fn what_the_provider_tells_of_a_contact_is_announced(store: SqlStore) {
    let (world, _) = world(store).await;
    let zoe = created(&world, "5511987650002", Some(&world.router)).await.id;
    told(&world).await;
    let updated = [event("contact.updated", &zoe, &world.router)];
    let renumbered = async |to: &str| {
        let mut tx = world.store.begin().await.expect("begin");
        assert!(tx.contacts().renumber("5511987650002", to, world.cx.now()).await.expect("renumbered"));
        tx.commit().await.expect("commit");
        told(&world).await
    };
    assert_eq!(renumbered("5511987650003").await, updated);
    assert_eq!(renumbered("5511987650003").await, [], "it is told again");
    for expected in [&updated[..], &[]] {
        let alias =
            ContactAlias { contact_id: zoe.clone(), alias: "BR.7".to_owned(), created_at: world.cx.now() };
        let mut tx = world.store.begin().await.expect("begin");
        tx.contacts().add_aliases(&[alias]).await.expect("added");
        tx.commit().await.expect("commit");
        assert_eq!(told(&world).await, expected);
    }
}

async fn a_merge_ends_a_contact_and_changes_another(store: SqlStore) {
    let (world, second) = world(store).await;
    let zoe = created(&world, "5511987650002", Some(&world.router)).await.id;
    let other = created(&world, "5511987650004", Some(&second)).await.id;
    told(&world).await;
    let service = contacts(&world);
    service.merge(&Author::default(), Reach::ALL, &zoe, &other).await.expect("merged");
    let expected = [
        event("contact.created", &zoe, &second),
        event("contact.updated", &zoe, &world.router),
        event("contact.deleted", &other, &second),
    ];
    // Those of two contacts are in no order.
    let mut found = told(&world).await;
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(found, expected);
}

async fn an_import_announces_contacts_that_the_router_did_not_know(store: SqlStore) {
    let (world, second) = world(store).await;
    let known = created(&world, "5511987650002", Some(&world.router)).await.id;
    told(&world).await;
    let opt_ins = OptIns::new(Arc::clone(&world.store), world.cx.clone(), Arc::new(NoChangeLog));
    let router = Reach::ALL.admit(second.clone()).expect("within reach");
    let row = |phone: &str| SentRow {
        phone_number: phone.to_owned(),
        status: "accepted".to_owned(),
        ..SentRow::default()
    };
    let import = Import { rows: vec![row("5511987650002"), row("5511987650005")], strict: true };
    opt_ins.import(&Author::default(), Reach::ALL, &router, &import, None).await.expect("imported");
    let mut found = told(&world).await;
    found.sort();
    assert_eq!(found.len(), 2);
    assert!(found.contains(&event("contact.created", &known, &second)), "{found:?}");
    assert!(found.iter().all(|(kind, _, router)| kind == "contact.created" && *router == second.to_string()));
    opt_ins.import(&Author::default(), Reach::ALL, &router, &import, None).await.expect("imported");
    assert_eq!(told(&world).await, [], "the router knows them");
}

async fn nothing_is_announced_that_nobody_takes(store: SqlStore) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    world.say("ana", "a1", "oi").await;
    assert_eq!(told(&world).await, []);
    subscribe(&world, &world.router, &[WebhookEventType::ContactDeleted]).await;
    subscribe(&world, &"router2".parse().expect("an id"), &CONTACT_EVENTS).await;
    world.say("bia", "b1", "oi").await;
    world.say("ana", "a2", "name").await;
    assert_eq!(told(&world).await, [], "another router takes them, which knows nobody");
    let ana = world.contact("ana").await.id;
    contacts(&world).delete(&Author::default(), Reach::ALL, &ana, true).await.expect("deleted");
    assert_eq!(told(&world).await, [event("contact.deleted", &ana, &world.router)]);
}

async fn what_is_rolled_back_was_never_announced(store: SqlStore) {
    let (world, _) = world(store).await;
    let zoe = created(&world, "5511987650002", Some(&world.router)).await;
    told(&world).await;
    let mut tx = world.store.begin().await.expect("begin");
    tx.contacts().save_many(&[&zoe]).await.expect("saved");
    tx.rollback().await;
    assert_eq!(told(&world).await, []);
}

async fn what_was_told_of_a_contact_goes_with_them_but_their_end(store: SqlStore) {
    let place = Place::new(store).await;
    let world = &place.world;
    world.store.learn_webhooks().await.expect("learnt");
    let told = async || {
        let events: Vec<WebhookEvent> = world
            .published(TopicName::Webhooks)
            .await
            .into_iter()
            .map(|event| serde_json::from_value(event).expect("an event"))
            .collect();
        for event in events.iter().filter(|event| CONTACT_EVENTS.contains(&event.r#type)) {
            place.fan_out.take(&[event]).await.expect("taken");
        }
    };
    let zoe = created(world, "5511987650002", Some(&world.router)).await.id;
    let other = created(world, "5511987650004", Some(&world.router)).await.id;
    told().await;
    place.receiver.always(Some(500));
    assert_eq!(place.send().await.len(), 2);
    let service = contacts(world);
    service.merge(&Author::default(), Reach::ALL, &zoe, &other).await.expect("merged");
    service.delete(&Author::default(), Reach::ALL, &zoe, false).await.expect("deleted");
    assert_eq!(place.deliveries().await, [], "names and numbers go at once");
    told().await;
    place.receiver.always(None);
    place.send().await;
    let left = place.deliveries().await;
    let deleted = left.iter().filter(|one| one.event_type == WebhookEventType::ContactDeleted);
    let mut deleted: Vec<&str> = deleted.map(|one| one.key.as_str()).collect();
    deleted.sort_unstable();
    let mut expected = [zoe.as_str(), other.as_str()];
    expected.sort_unstable();
    assert_eq!(deleted, expected);
    let text = left.iter().map(|one| one.body.as_str()).collect::<String>();
    assert!(!text.contains("Zoë") && !text.contains("5511987650002"), "{text}");
}
