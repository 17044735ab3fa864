//! Pages in SQL: `WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3`.

use flowsdk_core::page::PageRequest;

/// What the rows of a page stand before. Every row stands before the end of time.
pub(super) fn before(page: &PageRequest) -> (i64, &str) {
    page.after.as_ref().map_or((i64::MAX, ""), |cursor| (cursor.at.as_millis(), cursor.id.as_str()))
}

/// How many rows to read: the one too many tells whether there is a next page.
pub(super) fn rows(page: &PageRequest) -> i64 {
    i64::from(page.limit) + 1
}
