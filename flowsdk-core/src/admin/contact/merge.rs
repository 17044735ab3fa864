//! Two contacts that are one person become one.

use std::collections::HashSet;

use super::ContactError;
use crate::contact::{Contact, LiveSession, OpenChat};
use crate::id::{ChatId, ContactId, RouterId};
use crate::session::{MAX_CONTACT_VARIABLES, VariablesTooLarge, merge_variables};

/// Returns the open chats that must close before `from` becomes part of `into`: a router has one open chat with a
/// contact. Where one of two has a live session, the other closes; where none has, the younger. `chats` come oldest
/// first.
///
/// # Errors
/// [`ContactError::BothLive`]: neither conversation may be cut off.
pub(super) fn chats_to_close(
    into: &ContactId,
    chats: &[OpenChat],
    sessions: &[LiveSession],
) -> Result<Vec<ChatId>, ContactError> {
    let live = |contact: &ContactId, router: &RouterId| {
        sessions.iter().any(|session| session.contact_id == *contact && session.router_id == *router)
    };
    let both = sessions.iter().filter(|session| session.contact_id == *into);
    let others: HashSet<&RouterId> = sessions
        .iter()
        .filter(|session| session.contact_id != *into)
        .map(|session| &session.router_id)
        .collect();
    if both.map(|session| &session.router_id).any(|router| others.contains(router)) {
        return Err(ContactError::BothLive);
    }
    let mut close = Vec::new();
    for (index, elder) in chats.iter().enumerate() {
        let same =
            |chat: &&OpenChat| chat.router_id == elder.router_id && chat.contact_id != elder.contact_id;
        if let Some(younger) = chats[index + 1..].iter().find(same) {
            let loser = if live(&younger.contact_id, &younger.router_id) { elder } else { younger };
            close.push(loser.id.clone());
        }
    }
    Ok(close)
}

/// Returns `into` with everything of `from`: its own name and variables count, unless only the other's name was set
/// by somebody.
pub(super) fn merged(into: &Contact, from: &Contact) -> Result<Contact, VariablesTooLarge> {
    let mut contact = into.clone();
    if from.name_locked && !into.name_locked {
        contact.name.clone_from(&from.name);
        contact.name_locked = true;
    }
    // The other's are added to its own, which may have been larger before there was a limit.
    let mut added = from.variables.clone();
    added.retain(|key, _| !into.variables.contains_key(key));
    merge_variables(&mut contact.variables, &added, MAX_CONTACT_VARIABLES)?;
    Ok(contact)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::context::OpContext;
    use crate::session::{Channel, SessionId};
    use crate::time::Timestamp;

    fn chat(id: &str, contact: &str, router: &str) -> OpenChat {
        OpenChat {
            id: id.parse().expect("an id"),
            contact_id: contact.parse().expect("an id"),
            router_id: router.parse().expect("an id"),
            created_at: Timestamp::from_millis(1),
        }
    }

    fn session(contact: &str, router: &str) -> LiveSession {
        LiveSession {
            id: SessionId::parse(format!("wc-{router}-{contact}")).expect("an id"),
            contact_id: contact.parse().expect("an id"),
            router_id: router.parse().expect("an id"),
        }
    }

    #[test]
    fn which_of_two_open_chats_closes() {
        let into: ContactId = "a".parse().expect("an id");
        let chats = [chat("old", "b", "r1"), chat("new", "a", "r1"), chat("else", "b", "r2")];
        for (sessions, expected) in [
            (vec![], Some(vec!["new"])),
            (vec![session("b", "r1")], Some(vec!["new"])),
            (vec![session("a", "r1")], Some(vec!["old"])),
            (vec![session("a", "r1"), session("b", "r2")], Some(vec!["old"])),
            (vec![session("a", "r1"), session("b", "r1")], None),
        ] {
            let closed = chats_to_close(&into, &chats, &sessions).ok();
            let closed: Option<Vec<String>> = closed.map(|ids| ids.iter().map(ToString::to_string).collect());
            assert_eq!(
                closed,
                expected.map(|ids| ids.into_iter().map(str::to_owned).collect()),
                "{sessions:?}"
            );
        }
        assert_eq!(chats_to_close(&into, &chats[2..], &[]).expect("no conflict"), []);
    }

    #[test]
    fn the_survivors_own_values_count() {
        let cx = OpContext::system();
        let contact = |name: &str, locked: bool, variables: serde_json::Value| {
            let mut contact = Contact::create(&cx, name.to_owned(), name.to_owned(), Channel::Phone);
            contact.name_locked = locked;
            contact.variables = variables.as_object().expect("an object").clone();
            contact
        };
        let a = contact("A", false, json!({ "x": 1, "y": null }));
        let b = contact("B", true, json!({ "x": 2, "y": 3, "z": 4 }));
        let one = merged(&a, &b).expect("fits");
        assert_eq!((one.name.as_str(), one.name_locked, &one.id), ("B", true, &a.id));
        assert_eq!(serde_json::Value::Object(one.variables), json!({ "x": 1, "y": null, "z": 4 }));
        let other = merged(&b, &contact("C", true, json!({}))).expect("fits");
        assert_eq!(other.name, "B");
    }
}
