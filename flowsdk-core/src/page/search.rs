//! Pages of a list that is searched by name.

use std::borrow::Cow;

use super::{Cursor, MAX_PAGE, Page, PageRequest};
use crate::words::NameQuery;

/// Most rows that one page of a search looks at. Behind them the page ends, perhaps with fewer items than its limit,
/// and the next one goes on.
pub const MOST_LOOKED_AT: u32 = 2_000;

/// An item of a list that people search by name.
pub trait Searched {
    /// Returns the text whose words are searched.
    fn search_text(&self) -> Cow<'_, str>;

    /// Returns its place in the list.
    fn place(&self) -> Cursor;
}

/// A page of the items that fit a query; without a query, of all.
///
/// ```text
/// let mut search = NameSearch::new(query, page);
/// while let Some(request) = search.next_request() {
///     search.take(list(&request).await?);
/// }
/// let page = search.into_page();
/// ```
// No function with an async closure: the compiler cannot prove that its future is `Send` where the closure borrows.
#[derive(Debug)]
pub struct NameSearch<'q, T> {
    query: Option<&'q NameQuery>,
    limit: u32,
    looked_at: u32,
    found: Vec<T>,
    /// The rows to be looked at next; `None` when the page is there.
    request: Option<PageRequest>,
    next: Option<Cursor>,
}

impl<'q, T: Searched> NameSearch<'q, T> {
    /// Begins the search for a page.
    pub fn new(query: Option<&'q NameQuery>, page: &PageRequest) -> Self {
        let limit = if query.is_some() { MAX_PAGE } else { page.limit };
        let request = Some(PageRequest { limit, after: page.after.clone() });
        Self { query, limit: page.limit, looked_at: 0, found: Vec::new(), request, next: None }
    }

    /// Returns the request for the next rows; `None` when the page is there.
    pub fn next_request(&mut self) -> Option<PageRequest> {
        self.request.take()
    }

    /// Takes the rows of a request.
    pub fn take(&mut self, rows: Page<T>) {
        let Some(query) = self.query else {
            (self.found, self.next) = (rows.items, rows.next);
            return;
        };
        for row in rows.items {
            self.looked_at += 1;
            if query.fits(&row.search_text()) {
                let here = row.place();
                self.found.push(row);
                if u32::try_from(self.found.len()).is_ok_and(|found| found >= self.limit) {
                    self.next = Some(here);
                    return;
                }
            }
        }
        if self.looked_at < MOST_LOOKED_AT {
            self.request = rows.next.map(|after| PageRequest { limit: MAX_PAGE, after: Some(after) });
        } else {
            self.next = rows.next;
        }
    }

    /// Returns the page.
    pub fn into_page(self) -> Page<T> {
        Page { items: self.found, next: self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    impl Searched for i64 {
        fn search_text(&self) -> Cow<'_, str> {
            if self % 100 == 0 { "cem".into() } else { "x".into() }
        }

        fn place(&self) -> Cursor {
            Cursor { at: Timestamp::from_millis(*self), id: format!("c{self}") }
        }
    }

    /// The pages of a search in `rows`, newest first; each as long as `limit`.
    fn pages(query: Option<&str>, rows: i64, limit: u32) -> Vec<Vec<i64>> {
        let query = query.and_then(NameQuery::parse);
        let (mut after, mut pages) = (None, Vec::new());
        loop {
            let mut search = NameSearch::new(query.as_ref(), &PageRequest { limit, after });
            while let Some(request) = search.next_request() {
                let from = request.after.map_or(rows, |cursor| cursor.at.as_millis() - 1);
                let found = (0..=from).rev().take(request.limit as usize + 1).collect();
                search.take(Page::from_rows(found, request.limit, Searched::place));
            }
            let page = search.into_page();
            pages.push(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => return pages,
            }
        }
    }

    #[test]
    fn a_search_finds_every_row_once_page_by_page() {
        assert_eq!(pages(Some("cem"), 250, 2), [vec![200, 100], vec![0]]);
        assert_eq!(
            pages(Some("cem"), 1_000, 4).concat(),
            (0..=10).rev().map(|n| n * 100).collect::<Vec<_>>()
        );
        assert_eq!(pages(Some("nada"), 100, 5), [Vec::<i64>::new()]);
        assert_eq!(pages(Some("!"), 100, 5), [Vec::<i64>::new()]);
        assert_eq!(pages(None, 4, 3), [vec![4, 3, 2], vec![1, 0]]);
        let long = pages(Some("cem"), 10_000, 50);
        assert!(long.len() > 4, "a page looks at a bounded number of rows");
        assert_eq!(long.concat().len(), 101);
    }
}
