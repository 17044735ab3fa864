//! The queries of those who administer contacts, chats and sessions.

use serde_json::json;

use super::StoreUnderTest;
use super::world::{World, contact, later, row, session_id};
use crate::chat::{Chat, ChatFilter, ChatStatus};
use crate::contact::{
    Contact, ContactAlias, ContactFilter, ContactOptIn, OptInFilter, OptInSource, OptInStatus, search_terms,
};
use crate::id::RouterId;
use crate::page::{Page, PageRequest};
use crate::prelude::*;
use crate::session::{Frost, FrozenError, FrozenSession, Mode, Session, SessionFilter, SessionTrace};
use crate::store::Store;
use crate::testkit::store::StoreTx;

fn first(limit: u32) -> PageRequest {
    PageRequest { limit, after: None }
}

fn after<T>(page: &Page<T>, limit: u32) -> PageRequest {
    PageRequest { limit, after: page.next.clone() }
}

/// Contacts are found by beginnings of words, also under a new name and an alias, page by page.
pub async fn contacts_are_found_by_their_words<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let mut made = Vec::new();
    for (n, name) in ["Ana Souza", "João Conceição", "Anabela Conde"].into_iter().enumerate() {
        let mut new = contact(&world.cx, n + 10);
        name.clone_into(&mut new.name);
        made.push(tx.contacts().insert_or_get(&new).await.expect("a contact"));
    }
    "Ánna Lima".clone_into(&mut made[0].name);
    tx.contacts().save_many(&[&made[0]]).await.expect("save");
    let alias =
        ContactAlias { contact_id: made[1].id.clone(), alias: "5511987".into(), created_at: later(1) };
    assert!(tx.contact_catalog().add_alias(&alias).await.expect("an alias"));
    assert!(!tx.contact_catalog().add_alias(&alias).await.expect("an alias"), "it is taken");
    // A contact that comes by an alias gets a new name: the identity of its own still leads there.
    let mut known =
        tx.contacts().find_by_phone_numbers(&["5511987".to_owned()]).await.expect("found").remove(0);
    "João da Conceição".clone_into(&mut known.name);
    tx.contacts().save_many(&[&known]).await.expect("save");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    for (query, expected) in [
        ("an", vec![2, 0]),
        ("ANNA", vec![0]),
        ("souza", vec![]),
        ("con joao", vec![1]),
        ("con", vec![2, 1]),
        ("5511", vec![1]),
        ("da", vec![1]),
        (&made[1].phone_number, vec![1]),
        ("\u{10ffff}", vec![]),
    ] {
        let filter = ContactFilter { terms: Some(search_terms(query).unwrap_or_default()), origin: None };
        let mut found = Vec::new();
        let mut page = first(1);
        loop {
            let part = tx.contact_catalog().list(&filter, None, &page).await.expect("a page");
            found.extend(part.items.iter().map(|one| one.id.clone()));
            page = after(&part, 1);
            if page.after.is_none() {
                break;
            }
        }
        let expected: Vec<_> = expected.into_iter().map(|n: usize| made[n].id.clone()).collect();
        assert_eq!(found, expected, "{query}");
    }
}

/// An identity is of one contact, be it its own or an alias, and follows the contact to a new number.
pub async fn identities_are_of_one_contact<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let (one, other) = (contact(&world.cx, 10), contact(&world.cx, 11));
    let (one, other) = (
        tx.contacts().insert_or_get(&one).await.expect("a contact"),
        tx.contacts().insert_or_get(&other).await.expect("a contact"),
    );
    let alias = |contact: &Contact, alias: &str| ContactAlias {
        contact_id: contact.id.clone(),
        alias: alias.to_owned(),
        created_at: later(1),
    };
    tx.contacts().add_aliases(&[]).await.expect("added");
    let aliases = [
        alias(&one, "BR.1"),
        alias(&one, "5511987"),
        alias(&other, "5511987"),
        alias(&one, &other.phone_number),
    ];
    for alias in &aliases {
        tx.contacts().add_aliases(std::slice::from_ref(alias)).await.expect("added");
    }
    tx.contacts().add_aliases(&aliases).await.expect("added");
    let owners = async |tx: &mut S::Tx, identities: &[&str]| {
        let asked: Vec<String> = identities.iter().map(|identity| (*identity).to_owned()).collect();
        let found = tx.contacts().find_by_phone_numbers(&asked).await.expect("found");
        let mut found: Vec<_> = found.into_iter().map(|contact| (contact.phone_number, contact.id)).collect();
        found.sort();
        found
    };
    let of = |contact: &Contact, identity: &str| (identity.to_owned(), contact.id.clone());
    let found = owners(&mut tx, &["BR.1", "5511987", &other.phone_number]).await;
    let mut expected = [of(&one, "BR.1"), of(&one, "5511987"), of(&other, &other.phone_number)];
    expected.sort();
    assert_eq!(found, expected);

    // Nobody has the former identity, or somebody else has the new one.
    assert!(!tx.contacts().renumber("nobody", "5511", later(2)).await.expect("renumbered"));
    assert!(!tx.contacts().renumber("BR.1", &other.phone_number, later(2)).await.expect("renumbered"));
    // Twice, as everything that comes at least once; the new one was an alias already the second time round.
    for (from, to, at) in [("BR.1", "5599", 2), ("BR.1", "5599", 2), (&*one.phone_number, "5511987", 3)] {
        assert!(tx.contacts().renumber(from, to, later(at)).await.expect("renumbered"), "{from} {to}");
        let details = tx.contact_catalog().find(std::slice::from_ref(&one.id), None).await.expect("found");
        assert_eq!(details[0].contact.phone_number, to);
        let found = owners(&mut tx, &["BR.1", "5511987", "5599", &one.phone_number]).await;
        assert!(found.iter().all(|(_, id)| *id == one.id) && found.len() >= 3, "{found:?}");
    }
    let found = owners(&mut tx, &["BR.1", "5511987", "5599", &one.phone_number]).await;
    assert_eq!(found.len(), 4, "every former identity leads to it");
    // The first change comes once more, behind the second one; a later one leads back.
    for (at, expected) in [(2, "5511987"), (4, "5599")] {
        assert!(tx.contacts().renumber("BR.1", "5599", later(at)).await.expect("renumbered"));
        let details = tx.contact_catalog().find(std::slice::from_ref(&one.id), None).await.expect("found");
        assert_eq!(details[0].contact.phone_number, expected);
    }
    let filter = ContactFilter { terms: Some(search_terms("5599").unwrap_or_default()), origin: None };
    let page = tx.contact_catalog().list(&filter, None, &first(10)).await.expect("a page");
    assert_eq!(page.items.len(), 1, "it is found by them");
    tx.commit().await.expect("commit");
}

/// A contact is known to the routers it has a chat with, and to those it was linked to.
pub async fn contacts_are_known_to_their_routers<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let other = super::world::router("router2");
    let mut tx = world.store.begin().await.expect("begin");
    tx.routers().insert(&other).await.expect("a router");
    let stranger = tx.contacts().insert_or_get(&contact(&world.cx, 9)).await.expect("a contact");
    tx.commit().await.expect("commit");
    let all = [world.router.clone(), other.id.clone()];
    let filter = ContactFilter::default();
    for (linked, expected) in [(false, [1, 0, 1]), (true, [1, 2, 2])] {
        let mut tx = world.store.begin().await.expect("begin");
        if linked {
            let both = [stranger.id.clone(), world.contact.clone()];
            for _ in 0..2 {
                tx.contact_catalog().link(&both, std::slice::from_ref(&other.id)).await.expect("linked");
            }
        }
        for (routers, count) in [&all[..1], &all[1..], &all[..]].into_iter().zip(expected) {
            let page = tx.contact_catalog().list(&filter, Some(routers), &first(10)).await.expect("a page");
            assert_eq!(page.items.len(), count, "{routers:?}");
        }
        let ids = [world.contact.clone(), stranger.id.clone()];
        let known = tx.contact_catalog().find(&ids, Some(&all[1..])).await.expect("found");
        assert_eq!(known.len(), if linked { 2 } else { 0 });
        tx.commit().await.expect("commit");
    }
}

/// An absorbed record belongs to the contact, and the other's identity leads to it.
pub async fn an_absorbed_contact_leaves_everything<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    world.save(&[(world.session(1), None)]).await.expect("save");
    let mut tx = world.store.begin().await.expect("begin");
    let into = tx.contacts().insert_or_get(&contact(&world.cx, 5)).await.expect("a contact");
    let ids = [world.contact.clone()];
    let from = tx.contacts().find_many_for_update(&ids).await.expect("found").remove(0);
    tx.contact_catalog().absorb(&into, &from).await.expect("absorbed");
    tx.commit().await.expect("commit");
    let mut tx = world.store.begin().await.expect("begin");
    let found =
        tx.contacts().find_by_phone_numbers(std::slice::from_ref(&from.phone_number)).await.expect("found");
    let found: Vec<_> = found.into_iter().map(|one| (one.id, one.phone_number)).collect();
    assert_eq!(
        found,
        [(into.id.clone(), from.phone_number.clone())],
        "under the identity that was asked for"
    );
    let again = tx.contacts().insert_or_get(&from).await.expect("a contact");
    assert_eq!(again.id, into.id, "no second contact");
    assert_eq!(tx.contact_catalog().find(&ids, None).await.expect("found"), []);
    let session = tx.session_catalog().find(&session_id(1)).await.expect("found").expect("a session").session;
    assert_eq!((session.contact_id, session.version), (into.id.clone(), world.session(1).version + 1));
    let only = [world.router.clone()];
    assert_eq!(
        tx.contact_catalog().find(std::slice::from_ref(&into.id), Some(&only)).await.expect("found").len(),
        1
    );
    tx.contact_catalog().delete(&into.id).await.expect("deleted");
    assert_eq!(tx.session_catalog().find(&session_id(1)).await.expect("found"), None);
}

/// Sessions are listed by the filter, newest first.
pub async fn live_sessions_are_listed<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let at = |n: usize, mode: Mode| {
        let started_at = later(n as u64);
        (Session { started_at, mode, ..world.session(n) }, None)
    };
    world.save(&[at(1, Mode::Flow), at(2, Mode::Human), at(3, Mode::Flow)]).await.expect("save");
    let none: [RouterId; 0] = [];
    let foreign = RouterId::generate(world.cx.ids());
    let of = |filter: SessionFilter| filter;
    let mut tx = world.store.read().await.expect("read");
    for (filter, only, expected) in [
        (SessionFilter::default(), None, vec![3, 2, 1]),
        (of(SessionFilter { mode: Some(Mode::Flow), ..Default::default() }), None, vec![3, 1]),
        (
            of(SessionFilter { contact_id: Some(world.contact.clone()), ..Default::default() }),
            None,
            vec![3, 2, 1],
        ),
        (
            of(SessionFilter { flow_id: Some("f1".parse().expect("an id")), ..Default::default() }),
            None,
            vec![],
        ),
        (
            of(SessionFilter { router_id: Some(world.router.clone()), ..Default::default() }),
            None,
            vec![3, 2, 1],
        ),
        (
            of(SessionFilter { router_id: Some(world.router.clone()), ..Default::default() }),
            Some(std::slice::from_ref(&world.router)),
            vec![3, 2, 1],
        ),
        (
            of(SessionFilter { router_id: Some(world.router.clone()), ..Default::default() }),
            Some(std::slice::from_ref(&foreign)),
            vec![],
        ),
        (
            of(SessionFilter { router_id: Some(world.router.clone()), ..Default::default() }),
            Some(&none),
            vec![],
        ),
        (SessionFilter::default(), Some(&none), vec![]),
    ] {
        let page = tx.session_catalog().list(&filter, only, &first(10)).await.expect("a page");
        let found: Vec<_> = page.items.into_iter().map(|session| session.id).collect();
        assert_eq!(found, expected.into_iter().map(session_id).collect::<Vec<_>>(), "{filter:?}");
    }
    let page = tx.session_catalog().list(&SessionFilter::default(), None, &first(2)).await.expect("a page");
    let rest =
        tx.session_catalog().list(&SessionFilter::default(), None, &after(&page, 2)).await.expect("a page");
    assert_eq!((rest.items.len(), rest.next), (1, None));
}

/// An entry of a frozen session is taken once, in order.
pub async fn a_frozen_session_is_thawed_entry_by_entry<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    world.save(&[(world.session(1), None)]).await.expect("save");
    let frozen = |n: usize| FrozenSession {
        session_id: session_id(n),
        error: FrozenError { code: "flow_loop".to_owned(), message: "é".to_owned() },
        entry: json!({ "n": n }),
        frozen_at: later(n as u64),
    };
    let mut tx = world.store.begin().await.expect("begin");
    tx.sessions().freeze_many(&[frozen(1), frozen(2)]).await.expect("frozen");
    for n in [1, 2] {
        let kept: Vec<_> = (0..3).map(|kept| (session_id(n), json!({ "kept": kept }))).collect();
        tx.sessions().keep_entries(&kept, 10).await.expect("kept");
    }
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let page = tx.session_catalog().list_frozen(None, &first(10)).await.expect("a page");
    let found: Vec<_> = page.items.iter().map(|item| (item.frozen.clone(), item.mode)).collect();
    assert_eq!(found, [(frozen(2), None), (frozen(1), Some(Mode::Flow))]);
    let only = [world.router.clone()];
    let page = tx.session_catalog().list_frozen(Some(&only), &first(10)).await.expect("a page");
    assert_eq!(page.items.len(), 1, "the router of the session");
    let (one, other) = (session_id(1), session_id(3));
    let frost = Frost { error: frozen(1).error, frozen_at: frozen(1).frozen_at };
    let frosts = tx.session_catalog().frosts(&[&one, &other]).await.expect("frosts");
    assert_eq!(frosts, [(one, frost)]);
    drop(tx);
    let mut tx = world.store.begin().await.expect("begin");
    assert_eq!(tx.sessions().take_frozen(&session_id(1)).await.expect("taken"), Some(frozen(1)));
    assert_eq!(tx.sessions().take_frozen(&session_id(1)).await.expect("taken"), None);
    for kept in 0..2 {
        let taken = tx.sessions().take_kept(&session_id(1)).await.expect("taken");
        assert_eq!(taken, Some(json!({ "kept": kept })));
    }
    tx.session_catalog().forget_kept(&session_id(1)).await.expect("forgotten");
    assert_eq!(tx.sessions().take_kept(&session_id(1)).await.expect("taken"), None);
    assert_eq!(tx.sessions().take_kept(&session_id(2)).await.expect("taken"), Some(json!({ "kept": 0 })));
    tx.commit().await.expect("commit");
}

/// Chats are listed by the filter, and a message comes with the router of its chat.
pub async fn chats_are_listed<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let message = world.message(crate::message::Direction::Out, 1, "oi");
    world.insert(std::slice::from_ref(&message)).await;
    let mut tx = world.store.begin().await.expect("begin");
    tx.chats().close_many(std::slice::from_ref(&world.chat)).await.expect("closed");
    let second =
        Chat { created_at: later(5), ..Chat::open(&world.cx, world.contact.clone(), world.router.clone()) };
    tx.chats().open_or_get_many(std::slice::from_ref(&second)).await.expect("a chat");
    let only = [world.router.clone()];
    for (status, expected) in [
        (None, vec![second.id.clone(), world.chat.clone()]),
        (Some(ChatStatus::Open), vec![second.id.clone()]),
        (Some(ChatStatus::Closed), vec![world.chat.clone()]),
    ] {
        for (contact_id, only) in [(None, None), (Some(world.contact.clone()), None), (None, Some(&only[..]))]
        {
            let filter = ChatFilter { status, contact_id, router_id: None };
            let page = tx.chat_catalog().list(&filter, only, &first(10)).await.expect("a page");
            let found: Vec<_> = page.items.into_iter().map(|chat| chat.id).collect();
            assert_eq!(found, expected, "{filter:?}");
        }
    }
    let foreign = RouterId::generate(world.cx.ids());
    for (only, expected) in [(None, 2), (Some(&only[..]), 2), (Some(&[foreign][..]), 0), (Some(&[][..]), 0)] {
        let filter = ChatFilter { router_id: Some(world.router.clone()), ..ChatFilter::default() };
        let page = tx.chat_catalog().list(&filter, only, &first(10)).await.expect("a page");
        assert_eq!(page.items.len(), expected, "who sees {only:?} asks for another router");
    }
    let found = tx.chat_catalog().find_message(&message.id).await.expect("found");
    assert_eq!(found, Some((row(&message, 1), Some(world.router.clone()))));
    tx.commit().await.expect("commit");
}

/// Of each contact of a router the newest record counts, also of one moment.
pub async fn the_newest_opt_in_of_each_contact_is_listed<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let other = tx.contacts().insert_or_get(&contact(&world.cx, 7)).await.expect("a contact");
    let record = |contact: &crate::id::ContactId, at: u64, status: OptInStatus| ContactOptIn {
        id: world.cx.ids().next_id(),
        contact_id: contact.clone(),
        router_id: world.router.clone(),
        status,
        chat_id: None,
        source: OptInSource::Import,
        recorded_at: later(at),
    };
    let records = [
        record(&world.contact, 3, OptInStatus::Accepted),
        record(&world.contact, 3, OptInStatus::Revoked),
        record(&world.contact, 1, OptInStatus::Accepted),
        record(&other.id, 2, OptInStatus::Accepted),
    ];
    tx.opt_ins().append_many(&records).await.expect("append");
    let current = tx.opt_ins().current(&world.contact, &world.router).await.expect("current");
    assert_eq!(current.as_ref(), Some(&records[1]), "the later of one moment");
    for (status, query, expected) in [
        (None, None, vec![1, 3]),
        (Some(OptInStatus::Accepted), None, vec![3]),
        (None, Some("visitor 7"), vec![3]),
        (None, Some("visitor"), vec![1, 3]),
        (Some(OptInStatus::Revoked), Some("visitor"), vec![1]),
    ] {
        let filter =
            OptInFilter { status, terms: query.map(|query| search_terms(query).unwrap_or_default()) };
        let page = tx.opt_in_catalog().of_router(&world.router, &filter, &first(10)).await.expect("a page");
        let found: Vec<_> = page.items.into_iter().map(|(record, _)| record).collect();
        assert_eq!(
            found,
            expected.into_iter().map(|n: usize| records[n].clone()).collect::<Vec<_>>(),
            "{filter:?}"
        );
    }
    let history = tx.opt_in_catalog().history(&world.contact, None, &first(2)).await.expect("a page");
    assert_eq!(history.items, [records[1].clone(), records[0].clone()]);
    let insights = tx.contact_insights().insights(&world.contact, None, later(0)).await.expect("insights");
    assert_eq!((insights.chats, insights.open_chats, insights.opt_ins), (1, 1, vec![records[1].clone()]));
    tx.commit().await.expect("commit");
}

/// The traces of a session come newest first.
pub async fn traces_are_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let trace = |version: i64| SessionTrace {
        session_id: session_id(1),
        router_id: (version > 1).then(|| world.router.clone()),
        contact_id: (version > 2).then(|| world.contact.clone()),
        version,
        event: "message".to_owned(),
        steps: json!([{ "step": "blockEntered" }, version]),
        created_at: later(1),
    };
    let mut tx = world.store.begin().await.expect("begin");
    tx.traces().store_many(&[trace(1), trace(2), trace(3)]).await.expect("store");
    let found = tx.traces().trace(&session_id(1), Some(3), 10).await.expect("a page");
    assert_eq!(found, [trace(2), trace(1)]);
    // The records of a contact go with it.
    tx.contact_catalog().delete(&world.contact).await.expect("delete");
    let found = tx.traces().trace(&session_id(1), None, 10).await.expect("a page");
    assert_eq!(found, [trace(2), trace(1)]);
    tx.commit().await.expect("commit");
}
