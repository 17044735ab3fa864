//! Integrations of routers.

use async_trait::async_trait;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{IntegrationId, RouterId};
use flowsdk_core::integration::{Integration, IntegrationKind, IntegrationRepository, IntegrationSettings};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{corrupt, execute, fetch_optional, id, json, text};
use super::page::{self, fetch_within};
use super::statement::{Sql, sql, sql_list, sql_locking};

const ENTITY: &str = "integration";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, router_id, name, kind, base_url, credentials_encrypted, settings, created_at, updated_at
             FROM integration WHERE ",
            $rest
        )
    };
}

const LIST: Sql = sql(select!("(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const LIST_OF: Sql =
    sql(select!("router_id = $4 AND (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const LIST_AMONG: Sql = sql_list!(
    select!("router_id IN "),
    "$4",
    " AND (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);

const FIND: Sql = sql(select!("id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const INSERT: Sql =
    sql("INSERT INTO integration (id, router_id, name, kind, base_url, credentials_encrypted,
        settings, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");

const SAVE: Sql =
    sql("UPDATE integration SET name = $2, base_url = $3, credentials_encrypted = $4, settings = $5,
        updated_at = $6 WHERE id = $1");

const DELETE: Sql = sql("DELETE FROM integration WHERE id = $1");

super::statement::statements! { LIST, LIST_OF, LIST_AMONG, FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE }

type Row = (String, String, String, String, String, Option<String>, Json<IntegrationSettings>, i64, i64);

fn integration(row: Row) -> Result<Integration, StorageError> {
    let (integration_id, router, name, kind, base_url, credentials, settings, created_at, updated_at) = row;
    let known = IntegrationKind::ALL.into_iter().find(|known| known.name() == kind);
    Ok(Integration {
        id: id(ENTITY, integration_id)?,
        router_id: id(ENTITY, router)?,
        name,
        kind: known.ok_or_else(|| corrupt(ENTITY)(&kind))?,
        base_url: id(ENTITY, base_url)?,
        credentials: credentials.map(Encrypted::from_stored),
        settings: settings.0,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

#[async_trait]
impl IntegrationRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Integration>, StorageError> {
        let rows = fetch_within!(self.conn, Row, [LIST, LIST_OF, LIST_AMONG], router, only, page)?;
        page::of(rows, page, integration, |one| (one.created_at, one.id.to_string()))
    }

    async fn find(&mut self, id: &IntegrationId) -> Result<Option<Integration>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, id.as_str())?.map(integration).transpose()
    }

    async fn find_for_update(&mut self, id: &IntegrationId) -> Result<Option<Integration>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(integration).transpose()
    }

    async fn insert(&mut self, integration: &Integration) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT,
            integration.id.as_str(),
            integration.router_id.as_str(),
            text(&integration.name),
            integration.kind.name(),
            integration.base_url.as_str(),
            integration.credentials.as_ref().map(Encrypted::as_stored),
            json(&integration.settings)?,
            integration.created_at.as_millis(),
            integration.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn save(&mut self, integration: &Integration) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            integration.id.as_str(),
            text(&integration.name),
            integration.base_url.as_str(),
            integration.credentials.as_ref().map(Encrypted::as_stored),
            json(&integration.settings)?,
            integration.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, id: &IntegrationId) -> Result<(), StorageError> {
        execute!(self.conn, DELETE, id.as_str()).map(drop)
    }
}
