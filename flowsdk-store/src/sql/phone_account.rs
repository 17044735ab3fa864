//! The business accounts of the phone channel.

use async_trait::async_trait;
use flowsdk_channels::phone::{AccountNumber, HasPhoneAccounts, PhoneAccountRepository};
use flowsdk_core::cell::Json;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::session::SessionId;

use super::SqlTx;
use super::statement::{Sql, sql, sql_list, sql_per};

pub(super) const NUMBERS: Sql = sql_list!(
    "SELECT channel_number.business_account_id, channel_number.phone_number_id, channel_number.router_id,
        router.channel_app_secret_encrypted
     FROM channel_number JOIN router ON router.id = channel_number.router_id
     WHERE channel_number.business_account_id ",
    "$1",
    ""
);

/// `$1` is the router; NULL is any.
const VERIFY_TOKENS: Sql = sql("SELECT channel_verify_token FROM router
     WHERE channel_verify_token IS NOT NULL AND id = COALESCE($1, id)");

/// `$1` lists the identities, `$2` is how the ids of the sessions begin.
const SESSIONS_AT: Sql = sql_per(
    "WITH named (name, contact_id) AS (
        SELECT phone_number, id FROM contact WHERE phone_number IN (SELECT value FROM json_each($1))
        UNION ALL SELECT alias, contact_id FROM contact_alias WHERE alias IN (SELECT value FROM json_each($1)))
     SELECT named.name, session.id FROM named JOIN session ON session.contact_id = named.contact_id
     WHERE substr(session.id, 1, length($2)) = $2 ORDER BY session.last_interaction_at DESC",
    "WITH named (name, contact_id) AS (
        SELECT phone_number, id FROM contact WHERE phone_number = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))
        UNION ALL SELECT alias, contact_id FROM contact_alias
            WHERE alias = ANY(ARRAY(SELECT jsonb_array_elements_text($1))))
     SELECT named.name, session.id FROM named JOIN session ON session.contact_id = named.contact_id
     WHERE substr(session.id, 1, length($2)) = $2 ORDER BY session.last_interaction_at DESC",
);

const SECRETS_AROUND: Sql = sql("SELECT router.channel_app_secret_encrypted
     FROM contact_router JOIN router ON router.id = contact_router.router_id WHERE contact_router.contact_id = $1");

super::statement::statements! { NUMBERS, VERIFY_TOKENS, SESSIONS_AT, SECRETS_AROUND; }

super::accessor::has!(HasPhoneAccounts::phone_accounts -> PhoneAccountRepository);

#[async_trait]
impl PhoneAccountRepository for SqlTx {
    async fn numbers_of(&mut self, accounts: &[String]) -> Result<Vec<AccountNumber>, StorageError> {
        type Row = (String, String, RouterId, Option<Encrypted>);
        let rows = self.conn.fetch_all::<Row>(NUMBERS, (Json(accounts),)).await?;
        let number = |(account_id, phone_number_id, router_id, app_secret)| AccountNumber {
            account_id,
            phone_number_id,
            router_id,
            app_secret,
        };
        Ok(rows.into_iter().map(number).collect())
    }

    async fn verify_tokens(&mut self, router: Option<&RouterId>) -> Result<Vec<String>, StorageError> {
        self.conn.fetch_column(VERIFY_TOKENS, (router,)).await
    }

    async fn sessions_at(
        &mut self,
        phone_number_id: &str,
        identities: &[String],
    ) -> Result<Vec<(String, SessionId)>, StorageError> {
        let begin = format!("wa-{phone_number_id}-");
        self.conn.fetch_all(SESSIONS_AT, (Json(identities), &begin)).await
    }

    async fn secrets_around(&mut self, contact: &ContactId) -> Result<Vec<Option<Encrypted>>, StorageError> {
        let rows = self.conn.fetch_all::<(Option<Encrypted>,)>(SECRETS_AROUND, (contact,)).await?;
        Ok(rows.into_iter().map(|(secret,)| secret).collect())
    }
}
