//! The values that the tokens of a turn read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::Token;
use super::path::walk;
use crate::contact::Contact;
use crate::flow::Work;
use crate::id::{BlockId, FlowId};
use crate::message::{IncomingContent, IncomingMessage, Known};
use crate::session::Session;
use crate::time::Timestamp;

/// Where a turn stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here<'a> {
    /// The id of the flow.
    pub(crate) flow_id: &'a FlowId,
    pub(crate) flow_name: &'a str,
    /// The id of the block.
    pub(crate) block_id: Option<&'a BlockId>,
}

/// The names of flows and blocks, for `session.*`.
pub(crate) trait Names {
    /// Name of a flow; its id when it is unknown.
    fn flow(&self, flow: &FlowId) -> String;
    /// Title of a block; its id when it has none or is unknown.
    fn block(&self, flow: &FlowId, block: &BlockId) -> String;
}

/// Everything that a token can read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) here: Here<'a>,
    pub(crate) session: &'a Session,
    pub(crate) contact: &'a Contact,
    /// The message of this turn; a timeout has none.
    pub(crate) input: Option<&'a IncomingMessage>,
    pub(crate) router_variables: &'a BTreeMap<String, SecretString>,
    /// `None` when the turn has no map of the flow it stands in.
    pub(crate) flow_variables: Option<&'a BTreeMap<String, SecretString>>,
    pub(crate) now: Timestamp,
    pub(crate) names: &'a dyn Names,
    /// The budget on which everything draws that is read here.
    pub(crate) work: &'a Work,
}

impl<'a> View<'a> {
    /// Returns the content of the message of this turn.
    pub(crate) fn content(&self) -> Option<&'a IncomingContent> {
        self.input.map(|message| &message.content)
    }

    /// Appends the value of `token`, nothing when it has none; returns whether the turn may go on.
    pub(super) fn write(&self, token: &Token, out: &mut String) -> bool {
        let before = out.len();
        self.append(token, out);
        self.work.token(out.len() - before)
    }

    fn append(&self, token: &Token, out: &mut String) {
        match token {
            Token::Router(key) => write_secret(self.router_variables.get(&**key), out),
            Token::Flow(key) => write_secret(self.flow_variables.and_then(|map| map.get(&**key)), out),
            Token::ContactName => out.push_str(self.contact.spoken_name()),
            Token::ContactPhoneNumber => out.push_str(&self.contact.phone_number),
            Token::ContactProfile => write_value(
                &json!({ "name": self.contact.spoken_name(), "phoneNumber": self.contact.phone_number }),
                out,
            ),
            Token::ContactVariables => write_json(&self.contact.variables, out),
            Token::ContactVariable(path) => write_found(path.find(&self.contact.variables), out),
            Token::Input => out.push_str(self.content().map_or("", IncomingContent::as_text)),
            Token::LastInput => match self.content() {
                Some(input) => out.push_str(input.as_text()),
                None => write_found(self.session.variables.get("lastInput"), out),
            },
            Token::InputId => out.push_str(self.input.map_or("", |message| &message.id)),
            Token::InputType => out.push_str(self.content().map_or("", IncomingContent::kind)),
            Token::InputMedia(path) => self.write_media(path, out),
            Token::InputInteractive(path) => self.write_interactive(path, out),
            // A formatter that fails leaves the value out; the time never does.
            Token::Now => _ = write!(out, "{}", self.now),
            Token::Session(path) => super::session_state::write(self, path, out),
            Token::Variable(path) => write_found(path.find(&self.session.variables), out),
            Token::Missing(_) => {}
        }
    }

    fn write_media(&self, path: &[Box<str>], out: &mut String) {
        let Some((_, media)) = self.content().and_then(IncomingContent::file) else {
            return;
        };
        let mut fields = media.rest.clone();
        fields.insert("id".into(), Value::from(media.id.as_str()));
        // Providers write `mime_type`, the tokens `mimeType`.
        fields.extend(media.mime_type.as_deref().map(|t| ("mimeType".into(), Value::from(t))));
        fields.extend(media.caption.as_deref().map(|t| ("caption".into(), Value::from(t))));
        write_found(walk(&Value::Object(fields), path), out);
    }

    fn write_interactive(&self, path: &[Box<str>], out: &mut String) {
        let Some(IncomingContent::Known(Known::Interactive { interactive })) = self.content() else {
            return;
        };
        let kind = interactive.kind();
        let fields = match (interactive.reply(), self.content().and_then(IncomingContent::form_reply)) {
            (Some(reply), _) => json!({ "type": kind, "id": reply.id, "title": reply.title }),
            (None, Some(form)) => json!({ "type": kind, "answers": form.answers() }),
            (None, None) => json!({ "type": kind }),
        };
        write_found(walk(&fields, path), out);
    }
}

fn write_secret(value: Option<&SecretString>, out: &mut String) {
    if let Some(value) = value {
        out.push_str(value.expose_secret());
    }
}

pub(super) fn write_found(value: Option<&Value>, out: &mut String) {
    if let Some(value) = value {
        write_value(value, out);
    }
}

/// Texts as they are, numbers and truth values as text, objects and lists as compact JSON.
pub(crate) fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => {}
        Value::String(text) => out.push_str(text),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => _ = write!(out, "{number}"),
        Value::Array(_) | Value::Object(_) => write_json(value, out),
    }
}

pub(super) fn write_json(value: &impl serde::Serialize, out: &mut String) {
    if let Ok(json) = serde_json::to_string(value) {
        out.push_str(&json);
    }
}
