//! Fields of changes that may be absent, null or a value.

use serde::{Deserialize, Deserializer};

/// Reads a field of which null and absent mean different things. A present field is `Some`, null too:
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Change {
///     #[serde(default, deserialize_with = "flowsdk_core::patch::present")]
///     logo: Option<Option<String>>,
/// }
///
/// let change = |json| serde_json::from_str::<Change>(json).map(|change| change.logo);
/// assert_eq!(change("{}")?, None);
/// assert_eq!(change(r#"{"logo":null}"#)?, Some(None));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// If the value is not a `T`.
pub fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}
