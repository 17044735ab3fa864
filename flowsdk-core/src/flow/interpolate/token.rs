//! The tokens (spec A 9, interpolation table).

use super::Path;

/// The content of the braces, recognised once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// `router.<key>`.
    Router(Box<str>),
    /// `flow.<key>`.
    Flow(Box<str>),
    /// `contact.name`, `contact.whatsapp.name`.
    ContactName,
    /// `contact.phoneNumber`, `contact.whatsapp.phoneNumber`.
    ContactPhoneNumber,
    /// `contact.whatsapp`: both of them.
    ContactProfile,
    /// `contact.variables`: all of them.
    ContactVariables,
    /// `contact.<key>`, `contact.variables.<key>`.
    ContactVariable(Path),
    /// `input`, `input.content`, `inputMessage`.
    Input,
    /// `lastInput`: the current input, else the one before.
    LastInput,
    /// `input.id`: the channel's id of the message.
    InputId,
    /// `input.type`.
    InputType,
    /// `input.media` and below.
    InputMedia(Box<[Box<str>]>),
    /// `input.interactive` and below.
    InputInteractive(Box<[Box<str>]>),
    /// `system.now`.
    Now,
    /// `session.<path>`.
    Session(Path),
    /// A variable of the session, by its path.
    Variable(Path),
    /// Well formed, but nothing has this name. Of the text between the braces, an inner token is `{{…}}`.
    Missing(Box<str>),
}

impl Token {
    /// Recognises the text between the braces. Explicit prefixes come first; a text without one is a session
    /// variable.
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.trim();
        let Some((prefix, rest)) = text.split_once('.') else {
            return match text {
                "" => Self::Missing("".into()),
                "input" | "inputMessage" => Self::Input,
                "lastInput" => Self::LastInput,
                name => Self::Variable(Path::parse(name)),
            };
        };
        match prefix {
            "router" => Self::Router(rest.into()),
            "flow" => Self::Flow(rest.into()),
            "contact" => Self::contact(rest).unwrap_or_else(|| Self::Missing(text.into())),
            "input" => Self::input(rest).unwrap_or_else(|| Self::Missing(text.into())),
            "system" if rest == "now" => Self::Now,
            "system" => Self::Missing(text.into()),
            "session" => Self::Session(Path::parse(rest)),
            _ => Self::Variable(Path::parse(text)),
        }
    }

    // `name`, `phoneNumber`, `whatsapp` and `variables` are reserved: a contact variable of such a
    // name is read as `contact.variables.<key>` (spec A 9).
    fn contact(rest: &str) -> Option<Self> {
        let (root, below) = match rest.split_once('.') {
            Some((root, below)) => (root, Some(below)),
            None => (rest, None),
        };
        Some(match (root, below) {
            ("name", None) | ("whatsapp", Some("name")) => Self::ContactName,
            ("phoneNumber", None) | ("whatsapp", Some("phoneNumber")) => Self::ContactPhoneNumber,
            ("whatsapp", None) => Self::ContactProfile,
            ("variables", None) => Self::ContactVariables,
            ("variables", Some(key)) => Self::ContactVariable(Path::parse(key)),
            ("name" | "phoneNumber" | "whatsapp", Some(_)) => return None,
            _ => Self::ContactVariable(Path::parse(rest)),
        })
    }

    fn input(rest: &str) -> Option<Self> {
        let path = Path::parse(rest);
        Some(match path.root() {
            "content" if path.rest().is_empty() => Self::Input,
            "id" if path.rest().is_empty() => Self::InputId,
            "type" if path.rest().is_empty() => Self::InputType,
            "media" => Self::InputMedia(path.rest().into()),
            "interactive" => Self::InputInteractive(path.rest().into()),
            _ => return None,
        })
    }
}
