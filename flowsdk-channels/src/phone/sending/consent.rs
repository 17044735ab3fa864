//! The consent of contacts to whom a template was dispatched, as it is when the template is sent.

use std::collections::{HashMap, HashSet};

use flowsdk_core::contact::{Contact, ContactOptIn, HasContacts, HasOptIns, OptInStatus, other_form};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, MessageId, RouterId};
use flowsdk_core::message::Source;

use super::outbound::Outbound;

/// Returns the messages of `due` whose contact has revoked their consent since the dispatch: they wait for as long as a day,
/// behind answers or while their number is paused. `routers` has the router of each number. Whom an administrator writes to
/// without a consent has none to revoke.
pub(super) async fn revoked<T: HasContacts + HasOptIns>(
    tx: &mut T,
    due: impl Iterator<Item = &Outbound> + Clone,
    routers: &HashMap<&str, &RouterId>,
) -> Result<HashSet<MessageId>, StorageError> {
    let dispatched = due.filter(|one| one.event.source == Source::Dispatch);
    let forms = |party: &str| [Some(party.to_owned()), other_form(party)].into_iter().flatten();
    let mut asked: Vec<String> =
        dispatched.clone().flat_map(|one| forms(one.event.session_id.party())).collect();
    if asked.is_empty() {
        return Ok(HashSet::new());
    }
    asked.sort_unstable();
    asked.dedup();
    let contacts = tx.contacts().find_by_phone_numbers(&asked).await?;
    let ids: Vec<ContactId> = contacts.iter().map(|contact| contact.id.clone()).collect();
    let opt_ins = tx.opt_ins().current_among(&ids).await?;
    let has_revoked = |one: &&Outbound| {
        let (number, party) = (one.event.session_id.transport(), one.event.session_id.party());
        let forms: Vec<String> = forms(party).collect();
        let of_person = |contact: &&Contact| forms.contains(&contact.phone_number);
        let people: HashSet<&ContactId> =
            contacts.iter().filter(of_person).map(|contact| &contact.id).collect();
        let counts = |opt_in: &&ContactOptIn| {
            people.contains(&opt_in.contact_id) && routers.get(number) == Some(&&opt_in.router_id)
        };
        let newest = opt_ins.iter().filter(counts).max_by_key(|opt_in| opt_in.recorded_at);
        newest.is_some_and(|opt_in| {
            opt_in.status == OptInStatus::Revoked && opt_in.recorded_at > one.event.timestamp
        })
    };
    Ok(dispatched.filter(has_revoked).map(|one| one.event.internal_id.clone()).collect())
}
