//! The walk that the records of every kind take.

use std::fmt::Debug;
use std::str::FromStr;

use super::StoreUnderTest;
use super::world::{later, router};
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::page::PageRequest;
use crate::record::{HasRecords, RouterRecord};
use crate::router::{HasRouterCatalog, HasRouters};
use crate::store::{Store, Transaction as _};
use crate::time::Timestamp;

/// Samples of the records of one kind.
#[derive(Debug)]
pub struct Samples<R: RouterRecord> {
    /// Makes a record of this id and router, created at this moment. Records of another number have other names.
    pub record: fn(&str, &RouterId, usize, Timestamp) -> R,
    /// Returns the record after changes, such that every column that may change does.
    pub states: fn(&R) -> Vec<R>,
    /// Returns the filter for the records of this router.
    pub filter: fn(Option<RouterId>) -> R::Filter,
    /// Whether a router has one record of each name.
    pub is_unique: bool,
}

impl<R: RouterRecord + PartialEq + Debug> Samples<R>
where
    R::Id: FromStr<Err: Debug>,
{
    /// Asserts that records are read back as they were saved, are listed newest first within reach, page by page, are
    /// not found once they are deleted, and go with their router.
    pub async fn are_kept<S: Store>(&self, subject: &StoreUnderTest<S>)
    where
        S::Tx: HasRecords<R> + HasRouters + HasRouterCatalog,
    {
        let (mine, theirs) = (router("mine").id, router("theirs").id);
        let mut tx = subject.store.begin().await.expect("begin");
        for id in ["mine", "theirs"] {
            tx.routers().insert(&router(id)).await.expect("a router");
        }
        let (first, second) = (self.make("r1", &mine, 0, 0), self.make("r2", &mine, 1, 1));
        // It has the name of another one in another router, and was made in one moment with another.
        let third = self.make("r3", &theirs, 0, 1);
        for record in [&first, &second, &third] {
            tx.records().insert(record).await.expect("insert");
        }
        for state in (self.states)(&first).iter().chain([&first]) {
            tx.records().save(state).await.expect("save");
            assert_eq!(find(&mut tx, "r1").await.as_ref(), Some(state));
        }
        for (of, only, expected) in [
            (None, None, vec![&third, &second, &first]),
            (None, Some(&mine), vec![&second, &first]),
            (Some(&mine), None, vec![&second, &first]),
            (Some(&mine), Some(&mine), vec![&second, &first]),
            (Some(&theirs), None, vec![&third]),
            (Some(&theirs), Some(&mine), vec![]),
        ] {
            let found = self.listed(&mut tx, of, only.map(std::slice::from_ref)).await;
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{of:?} {only:?}");
        }
        assert_eq!(self.listed(&mut tx, None, Some(&[])).await, []);
        tx.records().delete(&id("r2")).await.expect("delete");
        assert_eq!(find(&mut tx, "r2").await, None);
        tx.commit().await.expect("commit");
        if self.is_unique {
            let mut tx = subject.store.begin().await.expect("begin");
            let refused = tx.records().insert(&self.make("r4", &mine, 0, 2)).await;
            assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
        }
        let mut tx = subject.store.begin().await.expect("begin");
        tx.records().delete(&id("r1")).await.expect("delete");
        tx.records().insert(&first).await.expect("its name is free again");
        tx.router_catalog().delete(&mine).await.expect("delete");
        assert_eq!(find(&mut tx, "r1").await, None);
        assert_eq!(self.listed(&mut tx, None, None).await, [third]);
    }

    fn make(&self, id: &str, router: &RouterId, number: usize, at: u64) -> R {
        (self.record)(id, router, number, later(at))
    }

    /// Returns the whole list, of which each page has one record and is the beginning of a longer one.
    async fn listed(
        &self,
        tx: &mut impl HasRecords<R>,
        of: Option<&RouterId>,
        only: Option<&[RouterId]>,
    ) -> Vec<R> {
        let filter = (self.filter)(of.cloned());
        let whole = tx.records().list(&filter, only, &PageRequest::default()).await.expect("list");
        assert_eq!(whole.next, None);
        let mut request = PageRequest { limit: 1, after: None };
        for record in &whole.items {
            let page = tx.records().list(&filter, only, &request).await.expect("list");
            assert_eq!(page.items, std::slice::from_ref(record));
            request.after = page.next;
        }
        assert_eq!(request.after, None);
        whole.items
    }
}

fn id<I: FromStr<Err: Debug>>(text: &str) -> I {
    text.parse().expect("an id")
}

/// Returns the record that is found, locked and not.
async fn find<R>(tx: &mut impl HasRecords<R>, text: &str) -> Option<R>
where
    R: RouterRecord<Id: FromStr<Err: Debug>> + PartialEq + Debug,
{
    let found = tx.records().find(&id(text)).await.expect("find");
    let locked = tx.records().find_for_update(&id(text)).await.expect("find");
    assert_eq!(found, locked);
    found
}
