//! The variable.

use crate::page::{Cursor, Searched};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

use super::VariableView;

use crate::cell::TextType;
use crate::change::{Change, Hidden, public_json};
use crate::crypto::{Encrypted, MasterKey};
use crate::id::VariableId;
use crate::router::VariableOwner;
use crate::schema::SchemaAttributes;
use crate::time::Timestamp;

/// Longest key.
pub const MAX_KEY_LEN: usize = 128;

/// A text that is not a valid key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must match ^[a-zA-Z_][a-zA-Z0-9_]*$")]
pub struct InvalidKey;

/// Returns whether a text is a key: letters, digits and underscores of ASCII, no digit in front, at most
/// [`MAX_KEY_LEN`].
fn is_key(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && text.len() <= MAX_KEY_LEN
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The key of a variable; it never changes (spec A 4.4 rule 1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, TextType)]
#[text(
    rule = is_key,
    error = InvalidKey,
    schema = "VariableKeyName",
    pattern = "^[a-zA-Z_][a-zA-Z0-9_]*$",
    max_length = MAX_KEY_LEN,
    example = "apiBase"
)]
pub struct VariableKey(String);

/// The value as it is stored: never both columns (spec A 2.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableValue {
    /// In `value`.
    Clear(String),
    /// In `valueEncrypted`.
    Secret(Encrypted),
}

impl VariableValue {
    /// Returns the stored form of a sent value (spec A 4.4 rules 2 and 3): the sent one always counts, the stored
    /// one is never opened.
    pub fn of(sent: &SecretString, is_secret: bool, key: &MasterKey) -> Self {
        let clear = sent.expose_secret();
        if is_secret { Self::Secret(key.encrypt(clear)) } else { Self::Clear(clear.to_owned()) }
    }

    /// Returns whether it is a secret.
    pub fn is_secret(&self) -> bool {
        matches!(self, Self::Secret(_))
    }

    /// Returns whether it is an empty secret, as an import leaves it. One that no key opens counts as filled in.
    pub fn is_blank_secret(&self, key: &MasterKey) -> bool {
        let clear = self.encrypted().and_then(|value| key.decrypt(value).ok());
        clear.is_some_and(|clear| clear.expose_secret().is_empty())
    }

    /// Returns the value to show; `None` for a secret.
    pub fn shown(&self) -> Option<&str> {
        match self {
            Self::Clear(value) => Some(value),
            Self::Secret(_) => None,
        }
    }

    /// Returns the content of `valueEncrypted`.
    pub fn encrypted(&self) -> Option<&Encrypted> {
        match self {
            Self::Clear(_) => None,
            Self::Secret(value) => Some(value),
        }
    }
}

// The value may be a secret, so it is held like one.
/// A new variable.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateVariable)]
pub struct NewVariable {
    /// The key by which flows name the variable. It cannot be changed later.
    pub key: VariableKey,
    /// The value of the variable.
    #[schema(value_type = String, max_length = 65_536, example = "https://api.example.com")]
    pub value: SecretString,
    /// Whether it is a secret. A secret is kept encrypted and never shown.
    #[serde(default)]
    #[schema(required = false, default = false)]
    pub is_secret: bool,
}

/// The new value of a variable. It is always sent: a stored one is neither opened nor carried over.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PutVariable)]
pub struct VariableChange {
    /// The new value.
    #[schema(value_type = String, max_length = 65_536, example = "https://api.example.com")]
    pub value: SecretString,
    /// Whether it is a secret from now on; absent, that stays as it is.
    #[schema(value_type = bool, required = false)]
    pub is_secret: Option<bool>,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The id of the variable.
    pub id: VariableId,
    /// Whose it is.
    pub owner: VariableOwner,
    /// Its key, unique with its owner.
    pub key: VariableKey,
    /// Its value.
    pub value: VariableValue,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Searched for Variable {
    fn search_text(&self) -> Cow<'_, str> {
        self.key.as_str().into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Variable {
    /// Returns the public form, for the log of changes: nothing of a secret is in it.
    pub fn to_json(&self) -> Value {
        public_json(&VariableView::from(self))
    }

    /// Returns the change from `before` to this. A new value of a secret is told without the value.
    pub fn change_from(&self, before: &Self) -> Change {
        let is_new = match (before.value.encrypted(), self.value.encrypted()) {
            (Some(was), Some(now)) => was != now,
            _ => false,
        };
        let value = Hidden { field: "value".to_owned(), had: true, has: true };
        let hidden = is_new.then_some(value).into_iter().collect();
        Change::Updated { before: before.to_json(), after: self.to_json(), hidden }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_names() {
        for good in ["a", "_", "A1_b", "token", &"k".repeat(MAX_KEY_LEN)] {
            assert!(VariableKey::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "a-b", "a.b", "é", "a b", " a", "a\n", &"k".repeat(MAX_KEY_LEN + 1)] {
            assert_eq!(VariableKey::parse(bad), Err(InvalidKey), "{bad:?}");
        }
    }

    #[test]
    fn a_secret_is_encrypted_and_shown_nowhere() {
        let key = MasterKey::new("0123456789abcdef0123456789abcdef").expect("key");
        let sent = SecretString::from("s3cret");
        let value = VariableValue::of(&sent, true, &key);
        assert!(value.is_secret() && value.shown().is_none());
        let stored = value.encrypted().cloned().expect("encrypted");
        assert_eq!(key.decrypt(&stored).expect("opens").expose_secret(), "s3cret");
        let clear = VariableValue::of(&sent, false, &key);
        assert_eq!((clear.shown(), clear.encrypted()), (Some("s3cret"), None));
        let variable = Variable {
            id: "v1".parse().expect("an id"),
            owner: VariableOwner::Router("r1".parse().expect("an id")),
            key: VariableKey::parse("token").expect("a key"),
            value,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        };
        let shown = format!("{} {variable:?}", variable.to_json());
        assert!(!shown.contains("s3cret") && !shown.contains(stored.as_stored()), "{shown}");
    }
}
