//! Findings of the validation as clients see them.

use flowsdk_core::flow::{Problem, Severity};
use flowsdk_core::text::Language;
use serde::Serialize;
use utoipa::ToSchema;

/// How bad a finding is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = FlowProblemSeverity)]
enum SeverityView {
    /// The flow cannot be published.
    Error,
    /// The flow can be published, but probably works otherwise than its author meant.
    Warning,
}

/// A finding.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FlowProblem)]
pub(super) struct ProblemView {
    severity: SeverityView,
    /// Stable (docs/flows.md).
    #[schema(example = "target_not_found")]
    code: &'static str,
    /// The block it is in, if it is in one.
    #[schema(required = true)]
    block_id: Option<String>,
    /// JSON pointer into the definition.
    #[schema(example = "/blocks/0/defaultOutput")]
    pointer: String,
    /// For people, in the language of `Accept-Language`.
    message: String,
}

impl ProblemView {
    /// A finding in `language`.
    pub(super) fn of(problem: Problem, language: Language) -> Self {
        Self {
            severity: match problem.severity {
                Severity::Error => SeverityView::Error,
                Severity::Warning => SeverityView::Warning,
            },
            code: problem.code,
            block_id: problem.block_id.map(String::from),
            pointer: problem.pointer,
            message: problem.message.into_language(language).into_owned(),
        }
    }
}

/// The result of checking a draft.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FlowValidation)]
pub(super) struct ValidationView {
    /// Of the draft that was looked at.
    revision: i64,
    /// Whether it can be published.
    valid: bool,
    /// Everything that was found, warnings too.
    problems: Vec<ProblemView>,
}

impl ValidationView {
    /// The findings in a draft.
    pub(super) fn new(revision: i64, problems: Vec<Problem>, language: Language) -> Self {
        let valid = !problems.iter().any(Problem::is_error);
        let problems = problems.into_iter().map(|problem| ProblemView::of(problem, language));
        Self { revision, valid, problems: problems.collect() }
    }
}
