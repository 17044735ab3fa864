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
pub(in crate::api) struct ProblemView {
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
    /// The findings, warnings too; the first 1,000, errors before warnings where there are more.
    #[schema(max_items = 1_000)]
    problems: Vec<ProblemView>,
    /// How many findings more there are.
    problems_left_out: usize,
}

/// Most findings that one answer names.
const MOST: usize = 1_000;

/// The first [`MOST`] findings in `language`, and the number of the others. Where not all fit, errors come first.
pub(in crate::api) fn first(mut problems: Vec<Problem>, language: Language) -> (Vec<ProblemView>, usize) {
    let left_out = problems.len().saturating_sub(MOST);
    if left_out > 0 {
        problems.sort_by_key(|problem| !problem.is_error());
        problems.truncate(MOST);
    }
    (problems.into_iter().map(|problem| ProblemView::of(problem, language)).collect(), left_out)
}

impl ValidationView {
    /// The findings in a draft.
    pub(super) fn new(revision: i64, problems: Vec<Problem>, language: Language) -> Self {
        let valid = !problems.iter().any(Problem::is_error);
        let (problems, problems_left_out) = first(problems, language);
        Self { revision, valid, problems, problems_left_out }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::text::Text;

    use super::*;

    #[test]
    fn an_answer_has_the_first_thousand_findings_and_every_error_that_fits() {
        let problem = |n: usize| Problem {
            severity: if n.is_multiple_of(2) { Severity::Warning } else { Severity::Error },
            code: "target_not_found",
            block_id: None,
            pointer: format!("/{n}"),
            message: Text::new("Não existe", "Does not exist"),
        };
        let shown = |count| ValidationView::new(1, (0..count).map(problem).collect(), Language::default());
        let few = shown(1_000);
        assert_eq!((few.problems.len(), few.problems_left_out, few.valid), (1_000, 0, false));
        assert_eq!((&*few.problems[0].pointer, &*few.problems[999].pointer), ("/0", "/999"));
        let many = shown(1_600);
        assert_eq!((many.problems.len(), many.problems_left_out, many.valid), (1_000, 600, false));
        assert_eq!((&*many.problems[0].pointer, &*many.problems[799].pointer), ("/1", "/1599"));
        assert_eq!(many.problems[999].pointer, "/398", "then the first warnings");
    }
}
