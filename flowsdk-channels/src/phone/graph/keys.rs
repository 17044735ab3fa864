//! The public keys of interactive forms (WhatsApp Cloud API, "Business encryption").

use async_trait::async_trait;
use flowsdk_core::channel::{SendError, SendingAccount};
use reqwest::multipart::Form;

use super::GraphApi;
use crate::channel_number::FormKeyRegistry;

#[async_trait]
impl FormKeyRegistry for GraphApi {
    async fn register(&self, account: &SendingAccount, public_key: &str) -> Result<(), SendError> {
        let url = self.at(&[&account.id, "whatsapp_business_encryption"])?;
        let form = Form::new().text("business_public_key", public_key.to_owned());
        self.call(self.client.post(url).multipart(form), &account.access_token).await.map(drop)
    }
}
