//! The body of a delivery.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::de::{SliceRead, StrRead};
use serde_json::value::RawValue;

use super::account::AccountNews;
use super::loose::{Fields, object, text};
use super::message::{self, ContactEntry, NumberChange, PhoneMessage, Read};
use super::shape;
use super::status::PhoneStatus;

/// The `object` of deliveries of this channel.
const OBJECT: &str = "whatsapp_business_account";
/// The field of the changes that tell of messages and statuses.
const MESSAGES: &str = "messages";

/// A delivery whose signature may not be checked yet. Nothing is read of what it tells before [`Delivery::told`].
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
pub struct Delivery<'a> {
    #[serde(deserialize_with = "shape::text")]
    object: Option<String>,
    #[serde(borrow, deserialize_with = "shape::objects")]
    entry: Vec<Entry<'a>>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct Entry<'a> {
    #[serde(deserialize_with = "shape::text")]
    id: Option<String>,
    #[serde(borrow, deserialize_with = "shape::objects")]
    changes: Vec<Change<'a>>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct Change<'a> {
    #[serde(deserialize_with = "shape::text")]
    field: Option<String>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
}

/// What a change tells, in its order.
#[derive(Debug, Clone, PartialEq)]
pub struct Told<'a> {
    /// The id of the business account.
    pub account_id: &'a str,
    /// The id of the number that it is about; absent in what is about the account.
    pub phone_number_id: Option<String>,
    /// The things.
    pub news: Vec<News>,
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

impl<'a> Delivery<'a> {
    /// Reads a body.
    ///
    /// # Errors
    /// [`DeliveryError`]: it is no delivery.
    pub fn read(body: &'a [u8]) -> Result<Self, DeliveryError> {
        let delivery: Option<Self> = shape::whole(SliceRead::new(body))?;
        delivery.filter(|delivery| delivery.object.as_deref() == Some(OBJECT)).ok_or(DeliveryError::Object)
    }

    /// Returns the business account whose secret the signature is of: that of the first entry (rulings C2).
    pub fn signer(&self) -> Option<&str> {
        self.entry.first()?.id.as_deref()
    }

    /// Returns the business accounts that it is about, each once.
    pub fn accounts(&self) -> BTreeSet<&str> {
        self.entry.iter().filter_map(|entry| entry.id.as_deref()).collect()
    }

    /// Reads what it tells, of all accounts and numbers. What is nothing that this version knows is told as
    /// [`News::Other`].
    ///
    /// # Errors
    /// [`DeliveryError`]: nothing of it can be read.
    pub fn told(&self) -> Result<Vec<Told<'_>>, DeliveryError> {
        let changes =
            self.entry.iter().flat_map(|entry| entry.changes.iter().map(move |change| (entry, change)));
        changes.map(|(entry, change)| change.told(entry.id.as_deref().unwrap_or_default())).collect()
    }
}

/// The value of a change that tells of messages.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Conversations {
    #[serde(deserialize_with = "shape::object")]
    metadata: Option<Metadata>,
    #[serde(deserialize_with = "shape::objects")]
    contacts: Vec<ContactEntry>,
    #[serde(deserialize_with = "shape::objects")]
    messages: Vec<Fields>,
    #[serde(deserialize_with = "shape::objects")]
    statuses: Vec<Fields>,
    #[serde(deserialize_with = "shape::objects")]
    errors: Vec<Fields>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    #[serde(deserialize_with = "shape::text")]
    phone_number_id: Option<String>,
}

impl Change<'_> {
    fn told<'a>(&self, account_id: &'a str) -> Result<Told<'a>, DeliveryError> {
        let field = self.field.as_deref().unwrap_or_default();
        let value = self.value.map_or("null", RawValue::get);
        if field == MESSAGES {
            let told = shape::whole(StrRead::new(value))?;
            let Conversations { metadata, contacts, messages, statuses, errors } = told.unwrap_or_default();
            let other = |kind: &str, fields| News::Other {
                field: format!("{MESSAGES}.{kind}"),
                value: Value::Object(fields),
            };
            let messages = messages.into_iter().map(|fields| match message::read(fields, &contacts) {
                Read::Message(message) => News::Message(message),
                Read::Change(change) => News::Number(change),
                Read::Nothing(fields) => other("messages", fields),
            });
            let statuses = statuses.into_iter().map(|fields| match PhoneStatus::read(&fields) {
                Some(status) => News::Status(Box::new(status)),
                None => other("statuses", fields),
            });
            let errors = errors.into_iter().map(|fields| other("errors", fields));
            let news = messages.chain(statuses).chain(errors).collect();
            let phone_number_id = metadata.and_then(|metadata| metadata.phone_number_id);
            return Ok(Told { account_id, phone_number_id, news });
        }
        let value: Value = serde_json::from_str(value)?;
        let metadata = value.as_object().and_then(|value| object(value, "metadata"));
        let phone_number_id = metadata.and_then(|metadata| text(metadata, "phone_number_id"));
        let field = field.to_owned();
        if let (message::USER_IDS, Some(value)) = (&*field, value.as_object()) {
            let news = message::user_ids(value).into_iter().map(News::Number).collect();
            return Ok(Told { account_id, phone_number_id, news });
        }
        let news = match value {
            Value::Object(value) if AccountNews::has_field(&field) => News::Account { field, value },
            value => News::Other { field, value },
        };
        Ok(Told { account_id, phone_number_id, news: vec![news] })
    }
}
