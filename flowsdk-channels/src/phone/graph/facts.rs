//! What the provider says of a number and its account, for those who set one up.

use flowsdk_core::channel::{SendError, SendingAccount};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::GraphApi;
use crate::phone::webhook::keyed_digest;
use crate::template::TemplateAccount;

/// A number, as the provider has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberFacts {
    /// The number as people read it.
    pub display_phone_number: String,
    /// The name that contacts see, if it has one.
    pub verified_name: Option<String>,
    /// `GREEN`, `YELLOW`, `RED` or `UNKNOWN`.
    pub quality_rating: Option<String>,
}

impl GraphApi {
    /// Returns what the provider says of a number. With `app_secret` it checks, too, that the token is one of the app with
    /// this secret (Graph API, "Secure requests": `appsecret_proof`).
    ///
    /// # Errors
    /// [`SendError`].
    pub async fn number(
        &self,
        account: &SendingAccount,
        app_secret: Option<&SecretString>,
    ) -> Result<NumberFacts, SendError> {
        let url = self.at(&[&account.id])?;
        let mut request =
            self.client.get(url).query(&[("fields", "display_phone_number,verified_name,quality_rating")]);
        if let Some(secret) = app_secret {
            let proof = keyed_digest(secret, account.access_token.expose_secret().as_bytes());
            request = request.query(&[("appsecret_proof", proof)]);
        }
        let told = self.call(request, &account.access_token).await?;
        let text = |name: &str| told[name].as_str().map(str::to_owned);
        Ok(NumberFacts {
            display_phone_number: text("display_phone_number").unwrap_or_default(),
            verified_name: text("verified_name"),
            quality_rating: text("quality_rating"),
        })
    }

    /// Returns the names of the apps that hear of an account.
    ///
    /// # Errors
    /// [`SendError`].
    pub async fn subscribed_apps(&self, account: &TemplateAccount) -> Result<Vec<String>, SendError> {
        let url = self.at(&[account.id.as_str(), "subscribed_apps"])?;
        let told = self.call(self.client.get(url), &account.access_token).await?;
        let name = |app: &Value| {
            let app = &app["whatsapp_business_api_data"];
            [&app["name"], &app["id"]].into_iter().find_map(Value::as_str).unwrap_or("?").to_owned()
        };
        Ok(told["data"].as_array().map(|apps| apps.iter().map(name).collect()).unwrap_or_default())
    }
}
