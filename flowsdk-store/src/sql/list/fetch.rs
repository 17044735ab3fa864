//! Pages of a list.

use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};

use super::{Asked, ListSql, Routers};
use crate::sql::bind::{Binder, Binds};
use crate::sql::executor::Conn;
use crate::sql::row::Row;

/// The place before which to look, or behind which where the oldest come first. Every row stands before the end of time.
#[derive(Debug, Clone, Copy)]
pub(in crate::sql) struct Place<'a> {
    /// The moment, for lists that have one in their order.
    pub(in crate::sql) at: Option<i64>,
    pub(in crate::sql) id: &'a str,
    /// How many rows to read.
    pub(in crate::sql) limit: i64,
}

impl<'a> Place<'a> {
    /// The place of a page, with one row too many: it tells whether there is a next page.
    pub(in crate::sql) fn of(page: &'a PageRequest) -> Self {
        let before = page.after.as_ref();
        Self {
            at: Some(before.map_or(i64::MAX, |cursor| cursor.at.as_millis())),
            id: before.map_or("", |cursor| cursor.id.as_str()),
            limit: i64::from(page.limit) + 1,
        }
    }
}

struct ListBinds<'a> {
    place: Place<'a>,
    routers: Option<&'a [RouterId]>,
    filters: Vec<Asked<'a>>,
}

impl Binds for ListBinds<'_> {
    fn bind_all(self, to: &mut Binder<'_>) {
        if let Some(at) = self.place.at {
            to.bind(at);
        }
        to.bind(self.place.id).bind(self.place.limit);
        match self.routers {
            None => {}
            Some([one]) => drop(to.bind(one)),
            Some(routers) => drop(to.bind(Json(routers))),
        }
        for asked in self.filters {
            if let Asked::For(value) = asked {
                to.put(value);
            }
        }
    }
}

impl Conn {
    /// Returns the rows of a list from a place on.
    pub(in crate::sql) async fn fetch_list<R: Row, F: Sync>(
        &mut self,
        list: &ListSql<F>,
        filter: &F,
        routers: Option<&[RouterId]>,
        place: Place<'_>,
    ) -> Result<Vec<R>, StorageError> {
        let filters: Vec<Asked<'_>> = list.filters.iter().map(|one| (one.asked)(filter)).collect();
        let used = filters.iter().enumerate().filter(|(_, asked)| !matches!(asked, Asked::No));
        let used = used.fold(0, |bits, (index, _)| bits | 1 << index);
        let mut several = routers.filter(|routers| routers.len() > 1).unwrap_or_default().to_vec();
        several.sort_unstable();
        several.dedup();
        let routers = if several.is_empty() { routers } else { Some(&several[..]) };
        let kind = match routers {
            None => Routers::All,
            Some([]) => return Ok(Vec::new()),
            Some([_]) => Routers::One,
            Some(_) => Routers::Several,
        };
        let binds = ListBinds { place, routers, filters };
        let sql = list.sql(kind, used);
        if list.replanned {
            self.fetch_all_replanned(sql, binds).await
        } else {
            self.fetch_all(sql, binds).await
        }
    }

    /// Returns a page of a list, in whose order each row stands at its `place`.
    pub(in crate::sql) async fn page<R: Row, F: Sync>(
        &mut self,
        list: &ListSql<F>,
        filter: &F,
        routers: Option<&[RouterId]>,
        page: &PageRequest,
        place: impl Fn(&R) -> Cursor,
    ) -> Result<Page<R>, StorageError> {
        let rows = self.fetch_list(list, filter, routers, Place::of(page)).await?;
        Ok(Page::from_rows(rows, page.limit, place))
    }
}
