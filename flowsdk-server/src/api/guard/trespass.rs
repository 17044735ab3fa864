//! Changes that callers who are confined to routers try to make beyond them. Those that are refused are on record
//! (rulings A11).

use std::fmt;
use std::sync::Arc;

use axum::extract::MatchedPath;
use flowsdk_core::change::{Attempt, Author, ChangeLog, EntityKind, Refused};
use http::request::Parts;
use http::{Method, StatusCode};

use super::Caller;
use crate::api::state::ApiState;

/// The codes of refusals that tell of a record beyond the caller's routers, apart from those of status 404. A few of
/// them have harmless causes too: a caller is not told which it was, and the record does not say either.
const CODES: [&str; 11] = [
    "router_out_of_scope",
    "router_unknown",
    "flow_unknown",
    "channel_unknown",
    "contact_unknown",
    "cross_router_redirect",
    "contact_taken",
    "alias_taken",
    "phone_number_taken",
    "queue_unknown",
    "agent_unknown",
];

/// That an answer refuses what may have reached beyond the caller's routers: its code.
#[derive(Debug, Clone, Copy)]
pub(in crate::api) struct Beyond(&'static str);

impl Beyond {
    /// Returns whether an error is one.
    pub(in crate::api) fn of(status: StatusCode, code: &'static str) -> Option<Self> {
        (status == StatusCode::NOT_FOUND || CODES.contains(&code)).then_some(Self(code))
    }
}

/// A request of a confined caller that changes something, should it be refused.
pub(in crate::api) struct Watch {
    changes: Arc<dyn ChangeLog>,
    author: Author,
    subject: Subject,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl Watch {
    /// Returns the watch over a request; `None` for one that only reads.
    pub(super) fn of(parts: &Parts, caller: &Caller, state: &ApiState) -> Option<Self> {
        let template = parts.extensions.get::<MatchedPath>()?;
        let subject = Subject::of(&parts.method, template.as_str(), parts.uri.path())?;
        Some(Self { changes: Arc::clone(state.changes()), author: caller.author(), subject })
    }

    /// Notes the refusal.
    pub(in crate::api) fn note(&self, Beyond(code): Beyond) {
        let Subject { attempt, kind, id } = &self.subject;
        let refused = Refused { attempt: *attempt, kind: *kind, id: id.as_deref(), router_id: None, code };
        self.changes.refused(&self.author, refused);
    }
}

/// What a request tries to change, as its path tells.
#[derive(Debug, PartialEq, Eq)]
struct Subject {
    attempt: Attempt,
    kind: EntityKind,
    id: Option<String>,
}

impl Subject {
    fn of(method: &Method, template: &str, path: &str) -> Option<Self> {
        let (template, path) = (bare(template), bare(path));
        let kind = kind(template)?;
        let id = template.split('/').zip(path.split('/')).find(|(name, _)| name.starts_with('{'));
        let id = id.map(|(_, id)| id.to_owned());
        let is_whole = template.ends_with('}') && template.matches('{').count() == 1;
        let attempt = match *method {
            Method::GET | Method::HEAD => return None,
            Method::DELETE if is_whole => Attempt::Delete,
            Method::POST if id.is_none() => Attempt::Create,
            _ => Attempt::Update,
        };
        Some(Self { attempt, kind, id })
    }
}

/// Both paths of a route are one.
fn bare(path: &str) -> &str {
    path.strip_prefix("/api").unwrap_or(path)
}

/// The kind of the record that a path names first.
fn kind(path: &str) -> Option<EntityKind> {
    let known = [
        ("/routers", EntityKind::Router),
        ("/flows", EntityKind::Flow),
        ("/webchat/channels", EntityKind::WebchatChannel),
        ("/contacts", EntityKind::Contact),
        ("/contact-filters", EntityKind::ContactFilter),
        ("/import-drafts", EntityKind::ImportDraft),
        ("/interactive-forms", EntityKind::InteractiveForm),
        ("/channel-type-mappings", EntityKind::ChannelTypeMapping),
        ("/event-definitions", EntityKind::EventDefinition),
        ("/sessions", EntityKind::Session),
        ("/media", EntityKind::Media),
        ("/channel-numbers", EntityKind::ChannelNumber),
        ("/templates", EntityKind::MessageTemplate),
        ("/integrations", EntityKind::IntegrationServer),
        ("/agents", EntityKind::Agent),
        ("/agent-groups", EntityKind::AgentGroup),
        ("/queues", EntityKind::Queue),
        ("/queue-distribution-rules", EntityKind::QueueDistributionRule),
        ("/tickets", EntityKind::Ticket),
        ("/tags", EntityKind::Tag),
        ("/close-reasons", EntityKind::CloseReason),
        ("/quick-replies", EntityKind::QuickReply),
        ("/ai-agents", EntityKind::AiAgent),
        ("/system-prompts", EntityKind::SystemPrompt),
        ("/guardrails", EntityKind::Guardrail),
        ("/ai-agent-routes", EntityKind::AiAgentRoute),
        ("/ai/prices", EntityKind::AiModelPrice),
        ("/ai/budgets", EntityKind::AiBudget),
        ("/knowledge", EntityKind::KnowledgeDocument),
        ("/knowledge-documents", EntityKind::KnowledgeDocument),
        ("/webhooks", EntityKind::Webhook),
    ];
    let of = |(prefix, _): &&(&str, EntityKind)| {
        path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    known.iter().find(of).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::document;

    #[test]
    fn a_path_tells_what_was_tried() {
        let subject = |method: Method, template: &str, path: &str| {
            Subject::of(&method, template, path).map(|it| (it.attempt, it.kind, it.id))
        };
        for (method, template, path, expected) in [
            (Method::POST, "/api/contacts", "/api/contacts", (Attempt::Create, EntityKind::Contact, None)),
            (Method::DELETE, "/flows/{id}", "/flows/f1", (Attempt::Delete, EntityKind::Flow, Some("f1"))),
            (
                Method::DELETE,
                "/api/flows/{id}/variables/{varId}",
                "/api/flows/f1/variables/v1",
                (Attempt::Update, EntityKind::Flow, Some("f1")),
            ),
            (
                Method::POST,
                "/contacts/{contactId}/merge",
                "/contacts/c1/merge",
                (Attempt::Update, EntityKind::Contact, Some("c1")),
            ),
            (
                Method::PATCH,
                "/contact-filters/{id}",
                "/contact-filters/x",
                (Attempt::Update, EntityKind::ContactFilter, Some("x")),
            ),
        ] {
            let (attempt, kind, id) = expected;
            let expected = (attempt, kind, id.map(str::to_owned));
            assert_eq!(subject(method, template, path), Some(expected), "{path}");
        }
        assert_eq!(subject(Method::GET, "/flows/{id}", "/flows/f1"), None);
    }

    #[test]
    fn every_route_that_a_confined_caller_may_change_something_by_has_a_kind() {
        let document = serde_json::to_value(document()).expect("JSON");
        let mut routes = 0;
        for (path, item) in document["paths"].as_object().expect("paths") {
            for method in ["post", "put", "patch", "delete"] {
                let permission = item[method]["x-permission"].as_str().unwrap_or_default();
                // Callers who are confined to routers have no part in settings.
                if permission.contains(':') && !permission.starts_with("settings:") {
                    assert!(kind(path).is_some(), "{method} {path} has no kind in the audit log");
                    routes += 1;
                }
            }
        }
        assert!(routes > 40, "{routes}");
    }
}
