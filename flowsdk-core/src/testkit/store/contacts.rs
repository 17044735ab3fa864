//! Contacts.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;

use super::world::{contact, context, later};
use super::{Samples, StoreUnderTest};
use crate::contact::{Contact, ContactChange};
use crate::prelude::*;
use crate::record::HasRecords;
use crate::saved_filter::SavedFilter;
use crate::session::Channel;
use crate::store::Store;
use crate::testkit::store::StoreTx;

async fn insert<S: Store>(subject: &StoreUnderTest<S>, contacts: &[Contact])
where
    S::Tx: StoreTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.contacts().insert_or_get_many(contacts).await.expect("insert"), contacts);
    tx.commit().await.expect("commit");
}

/// Of hundreds of contacts those that are asked for come, by id or by identity, each once.
pub async fn contacts_are_found_by_id_and_by_identity<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let cx = context();
    let contacts: Vec<_> = (0..320).map(|n| contact(&cx, n)).collect();
    insert(&subject, &contacts).await;
    let mut ids: Vec<_> = contacts[..300].iter().map(|contact| contact.id.clone()).collect();
    ids.extend([ids[0].clone(), "nobody".parse().expect("an id")]);
    let mut phones: Vec<_> = contacts[20..].iter().map(|contact| contact.phone_number.clone()).collect();
    phones.extend([phones[0].clone(), "'; --".to_owned(), String::new()]);
    let mut tx = subject.store.begin().await.expect("begin");
    let by_id = |mut found: Vec<Contact>| {
        found.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        found
    };
    assert_eq!(by_id(tx.contacts().find_many_for_update(&ids).await.expect("find")), contacts[..300]);
    assert_eq!(by_id(tx.contacts().find_by_phone_numbers(&phones).await.expect("find")), contacts[20..]);
    assert_eq!(tx.contacts().find_many_for_update(&[]).await.expect("find"), []);
}

/// A second contact of the same identity is not created: the first one is given.
pub async fn an_identity_has_one_contact<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let cx = context();
    let (first, second) = (contact(&cx, 1), Contact { name: "Other".to_owned(), ..contact(&cx, 1) });
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.contacts().insert_or_get(&first).await.expect("insert"), first);
    assert_eq!(tx.contacts().insert_or_get(&second).await.expect("insert"), first);
    tx.commit().await.expect("commit");
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.contacts().insert_or_get(&second).await.expect("insert"), first);
}

/// Of many that are created at once, one identity twice, those that exist are given as they are, in the same order.
pub async fn many_contacts_are_created_or_found<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let cx = context();
    let known: Vec<_> = (0..150).step_by(3).map(|n| contact(&cx, n)).collect();
    insert(&subject, &known).await;
    let new: Vec<_> = (0..150).chain([1]).map(|n| contact(&cx, n)).collect();
    let mut expected = new.clone();
    for (n, known) in known.into_iter().enumerate() {
        expected[3 * n] = known;
    }
    expected[150] = expected[1].clone();
    let mut tx = subject.store.begin().await.expect("begin");
    for _ in 0..2 {
        assert_eq!(tx.contacts().insert_or_get_many(&new).await.expect("insert"), expected);
    }
    assert_eq!(tx.contacts().insert_or_get_many(&[]).await.expect("insert nothing"), []);
}

/// Whoever create a contact at once are given the same, whichever form of its number they know (rulings C5), and whether
/// they take one that is there or not.
pub async fn many_that_create_a_contact_get_the_same<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let cx = context();
    let mut tasks = JoinSet::new();
    for nth in 0..80 {
        let number = nth / 4;
        let form = if nth % 2 == 0 { "55119" } else { "5511" };
        let phone_number = format!("{form}876543{number:02}");
        let (store, new) = (Arc::clone(&subject.store), Contact { phone_number, ..contact(&cx, 1) });
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            if nth % 4 < 2 {
                tx.contact_catalog().insert_new(std::slice::from_ref(&new)).await.expect("insert");
            }
            let contact = tx.contacts().insert_or_get(&new).await.expect("insert");
            tx.commit().await.expect("commit");
            (number, contact.id)
        });
    }
    let ids: BTreeSet<_> = tasks.join_all().await.into_iter().collect();
    assert_eq!(ids.len(), 20, "{ids:?}");
    // Of both forms in one list one is made.
    let both = ["5521987654321", "552187654321"]
        .map(|form| Contact { phone_number: form.to_owned(), ..contact(&cx, 2) });
    let mut tx = subject.store.begin().await.expect("begin");
    let made = tx.contacts().insert_or_get_many(&both).await.expect("insert");
    assert_eq!(made.iter().map(|contact| &contact.id).collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(made[1].phone_number, both[1].phone_number);
    assert_eq!(tx.contact_catalog().insert_new(&both).await.expect("insert"), []);
}

/// Contacts are rewritten many at once, some with another name and some not.
pub async fn many_changed_contacts_are_saved<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let cx = context();
    let mut contacts: Vec<_> = (0..203).map(|n| contact(&cx, n)).collect();
    insert(&subject, &contacts).await;
    for round in ["Ana", "Bia"] {
        for (n, contact) in contacts.iter_mut().enumerate() {
            if n % 2 == 0 {
                contact.apply(&ContactChange::Name(format!("{round} {n}")));
            }
            contact.apply(&ContactChange::Variable { key: "round".to_owned(), value: json!([round, n]) });
        }
        let mut tx = subject.store.begin().await.expect("begin");
        tx.contacts().save_many(&contacts.iter().collect::<Vec<_>>()).await.expect("save");
        tx.commit().await.expect("commit");
        let mut tx = subject.store.begin().await.expect("begin");
        let ids: Vec<_> = contacts.iter().map(|contact| contact.id.clone()).collect();
        let mut found = tx.contacts().find_many_for_update(&ids).await.expect("find");
        found.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(found, contacts);
    }
}

/// Name, lock and variables are rewritten; nothing else is, and no other contact.
pub async fn a_changed_contact_is_saved<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let cx = context();
    let (mut changed, other) = (contact(&cx, 1), contact(&cx, 2));
    insert(&subject, &[changed.clone(), other.clone()]).await;
    changed.apply(&ContactChange::Name("João 👋🏽 'O\"Neil'".to_owned()));
    let value = json!({ "list": [1, 2.5, null, true], "": "á" });
    changed.apply(&ContactChange::Variable { key: "chave.ação".to_owned(), value });
    let mut tx = subject.store.begin().await.expect("begin");
    tx.contacts().save_many(&[&changed]).await.expect("save");
    tx.contacts().save_many(&[]).await.expect("save nothing");
    tx.commit().await.expect("commit");
    let mut tx = subject.store.begin().await.expect("begin");
    for expected in [changed, other] {
        let found =
            tx.contacts().find_many_for_update(std::slice::from_ref(&expected.id)).await.expect("find");
        assert_eq!(found, [expected]);
    }
}

/// A saved filter is read back as it was saved, listed newest first within reach, and gone with its router.
pub async fn a_saved_filter_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx + HasRecords<SavedFilter>,
{
    let samples = Samples {
        record: |id, router_id, _, at| SavedFilter {
            id: id.parse().expect("an id"),
            router_id: router_id.clone(),
            name: "Ação 👋".to_owned(),
            q: Some("ana sou".to_owned()),
            origin: Some(Channel::Webchat),
            created_at: at,
            updated_at: at,
        },
        states: |first| {
            let first = SavedFilter { updated_at: later(5), ..first.clone() };
            let empty = SavedFilter { q: None, origin: None, ..first.clone() };
            vec![empty, SavedFilter { name: "B".to_owned(), ..first }]
        },
        filter: |router| router,
        is_unique: false,
    };
    samples.are_kept(&subject).await;
}
