//! Every statement prepares on both engines.

use sqlx::{Executor as _, SqlSafeStr as _};

use crate::sql::statement::Sql;

type Statements = Vec<(&'static str, Sql)>;

/// The files with their statements.
fn files() -> Vec<(&'static str, &'static str, Statements)> {
    macro_rules! files {
        ($($file:ident),*) => {
            vec![$((stringify!($file), include_str!(concat!("../", stringify!($file), ".rs")), crate::sql::$file::statements())),*]
        };
    }
    files!(
        access,
        agent_group,
        agent_inbox,
        agent_parts,
        agent_turn,
        ai_agent,
        ai_agent_route,
        ai_budget,
        api_client,
        announced,
        audit,
        board,
        broker,
        channel,
        channel_number,
        channel_transfer,
        channel_type_mapping,
        chat,
        chat_catalog,
        chat_tag,
        close_reason,
        contact,
        contact_catalog,
        contact_insight,
        contact_rows,
        contact_search,
        dead_letter,
        desk_agent,
        desk_news,
        desk_view,
        event_definition,
        flow,
        flow_catalog,
        flow_event,
        group,
        guardrail,
        idempotency,
        import_draft,
        integration,
        interactive_form,
        media,
        key_value,
        knowledge,
        live_session,
        llm_credential,
        login_schedule,
        message,
        model_price,
        model_usage,
        monitoring,
        names,
        note,
        observability,
        opt_in,
        opt_in_catalog,
        broadcast_intent,
        dispatch_agent,
        distribution_rule,
        outbound,
        outbox,
        password_recovery,
        phone_account,
        provider_template,
        queue,
        quick_reply,
        references,
        report,
        router,
        router_catalog,
        saved_filter,
        session,
        session_catalog,
        session_history,
        session_trace,
        stuck_handoff,
        summary,
        system_prompt,
        tag,
        template,
        ticket,
        ticket_claim,
        user,
        user_device,
        variable,
        webchat,
        webchat_catalog,
        webhook,
        webhook_delivery
    )
}

#[test]
fn every_file_with_statements_is_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        // The file that defines the macro lists nothing.
        if path.is_file() && name != "statement" {
            let source = std::fs::read_to_string(&path).expect("a source");
            let lists = ["statement::statements!", "fn statements()"];
            found.extend(lists.iter().any(|list| source.contains(list)).then_some(name));
        }
    }
    let mut listed: Vec<_> = files().into_iter().map(|(file, ..)| file).collect();
    found.sort_unstable();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn every_statement_is_listed() {
    for (file, source, statements) in files() {
        let mut listed: Vec<_> = statements.iter().map(|(name, _)| *name).collect();
        listed.dedup();
        let declared: Vec<_> = source
            .lines()
            .filter_map(|line| line.split_once("const ").or_else(|| line.split_once("static ")))
            .filter_map(|(_, rest)| rest.split_once(": "))
            .filter(|(_, rest)| {
                [
                    "Sql ",
                    "RowsSql ",
                    "ListSql ",
                    "ListSql<",
                    "RecordSql ",
                    "RecordSql<",
                    "Statements ",
                    "Derived ",
                ]
                .iter()
                .any(|kind| rest.starts_with(kind))
            })
            .map(|(name, _)| name)
            .collect();
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        assert_eq!(sorted(listed), sorted(declared), "{file}");
    }
}

#[tokio::test]
async fn every_statement_prepares_on_sqlite() {
    let mut connection = super::migrated_sqlite().await;
    for (file, _, statements) in files() {
        for (name, sql) in statements {
            let prepared = connection.prepare(sql.sqlite.into_sql_str()).await;
            if let Err(error) = prepared {
                panic!(
                    "{file} {name}: {error}
{}",
                    sql.sqlite
                );
            }
        }
    }
}

#[tokio::test]
async fn every_statement_prepares_on_postgres() {
    let Some(mut connection) = super::migrated_postgres().await else {
        return super::skipped("every_statement_prepares");
    };
    for (file, _, statements) in files() {
        for (name, sql) in statements {
            let prepared = connection.prepare(sql.postgres.into_sql_str()).await;
            if let Err(error) = prepared {
                panic!(
                    "{file} {name}: {error}
{}",
                    sql.postgres
                );
            }
        }
    }
}
