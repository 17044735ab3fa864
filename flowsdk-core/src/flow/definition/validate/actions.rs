//! Actions of `onEnter` and `onLeave`.

use serde_json::Value;

use super::parts::{Known, conditions};
use super::{Findings, between, millis_between, names};
use crate::flow::definition::{Action, ActionKind, ExecuteScriptAction, HttpRequestAction, MAX_SCRIPT};
use crate::flow::interpolate::{Template, Token, ValueTemplate};
use crate::flow::tracked_event::{MAX_EVENT_NAME, is_event_name};
use crate::text::Text;

/// Longest `delay`: the turn's messages wait behind it.
const MAX_DELAY_MS: u64 = 60_000;
/// Most actions of one list.
const MAX_ACTIONS: usize = 200;
/// Longest wait for an answer to a request.
const MAX_HTTP_TIMEOUT_MS: u64 = 30_000;
/// Most headers of a request, and most parts kept of an answer.
const MAX_FIELDS: usize = 50;
/// Most labels of an action.
const MAX_TAGS: usize = 50;

pub(super) fn check(actions: &[Action], pointer: &str, known: &Known, findings: &mut Findings) {
    if actions.len() > MAX_ACTIONS {
        let message =
            Text::of(format!("no máximo {MAX_ACTIONS} ações"), format!("at most {MAX_ACTIONS} actions"));
        findings.error("out_of_range", pointer, message);
    }
    for (at, action) in actions.iter().enumerate() {
        let pointer = format!("{pointer}/{at}");
        conditions(&action.conditions, &format!("{pointer}/conditions"), known, findings);
        kind(&action.kind, &pointer, known, findings);
        handled(action, &pointer, findings);
    }
}

/// A server that is away for a moment is no reason to leave a contact without an answer.
fn handled(action: &Action, pointer: &str, findings: &mut Findings) {
    let may_fail = matches!(action.kind, ActionKind::HttpRequest(_) | ActionKind::ExecuteScript(_));
    if may_fail && !action.continue_on_error && !findings.handles_errors {
        let message = Text::new(
            "uma falha aqui congela a sessão: diga `continueOnError`, ou dê ao flow um `errorTarget`",
            "a failure here freezes the session: say `continueOnError`, or give the flow an `errorTarget`",
        );
        findings.warn("unhandled_failure", pointer, message);
    }
}

fn kind(kind: &ActionKind, pointer: &str, known: &Known, findings: &mut Findings) {
    match kind {
        ActionKind::SetVariable { key, value } => {
            names::variable(key, &format!("{pointer}/key"), findings);
            stored(value, &format!("{pointer}/value"), known, findings);
        }
        ActionKind::SetContactVariable { key, value } => {
            names::contact_variable(key, &format!("{pointer}/key"), findings);
            stored(value, &format!("{pointer}/value"), known, findings);
        }
        ActionKind::DeleteVariable { key } => names::variable(key, &format!("{pointer}/key"), findings),
        ActionKind::SetContactName { value } => {
            names::tokens(&Template::parse(value), &format!("{pointer}/value"), known, findings);
        }
        ActionKind::AddTags { tags } => {
            if tags.is_empty() || tags.len() > MAX_TAGS {
                findings.error("out_of_range", format!("{pointer}/tags"), between(1, MAX_TAGS as u64));
            }
            for (at, tag) in tags.iter().enumerate() {
                label(tag, &format!("{pointer}/tags/{at}"), findings);
                names::tokens(&Template::parse(tag), &format!("{pointer}/tags/{at}"), known, findings);
            }
        }
        ActionKind::TrackEvent { name, properties } => {
            label(name, &format!("{pointer}/name"), findings);
            let properties = Value::Object(properties.clone());
            stored(&properties, &format!("{pointer}/properties"), known, findings);
        }
        ActionKind::HttpRequest(request) => http(request, pointer, known, findings),
        ActionKind::ExecuteScript(script) => execute(script, pointer, findings),
        ActionKind::Delay { millis } => {
            at_most(*millis, MAX_DELAY_MS, &format!("{pointer}/millis"), findings);
        }
        ActionKind::CloseChat {} | ActionKind::AcceptOptIn {} | ActionKind::RevokeOptIn {} => {}
    }
}

fn at_most(millis: u64, most: u64, pointer: &str, findings: &mut Findings) {
    if millis > most {
        findings.error("out_of_range", pointer, millis_between(0, most));
    }
}

/// The names of tracked events and labels of chats have one rule.
fn label(text: &str, pointer: &str, findings: &mut Findings) {
    if !is_event_name(text) {
        let message = Text::of(
            format!("de 1 a {MAX_EVENT_NAME} caracteres"),
            format!("1 to {MAX_EVENT_NAME} characters"),
        );
        findings.error("bad_name", pointer, message);
    }
}

/// A value that is stored where the API shows it.
fn stored(value: &Value, pointer: &str, known: &Known, findings: &mut Findings) {
    let value = ValueTemplate::parse(value);
    for template in value.templates() {
        names::tokens(template, pointer, known, findings);
        if template.uses_static_variables() {
            findings.warn(
                "static_in_variable",
                pointer,
                Text::new(
                    "uma variável do roteador ou do flow é copiada para onde a API a mostra, mesmo um segredo",
                    "a router or flow variable is copied to where the API shows it, even a secret one",
                ),
            );
        }
    }
}

fn http(request: &HttpRequestAction, pointer: &str, known: &Known, findings: &mut Findings) {
    let url = Template::parse(&request.url);
    names::tokens(&url, &format!("{pointer}/url"), known, findings);
    if !url.has_fixed_server() {
        let message = Text::new(
            "um endereço começa com https:// ou http:// e um servidor por extenso, ou com uma variável estática",
            "an address begins with https:// or http:// and a server that is written out, or with a static variable",
        );
        findings.error("bad_link", format!("{pointer}/url"), message);
    }
    if !(1..=MAX_HTTP_TIMEOUT_MS).contains(&request.timeout_ms) {
        let message = millis_between(1, MAX_HTTP_TIMEOUT_MS);
        findings.error("out_of_range", format!("{pointer}/timeoutMs"), message);
    }
    if request.headers.len() > MAX_FIELDS || request.response.len() > MAX_FIELDS {
        let message = Text::of(
            format!("no máximo {MAX_FIELDS} cabeçalhos e partes"),
            format!("at most {MAX_FIELDS} headers and parts"),
        );
        findings.error("out_of_range", pointer, message);
    }
    for (name, value) in &request.headers {
        let pointer = format!("{pointer}/headers/{name}");
        if !is_header_name(name) {
            findings.error(
                "bad_name",
                &pointer,
                Text::new("não é nome de cabeçalho", "not the name of a header"),
            );
        }
        names::tokens(&Template::parse(value), &pointer, known, findings);
    }
    if let Some(body) = &request.body {
        for template in ValueTemplate::parse(body).templates() {
            names::tokens(template, &format!("{pointer}/body"), known, findings);
        }
        if body.as_str().is_some_and(|text| Template::parse(text).is_open_body()) {
            let message = Text::new(
                "os valores entram em um corpo de texto como são, e podem mudar o seu sentido; os de um objeto são codificados",
                "values stand in a text body as they are, and may change what it says; those of an object are encoded",
            );
            findings.warn("raw_body", format!("{pointer}/body"), message);
        }
    }
    for (at, field) in request.response.iter().enumerate() {
        names::variable(&field.variable, &format!("{pointer}/response/{at}/variable"), findings);
    }
    let variables =
        [("statusVariable", &request.status_variable), ("errorVariable", &request.error_variable)];
    for (field, name) in variables {
        if let Some(name) = name {
            names::variable(name, &format!("{pointer}/{field}"), findings);
        }
    }
}

fn is_header_name(name: &str) -> bool {
    let forbidden = ["host", "content-length", "transfer-encoding", "connection"];
    !name.is_empty()
        && name.len() <= 128
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
        && !forbidden.contains(&name.to_ascii_lowercase().as_str())
}

/// Tells a token in a script from two blocks of JavaScript, as in `{{ go(); }}`.
fn is_meant_as_token(token: &Token) -> bool {
    match token {
        Token::Variable(path) => {
            path.root().chars().all(|letter| letter.is_alphanumeric() || "_$".contains(letter))
        }
        Token::Missing(_) => false,
        _ => true,
    }
}

fn execute(script: &ExecuteScriptAction, pointer: &str, findings: &mut Findings) {
    if !script.has_length() {
        let message = Text::of(
            format!("um script tem de 1 a {MAX_SCRIPT} bytes"),
            format!("a script has 1 to {MAX_SCRIPT} bytes"),
        );
        findings.error("out_of_range", format!("{pointer}/script"), message);
    } else if Template::parse(&script.script).tokens().any(is_meant_as_token) {
        let message = Text::new(
            "um script não é interpolado: `{{name}}` se escreve `variables.name`, e `{{input}}`, `input`",
            "a script is not interpolated: `{{name}}` is written `variables.name`, and `{{input}}`, `input`",
        );
        findings.warn("token_in_script", format!("{pointer}/script"), message);
    }
    for (field, name) in [("variable", &script.variable), ("errorVariable", &script.error_variable)] {
        if let Some(name) = name {
            names::variable(name, &format!("{pointer}/{field}"), findings);
        }
    }
}
