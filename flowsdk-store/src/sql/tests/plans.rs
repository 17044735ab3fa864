//! Statements walk the indices that are meant for them. On SQLite, whose plans depend on the text alone;
//! those of Postgres depend on the stored rows.

use flowsdk_core::chat::Chat;
use flowsdk_core::contact::Contact;
use flowsdk_core::context::OpContext;
use flowsdk_core::prelude::*;
use flowsdk_core::router::Router;
use flowsdk_core::session::Channel;
use flowsdk_helpdesk::ticket::{HasTickets as _, Ticket, TicketKind};
use sqlx::{AssertSqlSafe, PgConnection, Row as _, SqliteConnection};

use crate::sql::list::{ListSql, Routers};
use crate::sql::statement::Sql;
use crate::sql::{
    agent_inbox, agent_turn, api_client, audit, broker, channel_number, chat_catalog, contact_catalog,
    contact_search, dead_letter, flow_catalog, group, integration, knowledge, llm_credential, message,
    opt_in_catalog, router, saved_filter, session, session_catalog, template, user, user_device, variable,
    webchat_catalog,
};

async fn steps(connection: &mut SqliteConnection, sql: Sql) -> Vec<String> {
    let text = format!("EXPLAIN QUERY PLAN {}", sql.sqlite);
    let plan: Vec<(i64, i64, i64, String)> =
        sqlx::query_as(AssertSqlSafe(text)).fetch_all(connection).await.expect("a plan");
    plan.into_iter().map(|(.., step)| step).collect()
}

fn sorts(steps: &[String]) -> usize {
    steps.iter().filter(|step| step.contains("TEMP B-TREE")).count()
}

#[tokio::test]
async fn every_list_of_the_audit_log_walks_an_index_in_order() {
    let mut connection = super::migrated_sqlite().await;
    let mut seen = 0;
    for (routers, filters, sql) in audit::LIST.shapes() {
        // The first three are the range of ids and times.
        let [.., actor, failure, entity_type, action, success] = filters[..] else { panic!("{filters:?}") };
        if failure && success {
            continue;
        }
        seen += 1;
        let steps = steps(&mut connection, sql).await;
        let filtered = actor || failure || entity_type || action || success;
        let pair = actor && action;
        let columns = usize::from(routers != Routers::All) + usize::from(filtered) + usize::from(pair);
        let of_failures = pair && failure && routers == Routers::All;
        let walks = |step: &String| {
            step.starts_with("SEARCH audit_log USING ")
                && step.contains("id>? AND id<?")
                && step.matches("=?").count() == columns
                && step.contains("audit_log_failures_by_actor_and_action") == of_failures
        };
        assert!(steps.iter().any(walks), "{routers:?} {filters:?}: {steps:#?}");
        // Only the rows of several routers are put in order afterwards.
        let expected = usize::from(routers == Routers::Several);
        assert_eq!(sorts(&steps), expected, "{routers:?} {filters:?}: {steps:#?}");
    }
    assert_eq!(seen, 3 * 3 * 8);
}

type Shapes = (&'static str, Vec<(Routers, Vec<bool>, Sql)>);

fn shapes<F>(list: &ListSql<F>) -> Shapes {
    (list.table(), list.shapes())
}

#[tokio::test]
async fn lists_of_parts_of_routers_walk_an_index_in_order() {
    let mut connection = super::migrated_sqlite().await;
    let lists = [
        shapes(&channel_number::LIST),
        shapes(&template::TABLE.list),
        shapes(&llm_credential::LIST),
        shapes(&integration::LIST),
        shapes(&webchat_catalog::LIST),
        shapes(&saved_filter::TABLE.list),
        shapes(&crate::sql::import_draft::LIST),
        shapes(&crate::sql::interactive_form::TABLE.list),
        shapes(&crate::sql::channel_type_mapping::TABLE.list),
        shapes(&crate::sql::event_definition::TABLE.list),
        shapes(&crate::sql::queue::TABLE.list),
        shapes(&crate::sql::desk_agent::TABLE.list),
        shapes(&crate::sql::distribution_rule::TABLE.list),
        shapes(&crate::sql::quick_reply::TABLE.list),
        shapes(&crate::sql::agent_group::TABLE.list),
        shapes(&crate::sql::tag::TABLE.list),
        shapes(&crate::sql::close_reason::TABLE.list),
        shapes(&crate::sql::model_price::TABLE.list),
        shapes(&crate::sql::webhook::TABLE.list),
        shapes(&knowledge::TABLE.list),
    ];
    let mut seen = 0;
    for (table, shapes) in lists {
        for (routers, filters, sql) in shapes {
            seen += 1;
            let steps = steps(&mut connection, sql).await;
            let index = match routers {
                Routers::All => format!("SEARCH {table} USING INDEX {table}_newest ((created_at,id)<(?,?))"),
                Routers::One => format!(
                    "SEARCH {table} USING INDEX {table}_by_router (router_id=? AND (created_at,id)<(?,?))"
                ),
                // The rows of several routers are put in order afterwards.
                Routers::Several => format!("SEARCH {table} USING COVERING INDEX {table}_by_router"),
            };
            let covering = index.replace("COVERING ", "");
            let walks = |step: &String| step.starts_with(&index) || step.starts_with(&covering);
            assert!(steps.iter().any(walks), "{table} {routers:?} {filters:?}: {steps:#?}");
            let sorted = sorts(&steps) > 0;
            assert!(!sorted || routers == Routers::Several, "{table} {routers:?} {filters:?}: {steps:#?}");
        }
    }
    assert_eq!(
        seen,
        3 + 3 * 8 + 1 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 * 2 + 3 * 2
    );
}

/// No list scans its table. The versions of a flow are few and are put in order.
#[tokio::test]
async fn every_list_of_the_administration_walks_an_index_in_order() {
    let mut connection = super::migrated_sqlite().await;
    let lists = [
        shapes(&session_catalog::LIST),
        shapes(&session_catalog::LIST_FROZEN),
        shapes(&chat_catalog::LIST),
        shapes(&contact_catalog::LIST),
        shapes(&opt_in_catalog::HISTORY),
        shapes(&opt_in_catalog::CURRENT),
        shapes(&dead_letter::LIST),
        shapes(&crate::sql::media::LIST),
        shapes(&crate::sql::ticket::LIST),
        shapes(&crate::sql::report::LIST),
        shapes(&crate::sql::stuck_handoff::LIST),
        shapes(&agent_turn::LIST),
        shapes(&crate::sql::ai_budget::TABLE.list),
        shapes(&user::LIST),
        shapes(&group::LIST),
        shapes(&api_client::LIST),
        shapes(&user_device::LIST),
        shapes(&router::LIST),
        shapes(&flow_catalog::LIST),
        shapes(&flow_catalog::VERSIONS),
        shapes(&variable::LIST_OF_ROUTER),
        shapes(&variable::LIST_OF_FLOW),
    ];
    for (table, shapes) in lists {
        for (routers, filters, sql) in shapes {
            if table == "contact_opt_in" && routers == Routers::All && filters != [true] {
                // Opt-ins are asked for by contact or by router.
                continue;
            }
            let steps = steps(&mut connection, sql).await;
            let scans = steps.iter().any(|step| step.starts_with("SCAN") && step.contains(table));
            assert!(!scans, "{table} {routers:?} {filters:?}: {steps:#?}");
            // The rows of several routers, or of a table of theirs, are put in order afterwards.
            let most = match (routers, table) {
                (Routers::All, "flow_version") => 1,
                (Routers::All, _) => 0,
                (Routers::One, _) => usize::from(table == "contact"),
                (Routers::Several, _) => 2 + usize::from(table == "contact"),
            };
            assert!(sorts(&steps) <= most, "{table} {routers:?} {filters:?}: {steps:#?}");
        }
    }
}

/// What the desk asks all the time reads open tickets only, however many are closed.
#[tokio::test]
async fn the_desk_reads_open_tickets_only() {
    let mut connection = super::migrated_sqlite().await;
    let mut seen = 0;
    let claims = crate::sql::ticket_claim::statements();
    for (name, sql) in crate::sql::ticket::statements().into_iter().chain(claims) {
        let index = match name {
            "CLAIM_WAITING" | "CLAIM_OLDEST_FOR" | "QUEUES_TO_DISTRIBUTE" | "QUEUES_TO_DISTRIBUTE_TO" => {
                "ticket_by_queue_status (queue_id=? AND status=?"
            }
            "COUNT_OPEN_IN" | "OPEN_IN" | "WAITING_IN" => "ticket_by_queue_status (queue_id=? AND status=?",
            "LOADS" => "ticket_of_agent (router_id=? AND assigned_user_id=?",
            "LOADS_OF" => "ticket_by_user_status (assigned_user_id=? AND status=?",
            "OPEN_OF_CHATS" => "ticket_open_of_chat (chat_id=?",
            "NOTE_CONTACT" => "ticket_open_of_session (session_id=?",
            "CLAIM_ABANDONED" => "ticket_waiting (queue_id=? AND contact_wrote_at<?",
            "CLAIM_TO_NOTIFY" => "ticket_waiting (queue_id=? AND contact_wrote_at>?",
            "TAKEN_IN" => "ticket_by_queue_taken (queue_id=? AND assigned_at>?",
            "CLAIM_UNANSWERED" => "ticket_offer_end (offer_ends_at<?",
            "CLAIM_OVERDUE" => "ticket_service_next (service_next_at<?",
            "SURVEYS_OF" => "ticket_survey_of_session (session_id=?",
            "CLAIM_ENDED_SURVEYS" => "ticket_survey_end (survey_ends_at<?",
            "CLAIM_LOST" => "ticket_by_status (status=?",
            _ => continue,
        };
        seen += 1;
        let steps = steps(&mut connection, sql).await;
        assert!(steps.iter().any(|step| step.contains(index)), "{name}: {steps:#?}");
        let scans = |step: &String| step.starts_with("SCAN ticket");
        assert!(!steps.iter().any(scans), "{name}: {steps:#?}");
    }
    assert_eq!(seen, 19);
}

/// Reports read the tickets of their period only, and of their routers if they are not about all.
#[tokio::test]
async fn reports_read_the_tickets_of_their_period_only() {
    let mut connection = super::migrated_sqlite().await;
    let mut seen = 0;
    for (name, sql) in crate::sql::report::statements() {
        if !name.starts_with("BY_") && !name.starts_with("TOTAL") {
            continue;
        }
        seen += 1;
        let walk = if name.ends_with("_OF") {
            "SEARCH ticket USING INDEX ticket_by_router (router_id=? AND created_at>? AND created_at<?)"
        } else {
            "SEARCH ticket USING INDEX ticket_newest (created_at>? AND created_at<?)"
        };
        let steps = steps(&mut connection, sql).await;
        assert!(steps.iter().any(|step| step == walk), "{name}: {steps:#?}");
    }
    assert_eq!(seen, 10);
    for (routers, _, sql) in crate::sql::report::LIST.shapes() {
        let walk = match routers {
            Routers::All => "INDEX ticket_newest ((created_at,id)>(?,?) AND created_at<?)",
            Routers::One | Routers::Several => {
                "INDEX ticket_by_router (router_id=? AND (created_at,id)>(?,?) AND created_at<?)"
            }
        };
        let steps = steps(&mut connection, sql).await;
        assert!(steps.iter().any(|step| step.ends_with(walk)), "{routers:?}: {steps:#?}");
    }
}

/// What models used is read by its days, and within the routers that are asked for.
#[tokio::test]
async fn reports_on_models_read_the_days_of_their_period_only() {
    let mut connection = super::migrated_sqlite().await;
    use crate::sql::{ai_budget, model_price, model_usage};
    for (sql, walk) in [
        (model_usage::REPORT, "SEARCH model_usage USING INDEX model_usage_by_day (day>? AND day<?)"),
        (
            model_usage::REPORT_OF,
            "SEARCH model_usage USING INDEX sqlite_autoindex_model_usage_1 (router_id=? AND day>? AND day<?)",
        ),
        (model_usage::REPORT_OF, "SEARCH model_call USING INDEX model_call_by_router (router_id=?)"),
        (model_usage::FORGET, "SEARCH model_usage USING INDEX model_usage_by_day (day<?)"),
        (
            ai_budget::IN_FORCE,
            "SEARCH router_spending USING INDEX sqlite_autoindex_router_spending_1 (router_id=? AND month=?) LEFT-JOIN",
        ),
        (ai_budget::OF_ROUTER, "SEARCH ai_budget USING INDEX ai_budget_of_router (router_id=?)"),
        (
            ai_budget::OF_ROUTER,
            "SEARCH router_spending USING INDEX sqlite_autoindex_router_spending_1 (router_id=? AND month=?) LEFT-JOIN",
        ),
        (
            ai_budget::SPENT,
            "SEARCH router_spending USING INDEX sqlite_autoindex_router_spending_1 (router_id=? AND month=?)",
        ),
        (
            model_price::OF_MODELS,
            "SEARCH model_price USING INDEX model_price_of_model (router_id=? AND model=?)",
        ),
    ] {
        let steps = steps(&mut connection, sql).await;
        assert!(steps.iter().any(|step| step == walk), "{walk}: {steps:#?}");
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
    assert_eq!(seen, 7);
}

#[tokio::test]
async fn superseded_test_versions_are_looked_for_in_the_sessions_of_test_channels_only() {
    let mut connection = super::migrated_sqlite().await;
    let purge = crate::sql::flow_catalog::statements();
    let (_, purge) = purge.into_iter().find(|(name, _)| *name == "PURGE_TEST_VERSIONS").expect("listed");
    let text = format!("EXPLAIN QUERY PLAN {}", purge.sqlite);
    let plan: Vec<(i64, i64, i64, String)> =
        sqlx::query_as(AssertSqlSafe(text)).fetch_all(&mut connection).await.expect("a plan");
    let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
    let walks = |index: &str| steps.iter().any(|step| step.starts_with("SEARCH") && step.contains(index));
    assert!(walks("webchat_channel_by_router") && walks("(id>? AND id<?)"), "{steps:#?}");
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

#[tokio::test]
async fn the_route_of_a_turn_is_two_look_ups_by_primary_key() {
    let mut connection = super::migrated_sqlite().await;
    let steps = steps(&mut connection, crate::sql::channel::FIND_ROUTES).await;
    let looks_up = |table: &str| {
        steps
            .iter()
            .filter(|step| step.starts_with(&format!("SEARCH {table} ")))
            .all(|step| step.ends_with("(id=?)"))
            && steps.iter().any(|step| step.starts_with(&format!("SEARCH {table} ")))
    };
    assert!(looks_up("channel") && looks_up("router"), "{steps:#?}");
    assert!(
        !steps.iter().any(|step| step.starts_with("SCAN channel") || step.starts_with("SCAN router")),
        "{steps:#?}"
    );
}

/// One of 32 messages is in the index, and the others are found one by one from there, as far as they are asked for.
#[tokio::test]
async fn the_messages_of_a_chat_are_read_along_their_chain() {
    let mut connection = super::migrated_sqlite().await;
    let statements = crate::sql::message::statements();
    for name in ["HISTORY", "HEARD", "OUTGOING", "OUTGOING_IDS"] {
        let (_, sql) = statements.iter().find(|(one, _)| *one == name).expect("listed");
        let steps = steps(&mut connection, *sql).await;
        let begins = "SEARCH message USING COVERING INDEX message_in_chat (chat_id=? AND seq>?)";
        for step in ["CO-ROUTINE back", begins, "SEARCH message USING PRIMARY KEY (id=?)"] {
            assert!(steps.iter().any(|one| one == step), "{name}: {step}: {steps:#?}");
        }
        assert!(
            !steps.iter().any(|step| step.starts_with("SCAN") && step != "SCAN back"),
            "{name}: {steps:#?}"
        );
    }
}

/// A page of contacts with a word is at the end of its part of the index, and the words of a term are one step each.
#[tokio::test]
async fn the_contacts_of_a_word_are_walked_newest_first() {
    let mut connection = super::migrated_sqlite().await;
    let search = steps(&mut connection, contact_search::SEARCH_WORDS).await;
    let walk = "SEARCH w USING COVERING INDEX contact_word_search (word=? AND (created_at,contact_id)<(?,?))";
    assert!(search.iter().any(|step| step == walk), "{search:#?}");
    // The merged page is made distinct, and is put in order twice; the walk is not.
    assert_eq!(sorts(&search), 3, "{search:#?}");
    let words = steps(&mut connection, contact_search::WORDS).await;
    let looks_up =
        |step: &&String| step.contains("USING COVERING INDEX contact_word_search (word>? AND word<?)");
    assert_eq!(words.iter().filter(looks_up).count(), 2, "{words:#?}");
}

#[tokio::test]
async fn the_chat_of_a_visitor_is_found_among_their_own() {
    let mut connection = super::migrated_sqlite().await;
    let statements = crate::sql::webchat::statements();
    let (_, sql) = statements.iter().find(|(one, _)| *one == "FIND_CHAT").expect("listed");
    let steps = steps(&mut connection, *sql).await;
    let by_contact = "SEARCH chat USING INDEX chat_by_contact (contact_id=?)";
    assert!(steps.iter().any(|step| step == by_contact), "{steps:#?}");
    let channel = |step: &String| step.starts_with("SEARCH webchat_channel ") && step.contains("(id=?)");
    assert!(steps.iter().any(channel), "{steps:#?}");
    assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:#?}");
}

/// An index holds router, name and time, so that no event is read for its count.
#[tokio::test]
async fn tracked_events_are_counted_in_an_index() {
    let mut connection = super::migrated_sqlite().await;
    let statements = crate::sql::event_definition::statements();
    for name in ["OCCURRENCES", "OCCURRENCES_OF_NAMES", "TRACKED_NAMES"] {
        let (_, sql) = statements.iter().find(|(one, _)| *one == name).expect("listed");
        let steps = steps(&mut connection, *sql).await;
        let events: Vec<_> = steps.iter().filter(|step| step.contains(" e ")).collect();
        let walks = |step: &&String| {
            step.starts_with("SEARCH e USING COVERING INDEX flow_event_by_name (router_id=?")
        };
        assert!(events.len() == 2 && events.iter().all(walks), "{name}: {steps:#?}");
    }
}

/// Sessions that an agent or a human has are found without reading those of flows, whatever routers are asked for.
#[tokio::test]
async fn sessions_of_agents_and_humans_are_found_among_their_own() {
    let mut connection = super::migrated_sqlite().await;
    let mut seen = 0;
    for (routers, filters, sql) in session_catalog::LIST.shapes() {
        // Flow, another owner, contact, flow id.
        let [false, true, false, _] = filters[..] else { continue };
        seen += 1;
        let steps = steps(&mut connection, sql).await;
        let walks = |step: &String| {
            step.starts_with("SEARCH session USING INDEX session_owner (mode=? AND (began_at,id)<(?,?)")
                || step.starts_with("SEARCH session USING COVERING INDEX session_owner (mode=? AND")
        };
        assert!(steps.iter().any(walks), "{routers:?} {filters:?}: {steps:#?}");
    }
    assert_eq!(seen, 3 * 2);
}

#[tokio::test]
async fn sessions_that_are_due_are_read_in_the_order_of_an_index() {
    let mut connection = super::migrated_sqlite().await;
    let statements = crate::sql::session::statements();
    let (_, sql) = statements.iter().find(|(one, _)| *one == "DUE").expect("listed");
    let steps = steps(&mut connection, *sql).await;
    assert!(steps.iter().any(|step| step.contains("INDEX session_wake (")), "{steps:#?}");
    assert_eq!(sorts(&steps), 0, "{steps:#?}");
}

/// A page is a range of the primary key in its order, and the last chunk of a list is one step from its end.
#[tokio::test]
async fn the_history_of_a_session_is_read_in_the_order_of_its_numbers() {
    let mut connection = super::migrated_sqlite().await;
    let page = steps(&mut connection, crate::sql::session_history::CHUNKS).await;
    assert_eq!(
        page,
        ["SEARCH session_history USING PRIMARY KEY (session_id=? AND kind=? AND first_number<?)"]
    );
    let last = steps(&mut connection, crate::sql::session_history::LAST).await;
    let by_session = |step: &String| step == "SEARCH chunk USING PRIMARY KEY (session_id=?)";
    let by_kind = |step: &String| step == "SEARCH last USING PRIMARY KEY (session_id=? AND kind=?)";
    assert!(last.iter().any(by_session) && last.iter().any(by_kind), "{last:#?}");
    assert_eq!(sorts(&last), 0, "{last:#?}");
}

#[tokio::test]
async fn knowledge_is_found_by_its_indices() {
    let mut connection = super::migrated_sqlite().await;
    for (sql, walk) in [
        (knowledge::KNOWN, "INDEX knowledge_document_ready (router_id=?)"),
        (knowledge::DOCUMENTS, "INDEX knowledge_document_ready (router_id=? AND embedded_by=?)"),
        (knowledge::MODELS, "COVERING INDEX knowledge_document_ready"),
        (knowledge::DUE, "INDEX knowledge_work_due (due_at<?)"),
        (knowledge::TEXTS, "(document_id=? AND place>?)"),
        (knowledge::VECTORS, "(document_id=? AND place>? AND place<?)"),
        (knowledge::WINNERS, "(document_id=? AND place=?)"),
    ] {
        let steps = steps(&mut connection, sql).await;
        assert!(steps.iter().any(|step| step.contains(walk)), "{walk}: {steps:#?}");
        assert_eq!(sorts(&steps), 0, "{walk}: {steps:#?}");
    }
}

/// Plans are kept, so one that was made for an empty table must be good for a full one.
#[tokio::test]
async fn statements_of_turns_on_postgres_walk_an_index_of_an_empty_table() {
    let Some(url) = super::new_postgres().await else { return super::skipped("plans") };
    let store =
        crate::sql::SqlStore::connect(&url.parse().expect("a URL"), crate::sql::OutboxRoutes::relayed())
            .await
            .expect("a store");
    let mut connection = store.postgres().expect("of Postgres").acquire().await.expect("a connection");
    sqlx::raw_sql("SET plan_cache_mode = force_generic_plan").execute(&mut *connection).await.expect("set");
    let statements = [
        (broker::READ, 6, "stream_entry_read"),
        (broker::READ_LEFT, 5, "stream_entry_read"),
        (broker::ACK, 2, "stream_entry_pkey"),
        (message::ADVANCE, 4, "message_pkey"),
        (message::FIND_BY_PROVIDER_ID, 1, "message_provider_id"),
        (message::LAST, 1, "chat_pkey"),
        (session::FIND_FOR_UPDATE, 1, "session_pkey"),
        (agent_inbox::WAITING, 1, "agent_inbox_waiting"),
        (agent_inbox::OF_SESSIONS, 1, "agent_inbox_by_session"),
        (agent_turn::RUNNING, 1, "agent_turn_running"),
        (agent_turn::SESSIONS_RUNNING, 1, "agent_turn_running"),
        (agent_turn::OF_ACTIVATION, 4, "agent_turn_by_session"),
        (agent_turn::PAST, 2, "agent_turn_by_session"),
        (knowledge::DUE, 3, "knowledge_work_due"),
        (knowledge::TEXTS, 3, "knowledge_chunk_pkey"),
        (knowledge::VECTORS, 3, "knowledge_chunk_pkey"),
    ];
    for (sql, binds, index) in statements {
        let nulls = vec!["NULL"; binds].join(", ");
        let text =
            format!("PREPARE tried AS {}; EXPLAIN EXECUTE tried ({nulls}); DEALLOCATE tried", sql.postgres);
        let rows = sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(&mut *connection).await.expect("a plan");
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let of_table = index.rsplit_once('_').map_or(index, |(table, _)| table);
        assert!(plan.iter().any(|step| step.contains(&format!(" {index} "))), "{index}: {plan:#?}");
        assert!(!plan.iter().any(|step| step.contains(&format!("Seq Scan on {of_table} "))), "{plan:#?}");
    }
}

/// However many tickets wait, and whatever the statistics say of them, no more are read than are claimed. The index has them
/// in order, so none is put in order to find the oldest.
#[tokio::test]
async fn waiting_tickets_are_claimed_on_postgres_along_their_index() {
    let Some(url) = super::new_postgres().await else { return super::skipped("the plans of claims") };
    let url = url.parse().expect("a URL");
    let store =
        crate::sql::SqlStore::connect(&url, crate::sql::OutboxRoutes::relayed()).await.expect("a store");
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let router = Router::new("r1".parse().expect("an id"), "Shop", cx.now());
    tx.routers().insert(&router).await.expect("a router");
    let contact = Contact::create(&cx, "wc-c1-ana".to_owned(), "Ana".to_owned(), Channel::Webchat);
    let contact = tx.contacts().insert_or_get(&contact).await.expect("a contact").id;
    let chat = Chat::open(&cx, contact.clone(), router.id.clone());
    let chat = tx.chats().open_or_get_many(&[chat]).await.expect("a chat").remove(0).id;
    let id = "t0".parse().expect("an id");
    let ticket = Ticket::opened(id, router.id, (chat, contact), "q0".parse().expect("an id"), cx.now());
    // The index that allows a chat one of those is dropped below.
    let ticket = Ticket { kind: TicketKind::Ai, ..ticket };
    tx.tickets().insert_many(&[ticket]).await.expect("a ticket");
    tx.commit().await.expect("commit");
    let mut connection = store.postgres().expect("of Postgres").acquire().await.expect("a connection");
    sqlx::raw_sql("DROP INDEX ticket_open_of_agents").execute(&mut *connection).await.expect("dropped");
    let copies = |status: &str| {
        format!(
            "INSERT INTO ticket SELECT (jsonb_populate_record(ticket, jsonb_build_object('id', '{status}' || nth,
                'status', '{status}', 'queue_id', 'q' || nth % 3, 'created_at', ticket.created_at + nth))).*
             FROM ticket, generate_series(1, 30000) AS nth WHERE ticket.id = 't0'"
        )
    };
    // Tickets come faster than the statistics are made anew: they know none yet, then closed ones only.
    let steps = [copies("waiting"), "DELETE FROM ticket WHERE id <> 't0'".to_owned(), copies("closed")];
    let fresh = "VACUUM ANALYZE ticket".to_owned();
    for step in steps.into_iter().chain([fresh.clone(), copies("waiting"), fresh]) {
        sqlx::raw_sql(AssertSqlSafe(step.clone())).execute(&mut *connection).await.expect("done");
        for mode in ["force_generic_plan", "force_custom_plan"] {
            let mode_sql = AssertSqlSafe(format!("SET plan_cache_mode = {mode}"));
            sqlx::raw_sql(mode_sql).execute(&mut *connection).await.expect("set");
            claims_walk_their_index(&mut connection, &format!("after {step}, {mode}")).await;
        }
    }
}

async fn claims_walk_their_index(connection: &mut PgConnection, when: &str) {
    for (name, sql) in crate::sql::ticket_claim::statements() {
        let arguments = match name {
            "CLAIM_WAITING" => r#"'[["q1", 100], ["q2", 5]]'"#,
            "CLAIM_OLDEST_FOR" => "'ana', NULL, NULL",
            _ => continue,
        };
        let text = format!(
            "PREPARE tried AS {}; EXPLAIN EXECUTE tried ({arguments}); DEALLOCATE tried",
            sql.postgres
        );
        let rows = sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(&mut *connection).await.expect("a plan");
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let walk = "Index Scan using ticket_to_claim on ticket";
        let walk = plan.iter().position(|step| step.contains(walk));
        let walk = walk.unwrap_or_else(|| panic!("{name} {when}: {plan:#?}"));
        // What stands above it, up to the limit, sees every ticket that it finds.
        let limit = plan[..walk].iter().rposition(|step| step.contains("Limit")).expect("a limit");
        assert!(!plan[limit..walk].iter().any(|step| step.contains("Sort")), "{name} {when}: {plan:#?}");
        let scans = |step: &String| {
            ["Seq Scan on ticket", "Heap Scan on ticket"].iter().any(|scan| step.contains(scan))
        };
        assert!(!plan.iter().any(scans), "{name} {when}: {plan:#?}");
    }
}
