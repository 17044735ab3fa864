//! Actions with their texts parsed.

use std::time::Duration;

use serde_json::Value;

use super::CompiledCondition;
use crate::flow::definition::{ActionKind, ExecuteScriptAction, HttpMethod, HttpRequestAction};
use crate::flow::interpolate::{Template, ValueTemplate};

/// An action and when it runs.
#[derive(Debug)]
pub(crate) struct CompiledAction {
    pub(crate) kind: CompiledActionKind,
    pub(crate) conditions: Vec<CompiledCondition>,
    pub(crate) continue_on_error: bool,
}

#[derive(Debug)]
pub(crate) enum CompiledActionKind {
    SetVariable { key: String, value: ValueTemplate },
    DeleteVariable { key: String },
    SetContactName { value: Template },
    SetContactVariable { key: String, value: ValueTemplate },
    CloseChat,
    OptIn { accepted: bool },
    AddTags { tags: Vec<Template> },
    TrackEvent { name: String, properties: ValueTemplate },
    HttpRequest(Box<CompiledHttpRequest>),
    ExecuteScript(Box<ExecuteScriptAction>),
    Delay { millis: u64 },
}

/// A request with its texts parsed.
#[derive(Debug)]
pub(crate) struct CompiledHttpRequest {
    pub(crate) method: HttpMethod,
    pub(crate) url: Template,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) body: Option<CompiledBody>,
    pub(crate) timeout: Duration,
    /// The paths of the answer, and the variables that take their values.
    pub(crate) paths: Vec<String>,
    pub(crate) variables: Vec<String>,
    pub(crate) status_variable: Option<String>,
    pub(crate) error_variable: Option<String>,
}

/// The body of a request.
#[derive(Debug)]
pub(crate) enum CompiledBody {
    Text(Template),
    Json(ValueTemplate),
}

impl CompiledActionKind {
    pub(super) fn new(kind: &ActionKind) -> Self {
        match kind {
            ActionKind::SetVariable { key, value } => {
                Self::SetVariable { key: key.clone(), value: ValueTemplate::parse(value) }
            }
            ActionKind::DeleteVariable { key } => Self::DeleteVariable { key: key.clone() },
            ActionKind::SetContactName { value } => Self::SetContactName { value: Template::parse(value) },
            ActionKind::SetContactVariable { key, value } => {
                Self::SetContactVariable { key: key.clone(), value: ValueTemplate::parse(value) }
            }
            ActionKind::CloseChat {} => Self::CloseChat,
            ActionKind::AcceptOptIn {} => Self::OptIn { accepted: true },
            ActionKind::RevokeOptIn {} => Self::OptIn { accepted: false },
            ActionKind::AddTags { tags } => {
                Self::AddTags { tags: tags.iter().map(|tag| Template::parse(tag)).collect() }
            }
            ActionKind::TrackEvent { name, properties } => Self::TrackEvent {
                name: name.clone(),
                properties: ValueTemplate::parse(&Value::Object(properties.clone())),
            },
            ActionKind::HttpRequest(request) => {
                Self::HttpRequest(Box::new(CompiledHttpRequest::new(request)))
            }
            ActionKind::ExecuteScript(script) => Self::ExecuteScript(script.clone()),
            ActionKind::Delay { millis } => Self::Delay { millis: *millis },
        }
    }

    /// Returns the `type` of the action.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::SetVariable { .. } => "setVariable",
            Self::DeleteVariable { .. } => "deleteVariable",
            Self::SetContactName { .. } => "setContactName",
            Self::SetContactVariable { .. } => "setContactVariable",
            Self::CloseChat => "closeChat",
            Self::OptIn { accepted: true } => "acceptOptIn",
            Self::OptIn { accepted: false } => "revokeOptIn",
            Self::AddTags { .. } => "addTags",
            Self::TrackEvent { .. } => "trackEvent",
            Self::HttpRequest(_) => "httpRequest",
            Self::ExecuteScript(_) => "executeScript",
            Self::Delay { .. } => "delay",
        }
    }

    /// Returns the variable that takes the code of a failure.
    pub(crate) fn error_variable(&self) -> Option<&String> {
        match self {
            Self::HttpRequest(request) => request.error_variable.as_ref(),
            Self::ExecuteScript(script) => script.error_variable.as_ref(),
            _ => None,
        }
    }

    /// Returns whether it may be repeated when its outcome is unknown.
    pub(crate) fn is_repeatable(&self) -> bool {
        match self {
            Self::HttpRequest(request) => request.method.is_repeatable(),
            Self::ExecuteScript(_) => true,
            _ => false,
        }
    }

    pub(super) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::SetVariable { value, .. } | Self::SetContactVariable { value, .. } => value.templates(),
            Self::SetContactName { value } => vec![value],
            Self::AddTags { tags } => tags.iter().collect(),
            Self::TrackEvent { properties, .. } => properties.templates(),
            Self::HttpRequest(request) => request.templates(),
            Self::DeleteVariable { .. }
            | Self::CloseChat
            | Self::OptIn { .. }
            | Self::ExecuteScript(_)
            | Self::Delay { .. } => Vec::new(),
        }
    }
}

impl CompiledHttpRequest {
    fn new(request: &HttpRequestAction) -> Self {
        let body = request.body.as_ref().map(|body| match body {
            Value::String(text) => CompiledBody::Text(Template::parse(text)),
            json => CompiledBody::Json(ValueTemplate::parse(json)),
        });
        let headers = request.headers.iter().map(|(name, value)| (name.clone(), Template::parse(value)));
        Self {
            method: request.method,
            url: Template::parse(&request.url),
            headers: headers.collect(),
            body,
            timeout: Duration::from_millis(request.timeout_ms),
            paths: request.response.iter().map(|field| field.path.clone()).collect(),
            variables: request.response.iter().map(|field| field.variable.clone()).collect(),
            status_variable: request.status_variable.clone(),
            error_variable: request.error_variable.clone(),
        }
    }

    fn templates(&self) -> Vec<&Template> {
        let mut templates = vec![&self.url];
        templates.extend(self.headers.iter().map(|(_, value)| value));
        match &self.body {
            Some(CompiledBody::Text(template)) => templates.push(template),
            Some(CompiledBody::Json(value)) => templates.extend(value.templates()),
            None => {}
        }
        templates
    }
}
