//! Pages (rulings H9).

use flowsdk_core::page::{Cursor, DEFAULT_PAGE, MAX_PAGE, Page, PageRequest};
use flowsdk_core::text::Text;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{FromQuery, QueryReader};

/// Which page.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
pub struct PageParams {
    /// Items of the page.
    #[param(minimum = 1, maximum = 200, default = 50, example = 50)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
}

impl FromQuery for PageRequest {
    fn read(query: &mut QueryReader) -> Self {
        let after = query.parsed("cursor", |text| Cursor::parse(text).ok(), invalid_cursor());
        Self { limit: query.limit(), after }
    }
}

impl QueryReader {
    /// `limit`: how many items a page has.
    pub fn limit(&mut self) -> u32 {
        let fits = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_PAGE).contains(limit));
        let must = Text::of(
            format!("Deve ser um número inteiro de 1 a {MAX_PAGE}"),
            format!("Must be a whole number from 1 to {MAX_PAGE}"),
        );
        self.parsed("limit", fits, must).unwrap_or(DEFAULT_PAGE)
    }
}

/// The problem of a cursor that is not ours.
pub const fn invalid_cursor() -> Text {
    Text::new("Cursor inválido", "Invalid cursor")
}

/// A page of a list, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Page)]
pub struct PageView<T> {
    /// The records.
    pub items: Vec<T>,
    /// Leads to the next page; null on the last one.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

impl<T> PageView<T> {
    /// The page as clients see it.
    pub fn of<E>(page: Page<E>, view: impl FnMut(E) -> T) -> Self {
        let page = page.map(view);
        Self { items: page.items, next_cursor: page.next.map(|next| next.to_string()) }
    }
}
