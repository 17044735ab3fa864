//! Interactive forms. Definitions are large, and stand apart from what lists show.

use async_trait::async_trait;
use flowsdk_channels::form::{FormDefinitionRepository, FormId, HasFormDefinitions, InteractiveForm};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use serde_json::{Map, Value};

use super::SqlTx;
use super::record::record;
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql};

record! {
    InteractiveForm in "interactive_form" {
        id, router_id, created_at;
        name, description, status, revision, provider_form_id, channel_number_id, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<InteractiveForm>(&[]);

const DEFINITION: Sql = sql("SELECT definition FROM interactive_form_definition WHERE form_id = $1");

const PUT_DEFINITION: Sql =
    sql("INSERT INTO interactive_form_definition (form_id, definition) VALUES ($1, $2)
     ON CONFLICT (form_id) DO UPDATE SET definition = excluded.definition");

super::statement::statements! { DEFINITION, PUT_DEFINITION; TABLE }

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

    async fn put(&mut self, id: &FormId, definition: &Map<String, Value>) -> Result<(), StorageError> {
        self.conn.execute(PUT_DEFINITION, (id, Json(definition))).await.map(drop)
    }
}
