//! Dotted paths into JSON.

use serde_json::{Map, Value};

/// A path such as `order.items.0.name`, split once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    root: Box<str>,
    rest: Box<[Box<str>]>,
}

impl Path {
    /// Splits `text` at its dots.
    pub(crate) fn parse(text: &str) -> Self {
        let mut parts = text.split('.').map(Box::from);
        Self { root: parts.next().unwrap_or_default(), rest: parts.collect() }
    }

    /// Returns the first part: the name of the variable.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Returns the value of the path in `map`.
    pub(crate) fn find<'v>(&self, map: &'v Map<String, Value>) -> Option<&'v Value> {
        walk(map.get(&*self.root)?, &self.rest)
    }

    /// Returns the parts after the first.
    pub(crate) fn rest(&self) -> &[Box<str>] {
        &self.rest
    }
}

/// Returns a copy of the value at the dotted `path` in `value`; null when there is none, all of it when the path is
/// empty.
pub(crate) fn at_path(value: &Value, path: &str) -> Value {
    let parts: Vec<Box<str>> = path.split('.').filter(|part| !part.is_empty()).map(Box::from).collect();
    walk(value, &parts).cloned().unwrap_or_default()
}

/// Returns the value at `path` in `value`: keys of objects, indices of arrays.
pub(crate) fn walk<'v>(value: &'v Value, path: &[Box<str>]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, part| match value {
        Value::Object(map) => map.get(&**part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}
