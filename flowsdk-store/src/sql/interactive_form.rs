//! Interactive forms. Definitions are large, and stand apart from what lists show.

use async_trait::async_trait;
use flowsdk_channels::channel_number::FormKeys;
use flowsdk_channels::form::{
    FormDefinitionRepository, FormGate, FormId, HasFormDefinitions, InteractiveForm,
};
use flowsdk_core::cell::Json;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelNumberId, FlowId, RouterId};
use serde_json::{Map, Value};

use super::SqlTx;
use super::record::record;
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql};

record! {
    InteractiveForm in "interactive_form" {
        id, router_id, created_at;
        name, description, status, revision, provider_form_id, channel_number_id, flow_id, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<InteractiveForm>(&[]);

const DEFINITION: Sql = sql("SELECT definition FROM interactive_form_definition WHERE form_id = $1");

const PUT_DEFINITION: Sql =
    sql("INSERT INTO interactive_form_definition (form_id, definition) VALUES ($1, $2)
     ON CONFLICT (form_id) DO UPDATE SET definition = excluded.definition");

const GATE: Sql = sql("SELECT interactive_form.router_id, interactive_form.flow_id, interactive_form.channel_number_id,
        router.channel_app_secret_encrypted
     FROM interactive_form JOIN router ON router.id = interactive_form.router_id WHERE interactive_form.id = $1");

/// `$1` is the router, `$2` the number; NULL is any of the router.
const KEYS: Sql =
    sql("SELECT encryption_public_key, encryption_private_key_encrypted, encryption_passphrase_encrypted
     FROM channel_number WHERE router_id = $1 AND id = COALESCE($2, id) AND encryption_public_key IS NOT NULL
     ORDER BY created_at DESC, id DESC LIMIT 100");

super::statement::statements! { DEFINITION, PUT_DEFINITION, GATE, KEYS; TABLE }

impl RouterTable for InteractiveForm {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasFormDefinitions::form_definitions -> FormDefinitionRepository);

#[async_trait]
impl FormDefinitionRepository for SqlTx {
    async fn find(&mut self, id: &FormId) -> Result<Map<String, Value>, StorageError> {
        let stored: Vec<Json<Map<String, Value>>> = self.conn.fetch_column(DEFINITION, (id,)).await?;
        Ok(stored.into_iter().next().map(|Json(definition)| definition).unwrap_or_default())
    }

    async fn gate(&mut self, id: &FormId) -> Result<Option<FormGate>, StorageError> {
        type Form = (RouterId, Option<FlowId>, Option<ChannelNumberId>, Option<Encrypted>);
        let form: Option<Form> = self.conn.fetch_optional(GATE, (id,)).await?;
        let Some((router_id, flow_id, number, app_secret)) = form else { return Ok(None) };
        let rows = self
            .conn
            .fetch_all::<(String, Encrypted, Encrypted)>(KEYS, (&router_id, number.as_ref()))
            .await?;
        let keys = rows.into_iter().map(|(public_key, private_key, passphrase)| FormKeys {
            public_key,
            private_key,
            passphrase,
        });
        Ok(Some(FormGate { keys: keys.collect(), router_id, flow_id, app_secret }))
    }

    async fn put(&mut self, id: &FormId, definition: &Map<String, Value>) -> Result<(), StorageError> {
        self.conn.execute(PUT_DEFINITION, (id, Json(definition))).await.map(drop)
    }
}
