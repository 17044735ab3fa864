//! Who is worked for: the places of the ingest, and whose turn it is.

use flowsdk_core::id::RouterId;

use super::{Document, DocumentId};

/// Documents that are worked on at once, a step each.
pub(super) const AT_ONCE: usize = 12;
/// Most of them that are of one router: a thousand documents, or a site that answers slowly, delay no other router.
pub(super) const OF_ROUTER: usize = 4;
/// The last of the places are for routers that have none, one each.
const FOR_NEW_ONES: usize = 4;

/// The documents that are worked on, and the routers that had their turn.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: Vec<(DocumentId, RouterId)>,
    /// In this round. Without it those who have waited the longest would be the routers with the most documents.
    had_turn: Vec<RouterId>,
}

impl Places {
    /// Returns whether no place is free.
    pub(super) fn are_taken(&self) -> bool {
        self.taken.len() >= AT_ONCE
    }

    /// Returns the routers that have to wait: those that had their turn in this round, and those with as many places as they
    /// may have.
    pub(super) fn waiting(&self) -> Vec<RouterId> {
        let mut waiting = self.had_turn.clone();
        for (_, router) in &self.taken {
            if !self.has_room_for(router) && !waiting.contains(router) {
                waiting.push(router.clone());
            }
        }
        waiting
    }

    /// Takes a place for a document, if it is the turn of its router and nobody works on it. Returns whether it did.
    pub(super) fn take(&mut self, document: &Document) -> bool {
        let router = &document.router_id;
        let is_taken = self.taken.iter().any(|(id, _)| *id == document.id);
        if is_taken || self.had_turn.contains(router) || !self.has_room_for(router) {
            return false;
        }
        self.taken.push((document.id.clone(), router.clone()));
        self.had_turn.push(router.clone());
        true
    }

    /// Frees the place of a document.
    pub(super) fn leave(&mut self, document: &DocumentId) {
        self.taken.retain(|(id, _)| id != document);
    }

    /// Begins the next round. Returns whether it gives anybody a turn who had none left.
    pub(super) fn begin_round(&mut self) -> bool {
        let had_turn = std::mem::take(&mut self.had_turn);
        had_turn.iter().any(|router| self.has_room_for(router))
    }

    fn has_room_for(&self, router: &RouterId) -> bool {
        match self.taken.iter().filter(|(_, other)| other == router).count() {
            0 => self.taken.len() < AT_ONCE,
            taken => taken < OF_ROUTER && self.taken.len() < AT_ONCE - FOR_NEW_ONES,
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::time::Timestamp;

    use super::*;
    use crate::knowledge::{DocumentStatus, MediaType};

    fn document(router: &str, number: u32) -> Document {
        Document {
            id: format!("{router}-{number}").parse().expect("an id"),
            router_id: router.parse().expect("an id"),
            name: "Menu".to_owned(),
            tags: Vec::new(),
            address: None,
            fetched_at: None,
            media_type: MediaType::Text,
            size: 1,
            revision: 1,
            status: DocumentStatus::Waiting,
            error: None,
            chunks: 0,
            embedded: 0,
            embedded_by: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    /// Takes places as the ingest does, of documents that are due in this order. Returns the routers that got one.
    fn fill(places: &mut Places, due: &[Document]) -> Vec<String> {
        let mut began = Vec::new();
        loop {
            let waiting = places.waiting();
            let next = due.iter().find(|one| !waiting.contains(&one.router_id) && places.take(one));
            match next {
                Some(one) => began.push(one.router_id.to_string()),
                None if places.begin_round() => {}
                None => return began,
            }
        }
    }

    #[test]
    fn a_router_has_a_part_of_the_places() {
        let due: Vec<_> = (0..30).map(|number| document("a", number)).collect();
        let mut places = Places::default();
        assert_eq!(fill(&mut places, &due), ["a"; OF_ROUTER]);
        assert_eq!(fill(&mut places, &due), [""; 0], "all of them are taken");
        places.leave(&due[0].id);
        assert_eq!(fill(&mut places, &due), ["a"]);
    }

    #[test]
    fn routers_take_turns_whoever_has_waited_longer() {
        let mut due: Vec<_> = (0..30).map(|number| document("a", number)).collect();
        due.push(document("b", 0));
        due.push(document("b", 1));
        assert_eq!(fill(&mut Places::default(), &due), ["a", "b", "a", "b", "a", "a"]);
    }

    #[test]
    fn the_last_places_are_for_routers_that_have_none() {
        let routers = ["a", "b", "c"];
        let due: Vec<_> =
            routers.iter().flat_map(|router| (0..9).map(|number| document(router, number))).collect();
        let mut places = Places::default();
        assert_eq!(fill(&mut places, &due).len(), AT_ONCE - FOR_NEW_ONES);
        let mut more = due.clone();
        more.extend((0..9).map(|number| document(&format!("new{number}"), 0)));
        assert_eq!(fill(&mut places, &more), ["new0", "new1", "new2", "new3"]);
        assert!(places.are_taken());
        // A place that is free again is for those that have none, and not for those that came first.
        places.leave(&due[0].id);
        assert_eq!(fill(&mut places, &more), ["new4"]);
    }
}
