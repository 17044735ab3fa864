//! What phones show of a business (WhatsApp Business Platform, "Business profiles").

use serde::{Deserialize, Serialize};

use super::provider::Provider;

/// The names of the fields, with that of the product and the picture, which no profile has here.
const FIELDS: [&str; 8] = [
    "messaging_product",
    "about",
    "address",
    "description",
    "email",
    "profile_picture_url",
    "vertical",
    "websites",
];
/// Most addresses of sites.
const MOST_SITES: usize = 2;
/// Most characters of the address of a site.
const MOST_OF_SITE: usize = 256;

/// The profile of a number. An absent field is unknown, or stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// A line about the business, below its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its address for mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Its trade, one of the provider's names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertical: Option<String>,
    /// Its sites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub websites: Option<Vec<String>>,
}

impl Profile {
    /// Returns whether there is a field of this name.
    pub(super) fn has(name: &str) -> bool {
        FIELDS.contains(&name)
    }

    /// Checks the limits of the provider.
    ///
    /// # Errors
    /// What is wrong, in the words of the provider.
    pub(super) fn check(&self) -> Result<(), String> {
        let texts = [
            ("about", &self.about, 139),
            ("address", &self.address, 256),
            ("description", &self.description, 512),
            ("email", &self.email, 128),
        ];
        for (name, text, most) in texts {
            if text.as_ref().is_some_and(|text| text.chars().count() > most) {
                return Err(format!("Param {name} must be at most {most} characters long."));
            }
        }
        if self.about.as_deref() == Some("") {
            return Err("Param about must not be empty.".to_owned());
        }
        let sites = self.websites.as_deref().unwrap_or_default();
        if sites.len() > MOST_SITES || sites.iter().any(|site| site.chars().count() > MOST_OF_SITE) {
            return Err(format!(
                "Param websites must have at most {MOST_SITES} addresses of {MOST_OF_SITE} characters."
            ));
        }
        Ok(())
    }

    fn changed(self, change: Self) -> Self {
        Self {
            about: change.about.or(self.about),
            address: change.address.or(self.address),
            description: change.description.or(self.description),
            email: change.email.or(self.email),
            vertical: change.vertical.or(self.vertical),
            websites: change.websites.or(self.websites),
        }
    }
}

impl Provider {
    /// Returns the profile of a number.
    pub fn profile(&self, phone_number_id: &str) -> Profile {
        self.state().profiles.get(phone_number_id).cloned().unwrap_or_default()
    }

    /// Changes the fields of a profile that are there.
    pub fn change_profile(&self, phone_number_id: &str, change: Profile) {
        let mut state = self.state();
        let profile = state.profiles.entry(phone_number_id.to_owned()).or_default();
        *profile = std::mem::take(profile).changed(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_provider() {
        let text = |chars| Some("ã".repeat(chars));
        let sites = |count, chars| Some(vec!["x".repeat(chars); count]);
        for (profile, is_good) in [
            (Profile { about: text(139), ..Profile::default() }, true),
            (Profile { about: text(140), ..Profile::default() }, false),
            (Profile { about: text(0), ..Profile::default() }, false),
            (Profile { address: text(257), ..Profile::default() }, false),
            (Profile { description: text(513), ..Profile::default() }, false),
            (Profile { email: text(129), ..Profile::default() }, false),
            (Profile { websites: sites(2, 256), ..Profile::default() }, true),
            (Profile { websites: sites(3, 1), ..Profile::default() }, false),
            (Profile { websites: sites(1, 257), ..Profile::default() }, false),
        ] {
            assert_eq!(profile.check().is_ok(), is_good, "{profile:?}");
        }
    }
}
