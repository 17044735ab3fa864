//! What happens to contacts in a transaction, for the webhooks of the routers that know them.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::WebhookEventType;
use crate::id::{ContactId, RouterId};

/// What a transaction has done to contacts so far. A store notes it where it writes, and publishes it with the commit.
#[derive(Debug, Default)]
pub struct ContactNews {
    known: BTreeSet<(ContactId, RouterId)>,
    changed: BTreeSet<ContactId>,
    gone: BTreeMap<ContactId, Vec<RouterId>>,
}

impl ContactNews {
    /// Notes that routers know contacts now that they did not know.
    pub fn know(&mut self, pairs: impl IntoIterator<Item = (ContactId, RouterId)>) {
        self.known.extend(pairs);
    }

    /// Notes that contacts were stored anew, or have other aliases.
    pub fn change(&mut self, contacts: impl IntoIterator<Item = ContactId>) {
        self.changed.extend(contacts);
    }

    /// Notes that a contact is gone that these routers knew.
    pub fn go(&mut self, contact: ContactId, routers: Vec<RouterId>) {
        self.gone.insert(contact, routers);
    }

    /// Returns whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }

    /// Returns the contacts that were changed and are still there: their routers are to be asked for.
    pub fn changed(&self) -> Vec<ContactId> {
        self.changed.iter().filter(|contact| !self.gone.contains_key(*contact)).cloned().collect()
    }

    /// Returns what the router is told of each contact; `routers` are those that know the [`changed`](Self::changed)
    /// contacts. One that a router has just come to know is told as it is by now, once.
    pub fn told(
        self,
        routers: Vec<(ContactId, RouterId)>,
    ) -> impl Iterator<Item = (WebhookEventType, ContactId, RouterId)> {
        let Self { known, gone, .. } = self;
        let is_new = |pair: &(ContactId, RouterId)| known.contains(pair);
        let changed: Vec<_> = routers.into_iter().filter(|pair| !is_new(pair)).collect();
        let left: Vec<_> = gone
            .iter()
            .flat_map(|(contact, routers)| routers.iter().map(|router| (contact.clone(), router.clone())))
            .filter(|pair| !is_new(pair))
            .collect();
        let of = |kind| move |(contact, router)| (kind, contact, router);
        let created = known.into_iter().filter(move |(contact, _)| !gone.contains_key(contact));
        created
            .map(of(WebhookEventType::ContactCreated))
            .chain(changed.into_iter().map(of(WebhookEventType::ContactUpdated)))
            .chain(left.into_iter().map(of(WebhookEventType::ContactDeleted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair((contact, router): (&str, &str)) -> (ContactId, RouterId) {
        (contact.parse().expect("an id"), router.parse().expect("an id"))
    }

    #[test]
    fn each_router_is_told_the_outcome_once() {
        use WebhookEventType::{
            ContactCreated as Created, ContactDeleted as Deleted, ContactUpdated as Updated,
        };
        type Pairs = &'static [(&'static str, &'static str)];
        type Row = (
            Pairs,
            &'static [&'static str],
            Pairs,
            Pairs,
            Vec<(WebhookEventType, &'static str, &'static str)>,
        );
        let rows: [Row; 7] = [
            (&[], &[], &[], &[], vec![]),
            (&[("a", "r1"), ("a", "r2")], &[], &[], &[], vec![(Created, "a", "r1"), (Created, "a", "r2")]),
            (&[], &["a"], &[], &[("a", "r1"), ("a", "r2")], vec![(Updated, "a", "r1"), (Updated, "a", "r2")]),
            // Nobody knows it yet.
            (&[], &["a"], &[], &[], vec![]),
            // A second router comes to know a contact that is changed, too.
            (
                &[("a", "r2")],
                &["a"],
                &[],
                &[("a", "r1"), ("a", "r2")],
                vec![(Created, "a", "r2"), (Updated, "a", "r1")],
            ),
            (&[], &["a"], &[("a", "r1")], &[], vec![(Deleted, "a", "r1")]),
            // It came and went.
            (&[("a", "r1")], &[], &[("a", "r1")], &[], vec![]),
        ];
        for (known, changed, gone, routers, expected) in rows {
            let mut news = ContactNews::default();
            assert!(news.is_empty());
            news.know(known.iter().copied().map(pair));
            news.change(changed.iter().map(|id| id.parse().expect("an id")));
            for (contact, router) in gone.iter().copied().map(pair) {
                news.go(contact, vec![router]);
            }
            let asked = if gone.is_empty() { changed.to_vec() } else { Vec::new() };
            assert_eq!(news.changed().iter().map(ContactId::as_str).collect::<Vec<_>>(), asked);
            let told: Vec<_> = news.told(routers.iter().copied().map(pair).collect()).collect();
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(kind, contact, router)| {
                    let (contact, router) = pair((contact, router));
                    (kind, contact, router)
                })
                .collect();
            assert_eq!(told, expected, "{known:?} {changed:?} {gone:?}");
        }
    }
}
