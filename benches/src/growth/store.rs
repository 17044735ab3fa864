//! The rows of a store: contacts of several tenants with chats, messages, sessions and audit records.
//!
//! The share of every kind is the same in a store of any size, and so is the time from the first row to the last.

use std::time::Duration;

use flowsdk_core::contact::{Contact, search_text, search_words};
use flowsdk_core::id::{ContactId, Cuids, IdSource as _};
use flowsdk_core::session::Channel;
use flowsdk_core::time::{Clock as _, ManualClock, Timestamp};
use serde_json::{Map, json};

use super::names::{draw, name};
use super::sink::{Cell, Rows};
use crate::random::Random;

/// Contacts that come together. Their messages are mixed in time, and one of them has a long chat.
pub(super) const COHORT: u64 = 1_000;
/// Messages of the first chat of a cohort, and of every other: 10 a contact.
const MESSAGES: [u64; 2] = [1_009, 9];
/// The time from the first row to the last.
const SPAN: Duration = Duration::from_hours(29 * 24);
/// How long ago the last row was written: no session of a race is older.
const AGO: Duration = Duration::from_hours(24);

/// Tenants beside the first, with the shares of 100 of all.
pub(super) const TENANTS: [(usize, u64); 6] = [(0, 50), (1, 25), (2, 12), (3, 8), (4, 4), (5, 1)];
/// The channels of contacts, with their shares of 100.
const CHANNELS: [(Channel, u64); 3] = [(Channel::Phone, 60), (Channel::Webchat, 30), (Channel::Social, 10)];
/// The actors of audit records, with their shares of 100.
const ACTORS: [(&str, u64); 5] = [("ana", 40), ("bia", 30), ("caio", 15), (ACTOR, 10), ("eva", 5)];
/// The actor whose records are asked for.
pub(super) const ACTOR: &str = "davi";
/// The actions of audit records, with their shares of 100.
const ACTIONS: [(&str, u64); 5] =
    [("UPDATE", 60), ("CREATE", 25), ("LOGIN", 10), (ACTION, 3), ("PUBLISH", 2)];
/// The action whose records are asked for.
pub(super) const ACTION: &str = "DELETE";

const CONTACT: [&str; 8] =
    ["id", "phone_number", "name", "name_locked", "origin", "contact_variables", "created_at", "search"];
const MESSAGE: [&str; 14] = [
    "id",
    "chat_id",
    "session_id",
    "direction",
    "kind",
    "content",
    "sender_kind",
    "sender_name",
    "status",
    "channel_message_id",
    "created_at",
    "status_updated_at",
    "seq",
    "previous",
];
const SESSION: [&str; 12] = [
    "id",
    "version",
    "epoch",
    "router_id",
    "contact_id",
    "chat_id",
    "mode",
    "state",
    "started_at",
    "last_interaction_at",
    "wake_at",
    "began_at",
];
const AUDIT: [&str; 10] = [
    "id",
    "action",
    "entity_type",
    "entity_id",
    "actor_id",
    "router_id",
    "status",
    "metadata",
    "created_at",
    "id_drift",
];

/// Rows in the middle of a store, which reads ask for.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    pub(super) contact: String,
    pub(super) contact_at: i64,
    pub(super) phone: String,
    pub(super) alias: String,
    pub(super) long_chat: String,
    pub(super) chat_at: i64,
    pub(super) session: String,
    pub(super) session_at: i64,
    pub(super) audit: String,
}

/// Writes a store, cohort by cohort.
#[derive(Debug)]
pub(super) struct Writer {
    contacts: u64,
    /// The routers, in the order of [`TENANTS`].
    routers: Vec<String>,
    channel: String,
    began: Timestamp,
    clock: ManualClock,
    ids: Cuids<ManualClock>,
    random: Random,
    marks: Marks,
}

/// A contact with what refers to it.
struct Person {
    contact: Contact,
    router: String,
    chat: String,
    session: String,
    is_live: bool,
    messages: u64,
    last_message: Option<String>,
}

/// The tables of a cohort, each behind those that it refers to.
struct Tables {
    contact: Rows,
    word: Rows,
    alias: Rows,
    router: Rows,
    chat: Rows,
    tag: Rows,
    message: Rows,
    session: Rows,
    audit: Rows,
}

impl Tables {
    fn empty() -> Self {
        Self {
            contact: Rows::of("contact", &CONTACT),
            word: Rows::of("contact_word", &["contact_id", "word", "created_at"]),
            alias: Rows::of("contact_alias", &["alias", "contact_id", "created_at"]),
            router: Rows::of("contact_router", &["router_id", "contact_created_at", "contact_id"]),
            chat: Rows::of("chat", &["id", "contact_id", "router_id", "status", "created_at"]),
            tag: Rows::of("chat_tag", &["chat_id", "tag", "created_at"]),
            message: Rows { of_sqlite: 1, ..Rows::of("message", &MESSAGE) },
            session: Rows::of("session", &SESSION),
            audit: Rows::of("audit_log", &AUDIT),
        }
    }

    fn all(self) -> Vec<Rows> {
        let Self { contact, word, alias, router, chat, tag, message, session, audit } = self;
        vec![contact, word, alias, router, chat, tag, message, session, audit]
    }

    fn add_person(&mut self, person: &Person, aliases: &[String]) {
        let Person { contact, router, chat, .. } = person;
        let (id, at) = (contact.id.as_str(), contact.created_at.as_millis());
        self.contact.add([
            id.into(),
            contact.phone_number.as_str().into(),
            contact.name.as_str().into(),
            0.into(),
            contact.origin.map(Channel::name).into(),
            json!(contact.variables).to_string().into(),
            at.into(),
            search_text(contact).into(),
        ]);
        for word in search_words(contact, aliases) {
            self.word.add([id.into(), word.into(), at.into()]);
        }
        for alias in aliases {
            self.alias.add([alias.as_str().into(), id.into(), at.into()]);
        }
        self.router.add([router.as_str().into(), at.into(), id.into()]);
        let status = if person.is_live { "open" } else { "closed" };
        self.chat.add([chat.as_str().into(), id.into(), router.as_str().into(), status.into(), at.into()]);
    }

    fn add_session(&mut self, person: &Person, mode: &str, last: i64) {
        let at = person.contact.created_at.as_millis();
        let state = json!({ "position": null, "variables": { "answer": "sim" }, "history": [],
                            "expiryTimeout": 86_400_000 });
        self.session.add([
            person.session.as_str().into(),
            at.into(),
            at.into(),
            person.router.as_str().into(),
            person.contact.id.as_str().into(),
            person.chat.as_str().into(),
            mode.into(),
            state.to_string().into(),
            at.into(),
            last.into(),
            Cell::Null,
            at.into(),
        ]);
    }
}

impl Writer {
    /// Begins a store of `contacts`, the last of which came before `now`.
    pub(super) fn new(contacts: u64, routers: Vec<String>, channel: String, now: Timestamp) -> Self {
        let began = now - AGO - SPAN;
        let clock = ManualClock::at(began.as_millis());
        let (ids, random) = (Cuids::new(clock.clone()), Random::new(contacts));
        Self { contacts, routers, channel, began, clock, ids, random, marks: Marks::default() }
    }

    /// Returns the rows that reads ask for, once all cohorts are written.
    pub(super) fn marks(self) -> Marks {
        self.marks
    }

    /// The rows of the contacts from number `first` on.
    pub(super) fn cohort(&mut self, first: u64) -> Vec<Rows> {
        let mut tables = Tables::empty();
        let is_middle = first == self.contacts / COHORT / 2 * COHORT;
        let mut people = Vec::with_capacity(COHORT as usize);
        for number in first..first + COHORT {
            let (place, half) = (number - first, COHORT * 2);
            self.clock.set(self.at(first, place, half));
            let person = self.person(number);
            let aliases =
                if number % 10 == 3 { vec![format!("3519{:08}", scrambled(number))] } else { Vec::new() };
            tables.add_person(&person, &aliases);
            if number % 20 == 0 {
                let at = person.contact.created_at.as_millis();
                tables.tag.add([person.chat.as_str().into(), "vip".into(), at.into()]);
            }
            if is_middle {
                self.mark(place, &person, &aliases);
            }
            people.push(person);
        }
        self.add_messages(first, &mut people, &mut tables);
        let last = self.clock_now();
        for (place, person) in people.iter().enumerate().filter(|(_, person)| person.is_live) {
            tables.add_session(person, if place % 500 == 3 { "human" } else { "flow" }, last);
        }
        for person in &people {
            let audit = self.audit(person);
            tables.audit.add(audit);
        }
        tables.all()
    }

    /// The moment `part` of `parts` in the time of the cohort that begins with contact `first`.
    fn at(&self, first: u64, part: u64, parts: u64) -> Timestamp {
        let whole = SPAN.as_millis() as f64 / self.contacts as f64;
        let passed = whole * (first as f64 + COHORT as f64 * part as f64 / parts as f64);
        self.began + Duration::from_millis(passed as u64)
    }

    fn clock_now(&self) -> i64 {
        self.clock.now().as_millis()
    }

    fn person(&mut self, number: u64) -> Person {
        let scrambled = scrambled(number);
        let channel = draw(&mut self.random, &CHANNELS);
        let (identity, session) = match channel {
            Channel::Phone => {
                let phone = format!("55119{scrambled:08}");
                (phone.clone(), format!("wa-551130000000-{phone}"))
            }
            Channel::Webchat => {
                let session = format!("wc-{}-v{scrambled:08}", self.channel);
                (session.clone(), session)
            }
            Channel::Social => (format!("ig-{scrambled:08}"), format!("ig-account-{scrambled:08}")),
        };
        let mut variables = Map::new();
        variables.insert("plan".to_owned(), json!(if number.is_multiple_of(3) { "pro" } else { "free" }));
        let contact = Contact {
            id: ContactId::generate(&self.ids),
            phone_number: identity,
            name: name(&mut self.random, number, self.contacts),
            name_locked: false,
            origin: Some(channel),
            variables,
            created_at: Timestamp::from_millis(self.clock_now()),
        };
        let place = number % COHORT;
        Person {
            contact,
            router: self.routers[draw(&mut self.random, &TENANTS)].clone(),
            chat: self.ids.next_id(),
            session,
            is_live: place % 10 == 3,
            messages: MESSAGES[usize::from(place > 0)],
            last_message: None,
        }
    }

    fn mark(&mut self, place: u64, person: &Person, aliases: &[String]) {
        let Person { contact, chat, session, is_live, .. } = person;
        let at = contact.created_at.as_millis();
        if place == 0 {
            self.marks.long_chat.clone_from(chat);
            self.marks.chat_at = at;
        }
        if contact.origin == Some(Channel::Phone) && *is_live {
            self.marks.contact = contact.id.to_string();
            self.marks.contact_at = at;
            self.marks.phone.clone_from(&contact.phone_number);
            self.marks.session.clone_from(session);
            self.marks.session_at = at;
            self.marks.alias = aliases.first().cloned().unwrap_or_default();
        }
    }

    /// The messages of the cohort: one of each chat, again and again, as long as the chat goes on.
    fn add_messages(&mut self, first: u64, people: &mut [Person], tables: &mut Tables) {
        let all = people.iter().map(|person| person.messages).sum::<u64>();
        let mut written = 0;
        for seq in 1..=MESSAGES[0] {
            for person in people.iter_mut().filter(|person| person.messages >= seq) {
                self.clock.set(self.at(first, all + written, all * 2));
                written += 1;
                let message = self.message(person, seq);
                tables.message.add(message);
            }
        }
    }

    fn message(&mut self, person: &mut Person, seq: u64) -> [Cell; MESSAGE.len()] {
        let (id, at) = (self.ids.next_id(), self.clock_now());
        let is_in = !seq.is_multiple_of(2);
        let text = format!("mensagem {seq} de {}", person.contact.name);
        let content = json!({ "type": "text", "text": { "body": text } });
        let sender = (!is_in).then_some("flow");
        let key = is_in.then(|| format!("key-{id}"));
        [
            id.as_str().into(),
            person.chat.as_str().into(),
            person.session.as_str().into(),
            if is_in { "in" } else { "out" }.into(),
            "text".into(),
            content.to_string().into(),
            sender.into(),
            Cell::Null,
            (!is_in).then_some("read").into(),
            key.into(),
            at.into(),
            at.into(),
            (seq as i64).into(),
            person.last_message.replace(id).into(),
        ]
    }

    fn audit(&mut self, person: &Person) -> [Cell; AUDIT.len()] {
        let id = self.ids.next_id();
        let action = draw(&mut self.random, &ACTIONS);
        // Deletions fail often, everything else seldom.
        let fails = self.random.chance(if action == ACTION { 30 } else { 1 });
        if self.marks.audit.is_empty() && !self.marks.contact.is_empty() {
            self.marks.audit.clone_from(&id);
        }
        let router = (action != "LOGIN").then_some(person.router.as_str());
        [
            id.into(),
            action.into(),
            "CONTACT".into(),
            person.contact.id.as_str().into(),
            draw(&mut self.random, &ACTORS).into(),
            router.into(),
            if fails { "failure" } else { "success" }.into(),
            json!({ "ip": "10.0.0.1" }).to_string().into(),
            self.clock_now().into(),
            0.into(),
        ]
    }
}

/// Returns eight digits of contact `number`: those of people are in no order. The factor has none in common with the
/// power of ten, so that no two contacts have the same.
fn scrambled(number: u64) -> u64 {
    number * 61_803_399 % 100_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cohorts(contacts: u64) -> (Vec<Vec<Rows>>, Marks) {
        let routers = (0..TENANTS.len()).map(|number| format!("r{number}")).collect();
        let now = Timestamp::from_millis(1_795_000_000_000);
        let mut writer = Writer::new(contacts, routers, "c1".to_owned(), now);
        let cohorts = (0..contacts / COHORT).map(|cohort| writer.cohort(cohort * COHORT)).collect();
        (cohorts, writer.marks())
    }

    fn column<'a>(rows: &'a Rows, name: &str) -> Vec<&'a Cell> {
        let place = rows.columns.iter().position(|column| *column == name).expect("a column");
        rows.rows.iter().map(|row| &row[place]).collect()
    }

    fn table<'a>(cohort: &'a [Rows], name: &str) -> &'a Rows {
        cohort.iter().find(|rows| rows.table == name).expect("a table")
    }

    #[test]
    fn a_cohort_has_ten_messages_a_contact_in_the_order_of_time() {
        let (cohorts, _) = cohorts(2_000);
        let mut ids = Vec::new();
        for cohort in &cohorts {
            assert_eq!(table(cohort, "contact").rows.len(), 1_000);
            let messages = table(cohort, "message");
            assert_eq!(messages.rows.len(), 10_000);
            let first = column(messages, "previous").iter().filter(|cell| ***cell == Cell::Null).count();
            assert_eq!(first, 1_000, "each chat is one chain");
            ids.extend(column(messages, "id").into_iter().map(|id| format!("{id:?}")));
        }
        assert!(ids.is_sorted());
    }

    #[test]
    fn every_mark_is_a_row() {
        let (cohorts, marks) = cohorts(3_000);
        let has = |name: &str, at: &str, text: &str| {
            let found = column(table(&cohorts[1], name), at).into_iter();
            found.filter(|cell| **cell == Cell::from(text)).count()
        };
        assert_eq!(has("contact", "id", &marks.contact), 1);
        assert_eq!(has("contact", "phone_number", &marks.phone), 1);
        assert_eq!(has("contact_alias", "alias", &marks.alias), 1);
        assert_eq!(has("message", "chat_id", &marks.long_chat), 1_009);
        assert_eq!(has("session", "id", &marks.session), 1);
        assert_eq!(has("audit_log", "id", &marks.audit), 1);
    }
}
