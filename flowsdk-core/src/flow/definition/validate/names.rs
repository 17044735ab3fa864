//! The variables that a flow knows, and the tokens that read others.

use std::collections::HashSet;

use super::Findings;
use crate::flow::definition::{ActionKind, BlockKind, FlowDefinition};
use crate::flow::interpolate::{Path, Template, Token};
use crate::text::Text;

/// Longest name of a variable, in characters.
const MAX_NAME: usize = 128;

/// Session variables that the engine and the desk write (spec A 9, spec B 3.3).
const BUILT_IN: [&str; 5] = ["lastInput", "ticket", "handoffDeflect", "agentEndReason", "agentHandoffReason"];

/// Stands among the known variables where a sub-flow, or the object that a script returns, may set any.
const ANY: &str = "*";

/// Names that a token reads as something else than a session variable.
const RESERVED: [&str; 8] =
    ["input", "inputMessage", "lastInput", "router", "flow", "contact", "system", "session"];

/// Contact variables that are read as `contact.variables.<key>` only (spec A 9).
const RESERVED_CONTACT: [&str; 4] = ["name", "phoneNumber", "whatsapp", "variables"];

/// Fields of the session state (spec A 2.6) and the short form `blockId` (spec A 9).
const SESSION_FIELDS: [&str; 19] = [
    "mode",
    "routerId",
    "flowId",
    "contactId",
    "chatId",
    "blockId",
    "currentBlockId",
    "variables",
    "source",
    "contactIdentity",
    "currentFlow",
    "currentBlock",
    "previousBlock",
    "sessionHistory",
    "expiryTimeout",
    "startedAt",
    "lastInteractionAt",
    "redirectHistory",
    "*",
];

/// Returns the session variables that `definition` or the engine writes.
pub(super) fn known(definition: &FlowDefinition) -> HashSet<String> {
    let mut known: HashSet<String> = BUILT_IN.map(String::from).into();
    known.extend(definition.parameters.iter().map(|parameter| parameter.name.clone()));
    for block in &definition.blocks {
        if let BlockKind::Flow { returns: true, .. } = block.kind {
            known.insert(ANY.to_owned());
        }
        for action in block.on_enter.iter().chain(&block.on_leave) {
            match &action.kind {
                ActionKind::SetVariable { key, .. } => drop(known.insert(key.clone())),
                ActionKind::HttpRequest(request) => {
                    known.extend(request.response.iter().map(|field| field.variable.clone()));
                    known.extend(request.status_variable.clone());
                    known.extend(request.error_variable.clone());
                }
                ActionKind::ExecuteScript(script) => {
                    known.insert(script.variable.clone().unwrap_or_else(|| ANY.to_owned()));
                    known.extend(script.error_variable.clone());
                }
                _ => {}
            }
        }
        if let Some(name) = block.input().and_then(|input| input.variable.as_ref()) {
            known.extend([name.clone(), format!("{name}_title"), format!("{name}_media")]);
        }
    }
    known
}

/// Returns whether a block of `definition` sets the name of the contact.
pub(super) fn names_contacts(definition: &FlowDefinition) -> bool {
    let mut actions = definition.blocks.iter().flat_map(|block| block.on_enter.iter().chain(&block.on_leave));
    actions.any(|action| matches!(action.kind, ActionKind::SetContactName { .. }))
}

/// Checks that `name` can be written and read back by a token.
pub(super) fn variable(name: &str, pointer: &str, findings: &mut Findings) {
    if !is_name(name) {
        findings.error(
            "bad_name",
            pointer,
            Text::new(
                "um nome tem de 1 a 128 caracteres, sem pontos, chaves nem espaços nas pontas",
                "a name has 1 to 128 characters, no dots, braces or outer spaces",
            ),
        );
    } else if RESERVED.contains(&name) {
        findings.warn(
            "reserved_name",
            pointer,
            Text::of(
                format!("`{{{{{name}}}}}` lê outra coisa, não esta variável"),
                format!("`{{{{{name}}}}}` reads something else than this variable"),
            ),
        );
    }
}

/// Checks the key of a contact variable.
pub(super) fn contact_variable(key: &str, pointer: &str, findings: &mut Findings) {
    if !is_name(key) {
        findings.error(
            "bad_name",
            pointer,
            Text::new(
                "um nome tem de 1 a 128 caracteres, sem pontos, chaves nem espaços nas pontas",
                "a name has 1 to 128 characters, no dots, braces or outer spaces",
            ),
        );
    } else if RESERVED_CONTACT.contains(&key) {
        let message = Text::of(
            format!("leia-a como `{{{{contact.variables.{key}}}}}`"),
            format!("read it as `{{{{contact.variables.{key}}}}}`"),
        );
        findings.warn("reserved_name", pointer, message);
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().count() <= MAX_NAME
        && name.trim() == name
        && !name.contains(['.', '{', '}'])
}

/// Warns of tokens in `template` that will always be empty, as far as the flow can tell: other
/// flows and the API may set variables too.
pub(super) fn tokens(template: &Template, pointer: &str, known: &HashSet<String>, findings: &mut Findings) {
    for token in template.tokens() {
        match token {
            Token::Variable(path) => read(path.root(), pointer, known, findings),
            Token::Missing(name) => {
                let name = if name.is_empty() { "{{}}" } else { &**name };
                unknown(name, pointer, findings);
            }
            Token::Session(path) if !is_session_field(path) => {
                let below: String = path.rest().iter().map(|part| format!(".{part}")).collect();
                unknown(&format!("session.{}{below}", path.root()), pointer, findings);
            }
            _ => {}
        }
    }
}

/// Warns of tokens in a message that tell nothing of the anonymous visitors of a web chat.
pub(super) fn of_anonymous(template: &Template, pointer: &str, findings: &mut Findings) {
    for token in template.tokens() {
        let message = match token {
            Token::ContactName if !findings.names_contacts => Text::new(
                "um visitante anônimo do webchat não tem nome: aqui fica vazio. `setContactName` ou um token de embed dá um nome",
                "an anonymous visitor of the web chat has no name: this stays empty. `setContactName` or an embed token gives one",
            ),
            Token::ContactPhoneNumber => Text::new(
                "um visitante do webchat não tem telefone: aqui fica um id interno",
                "a visitor of the web chat has no phone number: an internal id stands here",
            ),
            _ => continue,
        };
        findings.warn("anonymous_contact", pointer, message);
    }
}

fn unknown(token: &str, pointer: &str, findings: &mut Findings) {
    let message = Text::of(
        format!("nada tem o nome do token `{token}`; fica vazio"),
        format!("nothing has the name of the token `{token}`; it stays empty"),
    );
    findings.warn("unknown_token", pointer, message);
}

/// Returns whether `{{session.<path>}}` can have a value.
fn is_session_field(path: &Path) -> bool {
    let below: Vec<&str> = path.rest().iter().map(|part| &**part).collect();
    let is_index = |part: &str| part.parse::<usize>().is_ok();
    match (path.root(), &below[..]) {
        ("variables", _) => true,
        (root, []) => SESSION_FIELDS.contains(&root),
        ("currentFlow" | "currentBlock" | "previousBlock", below) => matches!(below, ["id" | "name"]),
        ("sessionHistory", [at, below @ ..]) => {
            is_index(at) && matches!(below, [] | ["flow" | "block"] | ["flow" | "block", "id" | "name"])
        }
        ("redirectHistory", [at, below @ ..]) => is_index(at) && matches!(below, [] | ["flowId" | "blockId"]),
        _ => false,
    }
}

/// Warns when no one sets the session variable `name`.
pub(super) fn read(name: &str, pointer: &str, known: &HashSet<String>, findings: &mut Findings) {
    if !known.contains(name) && !known.contains(ANY) {
        let message = Text::of(
            format!("nada neste flow define `{name}`"),
            format!("nothing in this flow sets `{name}`"),
        );
        findings.warn("unknown_variable", pointer, message);
    }
}
