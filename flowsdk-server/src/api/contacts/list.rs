//! `GET /contacts`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::contact::{ContactFilter, SearchTerm, search_terms};
use flowsdk_core::page::PageRequest;
use flowsdk_core::session::Channel;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use super::ContactView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Contacts;

/// Longest text that is searched for, in characters.
const MAX_QUERY: usize = 200;

/// Which contacts.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct ContactParams {
    /// Words, or beginnings of words, of name, number or alias; accents and capitals do not matter.
    #[param(max_length = 200, example = "ana smi")]
    q: Option<String>,
    /// Those of this channel.
    #[param(value_type = Option<Channel>)]
    origin: Option<String>,
}

impl QueryReader {
    /// A text to search for. A blank one is none; one without a word finds nothing.
    pub(in crate::api) fn search(&mut self, name: &str) -> Option<Vec<SearchTerm>> {
        let must = Text::of(
            format!("Pode ter no máximo {MAX_QUERY} caracteres"),
            format!("May have at most {MAX_QUERY} characters"),
        );
        let terms = |text: &str| (!text.trim().is_empty()).then(|| search_terms(text).unwrap_or_default());
        let fits = |text: &str| (text.chars().count() <= MAX_QUERY).then(|| terms(text));
        self.parsed(name, fits, must).flatten()
    }
}

impl FromQuery for ContactFilter {
    fn read(query: &mut QueryReader) -> Self {
        Self { terms: query.search("q"), origin: query.one_of("origin", &Channel::ALL, Channel::name) }
    }
}

/// List contacts
///
/// A caller who is confined to routers sees those contacts that they know: that have a chat or an opt-in with them, or
/// were created for them.
#[utoipa::path(
    get, path = "/contacts", tag = "contacts",
    params(PageParams, ContactParams),
    responses((status = 200, description = "A page of contacts", body = PageView<ContactView>))
)]
pub(super) async fn list_contacts(
    can: Can<marks::Contacts, marks::Read>,
    State(contacts): State<Arc<Contacts>>,
    Query((page, filter)): Query<(PageRequest, ContactFilter)>,
) -> Result<Reply<PageView<ContactView>>, ApiError> {
    let page = contacts.list(can.reach(), &filter, &page).await?;
    Ok(Reply(PageView::of(page, ContactView::from)))
}
