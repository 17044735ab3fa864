//! The schema, in two folders with the same numbers and names. A landed file is never edited.

use std::borrow::Cow;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr as _};

/// Every migration, by number and name.
macro_rules! migrations {
    ($engine:literal) => {
        migrations!($engine: 1 "0001_conversations", 2 "0002_webchat", 3 "0003_users", 4 "0004_identity", 5 "0005_audit",
            6 "0006_router_settings", 7 "0007_contacts", 8 "0008_builder", 9 "0009_channels", 10 "0010_people",
            11 "0011_trace_router", 12 "0012_dead_letter", 13 "0013_channel", 14 "0014_contact_filter", 15 "0015_reference_indexes",
            16 "0016_order", 17 "0017_words", 18 "0018_event_definition", 19 "0019_channel_type_mapping", 20 "0020_interactive_form",
            21 "0021_import_draft", 22 "0022_session_owner", 23 "0023_key_digest", 24 "0024_session_history", 25 "0025_chain",
            26 "0026_audit_pairs", 27 "0027_stream_index", 28 "0028_start_on", 29 "0029_fallback", 30 "0030_definition_text",
            31 "0031_provider_message", 32 "0032_phone_webhook",
            33 "0033_outbound", 34 "0034_phone_fences", 35 "0035_dispatch",
            36 "0036_window", 37 "0037_phone_options", 38 "0038_template_news", 39 "0039_form_flow", 40 "0040_media",
            41 "0041_attachments", 42 "0042_send_priority", 43 "0043_outbound_contact", 44 "0044_number_claim",
            45 "0045_helpdesk", 46 "0046_queue_hours", 47 "0047_reply_to_queue",
            48 "0048_tags_and_quick_replies", 49 "0049_ticket_changes", 50 "0050_agent_group", 51 "0051_ticket_note",
            52 "0052_desk_view", 53 "0053_ticket_board", 54 "0054_webhook", 55 "0055_close_reason",
            56 "0056_waiting_notice", 57 "0057_ticket_offer", 58 "0058_delivery_chat",
            59 "0059_service_level", 60 "0060_survey", 61 "0061_webhook_secret", 62 "0062_ai_agent",
            63 "0063_agent_turn", 64 "0064_ai_ticket", 65 "0065_agent_usage", 66 "0066_knowledge",
            67 "0067_summary", 68 "0068_ticket_to_claim", 69 "0069_guardrail_rules", 70 "0070_ticket_handoff",
            71 "0071_knowledge_address", 72 "0072_model_work", 73 "0073_turn_pages")
    };
    ($engine:literal: $($number:literal $name:literal),*) => {
        Migrator::with_migrations(vec![$(migration(
            $number,
            $name,
            include_str!(concat!("../../migrations/", $engine, "/", $name, ".sql")),
        )),*])
    };
}

fn migration(number: i64, name: &'static str, text: &'static str) -> Migration {
    let text = AssertSqlSafe(text).into_sql_str();
    Migration::new(number, Cow::Borrowed(name), MigrationType::Simple, text, false)
}

/// Returns the migrations of SQLite.
pub(super) fn sqlite() -> Migrator {
    migrations!("sqlite")
}

/// Returns the migrations of Postgres.
pub(super) fn postgres() -> Migrator {
    migrations!("postgres")
}
