//! The nearest passages.

use std::ops::Range;

use flowsdk_core::id::RouterId;

use super::{DocumentId, Embedding};

/// Most vectors that are in memory at once while the nearest are looked for.
const PAGE: u32 = 512;

/// What is searched for.
#[derive(Debug, Clone, Copy)]
pub struct KnowledgeQuery<'a> {
    /// The router whose documents are searched, and no others.
    pub router_id: &'a RouterId,
    /// Documents with one of these tags; none named means all.
    pub tags: &'a [String],
    /// The model of the vector. Documents that were embedded by another are passed over.
    pub model: &'a str,
    /// The vector of the query.
    pub vector: &'a Embedding,
    /// Most passages.
    pub limit: usize,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The id of its document.
    pub document_id: DocumentId,
    /// The name of its document.
    pub name: String,
    /// Its place in the document, from 0.
    pub position: u32,
    /// Its text.
    pub text: String,
    /// How near it is: the cosine of the angle between its vector and that of the query.
    pub score: f32,
}

/// Where a passage stands: its document and its place there.
pub type Place = (DocumentId, u32);

/// The nearest places so far, the nearest first.
#[derive(Debug)]
pub struct Nearest {
    places: Vec<(f32, Place)>,
    limit: usize,
}

impl Nearest {
    /// Keeps at most `limit` places.
    pub fn new(limit: usize) -> Self {
        Self { places: Vec::with_capacity(limit), limit }
    }

    /// Looks at another place. Of equally near ones the first in its document, by its id, is the nearer. What has nothing
    /// in common with the query, a score of 0 or less, is not kept.
    pub fn offer(&mut self, score: f32, place: Place) {
        if score <= 0.0 {
            return;
        }
        let is_full = self.places.len() >= self.limit;
        if is_full && self.places.last().is_none_or(|(worst, _)| score < *worst) {
            return;
        }
        let before =
            |(known, at): &(f32, Place)| known.total_cmp(&score).is_gt() || *known == score && *at < place;
        let at = self.places.partition_point(before);
        self.places.insert(at, (score, place));
        self.places.truncate(self.limit);
    }

    /// Returns the places with their scores, the nearest first.
    pub fn into_places(self) -> Vec<(f32, Place)> {
        self.places
    }
}

/// A document that is searched, with the number of its passages.
pub type Searched = (DocumentId, u32);

/// Part of the passages of a search: those at these positions in each of these documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPage {
    /// The documents.
    pub documents: Vec<DocumentId>,
    /// The positions in each of them.
    pub positions: Range<u32>,
}

/// Parts the passages of documents: every passage is in one part, and a part is small enough for memory.
pub fn pages_of(documents: &[Searched]) -> Vec<SearchPage> {
    let mut pages = Vec::new();
    let (mut together, mut passages) = (Vec::new(), 0);
    for (id, chunks) in documents {
        if *chunks > PAGE {
            pages.extend((0..*chunks).step_by(PAGE as usize).map(|from| SearchPage {
                documents: vec![id.clone()],
                positions: from..from.saturating_add(PAGE),
            }));
            continue;
        }
        if passages + chunks > PAGE {
            pages.push(SearchPage { documents: std::mem::take(&mut together), positions: 0..PAGE });
            passages = 0;
        }
        together.push(id.clone());
        passages += chunks;
    }
    if !together.is_empty() {
        pages.push(SearchPage { documents: together, positions: 0..PAGE });
    }
    pages
}

/// Returns passages as models read them (spec B 4.9).
pub fn told(passages: &[Passage]) -> String {
    if passages.is_empty() {
        return NOTHING_FOUND.to_owned();
    }
    let told = passages.iter().enumerate().map(|(at, found)| format!("[Trecho {}]\n{}", at + 1, found.text));
    told.collect::<Vec<_>>().join("\n\n")
}

/// What models are told of a search that finds nothing.
const NOTHING_FOUND: &str = "no passages found: say that you do not know rather than guess";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(name: &str) -> DocumentId {
        name.parse().expect("an id")
    }

    #[test]
    fn the_nearest_are_kept() {
        let mut nearest = Nearest::new(3);
        for (score, document, position) in
            [(0.2, "b", 0), (0.9, "a", 1), (0.2, "a", 7), (-0.5, "c", 0), (0.2, "a", 3), (0.3, "c", 1)]
        {
            nearest.offer(score, (id(document), position));
        }
        let places: Vec<_> = nearest.into_places().into_iter().map(|(_, place)| place).collect();
        assert_eq!(places, [(id("a"), 1), (id("c"), 1), (id("a"), 3)]);
        let mut none = Nearest::new(0);
        none.offer(1.0, (id("a"), 0));
        assert_eq!(none.into_places(), []);
    }

    #[test]
    fn models_read_numbered_passages() {
        let passage = |text: &str| Passage {
            document_id: id("a"),
            name: "Menu".to_owned(),
            position: 0,
            text: text.to_owned(),
            score: 0.5,
        };
        assert_eq!(
            told(&[passage("Tea\nis 12"), passage("Cake")]),
            "[Trecho 1]\nTea\nis 12\n\n[Trecho 2]\nCake"
        );
        assert!(told(&[]).starts_with("no passages found"));
    }

    proptest! {
        #[test]
        fn every_passage_is_in_one_part(chunks in proptest::collection::vec(0_u32..2_000, 0..12)) {
            let documents: Vec<Searched> =
                chunks.iter().enumerate().map(|(at, chunks)| (id(&format!("d{at}")), *chunks)).collect();
            let pages = pages_of(&documents);
            let mut seen = std::collections::BTreeSet::new();
            for page in &pages {
                let mut passages = 0;
                for document in &page.documents {
                    let (_, chunks) = documents.iter().find(|(known, _)| known == document).expect("a document");
                    for position in page.positions.clone().filter(|position| position < chunks) {
                        passages += 1;
                        prop_assert!(seen.insert((document.clone(), position)));
                    }
                }
                prop_assert!(passages <= PAGE);
            }
            prop_assert_eq!(seen.len() as u64, chunks.iter().map(|chunks| u64::from(*chunks)).sum::<u64>());
        }
    }
}
