//! Statements walk the indices that are meant for them. On SQLite, whose plans depend on the text alone;
//! those of Postgres depend on what is stored.

use sqlx::AssertSqlSafe;

use crate::sql::audit_list::{AuditListSql, Routers, Shape};
use crate::sql::statement::Sql;
use crate::sql::{channel_number, integration, llm_credential, template};
use crate::sql::{chat_catalog, contact_catalog, dead_letter, opt_in_catalog, session_catalog};

#[tokio::test]
async fn every_list_of_the_audit_log_walks_an_index_in_order() {
    let mut connection = super::migrated_sqlite().await;
    for shape in Shape::all() {
        let text = format!("EXPLAIN QUERY PLAN {}", AuditListSql::new().of(shape).sqlite);
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
        let filters = [shape.actor, shape.entity_type, shape.action, shape.status.is_some()];
        let columns = [shape.routers != Routers::All, filters.contains(&true)];
        let columns = columns.into_iter().filter(|column| *column).count();
        let walks = |step: &String| {
            step.starts_with("SEARCH audit_log USING ")
                && step.contains("id>? AND id<?")
                && step.matches("=?").count() == columns
        };
        assert!(steps.iter().any(walks), "{shape:?}: {steps:#?}");
        // Only what is found for several routers is put in order afterwards.
        let sorts = steps.iter().filter(|step| step.contains("TEMP B-TREE")).count();
        assert_eq!(sorts, usize::from(shape.routers == Routers::Several), "{shape:?}: {steps:#?}");
    }
}

#[tokio::test]
async fn lists_of_numbers_templates_credentials_and_integrations_walk_an_index_in_order() {
    let mut connection = super::migrated_sqlite().await;
    let files: [(&str, Vec<(&'static str, Sql)>); 4] = [
        ("channel_number", channel_number::statements()),
        ("message_template", template::statements()),
        ("llm_credential", llm_credential::statements()),
        ("integration", integration::statements()),
    ];
    let lists =
        files.iter().flat_map(|(table, all)| all.iter().map(move |(name, sql)| (*table, *name, *sql)));
    let mut seen = 0;
    for (table, name, sql) in lists.filter(|(_, name, _)| name.starts_with("LIST")) {
        seen += 1;
        let text = format!("EXPLAIN QUERY PLAN {}", sql.sqlite);
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
        let index = match name {
            "LIST" => format!("SEARCH {table} USING INDEX {table}_newest ((created_at,id)<(?,?))"),
            "LIST_OF" => format!(
                "SEARCH {table} USING INDEX {table}_by_router (router_id=? AND (created_at,id)<(?,?))"
            ),
            // Of several routers, what is found is put in order afterwards.
            _ => format!("SEARCH {table} USING INDEX {table}_"),
        };
        assert!(steps.iter().any(|step| step.starts_with(&index)), "{table} {name}: {steps:#?}");
        let sorts = steps.iter().any(|step| step.contains("TEMP B-TREE"));
        assert!(!sorts || name == "LIST_AMONG", "{table} {name}: {steps:#?}");
    }
    assert_eq!(seen, 10);
}

/// Nothing is read and put in order afterwards but what is found for several routers, and no list scans its table.
#[tokio::test]
async fn every_list_of_the_administration_walks_an_index_in_order() {
    let mut connection = super::migrated_sqlite().await;
    let lists = session_catalog::lists().into_iter().chain(chat_catalog::lists());
    let lists = lists.chain(contact_catalog::lists()).chain(opt_in_catalog::lists());
    let lists = lists.chain(dead_letter::lists());
    for (table, list) in lists {
        for (scoped, filters) in list.shapes() {
            if table == "contact_opt_in" && !scoped && filters != [true] {
                // Opt-ins are asked for by contact or by router.
                continue;
            }
            let text = format!("EXPLAIN QUERY PLAN {}", list.of(scoped, &filters).sqlite);
            let plan: Vec<(i64, i64, i64, String)> =
                sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
            let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
            let scans = steps.iter().any(|step| step.starts_with("SCAN") && step.contains(table));
            assert!(!scans, "{table} {scoped} {filters:?}: {steps:#?}");
            // The page itself is put in order once more.
            let sorts = steps.iter().filter(|step| step.contains("TEMP B-TREE")).count();
            assert!(sorts <= if scoped { 3 } else { 1 }, "{table} {scoped} {filters:?}: {steps:#?}");
        }
    }
}

#[tokio::test]
async fn the_sessions_of_a_router_and_of_a_flow_are_counted_without_reading_all_others() {
    let mut connection = super::migrated_sqlite().await;
    for (name, sql) in crate::sql::live_session::statements() {
        if !name.ends_with("ROUTER") && !name.ends_with("FLOW") {
            continue;
        }
        let text = format!("EXPLAIN QUERY PLAN {}", sql.sqlite);
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
        assert!(
            steps.iter().any(|step| step.contains("session_by_router (router_id=?)")),
            "{name}: {steps:?}"
        );
    }
}

#[tokio::test]
async fn frozen_sessions_that_never_began_are_found_without_reading_all_others() {
    let mut connection = super::migrated_sqlite().await;
    let live = crate::sql::live_session::statements().into_iter();
    let unbegun = live.chain(crate::sql::contact_rows::statements());
    let mut seen = 0;
    for (name, sql) in unbegun.filter(|(name, _)| name.starts_with("UNBEGUN") || name.starts_with("COUNT")) {
        seen += 1;
        let text = format!("EXPLAIN QUERY PLAN {}", sql.sqlite);
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
        let scans = |table: &str| steps.iter().any(|step| step.starts_with(&format!("SCAN {table}")));
        assert!(!scans("frozen_session") && !scans("session"), "{name}: {steps:#?}");
    }
    assert_eq!(seen, 6);
}

#[tokio::test]
async fn superseded_test_versions_are_looked_for_in_the_sessions_of_the_test_channel_only() {
    let mut connection = super::migrated_sqlite().await;
    let purge = crate::sql::flow_catalog::statements();
    let (_, purge) = purge.into_iter().find(|(name, _)| *name == "PURGE_TEST_VERSIONS").expect("listed");
    let text = format!("EXPLAIN QUERY PLAN {}", purge.sqlite);
    let plan: Vec<(i64, i64, i64, String)> =
        sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
    let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
    let walks = |index: &str| steps.iter().any(|step| step.starts_with("SEARCH") && step.contains(index));
    assert!(walks("webchat_one_test_channel") && walks("(id>? AND id<?)"), "{steps:#?}");
}

#[tokio::test]
async fn what_a_visitor_read_is_looked_up_by_message() {
    let mut connection = super::migrated_sqlite().await;
    let statements = crate::sql::message::statements();
    for name in ["ADVANCE", "ADVANCE_IN_SESSION"] {
        let (_, sql) = statements.iter().find(|(one, _)| *one == name).expect("listed");
        let text = format!("EXPLAIN QUERY PLAN {}", sql.sqlite);
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
        let looks_up = |step: &String| step.starts_with("SEARCH message") && step.contains("(id=?)");
        assert!(steps.iter().any(looks_up), "{name}: {steps:#?}");
    }
}
