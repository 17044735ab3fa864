//! Static variables, as they are administered.

use async_trait::async_trait;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::VariableId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::VariableOwner;
use flowsdk_core::time::Timestamp;
use flowsdk_core::variable::{Variable, VariableKey, VariableRepository, VariableValue};

use super::executor::{corrupt, execute, fetch_all, fetch_optional, id, text};
use super::statement::{Sql, sql, sql_locking};
use super::{SqlTx, page};

/// The same text over both tables.
macro_rules! of {
    ($table:literal, $owner:literal) => {
        Statements {
            list: sql(concat!(
                "SELECT id, key, value, value_encrypted, created_at, updated_at FROM ",
                $table,
                " WHERE ",
                $owner,
                " = $4 AND (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
            )),
            find: sql_locking!(concat!(
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
    list: Sql,
    find: Sql,
    insert: Sql,
    save: Sql,
    delete: Sql,
}

const OF_ROUTER: Statements = of!("router_variable", "router_id");
const OF_FLOW: Statements = of!("flow_variable", "flow_id");

/// Every statement, for the test that prepares them all.
#[cfg(test)]
pub(super) fn statements() -> Vec<(&'static str, Sql)> {
    let all = |of: Statements| [of.list, of.find, of.insert, of.save, of.delete];
    let router = all(OF_ROUTER).into_iter().map(|sql| ("OF_ROUTER", sql));
    router.chain(all(OF_FLOW).into_iter().map(|sql| ("OF_FLOW", sql))).collect()
}

fn of(owner: &VariableOwner) -> (Statements, &str) {
    match owner {
        VariableOwner::Router(router) => (OF_ROUTER, router.as_str()),
        VariableOwner::Flow(flow) => (OF_FLOW, flow.as_str()),
    }
}

type Row = (String, String, Option<String>, Option<String>, i64, i64);

fn variable(owner: &VariableOwner, row: Row) -> Result<Variable, StorageError> {
    let (variable_id, key, value, encrypted, created_at, updated_at) = row;
    let value = match (value, encrypted) {
        (_, Some(encrypted)) => VariableValue::Secret(Encrypted::from_stored(encrypted)),
        (value, None) => VariableValue::Clear(value.unwrap_or_default()),
    };
    Ok(Variable {
        id: id("variable", variable_id)?,
        owner: owner.clone(),
        key: VariableKey::parse(&key).map_err(|error| corrupt("variable")(&error))?,
        value,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

#[async_trait]
impl VariableRepository for SqlTx {
    async fn list(
        &mut self,
        owner: &VariableOwner,
        page: &PageRequest,
    ) -> Result<Page<Variable>, StorageError> {
        let (statements, owner_id) = of(owner);
        let (at, before) = page::before(page);
        let rows = fetch_all!(self.conn, Row, statements.list, at, before, page::rows(page), owner_id)?;
        page::of(rows, page, |row| variable(owner, row), |one| (one.created_at, one.id.to_string()))
    }

    async fn find_for_update(
        &mut self,
        owner: &VariableOwner,
        id: &VariableId,
    ) -> Result<Option<Variable>, StorageError> {
        let (statements, owner_id) = of(owner);
        let row = fetch_optional!(self.conn, Row, statements.find, owner_id, id.as_str())?;
        row.map(|row| variable(owner, row)).transpose()
    }

    async fn insert_if_absent(&mut self, variable: &Variable) -> Result<bool, StorageError> {
        let (statements, owner_id) = of(&variable.owner);
        let inserted = execute!(
            self.conn,
            statements.insert,
            variable.id.as_str(),
            owner_id,
            variable.key.as_str(),
            variable.value.shown().map(text),
            variable.value.encrypted().map(Encrypted::as_stored),
            i64::from(variable.value.is_secret()),
            variable.created_at.as_millis(),
            variable.updated_at.as_millis(),
        )?;
        Ok(inserted == 1)
    }

    async fn save(&mut self, variable: &Variable) -> Result<(), StorageError> {
        execute!(
            self.conn,
            of(&variable.owner).0.save,
            variable.id.as_str(),
            variable.value.shown().map(text),
            variable.value.encrypted().map(Encrypted::as_stored),
            i64::from(variable.value.is_secret()),
            variable.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, variable: &Variable) -> Result<(), StorageError> {
        execute!(self.conn, of(&variable.owner).0.delete, variable.id.as_str()).map(drop)
    }
}
