//! Pages of a list, newest first, stable while rows are added (rulings H9).

mod search;

use std::fmt;

use crate::time::Timestamp;

pub use search::{MOST_LOOKED_AT, NameSearch, Searched};

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
    /// Returns the place of an item.
    pub fn of(at: Timestamp, id: impl fmt::Display) -> Self {
        Self { at, id: id.to_string() }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

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
