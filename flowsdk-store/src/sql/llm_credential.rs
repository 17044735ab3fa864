//! Credentials of model providers.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::credential::{HasLlmCredentials, LlmCredential, LlmCredentialRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::LlmCredentialId;
use flowsdk_core::page::{Page, PageRequest, Searched};

use super::SqlTx;
use super::list::ListSql;
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    LlmCredential in "llm_credential" {
        id, created_at;
        name, provider, base_url, api_key = api_key_encrypted, updated_at
    }
}

pub(super) static LIST: ListSql = ListSql::of::<LlmCredential>();

const FIND: Sql = sql(concat!(LlmCredential::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(LlmCredential::SELECT, " WHERE id = $1"));

const INSERT: Sql = sql(LlmCredential::INSERT);

const SAVE: Sql = sql(LlmCredential::UPDATE);

const DELETE: Sql = sql("DELETE FROM llm_credential WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasLlmCredentials::llm_credentials -> LlmCredentialRepository);

#[async_trait]
impl LlmCredentialRepository for SqlTx {
    async fn list(&mut self, page: &PageRequest) -> Result<Page<LlmCredential>, StorageError> {
        self.conn.page(&LIST, &(), None, page, Searched::place).await
    }

    async fn find(&mut self, id: &LlmCredentialId) -> Result<Option<LlmCredential>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &LlmCredentialId) -> Result<Option<LlmCredential>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert(&mut self, credential: &LlmCredential) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(credential)).await.map(drop)
    }

    async fn save(&mut self, credential: &LlmCredential) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(credential)).await.map(drop)
    }

    async fn delete(&mut self, id: &LlmCredentialId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
