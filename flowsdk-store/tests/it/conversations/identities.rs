//! Contacts of phone numbers, whose identities the provider writes in several ways (rulings C5, S23).

use std::sync::Arc;

use flowsdk_channels::channel_number::{ChannelNumber, E164, HasChannelNumbers as _, ProviderId};
use flowsdk_core::admin::contact::{Import, OptIns, SentRow};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::contact::{Contact, HasContactCatalog as _, HasContacts as _, HasOptIns as _};
use flowsdk_core::conversation::{ConversationEvent, TurnReport};
use flowsdk_core::event::IncomingEvent;
use flowsdk_core::id::MessageId;
use flowsdk_core::idempotency::Outcome;
use flowsdk_core::message::{HasMessages as _, IncomingMessage, MessageStatus};
use flowsdk_core::router::Reach;
use flowsdk_core::session::{Channel, HasSessions as _, Session, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use futures_util::future::join_all;

use super::world::{World, bodies};
use crate::support::databases::on_every_database;

on_every_database! {
    every_way_to_write_an_identity_is_the_same_contact,
    an_alias_that_comes_later_is_kept,
    two_contacts_stay_two,
    an_import_beside_first_messages_makes_one_contact_of_a_number,
    an_import_beside_first_messages_at_another_router_sees_none_of_them,
    the_name_of_the_profile_is_followed_until_somebody_gives_one,
}

/// A router with the number `111`, and what people write to it.
pub(super) struct Phone {
    pub(super) world: World,
}

impl Phone {
    pub(super) async fn new(store: SqlStore) -> Self {
        let world = World::new(store).await;
        let at = world.cx.now();
        let number = ChannelNumber {
            id: "n1".parse().expect("an id"),
            router_id: world.router.clone(),
            name: "Loja".to_owned(),
            phone_number_id: ProviderId::parse("111").expect("digits"),
            phone_number: E164::parse("551130000000").expect("a number"),
            business_account_id: ProviderId::parse("77").expect("digits"),
            access_token: None,
            keys: None,
            active: true,
            created_at: at,
            updated_at: at,
        };
        let mut tx = world.store.begin().await.expect("begin");
        tx.channel_numbers().insert_if_absent(&number).await.expect("a number");
        tx.commit().await.expect("commit");
        Self { world }
    }

    /// Somebody writes; their number or user id is the end of the session's id.
    pub(super) async fn says(
        &self,
        session: &str,
        id: &str,
        aliases: &[&str],
        name: Option<&str>,
    ) -> TurnReport {
        self.world.handle(self.message(session, id, aliases, name)).await
    }

    fn message(&self, session: &str, id: &str, aliases: &[&str], name: Option<&str>) -> ConversationEvent {
        let session_id = SessionId::parse(session).expect("an id");
        ConversationEvent::Incoming(IncomingEvent {
            channel_type: Channel::Phone,
            phone_number_id: session_id.phone_number_id().to_owned(),
            from: Some(session_id.party().to_owned()),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            contact_name: name.unwrap_or(session_id.party()).to_owned(),
            session_id,
            messages: vec![IncomingMessage::text(id, "oi")],
            timestamp: self.world.cx.now(),
            context: None,
            flow_id: None,
            opened_after: None,
        })
    }

    async fn contact(&self, identity: &str) -> Option<Contact> {
        let mut tx = self.world.store.read().await.expect("read");
        let found =
            tx.contacts().find_by_phone_numbers(&[identity.to_owned()]).await.expect("found").pop()?;
        let details = tx.contact_catalog().find(&[found.id], None).await.expect("found");
        details.into_iter().next().map(|details| details.contact)
    }

    pub(super) async fn status(&self, id: &MessageId) -> Option<MessageStatus> {
        let mut tx = self.world.store.read().await.expect("read");
        let sessions = tx.messages().sessions_of(std::slice::from_ref(id)).await.expect("found");
        let (_, session) = sessions.first()?;
        drop(tx);
        let chat = self.session(session.as_str()).await?.chat_id;
        self.world.history(&chat).await.into_iter().find(|message| message.id == *id)?.status
    }

    async fn session(&self, id: &str) -> Option<Session> {
        let id = SessionId::parse(id).expect("an id");
        let mut tx = self.world.store.begin().await.expect("begin");
        Some(tx.sessions().find_many_for_update(&[id]).await.expect("found").pop()?.session)
    }
}

async fn every_way_to_write_an_identity_is_the_same_contact(store: SqlStore) {
    let phone = Phone::new(store).await;
    // Imported with the ninth digit; the provider writes it without.
    let known = Contact::create(&phone.world.cx, "5511987654321".into(), "Ana".into(), Channel::Phone);
    let mut tx = phone.world.store.begin().await.expect("begin");
    let known = tx.contacts().insert_or_get(&known).await.expect("a contact");
    tx.commit().await.expect("commit");
    let told = ["5511987654321", "BR.1"];
    assert_eq!(bodies(&phone.says("wa-111-551187654321", "m1", &told, None).await), ["Hello "]);
    for identity in ["551187654321", "5511987654321", "BR.1"] {
        let found = phone.contact(identity).await.expect("a contact");
        assert_eq!((&found.id, &*found.phone_number), (&known.id, "5511987654321"), "{identity}");
    }
    // Later the number is hidden, or told again in the other form.
    phone.says("wa-111-BR.1", "m2", &[], None).await;
    phone.says("wa-111-5511987654321", "m3", &["551187654321", "BR.1"], None).await;
    for session in ["wa-111-551187654321", "wa-111-BR.1", "wa-111-5511987654321"] {
        let stored = phone.session(session).await.expect("a session");
        assert_eq!(stored.contact_id, known.id, "{session}");
    }
}

async fn an_alias_that_comes_later_is_kept(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.says("wa-111-15550783881", "m1", &[], None).await;
    let first = phone.contact("15550783881").await.expect("a contact");
    for id in ["m2", "m3"] {
        phone.says("wa-111-15550783881", id, &["US.2"], None).await;
    }
    assert_eq!(phone.contact("US.2").await.expect("a contact").id, first.id);
}

async fn two_contacts_stay_two(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.says("wa-111-15550783881", "m1", &[], None).await;
    phone.says("wa-111-US.2", "m2", &[], None).await;
    let two =
        [phone.contact("15550783881").await, phone.contact("US.2").await].map(|c| c.expect("a contact").id);
    assert_ne!(two[0], two[1]);
    phone.says("wa-111-15550783881", "m3", &["US.2"], None).await;
    let still = [phone.contact("15550783881").await, phone.contact("US.2").await];
    assert_eq!(still.map(|c| c.expect("a contact").id), two, "a person merges them");
}

/// The first messages come in a batch with one of somebody who is imported too.
async fn an_import_beside_first_messages_makes_one_contact_of_a_number(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.says("wa-111-15550783881", "m0", &[], None).await;
    let known = phone.contact("15550783881").await.expect("a contact");
    let opt_ins = OptIns::new(Arc::clone(&phone.world.store), phone.world.cx.clone(), Arc::new(NoChangeLog));
    let router = Reach::ALL.admit(phone.world.router.clone()).expect("within reach");
    let accepted = SentRow { status: "accepted".to_owned(), ..SentRow::default() };
    for round in 10..30 {
        let (short, long) = (format!("5511876543{round}"), format!("55119876543{round}"));
        let import = Import {
            rows: vec![
                SentRow { phone_number: long.clone(), ..accepted.clone() },
                SentRow { contact_id: known.id.to_string(), ..accepted.clone() },
            ],
            strict: true,
        };
        let batch = [
            phone.message("wa-111-15550783881", &format!("k{round}"), &[], None),
            phone.message(&format!("wa-111-{short}"), &format!("n{round}"), &[], None),
        ];
        let author = Author::default();
        let (imported, handled) = tokio::join!(
            opt_ins.import(&author, Reach::ALL, &router, &import, None),
            phone.world.try_handle(&batch),
        );
        let Outcome::Done(report) = imported.expect("imported") else { panic!("done before") };
        assert_eq!((report.imported, handled.expect("handled").len()), (2, 2));
        let made = [phone.contact(&short).await, phone.contact(&long).await].map(|c| c.map(|c| c.id));
        let one = made.iter().flatten().next().expect("a contact");
        assert!(made.iter().flatten().all(|id| id == one), "{round}: {made:?}");
        let mut tx = phone.world.store.read().await.expect("read");
        let current = tx.opt_ins().current(one, &router).await.expect("found");
        assert!(current.is_some(), "{round}: the opt-in is of the other contact");
    }
}

/// Whoever imports is confined to a router to which nobody wrote.
async fn an_import_beside_first_messages_at_another_router_sees_none_of_them(store: SqlStore) {
    let phone = Phone::new(store).await;
    phone.world.add_router("router2", "c2").await;
    let opt_ins = OptIns::new(Arc::clone(&phone.world.store), phone.world.cx.clone(), Arc::new(NoChangeLog));
    let routers = ["router2".parse().expect("an id")];
    let reach = Reach::only(&routers);
    let router = reach.admit(routers[0].clone()).expect("within reach");
    let mut done = 0;
    for round in 100..130 {
        let numbers: Vec<String> = (100..140).map(|nth| format!("1555{round}0{nth}")).collect();
        let accepted = |number: &String| SentRow {
            phone_number: number.clone(),
            status: "accepted".to_owned(),
            ..SentRow::default()
        };
        let import = Import { rows: numbers.iter().map(accepted).collect(), strict: false };
        let first_messages = numbers.iter().map(|number| {
            let event = phone.message(&format!("wa-111-{number}"), &format!("m{number}"), &[], None);
            let world = &phone.world;
            async move { world.try_handle(&[event]).await }
        });
        let author = Author::default();
        let (imported, handled) =
            tokio::join!(opt_ins.import(&author, reach, &router, &import, None), join_all(first_messages),);
        assert!(handled.iter().all(Result::is_ok), "{handled:?}");
        // An import that lost every race did nothing.
        let Ok(Outcome::Done(report)) = imported else { continue };
        assert_eq!(report.imported, report.created_contacts, "{round}: it imported a contact of others");
        assert_eq!(report.imported + report.refused.len(), report.total);
        done += 1;
    }
    assert!(done > 0, "no import won a race");
}

async fn the_name_of_the_profile_is_followed_until_somebody_gives_one(store: SqlStore) {
    let phone = Phone::new(store).await;
    for (nth, (profile, name)) in [
        (None, "15550783881"),
        (Some("Ana"), "Ana"),
        (None, "Ana"),
        (Some(" Ana\nSouza "), "Ana Souza"),
        (Some(" \t"), "Ana Souza"),
    ]
    .into_iter()
    .enumerate()
    {
        phone.says("wa-111-15550783881", &format!("m{nth}"), &[], profile).await;
        assert_eq!(phone.contact("15550783881").await.expect("a contact").name, name, "{nth}");
    }
    let mut contact = phone.contact("15550783881").await.expect("a contact");
    assert!(contact.rename("Dona Ana"));
    let mut tx = phone.world.store.begin().await.expect("begin");
    tx.contacts().save_many(&[&contact]).await.expect("saved");
    tx.commit().await.expect("commit");
    phone.says("wa-111-15550783881", "last", &[], Some("Ana")).await;
    assert_eq!(phone.contact("15550783881").await.expect("a contact").name, "Dona Ana");
}
