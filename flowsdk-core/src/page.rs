//! Pages of a list, newest first, stable while rows are added (rulings H9).

use std::fmt;

use crate::time::Timestamp;
use crate::words::NameQuery;

/// Most items of a page.
pub const MAX_PAGE: u32 = 200;
/// Items of a page when the caller names no number.
pub const DEFAULT_PAGE: u32 = 50;

/// Longest id in a cursor, in bytes: that of a session.
const MAX_CURSOR_ID: usize = 320;

/// A text that is not a cursor of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
pub struct InvalidCursor;

/// The place after an item: lists are ordered by (`createdAt`, `id`), both descending. Opaque to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// When the last item of the page before was created.
    pub at: Timestamp,
    /// The id of that item.
    pub id: String,
}

impl Cursor {
    /// Reads the text that [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Result<Self, InvalidCursor> {
        let bytes = hex::decode(text).map_err(|_| InvalidCursor)?;
        let text = String::from_utf8(bytes).map_err(|_| InvalidCursor)?;
        let (at, id) = text.split_once('.').ok_or(InvalidCursor)?;
        let at = at.parse().map_err(|_| InvalidCursor)?;
        if id.is_empty() || id.len() > MAX_CURSOR_ID || id.contains(char::is_control) {
            return Err(InvalidCursor);
        }
        Ok(Self { at: Timestamp::from_millis(at), id: id.to_owned() })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(format!("{}.{}", self.at.as_millis(), self.id)))
    }
}

/// Which page is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// 1 to [`MAX_PAGE`] items.
    pub limit: u32,
    /// Only entries after it; `None` is the first page.
    pub after: Option<Cursor>,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: DEFAULT_PAGE, after: None }
    }
}

/// A page, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// At most `limit` items.
    pub items: Vec<T>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// Returns a page from up to `limit + 1` rows: the one too many only tells that there is a next page.
    pub fn from_rows(mut rows: Vec<T>, limit: u32, place: impl Fn(&T) -> Cursor) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(place);
        Self { items: rows, next }
    }

    /// The same page of other items.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(convert).collect(), next: self.next }
    }
}

/// Most rows that one page of a search looks at. Behind them the page ends, perhaps with fewer items than its limit,
/// and the next one goes on.
pub const MOST_LOOKED_AT: u32 = 2_000;

/// A page of a list whose rows are looked through for a name. Without a query it is the page itself.
///
/// ```text
/// let mut search = NameSearch::new(query, page);
/// while let Some(request) = search.next_request() {
///     search.take(list(&request).await?, |row| row.name.clone(), |row| row.created_at, |row| row.id.to_string());
/// }
/// let page = search.into_page();
/// ```
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

impl<'q, T> NameSearch<'q, T> {
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

    /// Takes the rows of a request. `text` is searched, `place` is the place of a row.
    pub fn take(&mut self, rows: Page<T>, text: impl Fn(&T) -> String, place: impl Fn(&T) -> Cursor) {
        let Some(query) = self.query else {
            (self.found, self.next) = (rows.items, rows.next);
            return;
        };
        for row in rows.items {
            self.looked_at += 1;
            if query.fits(&text(&row)) {
                let here = place(&row);
                self.found.push(row);
                if self.found.len() >= usize::try_from(self.limit).unwrap_or(usize::MAX) {
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

    /// The pages of a search in `rows`, newest first; each as long as `limit`.
    fn pages(query: Option<&str>, rows: i64, limit: u32) -> Vec<Vec<i64>> {
        let query = query.and_then(NameQuery::parse);
        let (mut after, mut pages) = (None, Vec::new());
        loop {
            let request = PageRequest { limit, after };
            let mut search = NameSearch::new(query.as_ref(), &request);
            while let Some(request) = search.next_request() {
                let from = request.after.map_or(rows, |cursor| cursor.at.as_millis() - 1);
                let limit = i64::from(request.limit);
                let found = (0..=from).rev().take(usize::try_from(limit + 1).expect("few")).collect();
                let page = Page::from_rows(found, request.limit, place);
                search.take(page, |n| if n % 100 == 0 { "cem".to_owned() } else { "x".to_owned() }, place);
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

    fn place(n: &i64) -> Cursor {
        Cursor { at: Timestamp::from_millis(*n), id: format!("c{n}") }
    }

    #[test]
    fn a_cursor_survives_its_way_through_a_client() {
        let cursor = Cursor { at: Timestamp::from_millis(-5), id: "cmwoxm.3qs".to_owned() };
        assert_eq!(Cursor::parse(&cursor.to_string()), Ok(cursor));
        for bad in ["", "zz", "0", "2e", &hex::encode("x.c1"), &hex::encode("1."), &hex::encode("1.\0"), "é"]
        {
            assert_eq!(Cursor::parse(bad), Err(InvalidCursor), "{bad:?}");
        }
    }

    #[test]
    fn the_row_too_many_is_the_next_page() {
        let page = Page::from_rows(vec![3, 2, 1], 2, place);
        assert_eq!((page.items, page.next), (vec![3, 2], Some(place(&2))));
        let page = Page::from_rows(vec![3, 2], 2, place);
        assert_eq!((page.items, page.next), (vec![3, 2], None));
        assert_eq!(Page::from_rows(vec![], 2, place), Page { items: vec![], next: None });
    }
}
