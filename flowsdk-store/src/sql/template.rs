//! Message templates.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::template::{HasTemplates, Template, TemplateFilter, TemplateRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, TemplateId};
use flowsdk_core::page::{Page, PageRequest};

use super::SqlTx;
use super::list::{self, Filter, ListSql, asked};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    Template in "message_template" {
        id, router_id, business_account_id, name, language, created_at;
        category, status, components: json, updated_at
    }
}

/// A business account has a few hundred templates at most, so SQLite looks at them one by one, newest first.
pub(super) static LIST: ListSql<TemplateFilter> = ListSql::of::<Template>().within("router_id").filters(&[
    Filter::per("+business_account_id = {}", "business_account_id = {}", |filter| {
        asked(&filter.business_account_id)
    }),
    Filter::of("status = {}", |filter| asked(&filter.status)),
    Filter::per("+name = {}", "name = {}", |filter| asked(&filter.name)),
]);

const FIND: Sql = sql(concat!(Template::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(Template::SELECT, " WHERE id = $1"));

const INSERT: Sql = sql(concat!(
    Template::INSERT,
    " ON CONFLICT (router_id, business_account_id, name, language) DO NOTHING"
));

const SAVE: Sql = sql(Template::UPDATE);

const DELETE: Sql = sql("DELETE FROM message_template WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasTemplates::templates -> TemplateRepository);

#[async_trait]
impl TemplateRepository for SqlTx {
    async fn list(
        &mut self,
        filter: &TemplateFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Template>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        let place = |one: &Template| (one.created_at, one.id.to_string());
        self.conn.page(&LIST, filter, routers, page, place).await
    }

    async fn find(&mut self, id: &TemplateId) -> Result<Option<Template>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &TemplateId) -> Result<Option<Template>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert_if_absent(&mut self, template: &Template) -> Result<bool, StorageError> {
        Ok(self.conn.execute(INSERT, All(template)).await? > 0)
    }

    async fn save(&mut self, template: &Template) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(template)).await.map(drop)
    }

    async fn delete(&mut self, id: &TemplateId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
