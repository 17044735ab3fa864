//! Quick replies.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId};
use flowsdk_helpdesk::quick_reply::{HasQuickReplies, QuickReply, QuickReplyRepository};

use super::SqlTx;
use super::record::{Record as _, record};
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql};

record! {
    QuickReply in "quick_reply" {
        id, router_id, created_at;
        name, shortcut, text, queue_id, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<QuickReply>(&[]);

const FOR_QUEUE: Sql = sql(concat!(
    QuickReply::SELECT,
    " WHERE router_id = $1 AND (queue_id IS NULL OR queue_id = $2) ORDER BY name, id LIMIT $3"
));

super::statement::statements! { FOR_QUEUE; TABLE }

impl RouterTable for QuickReply {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasQuickReplies::quick_replies -> QuickReplyRepository);

#[async_trait]
impl QuickReplyRepository for SqlTx {
    async fn for_queue(
        &mut self,
        router: &RouterId,
        queue: Option<&QueueId>,
        limit: u32,
    ) -> Result<Vec<QuickReply>, StorageError> {
        self.conn.fetch_all(FOR_QUEUE, (router, queue, i64::from(limit))).await
    }
}
