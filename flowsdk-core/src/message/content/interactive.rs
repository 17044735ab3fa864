//! The node of interactive messages: buttons, lists, links and forms.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::FileSource;

/// The node of an interactive message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields say it; what they share stands at `Frame`")]
pub enum Interactive {
    /// Reply buttons.
    Button {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Header>,
        body: Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        footer: Option<Text>,
        action: ButtonAction,
    },
    /// A list to choose from.
    List {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Header>,
        body: Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        footer: Option<Text>,
        action: ListAction,
    },
    /// A button that opens an address.
    CtaUrl {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Header>,
        body: Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        footer: Option<Text>,
        action: LinkAction,
    },
    /// A button that opens an interactive form.
    Flow {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        header: Option<Header>,
        body: Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        footer: Option<Text>,
        action: FormAction,
    },
}

/// What every interactive message has around its action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<'a> {
    /// A text or file above the body, as a title.
    pub header: Option<&'a Header>,
    /// The main text.
    pub body: &'a Text,
    /// A small text below the body.
    pub footer: Option<&'a Text>,
}

/// `{ "text": ".." }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The text, interpolated before it is sent.
    pub text: String,
}

/// What stands above the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(missing_docs, reason = "the fields say it")]
pub enum Header {
    /// A text, interpolated before it is sent.
    Text { text: String },
    /// An image.
    Image { image: HeaderFile },
    /// A video.
    Video { video: HeaderFile },
    /// Any other file.
    Document { document: HeaderFile },
}

/// A file above the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderFile {
    /// Where the file is.
    #[serde(flatten)]
    pub source: FileSource,
    /// File name, for documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// The buttons of a button message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonAction {
    /// The buttons, in order.
    pub buttons: Vec<ReplyButton>,
}

/// A reply button: `{ "type": "reply", "reply": { "id", "title" } }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ReplyButton {
    /// Answers with its id and title.
    #[allow(missing_docs, reason = "the fields say it")]
    Reply { reply: ButtonReply },
}

/// Id and title of a button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonReply {
    /// The id that the reply carries.
    pub id: String,
    /// The title that contacts see.
    pub title: String,
}

/// The list of a list message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListAction {
    /// Label of the control that opens the list.
    pub button: String,
    /// The sections, in the order shown.
    pub sections: Vec<ListSection>,
}

/// A section of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSection {
    /// The title above the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The rows, in the order shown.
    pub rows: Vec<ListRow>,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRow {
    /// The id that the reply carries.
    pub id: String,
    /// The title that contacts see.
    pub title: String,
    /// A second line below the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The button of a message that opens an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields say it")]
pub enum LinkAction {
    /// Opens an address.
    CtaUrl { parameters: LinkParameters },
}

/// Label and address of a link button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkParameters {
    /// The label that contacts see.
    pub display_text: String,
    /// The address.
    pub url: String,
}

/// The button of a message that opens an interactive form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields say it")]
pub enum FormAction {
    /// Opens a form.
    Flow { parameters: FormParameters },
}

/// Which form is opened, and how (WhatsApp Business Platform, "Sending a Flow"). The token of the form is our id of the
/// message, which the channel adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormParameters {
    /// The provider's id of the form.
    pub flow_id: String,
    /// The label that contacts see.
    pub flow_cta: String,
    /// Which state of the form is opened; the published one, if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<FormMode>,
    /// Where the first screen comes from; [`FormOpening::Navigate`], if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_action: Option<FormOpening>,
    /// The first screen, for [`FormOpening::Navigate`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_action_payload: Option<FormPayload>,
}

/// Which state of a form is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormMode {
    /// What is being built; testers alone see it.
    Draft,
    /// What was published.
    Published,
}

/// Where the first screen of a form comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum FormOpening {
    /// The message names it. The provider writes it either way.
    #[serde(alias = "NAVIGATE")]
    Navigate,
    /// The endpoint of the form is asked.
    #[serde(alias = "DATA_EXCHANGE")]
    DataExchange,
}

/// The first screen of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormPayload {
    /// Its id.
    pub screen: String,
    /// What it is filled with; the texts in it are interpolated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
}

impl Interactive {
    /// Returns what stands around the action.
    pub fn frame(&self) -> Frame<'_> {
        let (Self::Button { header, body, footer, .. }
        | Self::List { header, body, footer, .. }
        | Self::CtaUrl { header, body, footer, .. }
        | Self::Flow { header, body, footer, .. }) = self;
        Frame { header: header.as_ref(), body, footer: footer.as_ref() }
    }

    /// Returns the ids and titles of the buttons or rows, in order.
    pub(super) fn choices(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Button { action, .. } => action
                .buttons
                .iter()
                .map(|ReplyButton::Reply { reply }| (reply.id.as_str(), reply.title.as_str()))
                .collect(),
            Self::List { action, .. } => action
                .sections
                .iter()
                .flat_map(|section| &section.rows)
                .map(|row| (row.id.as_str(), row.title.as_str()))
                .collect(),
            Self::CtaUrl { .. } | Self::Flow { .. } => Vec::new(),
        }
    }

    /// Returns the label of the button that opens an address or a form.
    pub(super) fn opener(&self) -> Option<&str> {
        match self {
            Self::CtaUrl { action: LinkAction::CtaUrl { parameters }, .. } => Some(&parameters.display_text),
            Self::Flow { action: FormAction::Flow { parameters }, .. } => Some(&parameters.flow_cta),
            Self::Button { .. } | Self::List { .. } => None,
        }
    }

    /// Returns where the file above the body is, if there is one.
    pub(super) fn file_mut(&mut self) -> Option<&mut FileSource> {
        let (Self::Button { header, .. }
        | Self::List { header, .. }
        | Self::CtaUrl { header, .. }
        | Self::Flow { header, .. }) = self;
        match header.as_mut()? {
            Header::Text { .. } => None,
            Header::Image { image: file }
            | Header::Video { video: file }
            | Header::Document { document: file } => Some(&mut file.source),
        }
    }

    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        let (header, body, footer, mut own): (_, _, _, Vec<&mut String>) = match self {
            Self::Button { header, body, footer, action } => {
                let buttons = action.buttons.iter_mut().map(|ReplyButton::Reply { reply }| &mut reply.title);
                (header, body, footer, buttons.collect())
            }
            Self::List { header, body, footer, action } => (header, body, footer, action.texts_mut()),
            Self::CtaUrl { header, body, footer, action: LinkAction::CtaUrl { parameters } } => {
                (header, body, footer, vec![&mut parameters.display_text, &mut parameters.url])
            }
            Self::Flow { header, body, footer, action: FormAction::Flow { parameters } } => {
                (header, body, footer, parameters.texts_mut())
            }
        };
        match header {
            Some(Header::Text { text }) => own.push(text),
            Some(
                Header::Image { image: file }
                | Header::Video { video: file }
                | Header::Document { document: file },
            ) => {
                own.push(file.source.text_mut());
                own.extend(file.filename.as_mut());
            }
            None => {}
        }
        own.push(&mut body.text);
        own.extend(footer.as_mut().map(|footer| &mut footer.text));
        own
    }
}

impl ListAction {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.button];
        for section in &mut self.sections {
            texts.extend(section.title.as_mut());
            for row in &mut section.rows {
                texts.push(&mut row.title);
                texts.extend(row.description.as_mut());
            }
        }
        texts
    }
}

impl FormParameters {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.flow_id, &mut self.flow_cta];
        if let Some(payload) = &mut self.flow_action_payload {
            let data = payload.data.iter_mut().flat_map(Map::values_mut);
            data.for_each(|value| push_texts(value, &mut texts));
        }
        texts
    }
}

fn push_texts<'a>(value: &'a mut Value, texts: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter_mut().for_each(|value| push_texts(value, texts)),
        Value::Object(fields) => fields.values_mut().for_each(|value| push_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
