//! Static variables, as they are administered.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::VariableId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::router::VariableOwner;
use flowsdk_core::time::Timestamp;
use flowsdk_core::variable::{HasVariables, Variable, VariableKey, VariableRepository, VariableValue};

use super::SqlTx;
use super::list::{Asked, Filter, ListSql, given};
use super::statement::{Sql, sql, sql_locking};

/// The same text over both tables.
macro_rules! of {
    ($table:literal, $owner:literal) => {
        Statements {
            find: sql(concat!(
                "SELECT id, key, value, value_encrypted, created_at, updated_at FROM ",
                $table,
                " WHERE ",
                $owner,
                " = $1 AND id = $2"
            )),
            find_for_update: sql_locking!(concat!(
                "SELECT id, key, value, value_encrypted, created_at, updated_at FROM ",
                $table,
                " WHERE ",
                $owner,
                " = $1 AND id = $2"
            )),
            insert: sql(concat!(
                "INSERT INTO ",
                $table,
                " (id, ",
                $owner,
                ", key, value, value_encrypted, is_secret, created_at, updated_at)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (",
                $owner,
                ", key) DO NOTHING"
            )),
            save: sql(concat!(
                "UPDATE ",
                $table,
                " SET value = $2, value_encrypted = $3, is_secret = $4, updated_at = $5 WHERE id = $1"
            )),
            delete: sql(concat!("DELETE FROM ", $table, " WHERE id = $1")),
        }
    };
}

struct Statements {
    find: Sql,
    find_for_update: Sql,
    insert: Sql,
    save: Sql,
    delete: Sql,
}

const OF_ROUTER: Statements = of!("router_variable", "router_id");
const OF_FLOW: Statements = of!("flow_variable", "flow_id");

pub(super) static LIST_OF_ROUTER: ListSql<VariableOwner> = ListSql::new(
    "SELECT id, key, value, value_encrypted, created_at, updated_at FROM router_variable",
    "router_variable",
)
.filters(&[Filter::of("router_id = {}", owner_id).always()]);

pub(super) static LIST_OF_FLOW: ListSql<VariableOwner> = ListSql::new(
    "SELECT id, key, value, value_encrypted, created_at, updated_at FROM flow_variable",
    "flow_variable",
)
.filters(&[Filter::of("flow_id = {}", owner_id).always()]);

/// Every statement, for the test that prepares them all.
#[cfg(test)]
pub(super) fn statements() -> Vec<(&'static str, Sql)> {
    let all = |of: Statements| [of.find, of.find_for_update, of.insert, of.save, of.delete];
    let router = all(OF_ROUTER).into_iter().map(|sql| ("OF_ROUTER", sql));
    let flow = all(OF_FLOW).into_iter().map(|sql| ("OF_FLOW", sql));
    let lists = LIST_OF_ROUTER.all().into_iter().map(|sql| ("LIST_OF_ROUTER", sql));
    let lists = lists.chain(LIST_OF_FLOW.all().into_iter().map(|sql| ("LIST_OF_FLOW", sql)));
    router.chain(flow).chain(lists).collect()
}

fn owner_id(owner: &VariableOwner) -> Asked<'_> {
    match owner {
        VariableOwner::Router(router) => given(router),
        VariableOwner::Flow(flow) => given(flow),
    }
}

fn of(owner: &VariableOwner) -> (Statements, &str) {
    match owner {
        VariableOwner::Router(router) => (OF_ROUTER, router.as_str()),
        VariableOwner::Flow(flow) => (OF_FLOW, flow.as_str()),
    }
}

type Row = (VariableId, VariableKey, Option<String>, Option<Encrypted>, Timestamp, Timestamp);

fn variable(owner: &VariableOwner, row: Row) -> Variable {
    let (id, key, value, encrypted, created_at, updated_at) = row;
    let value = match (value, encrypted) {
        (_, Some(encrypted)) => VariableValue::Secret(encrypted),
        (value, None) => VariableValue::Clear(value.unwrap_or_default()),
    };
    Variable { id, owner: owner.clone(), key, value, created_at, updated_at }
}

super::accessor::has!(HasVariables::variables -> VariableRepository);

#[async_trait]
impl VariableRepository for SqlTx {
    async fn list(
        &mut self,
        owner: &VariableOwner,
        page: &PageRequest,
    ) -> Result<Page<Variable>, StorageError> {
        let list = match owner {
            VariableOwner::Router(_) => &LIST_OF_ROUTER,
            VariableOwner::Flow(_) => &LIST_OF_FLOW,
        };
        let place = |row: &Row| Cursor::of(row.4, &row.0);
        let rows = self.conn.page(list, owner, None, page, place).await?;
        Ok(rows.map(|row| variable(owner, row)))
    }

    async fn find(
        &mut self,
        owner: &VariableOwner,
        id: &VariableId,
    ) -> Result<Option<Variable>, StorageError> {
        let (statements, owner_id) = of(owner);
        let row = self.conn.fetch_optional(statements.find, (owner_id, id)).await?;
        Ok(row.map(|row| variable(owner, row)))
    }

    async fn find_for_update(
        &mut self,
        owner: &VariableOwner,
        id: &VariableId,
    ) -> Result<Option<Variable>, StorageError> {
        let (statements, owner_id) = of(owner);
        let row = self.conn.fetch_optional(statements.find_for_update, (owner_id, id)).await?;
        Ok(row.map(|row| variable(owner, row)))
    }

    async fn insert_if_absent(&mut self, variable: &Variable) -> Result<bool, StorageError> {
        let (statements, owner_id) = of(&variable.owner);
        let Variable { id, key, value, created_at, updated_at, .. } = variable;
        let (shown, secret, is_secret) = (value.shown(), value.encrypted(), &value.is_secret());
        let binds = (id, owner_id, key, shown, secret, is_secret, created_at, updated_at);
        Ok(self.conn.execute(statements.insert, binds).await? == 1)
    }

    async fn save(&mut self, variable: &Variable) -> Result<(), StorageError> {
        let Variable { id, value, updated_at, .. } = variable;
        let binds = (id, value.shown(), value.encrypted(), &value.is_secret(), updated_at);
        self.conn.execute(of(&variable.owner).0.save, binds).await.map(drop)
    }

    async fn delete(&mut self, variable: &Variable) -> Result<(), StorageError> {
        self.conn.execute(of(&variable.owner).0.delete, (&variable.id,)).await.map(drop)
    }
}
