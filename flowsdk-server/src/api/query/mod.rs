//! Query parameters: every problem is found and reported at once. Unknown parameters are ignored: other
//! programs add their own to addresses.

mod force;
mod named;
mod of_router;
mod page;

pub use force::{Force, ForceParams};
pub use named::{NameParams, Named};
pub use of_router::{OfRouter, RouterParams};
pub use page::{PageParams, PageView, invalid_cursor};

use axum::extract::FromRequestParts;
use flowsdk_core::id::InvalidId;
use flowsdk_core::text::Text;
use flowsdk_core::time::Timestamp;
use http::request::Parts;

use super::error::{ApiError, Problems};

/// The parameters of a request, and the problems found so far.
#[derive(Debug)]
pub struct QueryReader {
    pairs: Vec<(String, String)>,
    problems: Problems,
}

impl QueryReader {
    /// The parameters of a query string.
    pub fn new(query: &str) -> Self {
        Self {
            pairs: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            problems: Problems::default(),
        }
    }

    /// The value of a parameter. An empty one is a value, and mostly a wrong one.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let mut values = self.pairs.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.clone())?;
        let problem = if values.next().is_some() {
            Text::new("Parâmetro repetido", "Repeated parameter")
        } else if value.contains('\0') {
            Text::new("Não pode conter o caractere NUL", "May not contain the character NUL")
        } else {
            return Some(value);
        };
        self.problem(name, problem);
        None
    }

    /// A value that `parse` understands, or `None` when it is absent or wrong.
    pub fn parsed<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Option<T>, must: Text) -> Option<T> {
        let text = self.text(name)?;
        let value = parse(&text);
        if value.is_none() {
            self.problem(name, must);
        }
        value
    }

    /// One of several names.
    pub fn one_of<T: Copy>(
        &mut self,
        name: &str,
        all: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let text = self.text(name)?;
        let found = all.iter().copied().find(|&one| name_of(one) == text);
        if found.is_none() {
            let names = all.iter().map(|&one| name_of(one)).collect::<Vec<_>>().join(", ");
            let must = Text::of(format!("Deve ser um de: {names}"), format!("Must be one of: {names}"));
            self.problem(name, must);
        }
        found
    }

    /// Reads an id with `parse`.
    pub fn id<T>(&mut self, name: &str, parse: impl FnOnce(String) -> Result<T, InvalidId>) -> Option<T> {
        let parse = |text: &str| parse(text.to_owned()).ok();
        self.parsed(name, parse, Text::new("Id inválido", "Invalid id"))
    }

    /// The same of an id that has to be there.
    pub fn required_id<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(String) -> Result<T, InvalidId>,
    ) -> Option<T> {
        if !self.pairs.iter().any(|(known, _)| known == name) {
            self.problem(name, Text::new("Campo obrigatório", "Required field"));
        }
        self.id(name, parse)
    }

    /// A moment in ISO 8601, with its offset.
    pub fn time(&mut self, name: &str) -> Option<Timestamp> {
        let parse = |text: &str| {
            // A plus sign that was not escaped arrives as a blank.
            let moment: jiff::Timestamp = text.replace(' ', "+").parse().ok()?;
            Some(Timestamp::from_millis(moment.as_millisecond()))
        };
        self.parsed(
            name,
            parse,
            Text::new("Deve ser data e hora ISO 8601", "Must be an ISO 8601 date and time"),
        )
    }

    /// `true` or `false`; absent means `false`.
    pub fn flag(&mut self, name: &str) -> bool {
        self.truth(name).unwrap_or(false)
    }

    /// `true` or `false`; `None` where it is not given.
    pub fn truth(&mut self, name: &str) -> Option<bool> {
        let must = Text::new("Deve ser true ou false", "Must be true or false");
        self.parsed(name, |text| text.parse().ok(), must)
    }

    /// Notes a problem of the parameter `name`.
    pub fn problem(&mut self, name: &str, must: Text) {
        self.problems.add(name, must);
    }

    /// Ends with every problem, if there is one.
    ///
    /// # Errors
    /// 400 with one entry a parameter.
    pub fn finish(self) -> Result<(), ApiError> {
        if self.problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.problems)) }
    }
}

/// A type that can be read from a query.
pub trait FromQuery: Sized {
    /// Reads it; an unreadable value is noted as a problem in `query`, and then not used.
    fn read(query: &mut QueryReader) -> Self;
}

impl<A: FromQuery, B: FromQuery> FromQuery for (A, B) {
    fn read(query: &mut QueryReader) -> Self {
        (A::read(query), B::read(query))
    }
}

/// The query of a request.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<S: Sync, T: FromQuery> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let mut query = QueryReader::new(parts.uri.query().unwrap_or_default());
        let value = T::read(&mut query);
        query.finish().map(|()| Self(value))
    }
}

#[cfg(test)]
mod tests;
