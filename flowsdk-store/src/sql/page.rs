//! Pages in SQL: `WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3`.

use flowsdk_core::fault::StorageError;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::time::Timestamp;

/// What the rows of a page stand before. Every row stands before the end of time.
pub(super) fn before(page: &PageRequest) -> (i64, &str) {
    page.after.as_ref().map_or((i64::MAX, ""), |cursor| (cursor.at.as_millis(), cursor.id.as_str()))
}

/// How many rows to read: the one too many tells whether there is a next page.
pub(super) fn rows(page: &PageRequest) -> i64 {
    i64::from(page.limit) + 1
}

/// The page that rows make: what `read` makes of each, in the order of the `place` where each stands.
pub(super) fn of<R, T>(
    rows: Vec<R>,
    page: &PageRequest,
    read: impl FnMut(R) -> Result<T, StorageError>,
    place: impl Fn(&T) -> (Timestamp, String),
) -> Result<Page<T>, StorageError> {
    let items = rows.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(Page::from_rows(items, page.limit, |item| {
        let (at, id) = place(item);
        Cursor { at, id }
    }))
}

/// The rows of a page of what belongs to routers: of `$router`, if it is given, and of those in `$only`, if they are.
/// The statements are for all routers, for one and for a list; each ends its binds with its router or routers.
macro_rules! fetch_within {
    (
        $conn:expr, $row:ty, [$all:expr, $of_one:expr, $among:expr], $router:expr, $only:expr, $page:expr
        $(, $bind:expr)* $(,)?
    ) => {{
        let ((at, before), limit) = ($crate::sql::page::before($page), $crate::sql::page::rows($page));
        match $crate::sql::list::routers($router, $only) {
            Some([]) => Ok(Vec::new()),
            Some([router]) => {
                $crate::sql::executor::fetch_all!($conn, $row, $of_one, at, before, limit $(, $bind)*, router.as_str())
            }
            Some(only) => {
                $crate::sql::executor::fetch_all!($conn, $row, $among, at, before, limit $(, $bind)*, sqlx::types::Json(only))
            }
            None => $crate::sql::executor::fetch_all!($conn, $row, $all, at, before, limit $(, $bind)*),
        }
    }};
}
pub(super) use fetch_within;
