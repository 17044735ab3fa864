//! `?routerId=`.

use flowsdk_core::id::RouterId;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use super::{FromQuery, QueryReader};

/// Which records.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
pub struct RouterParams {
    /// Those of this router.
    router_id: Option<RouterId>,
}

/// The router whose records are wanted.
#[derive(Debug)]
pub struct OfRouter(pub Option<RouterId>);

impl FromQuery for OfRouter {
    fn read(query: &mut QueryReader) -> Self {
        let not_an_id = Text::new("Id inválido", "Invalid id");
        Self(query.parsed("routerId", |text| RouterId::parse(text).ok(), not_an_id))
    }
}
