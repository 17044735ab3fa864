//! Contents with their texts parsed.

use crate::flow::interpolate::{Template, View};
use crate::message::ContentMessage;

/// A message and the templates of its texts.
#[derive(Debug)]
pub(crate) enum CompiledContent {
    /// A text message, the common case.
    Text(Template),
    /// A message without tokens, and the bytes of its texts.
    Fixed { message: ContentMessage, size: usize },
    /// Any other; the templates stand in the order in which `map_texts` visits the texts.
    Other { message: ContentMessage, templates: Vec<Template> },
}

impl CompiledContent {
    pub(super) fn new(message: &ContentMessage) -> Self {
        if let ContentMessage::Text { text } = message {
            return Self::Text(Template::parse(&text.body));
        }
        let (mut templates, mut size) = (Vec::new(), 0);
        _ = message.map_texts(|text| {
            size += text.len();
            templates.push(Template::parse(text));
            String::new()
        });
        if templates.iter().all(|template| template.as_literal().is_some()) {
            return Self::Fixed { message: message.clone(), size };
        }
        Self::Other { message: message.clone(), templates }
    }

    /// Returns every template in it.
    pub(super) fn templates(&self) -> &[Template] {
        match self {
            Self::Text(template) => std::slice::from_ref(template),
            Self::Fixed { .. } => &[],
            Self::Other { templates, .. } => templates,
        }
    }

    /// Returns the message with the values that `view` shows, and the bytes of its rendered texts.
    pub(crate) fn render(&self, view: &View<'_>) -> (ContentMessage, usize) {
        match self {
            Self::Text(template) => {
                let body = template.render(view);
                let size = body.len();
                (ContentMessage::text(body), size)
            }
            Self::Fixed { message, size } => {
                view.work.token(*size);
                (message.clone(), *size)
            }
            Self::Other { message, templates } => {
                let mut size = 0;
                let mut templates = templates.iter();
                let message = message.map_texts(|_| {
                    let text = templates.next().map(|template| template.render(view)).unwrap_or_default();
                    size += text.len();
                    text
                });
                (message, size)
            }
        }
    }
}
