//! The consent of contacts to whom a template was dispatched, as it is when the template is sent.

use std::collections::{HashMap, HashSet};

use flowsdk_core::contact::{ContactOptIn, HasContacts, HasOptIns, OptInStatus, forms_of};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, MessageId, RouterId};
use flowsdk_core::message::Source;

use super::outbound::Outbound;

/// Returns the messages among `chosen` whose contact has revoked their consent since the dispatch: they wait for as long as a
/// day, behind answers or while their number is paused. Each comes with the router of its number. Whom an administrator
/// writes to without a consent has none to revoke.
pub(super) async fn revoked<'a, T: HasContacts + HasOptIns>(
    tx: &mut T,
    chosen: impl Iterator<Item = (&'a Outbound, &'a RouterId)>,
) -> Result<HashSet<MessageId>, StorageError> {
    let dispatched: Vec<(&Outbound, &RouterId)> =
        chosen.filter(|(one, _)| one.event.source == Source::Dispatch).collect();
    if dispatched.is_empty() {
        return Ok(HashSet::new());
    }
    let mut asked: Vec<String> = dispatched.iter().flat_map(|(one, _)| forms(one)).collect();
    asked.sort_unstable();
    asked.dedup();
    let contacts = tx.contacts().find_by_phone_numbers(&asked).await?;
    let people: HashMap<&str, &ContactId> =
        contacts.iter().map(|contact| (&*contact.phone_number, &contact.id)).collect();
    let ids: Vec<ContactId> = contacts.iter().map(|contact| contact.id.clone()).collect();
    let opt_ins = tx.opt_ins().current_among(&ids).await?;
    let current: HashMap<(&ContactId, &RouterId), &ContactOptIn> =
        opt_ins.iter().map(|opt_in| ((&opt_in.contact_id, &opt_in.router_id), opt_in)).collect();
    let has_revoked = |&(one, router): &(&Outbound, &RouterId)| {
        let of_person = forms(one).filter_map(|form| current.get(&(*people.get(&*form)?, router)));
        of_person.max_by_key(|opt_in| opt_in.recorded_at).is_some_and(|opt_in| {
            opt_in.status == OptInStatus::Revoked && opt_in.recorded_at > one.event.timestamp
        })
    };
    let revoked = dispatched.into_iter().filter(has_revoked);
    Ok(revoked.map(|(one, _)| one.event.internal_id.clone()).collect())
}

/// Returns the forms of the number that a message is addressed to (rulings C5).
fn forms(one: &Outbound) -> impl Iterator<Item = String> {
    forms_of(one.event.session_id.party())
}
