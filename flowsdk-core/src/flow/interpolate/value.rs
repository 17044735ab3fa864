//! JSON whose texts are templates, as the actions store it.

use serde_json::Value;

use super::{MAX_RENDERED, Template, View};

/// JSON whose texts are interpolated; keys and everything else stay as they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValueTemplate {
    /// A text, interpolated when the value is built.
    Text(Template),
    /// A value without text to interpolate.
    Fixed(Value),
    /// A list whose items are built one by one.
    List(Vec<ValueTemplate>),
    /// An object; its keys are taken as they are.
    Object(Vec<(String, ValueTemplate)>),
}

impl ValueTemplate {
    /// Finds the tokens of every text in `value`.
    pub(crate) fn parse(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(Template::parse(text)),
            Value::Array(items) => Self::List(items.iter().map(Self::parse).collect()),
            Value::Object(fields) => {
                Self::Object(fields.iter().map(|(key, value)| (key.clone(), Self::parse(value))).collect())
            }
            other => Self::Fixed(other.clone()),
        }
    }

    /// Returns every template in it.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Text(template) => vec![template],
            Self::Fixed(_) => Vec::new(),
            Self::List(items) => items.iter().flat_map(Self::templates).collect(),
            Self::Object(fields) => fields.iter().flat_map(|(_, value)| value.templates()).collect(),
        }
    }

    /// Returns the value with its texts rendered, all together at most [`MAX_RENDERED`] bytes.
    pub(crate) fn render(&self, view: &View<'_>) -> Value {
        let mut left = MAX_RENDERED;
        self.render_within(view, &mut left)
    }

    fn render_within(&self, view: &View<'_>, left: &mut usize) -> Value {
        if !view.work.token(0) {
            return Value::Null;
        }
        match self {
            Self::Text(template) => {
                let text = template.render_within(view, *left);
                *left -= text.len();
                Value::String(text)
            }
            Self::Fixed(value) => value.clone(),
            Self::List(items) => items.iter().map(|item| item.render_within(view, left)).collect(),
            Self::Object(fields) => {
                fields.iter().map(|(key, value)| (key.clone(), value.render_within(view, left))).collect()
            }
        }
    }
}

/// About how many bytes `value` takes.
pub(crate) fn size_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of).sum(),
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + size_of(value)).sum(),
    }
}
