//! What is asked for at both sizes.

use flowsdk_core::page::Cursor;
use flowsdk_core::time::Timestamp;

use super::names::{ALSO_FREQUENT, FREQUENT, ORDINARY, RARE};
use super::store::{ACTION, ACTOR, Marks};

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// The administrator, who sees everything.
    Admin,
    /// An API client of the smallest tenant, which sees nothing else.
    Tenant,
}

/// A request whose time must not grow with the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) name: &'static str,
    pub(super) caller: Caller,
    pub(super) path: String,
}

/// The items of a page: a page of this length is full in a store of 10,000 contacts already.
const LIMIT: u32 = 20;

/// The place in a chat of more than 1,000 messages at which a page far back begins.
const BACK: &str = "500";

/// Returns the reads of a store with these rows and this router.
pub(super) fn reads(marks: &Marks, router: &str) -> Vec<Read> {
    let admin = |name, path: String| Read { name, caller: Caller::Admin, path };
    let list = |name, path: &str| admin(name, page(path));
    let after = |at, id: &str| Cursor { at: Timestamp::from_millis(at), id: id.to_owned() };
    let contact = after(marks.contact_at, &marks.contact);
    let chat = after(marks.chat_at, &marks.long_chat);
    let session = after(marks.session_at, &marks.session);
    let of_contact = &marks.contact;
    let mut reads = vec![
        list("contacts", "/contacts?"),
        list("contacts, from the middle", &format!("/contacts?cursor={contact}")),
        list("contacts of a channel", "/contacts?origin=social"),
    ];
    reads.extend(searches(marks));
    reads.extend([
        admin("contact by id", format!("/contacts/{of_contact}")),
        list("chats", "/chats?"),
        list("chats, from the middle", &format!("/chats?cursor={chat}")),
        list("open chats of a router", &format!("/chats?status=open&routerId={router}")),
        list("closed chats of a router", &format!("/chats?status=closed&routerId={router}")),
        list("chats of a contact", &format!("/chats?contactId={of_contact}")),
        list("messages of a chat", &format!("/chats/{}/messages?", marks.long_chat)),
        list(
            "messages of a chat, from the middle",
            &format!("/chats/{}/messages?cursor={}", marks.long_chat, after(marks.chat_at, BACK)),
        ),
        list("sessions", "/sessions?"),
        list("sessions, from the middle", &format!("/sessions?cursor={session}")),
        list("sessions of a router", &format!("/sessions?routerId={router}")),
        list("sessions that a human has", "/sessions?mode=human"),
        list("sessions of a contact", &format!("/sessions?contactId={of_contact}")),
        admin("session by id", format!("/sessions/{}", marks.session)),
        list("routers", "/routers?"),
        list("web chat channels", "/webchat/channels?"),
    ]);
    reads.extend(audits(marks, router));
    reads
}

/// By words, numbers and aliases, among all contacts and among those of one tenant.
fn searches(marks: &Marks) -> impl Iterator<Item = Read> {
    let read = |caller, name, query: String| Read { name, caller, path: page(&format!("/contacts?{query}")) };
    let all = move |name, query| read(Caller::Admin, name, query);
    let own = move |name, query| read(Caller::Tenant, name, query);
    [
        all("contacts by a rare word", format!("q={RARE}")),
        all("contacts by an ordinary word", format!("q={ORDINARY}")),
        all("contacts by a frequent word", format!("q={FREQUENT}")),
        all("contacts by two frequent words", format!("q={FREQUENT}+{ALSO_FREQUENT}")),
        all("contacts by a frequent and a rare word", format!("q={FREQUENT}+{RARE}")),
        all("contacts by a frequent word and a usual channel", format!("q={FREQUENT}&origin=phone")),
        all("contacts by a frequent word and a seldom channel", format!("q={FREQUENT}&origin=social")),
        all("contacts by their number", format!("q={}", marks.phone)),
        all("contacts by an alias", format!("q={}", marks.alias)),
        own("contacts of a tenant", String::new()),
        own("contacts of a tenant by an ordinary word", format!("q={ORDINARY}")),
        own("contacts of a tenant by a frequent word", format!("q={FREQUENT}")),
    ]
    .into_iter()
}

fn audits(marks: &Marks, router: &str) -> impl Iterator<Item = Read> {
    let read = |name, query: String| Read {
        name,
        caller: Caller::Admin,
        path: page(&format!("/audit-logs?{query}")),
    };
    [
        read("audit records", String::new()),
        read("audit records, from the middle", format!("cursor={}", marks.audit)),
        read("audit records of an actor", format!("actorId={ACTOR}")),
        read("audit records of an action", format!("action={ACTION}")),
        read("audit records of failures", "status=failure".to_owned()),
        read("audit records of an actor and an action", format!("actorId={ACTOR}&action={ACTION}")),
        read("audit records of an actor's failures", format!("actorId={ACTOR}&status=failure")),
        read("audit records of an action's failures", format!("action={ACTION}&status=failure")),
        read(
            "audit records of an actor, an action and failures",
            format!("actorId={ACTOR}&action={ACTION}&status=failure"),
        ),
        read("audit records of a router and an actor", format!("routerId={router}&actorId={ACTOR}")),
        read(
            "audit records of a router, an actor and an action",
            format!("routerId={router}&actorId={ACTOR}&action={ACTION}"),
        ),
    ]
    .into_iter()
}

/// `path`, which has its question mark, with the length of a page.
fn page(path: &str) -> String {
    let and = if path.ends_with('?') { "" } else { "&" };
    format!("{path}{and}limit={LIMIT}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_read_has_a_name_and_a_path_of_its_own() {
        let marks = Marks {
            contact: "c1".to_owned(),
            phone: "5511".to_owned(),
            alias: "3519".to_owned(),
            ..Marks::default()
        };
        let reads = reads(&marks, "r1");
        for one in &reads {
            let same = |other: &&Read| {
                other.name == one.name || (other.path == one.path && other.caller == one.caller)
            };
            assert_eq!(reads.iter().filter(same).count(), 1, "{one:?}");
        }
        assert_eq!(page("/a?"), "/a?limit=20");
        assert_eq!(page("/a?b=c"), "/a?b=c&limit=20");
    }
}
