//! The key-value port: short-lived facts that every process shares (leases, sent-once marks, caches),
//! under typed keys.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault::BoxError;

/// The key-value store is not there, or its content cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KeyValueError {
    /// It cannot be reached now.
    #[error("key-value store unavailable: {0}")]
    Unavailable(#[source] BoxError),
    /// The value under `key` is not of the key's type.
    #[error("value of {key} cannot be read: {reason}")]
    Corrupt {
        /// The key of the corrupt value.
        key: String,
        /// Why the value cannot be read.
        reason: String,
    },
}

/// A key of [`KeyValue::keep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep<'a> {
    /// The key.
    pub key: &'a str,
    /// Whether it is set when it has no value.
    pub take: bool,
}

/// Strings under strings, with a time to live. Every operation is atomic.
#[async_trait]
pub trait KeyValue: Send + Sync + Debug {
    /// Returns the value of `key`.
    async fn get(&self, key: &str) -> Result<Option<String>, KeyValueError>;

    /// Sets `key`; `ttl` `None` means for ever.
    async fn set(&self, key: &str, value: &str, ttl: Option<Duration>) -> Result<(), KeyValueError>;

    /// Sets `key` unless it has a value. Returns the value that was there, or `None` when `value` was set.
    async fn set_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Option<Duration>,
    ) -> Result<Option<String>, KeyValueError>;

    /// Reads and deletes in one step.
    async fn take(&self, key: &str) -> Result<Option<String>, KeyValueError>;

    /// Deletes `key`; whether it was there.
    async fn delete(&self, key: &str) -> Result<bool, KeyValueError>;

    /// Sets a new time to live for each key whose value is `value`, and sets those that have no value and are to be
    /// [taken](Keep::take). Returns for each, in their order, whether its value is `value` now.
    async fn keep(&self, keys: &[Keep<'_>], value: &str, ttl: Duration) -> Result<Vec<bool>, KeyValueError>;

    /// Adds `by` to the whole number under `key`, which is 0 when there is none; returns the sum. The time to live
    /// counts from the first addition.
    ///
    /// # Errors
    /// [`KeyValueError::Corrupt`] when the value is not a whole number, or the sum does not fit into 64 bits.
    async fn add(&self, key: &str, by: i64, ttl: Duration) -> Result<i64, KeyValueError>;

    /// Deletes `key` if its value is `value`; whether it was.
    async fn delete_if(&self, key: &str, value: &str) -> Result<bool, KeyValueError>;
}

/// Returns the value of `key` and `by` together, for adapters that add by themselves.
///
/// # Errors
/// [`KeyValueError::Corrupt`] as [`KeyValue::add`] says.
pub fn sum(key: &str, value: &str, by: i64) -> Result<i64, KeyValueError> {
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    number.and_then(|number| number.checked_add(by)).ok_or_else(|| not_a_number(key))
}

/// Returns the error of [`KeyValue::add`] for a value that is not a number.
pub fn not_a_number(key: &str) -> KeyValueError {
    KeyValueError::Corrupt { key: key.to_owned(), reason: "no whole number of 64 bits".to_owned() }
}

/// A key with the type of its value and its time to live.
#[derive(Debug, Clone)]
pub struct Key<T> {
    text: String,
    ttl: Option<Duration>,
    value: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// Creates the key `text`, whose values live for `ttl` or, without one, for ever. Each is defined in one place:
    /// beside its use, or in the file `keys.rs` of the crate that has several, under the crate's name.
    pub fn new(text: String, ttl: Option<Duration>) -> Self {
        Self { text, ttl, value: PhantomData }
    }

    /// Returns the key as the store sees it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Typed access over a [`KeyValue`].
#[async_trait]
pub trait KeyValueExt: KeyValue {
    /// Returns the value of a typed key.
    async fn read<T: DeserializeOwned + Send>(&self, key: &Key<T>) -> Result<Option<T>, KeyValueError> {
        self.get(key.as_str()).await?.map(|text| decode(key.as_str(), &text)).transpose()
    }

    /// Sets a typed key unless it has a value; returns the value that holds afterwards.
    async fn claim<T: Serialize + DeserializeOwned + Clone + Send + Sync>(
        &self,
        key: &Key<T>,
        value: &T,
    ) -> Result<T, KeyValueError> {
        match self.set_if_absent(key.as_str(), &encode(key.as_str(), value)?, key.ttl).await? {
            Some(existing) => decode(key.as_str(), &existing),
            None => Ok(value.clone()),
        }
    }
}

impl<K: KeyValue + ?Sized> KeyValueExt for K {}

fn encode<T: Serialize>(key: &str, value: &T) -> Result<String, KeyValueError> {
    serde_json::to_string(value)
        .map_err(|e| KeyValueError::Corrupt { key: key.to_owned(), reason: e.to_string() })
}

fn decode<T: DeserializeOwned>(key: &str, text: &str) -> Result<T, KeyValueError> {
    serde_json::from_str(text)
        .map_err(|e| KeyValueError::Corrupt { key: key.to_owned(), reason: e.to_string() })
}
