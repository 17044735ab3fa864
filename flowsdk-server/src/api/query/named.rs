//! `?q=` of lists of things with names.

use flowsdk_core::text::Text;
use flowsdk_core::words::NameQuery;
use utoipa::IntoParams;

use super::{FromQuery, QueryReader};

/// Longest text that is searched for, in characters.
const MAX_QUERY: usize = 200;

/// Which names.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
pub struct NameParams {
    /// Words, or beginnings of words, of the name; accents and capitals do not matter. A page may have fewer items than
    /// its limit, and others after it all the same.
    #[param(max_length = 200, example = "supp")]
    q: Option<String>,
}

/// The names that are searched for; a blank text is none.
#[derive(Debug)]
pub struct Named(pub Option<NameQuery>);

impl FromQuery for Named {
    fn read(query: &mut QueryReader) -> Self {
        let must = Text::of(
            format!("Pode ter no máximo {MAX_QUERY} caracteres"),
            format!("May have at most {MAX_QUERY} characters"),
        );
        let fits = |text: &str| (text.chars().count() <= MAX_QUERY).then(|| NameQuery::parse(text));
        Self(query.parsed("q", fits, must).flatten())
    }
}
