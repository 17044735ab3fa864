//! Interactive forms. Definitions are large, and stand apart from what lists show.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::form::{FormId, FormRepository, HasForms, InteractiveForm};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};
use serde_json::{Map, Value};

use super::SqlTx;
use super::list::{self, ListSql};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    InteractiveForm in "interactive_form" {
        id, router_id, created_at;
        name, description, status, revision, provider_form_id, channel_number_id, updated_at
    }
}

pub(super) static LIST: ListSql = ListSql::of::<InteractiveForm>().within("router_id");

const FIND: Sql = sql(concat!(InteractiveForm::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(InteractiveForm::SELECT, " WHERE id = $1"));

const DEFINITION: Sql = sql("SELECT definition FROM interactive_form_definition WHERE form_id = $1");

const INSERT: Sql = sql(InteractiveForm::INSERT);

const SAVE: Sql = sql(InteractiveForm::UPDATE);

const PUT_DEFINITION: Sql =
    sql("INSERT INTO interactive_form_definition (form_id, definition) VALUES ($1, $2)
     ON CONFLICT (form_id) DO UPDATE SET definition = excluded.definition");

const DELETE: Sql = sql("DELETE FROM interactive_form WHERE id = $1");

super::statement::statements! {
    FIND, FIND_FOR_UPDATE, DEFINITION, INSERT, SAVE, PUT_DEFINITION, DELETE; LIST
}

super::accessor::has!(HasForms::forms -> FormRepository);

#[async_trait]
impl FormRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<InteractiveForm>, StorageError> {
        let place = |one: &InteractiveForm| (one.created_at, one.id.to_string());
        self.conn.page(&LIST, &(), list::routers(router, only), page, place).await
    }

    async fn find(&mut self, id: &FormId) -> Result<Option<InteractiveForm>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &FormId) -> Result<Option<InteractiveForm>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn definition(&mut self, id: &FormId) -> Result<Map<String, Value>, StorageError> {
        let stored: Vec<Json<Map<String, Value>>> = self.conn.fetch_column(DEFINITION, (id,)).await?;
        Ok(stored.into_iter().next().map(|Json(definition)| definition).unwrap_or_default())
    }

    async fn insert(&mut self, form: &InteractiveForm) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(form)).await.map(drop)
    }

    async fn save(&mut self, form: &InteractiveForm) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(form)).await.map(drop)
    }

    async fn put_definition(
        &mut self,
        id: &FormId,
        definition: &Map<String, Value>,
    ) -> Result<(), StorageError> {
        self.conn.execute(PUT_DEFINITION, (id, Json(definition))).await.map(drop)
    }

    async fn delete(&mut self, id: &FormId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
