//! The whole check of a definition: what the definition says itself, and whether its scripts are JavaScript.

use std::sync::Arc;

use serde_json::Value;

use super::{FlowDefinition, FlowKind, Problem, ScriptFault, ScriptRunner, Written, check};
use crate::aside::aside;
use crate::fault::StorageError;
use crate::id::BlockId;
use crate::text::Text;

/// Checks definitions. It holds no transaction, so that nobody waits for a script that is parsed.
#[derive(Debug, Clone, Default)]
pub struct FlowChecker {
    scripts: Option<Arc<dyn ScriptRunner>>,
}

/// A script of a definition, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedScript {
    /// JavaScript, as its author wrote it.
    pub script: String,
    /// The block whose action it is.
    pub block_id: BlockId,
    /// JSON pointer into the definition.
    pub pointer: String,
}

impl FlowChecker {
    /// Creates a checker whose scripts `runner` parses. The default one parses none.
    pub fn with_scripts(runner: Arc<dyn ScriptRunner>) -> Self {
        Self { scripts: Some(runner) }
    }

    /// Returns everything that is wrong with the definition of a flow of this kind, and the definition.
    ///
    /// # Errors
    /// Nobody could parse the scripts now.
    pub async fn problems(
        &self,
        kind: FlowKind,
        definition: Written,
    ) -> Result<(Written, Vec<Problem>), StorageError> {
        let look = move || (check::problems_and_scripts(kind, &definition), definition);
        let ((mut problems, scripts), definition) = aside(look).await?;
        problems.extend(self.script_problems(&scripts).await?);
        Ok((definition, problems))
    }

    /// Returns a definition that can be published with the warnings for its author, or else all its problems.
    ///
    /// # Errors
    /// Nobody could parse the scripts now.
    pub async fn publishable(
        &self,
        kind: FlowKind,
        definition: Written,
    ) -> Result<Result<(Written, Vec<Problem>), Vec<Problem>>, StorageError> {
        let (definition, problems) = self.problems(kind, definition).await?;
        let publishable = !problems.iter().any(Problem::is_error);
        Ok(if publishable { Ok((definition, problems)) } else { Err(problems) })
    }

    /// Returns the scripts that are not JavaScript, as problems.
    ///
    /// # Errors
    /// Nobody could parse them now.
    pub async fn script_problems(&self, scripts: &[PlacedScript]) -> Result<Vec<Problem>, StorageError> {
        let Some(runner) = self.scripts.as_ref().filter(|_| !scripts.is_empty()) else {
            return Ok(Vec::new());
        };
        let texts: Vec<&str> = scripts.iter().map(|placed| placed.script.as_str()).collect();
        let faults =
            runner.check(&texts).await.map_err(|failure| StorageError::Contention(failure.into()))?;
        Ok(faults.iter().filter_map(|fault| Some(problem(scripts.get(fault.script)?, fault))).collect())
    }
}

/// Returns the scripts of a definition that can be read. A script of the wrong length is a problem already.
pub fn scripts_of(definition: &Value) -> Vec<PlacedScript> {
    FlowDefinition::parse(definition).map_or_else(|_problems| Vec::new(), |flow| flow.scripts())
}

fn problem(placed: &PlacedScript, fault: &ScriptFault) -> Problem {
    let ScriptFault { at, message, .. } = fault;
    let text = match at {
        Some(at) => Text::of(
            format!("o script não é JavaScript: linha {}, coluna {}: {message}", at.line, at.column),
            format!("the script is not JavaScript: {at}: {message}"),
        ),
        None => Text::of(
            format!("o script não é JavaScript: {message}"),
            format!("the script is not JavaScript: {message}"),
        ),
    };
    Problem::error("bad_script", placed.pointer.clone(), text).in_block(&placed.block_id)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::json;

    use super::*;
    use crate::flow::{OutsideFailure, ScriptPosition, ScriptRequest};

    /// Finds every script wrong that says so, or is there for nobody.
    #[derive(Debug)]
    struct Parser {
        is_there: bool,
    }

    #[async_trait]
    impl ScriptRunner for Parser {
        async fn run(&self, _request: &ScriptRequest) -> Result<Value, OutsideFailure> {
            unreachable!("nothing is run")
        }

        async fn check(&self, scripts: &[&str]) -> Result<Vec<ScriptFault>, OutsideFailure> {
            if !self.is_there {
                return Err(OutsideFailure::new("not_available", "no worker"));
            }
            let wrong = scripts.iter().enumerate().filter(|(_, text)| text.contains("wrong"));
            let at = |line| (line > 1).then_some(ScriptPosition { line, column: 3 });
            let fault = |(script, text): (usize, &&str)| ScriptFault {
                script,
                at: at(text.lines().count()),
                message: "no".to_owned(),
            };
            Ok(wrong.map(fault).collect())
        }
    }

    fn definition() -> Value {
        let script = |text: &str| json!({ "type": "executeScript", "script": text, "continueOnError": true });
        json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "defaultOutput": { "blockId": "b" },
              "onEnter": [{ "type": "closeChat" }, script("right"), script("1;\nwrong")] },
            { "id": "b", "type": "content", "defaultOutput": { "end": true },
              "onLeave": [script("wrong"), script(&"wrong".repeat(20_000))] }] })
    }

    fn checker(is_there: bool) -> FlowChecker {
        FlowChecker::with_scripts(Arc::new(Parser { is_there }))
    }

    #[tokio::test]
    async fn scripts_are_problems_of_their_places() {
        let publishable =
            checker(true).publishable(FlowKind::Flow, definition().into()).await.expect("checked");
        let found: Vec<_> = publishable.expect_err("not JavaScript").iter().map(told).collect();
        assert_eq!(
            found,
            [
                "out_of_range b /blocks/1/onLeave/1/script: a script has 1 to 65536 bytes",
                "bad_script a /blocks/0/onEnter/2/script: the script is not JavaScript: line 2, column 3: no",
                "bad_script b /blocks/1/onLeave/0/script: the script is not JavaScript: no",
            ]
        );
    }

    fn told(problem: &Problem) -> String {
        let block = problem.block_id.as_ref().expect("a block");
        format!("{} {block} {}: {}", problem.code, problem.pointer, problem.message.english())
    }

    #[tokio::test]
    async fn a_definition_without_scripts_needs_nobody_and_no_runner_checks_none() {
        let mut plain = definition();
        for block in ["/blocks/0/onEnter", "/blocks/1/onLeave"] {
            *plain.pointer_mut(block).expect("there") = json!([]);
        }
        assert!(checker(false).publishable(FlowKind::Flow, plain.into()).await.expect("checked").is_ok());
        let refused = checker(false).problems(FlowKind::Flow, definition().into()).await;
        assert!(matches!(refused, Err(StorageError::Contention(_))), "{refused:?}");
        let (_, problems) =
            FlowChecker::default().problems(FlowKind::Flow, definition().into()).await.expect("checked");
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
