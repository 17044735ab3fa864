//! Distribution rules.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_helpdesk::rule::{DistributionRule, HasRules, RuleRepository};

use super::SqlTx;
use super::record::{Record as _, record};
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql_list};

record! {
    DistributionRule in "queue_distribution_rule" {
        id, router_id, created_at;
        name, priority, conditions: json, target_queue_id, flow_id, is_active, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<DistributionRule>(&[]);

const ACTIVE_OF: Sql = sql_list!(
    concat!(DistributionRule::SELECT, " WHERE is_active = 1 AND router_id "),
    "$1",
    " ORDER BY priority, created_at, id"
);

super::statement::statements! { ACTIVE_OF; TABLE }

impl RouterTable for DistributionRule {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasRules::rules -> RuleRepository);

#[async_trait]
impl RuleRepository for SqlTx {
    async fn active_of(&mut self, routers: &[RouterId]) -> Result<Vec<DistributionRule>, StorageError> {
        self.conn.fetch_all(ACTIVE_OF, (Json(routers),)).await
    }
}
