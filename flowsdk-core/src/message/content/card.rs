//! Cards of people, as address books have them (WhatsApp Cloud API, "Contacts messages").

use serde::{Deserialize, Serialize};

/// The card of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactCard {
    /// How they are called.
    pub name: CardName,
    /// Their telephones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phones: Vec<CardPhone>,
    /// Their e-mail addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emails: Vec<CardEmail>,
    /// Their pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<CardUrl>,
    /// Where they can be visited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<CardAddress>,
    /// Whom they work for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org: Option<CardOrganisation>,
    /// Such as `2012-08-18`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub birthday: Option<String>,
}

/// The name of a person. The provider wants the whole name and one of its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CardName {
    /// The whole name, as it is shown.
    pub formatted_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub middle_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suffix: Option<String>,
}

/// A telephone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardPhone {
    /// The number, as it is shown.
    pub phone: String,
    /// Such as `WORK`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The identity at the provider, with which the card leads to a chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wa_id: Option<String>,
}

/// An e-mail address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardEmail {
    /// The address.
    pub email: String,
    /// Such as `WORK`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardUrl {
    /// Its address.
    pub url: String,
    /// Such as `WORK`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A postal address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CardAddress {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub street: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zip: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Two letters, such as `us`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country_code: Option<String>,
    /// Such as `WORK`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Whom a person works for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CardOrganisation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl ContactCard {
    /// Returns every text that people see. Kinds and country codes are words of the provider.
    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        let Self { name, phones, emails, urls, addresses, org, birthday } = self;
        let CardName { formatted_name, first_name, middle_name, last_name, prefix, suffix } = name;
        let mut texts = vec![formatted_name];
        texts.extend([first_name, middle_name, last_name, prefix, suffix, birthday].into_iter().flatten());
        for CardPhone { phone, wa_id, .. } in phones {
            texts.push(phone);
            texts.extend(wa_id);
        }
        texts.extend(emails.iter_mut().map(|email| &mut email.email));
        texts.extend(urls.iter_mut().map(|url| &mut url.url));
        for CardAddress { street, city, state, zip, country, .. } in addresses {
            texts.extend([street, city, state, zip, country].into_iter().flatten());
        }
        if let Some(CardOrganisation { company, department, title }) = org {
            texts.extend([company, department, title].into_iter().flatten());
        }
        texts
    }
}
