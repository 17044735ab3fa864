//! Credentials of model providers.

use async_trait::async_trait;
use flowsdk_core::credential::{LlmCredential, LlmCredentialRepository, LlmProvider};
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{LlmCredentialId, RouterId};
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::executor::{corrupt, execute, fetch_all, fetch_optional, id, optional_id, text};
use super::statement::{Sql, sql, sql_locking};
use super::{SqlTx, page};

const ENTITY: &str = "llm_credential";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, provider, base_url, api_key_encrypted, created_at, updated_at
             FROM llm_credential WHERE ",
            $rest
        )
    };
}

const LIST: Sql = sql(select!("(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const FIND: Sql = sql(select!("id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const INSERT: Sql = sql(
    "INSERT INTO llm_credential (id, name, provider, base_url, api_key_encrypted, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)",
);

const SAVE: Sql = sql("UPDATE llm_credential SET name = $2, provider = $3, base_url = $4,
        api_key_encrypted = $5, updated_at = $6 WHERE id = $1");

const ROUTERS_OF: Sql = sql("SELECT id FROM router WHERE llm_credential_id = $1 ORDER BY id");

const DETACH: Sql = sql("UPDATE router SET llm_credential_id = NULL WHERE llm_credential_id = $1");

const DELETE: Sql = sql("DELETE FROM llm_credential WHERE id = $1");

super::statement::statements! { LIST, FIND, FIND_FOR_UPDATE, INSERT, SAVE, ROUTERS_OF, DETACH, DELETE }

type Row = (String, String, String, Option<String>, Option<String>, i64, i64);

fn credential(row: Row) -> Result<LlmCredential, StorageError> {
    let (credential_id, name, provider, base_url, api_key, created_at, updated_at) = row;
    let known = LlmProvider::ALL.into_iter().find(|known| known.name() == provider);
    Ok(LlmCredential {
        id: id(ENTITY, credential_id)?,
        name,
        provider: known.ok_or_else(|| corrupt(ENTITY)(&provider))?,
        base_url: optional_id(ENTITY, base_url)?,
        api_key: api_key.map(Encrypted::from_stored),
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

#[async_trait]
impl LlmCredentialRepository for SqlTx {
    async fn list(&mut self, page: &PageRequest) -> Result<Page<LlmCredential>, StorageError> {
        let ((at, before), limit) = (page::before(page), page::rows(page));
        let rows = fetch_all!(self.conn, Row, LIST, at, before, limit)?;
        page::of(rows, page, credential, |one| (one.created_at, one.id.to_string()))
    }

    async fn find(&mut self, id: &LlmCredentialId) -> Result<Option<LlmCredential>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, id.as_str())?.map(credential).transpose()
    }

    async fn find_for_update(&mut self, id: &LlmCredentialId) -> Result<Option<LlmCredential>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(credential).transpose()
    }

    async fn insert(&mut self, credential: &LlmCredential) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT,
            credential.id.as_str(),
            text(&credential.name),
            credential.provider.name(),
            credential.base_url.as_ref().map(BaseUrl::as_str),
            credential.api_key.as_ref().map(Encrypted::as_stored),
            credential.created_at.as_millis(),
            credential.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn save(&mut self, credential: &LlmCredential) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            credential.id.as_str(),
            text(&credential.name),
            credential.provider.name(),
            credential.base_url.as_ref().map(BaseUrl::as_str),
            credential.api_key.as_ref().map(Encrypted::as_stored),
            credential.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn routers_of(&mut self, credential: &LlmCredentialId) -> Result<Vec<RouterId>, StorageError> {
        let rows = fetch_all!(self.conn, (String,), ROUTERS_OF, credential.as_str())?;
        rows.into_iter().map(|(router,)| id("router", router)).collect()
    }

    async fn detach(&mut self, id: &LlmCredentialId) -> Result<(), StorageError> {
        execute!(self.conn, DETACH, id.as_str()).map(drop)
    }

    async fn delete(&mut self, id: &LlmCredentialId) -> Result<(), StorageError> {
        execute!(self.conn, DELETE, id.as_str()).map(drop)
    }
}
