//! The body of a delivery.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::account::AccountNews;
use super::loose::{Fields, IdText, take_objects, text};
use super::message::{self, NumberChange, PhoneMessage, Read};
use super::status::PhoneStatus;

/// The `object` of deliveries of this channel.
const OBJECT: &str = "whatsapp_business_account";

/// What a delivery tells, in its order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delivery {
    /// All of it, of every account and number.
    pub told: Vec<Told>,
}

/// One thing that a delivery tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The id of the business account.
    pub account_id: String,
    /// The id of the number that it is about; absent in what is about the account.
    pub phone_number_id: Option<String>,
    /// The thing.
    pub news: News,
}

/// A thing that the provider tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum News {
    /// A contact wrote.
    Message(Box<PhoneMessage>),
    /// A message that was sent came further, or failed.
    Status(Box<PhoneStatus>),
    /// A contact has another identity.
    Number(NumberChange),
    /// A change of the account which [`AccountNews`] reads: its field, and its value as it came.
    Account {
        /// The name of the field, such as `user_preferences`.
        field: String,
        /// The value.
        value: Fields,
    },
    /// Anything else: the field of the change that told it, and its value as it came.
    Other {
        /// The name of the field, such as `account_update`.
        field: String,
        /// The value.
        value: Value,
    },
}

/// The reason why a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// It is no JSON.
    #[error("no JSON")]
    Json(#[from] serde_json::Error),
    /// It is not the delivery of a business account.
    #[error("no delivery of a business account")]
    Object,
}

impl Delivery {
    /// Reads a body. What it holds besides, and entries that are none, are left out or told as [`News::Other`].
    ///
    /// # Errors
    /// [`DeliveryError`]: nothing of it can be read.
    pub fn read(body: &[u8]) -> Result<Self, DeliveryError> {
        let Value::Object(mut whole) = serde_json::from_slice(body)? else {
            return Err(DeliveryError::Object);
        };
        if text(&whole, "object").as_deref() != Some(OBJECT) {
            return Err(DeliveryError::Object);
        }
        let mut told = Vec::new();
        for mut entry in take_objects(&mut whole, "entry") {
            let account_id = text(&entry, "id").unwrap_or_default();
            for change in take_objects(&mut entry, "changes") {
                read_change(&account_id, change, &mut told);
            }
        }
        Ok(Self { told })
    }
}

/// The business accounts that a delivery is about. It is read before the signature is known to be right, so nothing else
/// of the body is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryHead {
    accounts: Vec<String>,
}

impl DeliveryHead {
    /// Reads the head of a body.
    ///
    /// # Errors
    /// [`DeliveryError`]: it is no delivery.
    pub fn read(body: &[u8]) -> Result<Self, DeliveryError> {
        #[derive(Deserialize)]
        struct Head {
            object: IdText,
            #[serde(default)]
            entry: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            #[serde(default)]
            id: IdText,
        }
        let Head { object, entry } = serde_json::from_slice(body)?;
        if object.0.as_deref() != Some(OBJECT) {
            return Err(DeliveryError::Object);
        }
        Ok(Self { accounts: entry.into_iter().map(|entry| entry.id.0.unwrap_or_default()).collect() })
    }

    /// Returns the business account whose secret the signature is of: that of the first entry (rulings C2).
    pub fn signer(&self) -> Option<&str> {
        self.accounts.first().map(String::as_str)
    }

    /// Returns the business accounts, each once.
    pub fn accounts(&self) -> BTreeSet<&str> {
        self.accounts.iter().map(String::as_str).collect()
    }
}

fn read_change(account_id: &str, mut change: Fields, told: &mut Vec<Told>) {
    let field = text(&change, "field").unwrap_or_default();
    let value = change.remove("value").unwrap_or_default();
    let metadata = value.get("metadata").and_then(Value::as_object);
    let phone_number_id = metadata.and_then(|metadata| text(metadata, "phone_number_id"));
    let mut tell = |news| {
        let (account_id, phone_number_id) = (account_id.to_owned(), phone_number_id.clone());
        told.push(Told { account_id, phone_number_id, news });
    };
    let has_messages = field == "messages";
    let mut value = match value {
        Value::Object(value) if AccountNews::has_field(&field) => {
            return tell(News::Account { field, value });
        }
        Value::Object(value) if has_messages => value,
        _ if has_messages => return,
        value => return tell(News::Other { field, value }),
    };
    let other =
        |kind: &str, fields| News::Other { field: format!("messages.{kind}"), value: Value::Object(fields) };
    for fields in take_objects(&mut value, "messages") {
        tell(match message::read(fields, &value) {
            Read::Message(message) => News::Message(message),
            Read::Change(change) => News::Number(change),
            Read::Nothing(fields) => other("messages", fields),
        });
    }
    for fields in take_objects(&mut value, "statuses") {
        tell(match PhoneStatus::read(&fields) {
            Some(status) => News::Status(Box::new(status)),
            None => other("statuses", fields),
        });
    }
    for fields in take_objects(&mut value, "errors") {
        tell(other("errors", fields));
    }
}
