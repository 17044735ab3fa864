//! The file: agents, their model, and what is expected of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flowsdk_agent::model::ModelProvider;
use flowsdk_agent::money::Money;
use flowsdk_agent::openai::{OpenAi, Shape};
use flowsdk_agent::price::Rates;
use flowsdk_agent::scripted::{Script, Scripted};
use flowsdk_agent::set::{AgentSet, SetAgent, SetDocument, SetRoute};
use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::Written;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::expectation::Expectation;
use crate::agent::{ANSWER_TIMEOUT, OPENAI};
use crate::flow_command::read_definition;
use crate::http_client::client;

/// The file, as it is written. Paths in it are relative to its folder.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Content {
    /// A file with the agents, routes and documents, instead of those here.
    agents_file: Option<PathBuf>,
    #[serde(default)]
    agents: Vec<SetAgent>,
    #[serde(default)]
    routes: Vec<SetRoute>,
    #[serde(default)]
    documents: Vec<SetDocument>,
    /// The definition of the flow. Without it the first agent has the conversation from its beginning.
    flow: Option<PathBuf>,
    model: ModelChoice,
    #[serde(default)]
    prices: BTreeMap<String, Rates>,
    #[serde(default)]
    scenarios: Vec<Scenario>,
}

/// The model that answers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ModelChoice {
    /// The rules of this file.
    Script(PathBuf),
    /// OpenAI, or a proxy of it at `OPENAI_BASE_URL`, with `OPENAI_API_KEY`.
    Openai,
    /// A server that speaks like it, at `OPENAI_BASE_URL`, with `OPENAI_API_KEY` if it wants one.
    OpenaiCompatible,
}

/// A conversation, and what is expected of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) turns: Vec<CustomerTurn>,
    pub(super) end: Option<End>,
    /// Most turns of agents.
    pub(super) max_turns: Option<usize>,
    /// What its models may cost at most.
    pub(super) max_cost: Option<Money>,
}

/// What the customer writes, and what is expected until they write again.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CustomerTurn {
    pub(super) customer: String,
    #[serde(default)]
    pub(super) expect: Expectation,
}

/// How the agents' part is to end.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) reason: String,
}

/// The file, with what it names.
#[derive(Debug)]
pub(super) struct AgentFile {
    pub(super) set: AgentSet,
    pub(super) flow: Option<Written>,
    model: Model,
    pub(super) prices: BTreeMap<String, Rates>,
    pub(super) scenarios: Vec<Scenario>,
}

#[derive(Debug)]
enum Model {
    Scripted(Script),
    Server(Shape),
}

impl AgentFile {
    /// Reads a file, and the files that it names.
    ///
    /// # Errors
    /// The text names the file, and the line and column or the field.
    pub(super) fn read(path: &Path) -> Result<Self, BoxError> {
        let content: Content = parsed(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let wrong = |why: String| format!("{}: {why}", path.display());
        let set = match &content.agents_file {
            Some(file) => {
                let has_agents =
                    !content.agents.is_empty() || !content.routes.is_empty() || !content.documents.is_empty();
                if has_agents {
                    return Err(wrong(
                        "agentsFile: expected this, or agents, routes and documents".to_owned(),
                    )
                    .into());
                }
                parsed(&folder.join(file))?
            }
            None => AgentSet { agents: content.agents, routes: content.routes, documents: content.documents },
        };
        set.check().map_err(|error| wrong(error.to_string()))?;
        let flow = content.flow.map(|file| read_definition(&folder.join(file))).transpose()?;
        let model = match &content.model {
            ModelChoice::Script(file) => Model::Scripted(parsed(&folder.join(file))?),
            ModelChoice::Openai => Model::Server(Shape::Responses),
            ModelChoice::OpenaiCompatible => Model::Server(Shape::ChatCompletions),
        };
        for scenario in &content.scenarios {
            if scenario.turns.is_empty() {
                return Err(wrong(format!("the scenario {:?} has no turns", scenario.name)).into());
            }
        }
        Ok(Self { set, flow, model, prices: content.prices, scenarios: content.scenarios })
    }

    /// Returns whether the model answers by rules.
    pub(super) fn is_scripted(&self) -> bool {
        matches!(self.model, Model::Scripted(_))
    }

    /// Returns the model. `env` has the settings of a server.
    ///
    /// # Errors
    /// A setting is missing.
    pub(super) fn provider(
        &self,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn ModelProvider>, BoxError> {
        let shape = match &self.model {
            Model::Scripted(script) => return Ok(Arc::new(Scripted::new(script.clone()))),
            Model::Server(shape) => *shape,
        };
        let is_openai = matches!(shape, Shape::Responses);
        let base = env("OPENAI_BASE_URL").or_else(|| is_openai.then(|| OPENAI.to_owned()));
        let base = base.ok_or("OPENAI_BASE_URL: expected the address of the server")?;
        let base = base.parse().map_err(|_| "OPENAI_BASE_URL: this is no address")?;
        let key = env("OPENAI_API_KEY").filter(|key| !key.is_empty());
        if is_openai && key.is_none() {
            return Err("OPENAI_API_KEY: expected a key, or a model of `script`".into());
        }
        let key = SecretString::from(key.unwrap_or_default());
        Ok(Arc::new(OpenAi::new(client(ANSWER_TIMEOUT)?, base, key, shape)))
    }
}

/// Reads a file of YAML, of which JSON is a part.
pub(super) fn parsed<T: DeserializeOwned>(file: &Path) -> Result<T, BoxError> {
    let text = text(file)?;
    let is_json = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if is_json {
        let mut reader = serde_json::Deserializer::from_str(&text);
        let read = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| format!("{}: {}: {}", file.display(), error.path(), error.inner()))?;
        reader.end().map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(read);
    }
    Ok(serde_saphyr::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?)
}

/// Reads a file of text.
fn text(file: &Path) -> Result<String, BoxError> {
    Ok(std::fs::read_to_string(file)
        .map_err(|error| format!("{}: cannot be read: {error}", file.display()))?)
}
