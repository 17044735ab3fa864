//! Channel type mappings.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::type_mapping::{
    ChannelTypeMapping, ChannelTypeMappingId, ChannelTypeMappingRepository, HasChannelTypeMappings,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};

use super::SqlTx;
use super::list::{self, ListSql};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    ChannelTypeMapping in "channel_type_mapping" {
        id, router_id, channel_type, created_at;
        label, external_type, updated_at
    }
}

pub(super) static LIST: ListSql = ListSql::of::<ChannelTypeMapping>().within("router_id");

const FIND: Sql = sql(concat!(ChannelTypeMapping::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(ChannelTypeMapping::SELECT, " WHERE id = $1"));

const INSERT: Sql =
    sql(concat!(ChannelTypeMapping::INSERT, " ON CONFLICT (router_id, channel_type) DO NOTHING"));

const SAVE: Sql = sql(ChannelTypeMapping::UPDATE);

const DELETE: Sql = sql("DELETE FROM channel_type_mapping WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasChannelTypeMappings::channel_type_mappings -> ChannelTypeMappingRepository);

#[async_trait]
impl ChannelTypeMappingRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ChannelTypeMapping>, StorageError> {
        let place = |one: &ChannelTypeMapping| (one.created_at, one.id.to_string());
        self.conn.page(&LIST, &(), list::routers(router, only), page, place).await
    }

    async fn find(&mut self, id: &ChannelTypeMappingId) -> Result<Option<ChannelTypeMapping>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(
        &mut self,
        id: &ChannelTypeMappingId,
    ) -> Result<Option<ChannelTypeMapping>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert_if_absent(&mut self, mapping: &ChannelTypeMapping) -> Result<bool, StorageError> {
        Ok(self.conn.execute(INSERT, All(mapping)).await? > 0)
    }

    async fn save(&mut self, mapping: &ChannelTypeMapping) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(mapping)).await.map(drop)
    }

    async fn delete(&mut self, id: &ChannelTypeMappingId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
