//! Tags of tickets. A ticket has the ids of its tags in its row.

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_helpdesk::tag::{HasTags, Tag, TagId, TagRepository};

use super::SqlTx;
use super::record::record;
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql_list, sql_per};

record! {
    Tag in "tag" {
        id, router_id, created_at;
        name, color, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<Tag>(&[]);

const AMONG: Sql = sql_list!("SELECT id FROM tag WHERE router_id = $2 AND id ", "$1", "");

const TAKE_OFF: Sql = sql_per(
    "UPDATE ticket SET tag_ids = (SELECT json_group_array(value) FROM json_each(ticket.tag_ids) WHERE value <> $2)
     WHERE router_id = $1 AND tag_ids <> '[]' AND EXISTS (SELECT 1 FROM json_each(ticket.tag_ids) WHERE value = $2)",
    "UPDATE ticket SET tag_ids = tag_ids - $2
     WHERE router_id = $1 AND tag_ids <> '[]' AND tag_ids @> jsonb_build_array($2::text)",
);

super::statement::statements! { AMONG, TAKE_OFF; TABLE }

impl RouterTable for Tag {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasTags::tags -> TagRepository);

#[async_trait]
impl TagRepository for SqlTx {
    async fn among(&mut self, router: &RouterId, ids: &[TagId]) -> Result<Vec<TagId>, StorageError> {
        self.conn.fetch_column(AMONG, (Json(ids), router)).await
    }

    async fn take_off(&mut self, router: &RouterId, tag: &TagId) -> Result<(), StorageError> {
        self.conn.execute(TAKE_OFF, (router, tag)).await.map(drop)
    }
}
