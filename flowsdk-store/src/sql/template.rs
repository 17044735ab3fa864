//! Message templates.

use async_trait::async_trait;
use flowsdk_channels::channel_number::ProviderId;
use flowsdk_channels::template::{
    Component, Template, TemplateCategory, TemplateFilter, TemplateRepository, TemplateStatus,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, TemplateId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{corrupt, execute, fetch_optional, id, json, text};
use super::page::{self, fetch_within};
use super::statement::{Sql, sql, sql_list, sql_locking};

const ENTITY: &str = "message_template";

macro_rules! select {
    ($($rest:literal)*) => {
        concat!(
            "SELECT id, router_id, business_account_id, name, language, category, status, components, created_at,
                updated_at FROM message_template WHERE ",
            $($rest),*
        )
    };
}

/// A business account has a few hundred templates at most, so these are looked at one by one.
macro_rules! rest {
    () => {
        " AND (business_account_id = $4 OR $4 IS NULL) AND (status = $5 OR $5 IS NULL)
         AND (name = $6 OR $6 IS NULL) AND (created_at, id) < ($1, $2)
         ORDER BY created_at DESC, id DESC LIMIT $3"
    };
}

const LIST: Sql = sql(select!(
    "(business_account_id = $4 OR $4 IS NULL) AND (status = $5 OR $5 IS NULL)
     AND (name = $6 OR $6 IS NULL) AND (created_at, id) < ($1, $2)
     ORDER BY created_at DESC, id DESC LIMIT $3"
));

const LIST_OF: Sql = sql(concat!(select!("router_id = $7"), rest!()));

const LIST_AMONG: Sql = sql_list!(select!("router_id IN "), "$7", rest!());

const FIND: Sql = sql(select!("id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const INSERT: Sql = sql("INSERT INTO message_template (id, router_id, business_account_id, name, language,
        category, status, components, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (router_id, business_account_id, name, language) DO NOTHING");

const SAVE: Sql = sql(
    "UPDATE message_template SET category = $2, status = $3, components = $4, updated_at = $5 WHERE id = $1",
);

const DELETE: Sql = sql("DELETE FROM message_template WHERE id = $1");

super::statement::statements! { LIST, LIST_OF, LIST_AMONG, FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE }

type Row = (String, String, String, String, String, String, String, Json<Vec<Component>>, i64, i64);

fn template(row: Row) -> Result<Template, StorageError> {
    let (template_id, router, account, name, language, category, status, components, created_at, updated_at) =
        row;
    Ok(Template {
        id: id(ENTITY, template_id)?,
        router_id: id(ENTITY, router)?,
        business_account_id: id(ENTITY, account)?,
        name: id(ENTITY, name)?,
        language: id(ENTITY, language)?,
        category: TemplateCategory::parse(&category).ok_or_else(|| corrupt(ENTITY)(&category))?,
        status: TemplateStatus::parse(&status).ok_or_else(|| corrupt(ENTITY)(&status))?,
        components: components.0,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

#[async_trait]
impl TemplateRepository for SqlTx {
    async fn list(
        &mut self,
        filter: &TemplateFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Template>, StorageError> {
        let account = filter.business_account_id.as_ref().map(ProviderId::as_str);
        let (status, name) = (filter.status.map(TemplateStatus::name), filter.name.as_deref().map(text));
        let router = filter.router_id.as_ref();
        let rows = fetch_within!(
            self.conn,
            Row,
            [LIST, LIST_OF, LIST_AMONG],
            router,
            only,
            page,
            account,
            status,
            name
        )?;
        page::of(rows, page, template, |one| (one.created_at, one.id.to_string()))
    }

    async fn find(&mut self, id: &TemplateId) -> Result<Option<Template>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, id.as_str())?.map(template).transpose()
    }

    async fn find_for_update(&mut self, id: &TemplateId) -> Result<Option<Template>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(template).transpose()
    }

    async fn insert_if_absent(&mut self, template: &Template) -> Result<bool, StorageError> {
        let inserted = execute!(
            self.conn,
            INSERT,
            template.id.as_str(),
            template.router_id.as_str(),
            template.business_account_id.as_str(),
            template.name.as_str(),
            template.language.as_str(),
            template.category.name(),
            template.status.name(),
            json(&template.components)?,
            template.created_at.as_millis(),
            template.updated_at.as_millis(),
        )?;
        Ok(inserted > 0)
    }

    async fn save(&mut self, template: &Template) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            template.id.as_str(),
            template.category.name(),
            template.status.name(),
            json(&template.components)?,
            template.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, id: &TemplateId) -> Result<(), StorageError> {
        execute!(self.conn, DELETE, id.as_str()).map(drop)
    }
}
