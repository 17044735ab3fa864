//! Warnings of conversations that no flow answers.

use flowsdk_core::admin::flow::NoOpening;
use serde::Serialize;
use utoipa::ToSchema;

use super::request;

/// Something that is probably not meant.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OpeningWarning {
    /// `no_initial_flow` or `initial_flow_not_published`.
    #[schema(example = "initial_flow_not_published")]
    code: &'static str,
    /// For people, in the language of `Accept-Language`.
    message: String,
}

impl OpeningWarning {
    /// Returns the warnings of a record whose conversations begin with no flow for this reason.
    pub(super) fn all(reason: Option<NoOpening>) -> Vec<Self> {
        let (_, language) = request::facts();
        let warning = |reason: NoOpening| Self {
            code: reason.code(),
            message: reason.text().into_language(language).into_owned(),
        };
        reason.map(warning).into_iter().collect()
    }
}
