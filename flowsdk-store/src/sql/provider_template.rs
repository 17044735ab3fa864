//! What the provider tells of templates.

use std::collections::HashMap;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::channel_number::ProviderId;
use flowsdk_channels::template::{
    HasProviderTemplates, ProviderTemplates, SentTemplate, Template, TemplateStatus,
};
use flowsdk_core::cell::Json;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::record::Record as _;
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

/// In the order of ids, in which rows are locked.
const OF_ACCOUNT: Sql = sql_list!(
    concat!(Template::SELECT, " WHERE business_account_id = $2 AND router_id "),
    "$1",
    " ORDER BY id",
    locking
);

static PUT: RowsSql = RowsSql::insert::<Template>(
    " ON CONFLICT (router_id, business_account_id, name, language) DO UPDATE SET category = excluded.category,
        status = excluded.status, components = excluded.components, provider_id = excluded.provider_id,
        quality = excluded.quality, rejected_reason = excluded.rejected_reason, updated_at = excluded.updated_at",
);

const TOKEN: Sql = sql("SELECT access_token_encrypted FROM channel_number
     WHERE router_id = $1 AND business_account_id = $2 AND access_token_encrypted IS NOT NULL
     ORDER BY active DESC, created_at, id LIMIT 1");

/// The templates of these numbers, `$1` lists `[number, name, language, ..]`.
const OF_SENT: &str = "JOIN channel_number ON channel_number.phone_number_id = sent.value ->> 0
     JOIN message_template ON message_template.router_id = channel_number.router_id
        AND message_template.business_account_id = channel_number.business_account_id
        AND message_template.name = sent.value ->> 1 AND message_template.language = sent.value ->> 2";

const STATUSES: Sql = sql_per(
    concat!(
        "SELECT sent.value ->> 0, message_template.name, message_template.language, message_template.status
         FROM json_each($1) AS sent ",
        OF_SENT
    ),
    concat!(
        "SELECT sent.value ->> 0, message_template.name, message_template.language, message_template.status
         FROM jsonb_array_elements($1) AS sent (value) ",
        OF_SENT
    ),
);

const NOTE_STATUSES: Sql = sql_per(
    concat!(
        "UPDATE message_template SET status = told.status, updated_at = $2
         FROM (SELECT message_template.id, sent.value ->> 3 AS status FROM json_each($1) AS sent ",
        OF_SENT,
        ") AS told WHERE message_template.id = told.id"
    ),
    concat!(
        "UPDATE message_template SET status = told.status, updated_at = $2
         FROM (SELECT message_template.id, sent.value ->> 3 AS status FROM jsonb_array_elements($1) AS sent (value) ",
        OF_SENT,
        ") AS told WHERE message_template.id = told.id"
    ),
);

super::statement::statements! { OF_ACCOUNT, TOKEN, STATUSES, NOTE_STATUSES; PUT }

super::accessor::has!(HasProviderTemplates::provider_templates -> ProviderTemplates);

#[async_trait]
impl ProviderTemplates for SqlTx {
    async fn of_account(
        &mut self,
        routers: &[RouterId],
        account: &ProviderId,
    ) -> Result<Vec<Template>, StorageError> {
        self.conn.fetch_all(OF_ACCOUNT, (Json(routers), account)).await
    }

    async fn put_many(&mut self, templates: &[Template]) -> Result<(), StorageError> {
        self.conn.insert_rows(&PUT, templates).await.map(drop)
    }

    async fn token(
        &mut self,
        router: &RouterId,
        account: &ProviderId,
    ) -> Result<Option<Encrypted>, StorageError> {
        let row = self.conn.fetch_optional::<(Encrypted,)>(TOKEN, (router, account)).await?;
        Ok(row.map(|(token,)| token))
    }

    async fn statuses(
        &mut self,
        sent: &[SentTemplate],
    ) -> Result<Vec<(SentTemplate, TemplateStatus)>, StorageError> {
        let asked: Vec<_> = sent.iter().map(|one| (&one.phone_number_id, &one.name, &one.language)).collect();
        type Row = (String, String, String, TemplateStatus);
        let rows = self.conn.fetch_all::<Row>(STATUSES, (Json(&asked),)).await?;
        let known: HashMap<SentTemplate, TemplateStatus> = rows
            .into_iter()
            .map(|(phone_number_id, name, language, status)| {
                (SentTemplate { phone_number_id, name, language }, status)
            })
            .collect();
        Ok(known.into_iter().collect())
    }

    async fn note_statuses(
        &mut self,
        told: &[(SentTemplate, TemplateStatus)],
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let told: Vec<_> = told
            .iter()
            .map(|(one, status)| (&one.phone_number_id, &one.name, &one.language, status.name()))
            .collect();
        self.conn.execute(NOTE_STATUSES, (Json(&told), now)).await.map(drop)
    }
}
