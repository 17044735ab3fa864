//! Migrations: complete, in step on both engines, and never edited once they have landed.

use std::collections::BTreeSet;
use std::path::Path;

use sqlx::migrate::Migrator;

use crate::sql::migrations::{postgres, sqlite};
use crate::sql::store::migrate_file;

/// The first bytes of the checksums of every file that has landed, SQLite's and Postgres's. A database that
/// ran the file refuses to start with another text of it: add a file, never edit one.
const LANDED: &[(&str, &str, &str)] = &[
    ("0001_conversations", "569cbe47daff", "7b780397f283"),
    ("0002_webchat", "9b76f101ea58", "34b7e3750dc4"),
    ("0003_users", "fb98ff85da0e", "66ad5ae75a37"),
    ("0004_identity", "42a90d23e005", "991cbb6f5b66"),
    ("0005_audit", "57643a7e6dbd", "19ef35a79404"),
    ("0006_router_settings", "a09164865532", "e5c002608a20"),
    ("0007_contacts", "fc059e78b6c3", "69e704a6ed3d"),
    ("0008_builder", "f4fea9586e61", "4fce1872ec93"),
    ("0009_channels", "e39b947c199d", "22db8a974a24"),
    ("0010_people", "f722ebef2c10", "8b33e5464209"),
    ("0011_trace_router", "55cde968662c", "f75c0c2e5f67"),
    ("0012_dead_letter", "f288b437f486", "21f42d3ea194"),
    ("0013_channel", "6ad89da89df5", "9e55cc958b21"),
    ("0014_contact_filter", "d3a924f40ed5", "e23be5a8de6d"),
    ("0015_reference_indexes", "493191170c8c", "493191170c8c"),
    ("0016_order", "0870b6cbe13d", "cec116d06c36"),
    ("0017_words", "61c3891ab0cf", "61c3891ab0cf"),
    ("0018_event_definition", "d815f2679303", "bbf9dcc23ad4"),
    ("0019_channel_type_mapping", "b166a03d6968", "dd3dc2406482"),
    ("0020_interactive_form", "f619f3a5deae", "169fbddf49ce"),
    ("0021_import_draft", "a658ec40bb01", "a12b50140bee"),
    ("0022_session_owner", "9bc67ba5e21e", "9bc67ba5e21e"),
    ("0023_key_digest", "5b36798a9513", "5b36798a9513"),
    ("0024_session_history", "fe485d7a2ee0", "0354e0a5f552"),
    ("0025_chain", "9bad899f2319", "2f17bb663929"),
    ("0026_audit_pairs", "73323a5943e0", "73323a5943e0"),
    ("0027_stream_index", "0087ad9b00d8", "4aad8e1e30a0"),
    ("0028_start_on", "6dc1d59b87c8", "6dc1d59b87c8"),
    ("0029_fallback", "3d2ede0f321c", "021aeb7ac366"),
    ("0030_definition_text", "6a97b6f4fe06", "6a97b6f4fe06"),
    ("0031_provider_message", "b78aaf560e9c", "e831ec98cd35"),
    ("0032_phone_webhook", "5cb10590207f", "5cb10590207f"),
    ("0033_outbound", "68611ac802d5", "f6baed421313"),
    ("0034_phone_fences", "95e2c0f272ad", "cd9ee639d6a3"),
    ("0035_dispatch", "f64c53b35db1", "87f01f20212c"),
    ("0036_window", "711a38d9f0d6", "98c487f79c09"),
    ("0037_phone_options", "7017289ac90b", "f6635e92b4fe"),
    ("0038_template_news", "382cebe4dc5e", "382cebe4dc5e"),
    ("0039_form_flow", "77afdba30b89", "77afdba30b89"),
    ("0040_media", "f3b8b93a5b0f", "8601fc9184f2"),
    ("0041_attachments", "76c9b38ae7af", "ae88fc4c60fc"),
    ("0042_send_priority", "dd0488a3953c", "c49b85591044"),
    ("0043_outbound_contact", "16e4f0626c98", "16e4f0626c98"),
    ("0044_number_claim", "7861d4b7b6e1", "d1a28d9b5f7e"),
    ("0045_helpdesk", "62c64dca252f", "e51b36042347"),
    ("0046_queue_hours", "89897a931457", "99ee80300310"),
    ("0047_reply_to_queue", "bfdd8c0f239e", "83cd37a3ad1a"),
    ("0048_tags_and_quick_replies", "2c9f71c72eb5", "20c84cab3498"),
    ("0049_ticket_changes", "4319a9d5bf83", "4319a9d5bf83"),
    ("0050_agent_group", "f57ae88f833a", "3445843cdc31"),
    ("0051_ticket_note", "9d3caffcc699", "5e1477f9669c"),
    ("0052_desk_view", "3c02180e4cbd", "1fece5fc8c48"),
    ("0053_ticket_board", "b6ad01532ce8", "b6ad01532ce8"),
    ("0054_webhook", "2d689b65e3b7", "e358be7baeda"),
    ("0055_close_reason", "8262f45dc847", "bfcbe00741ac"),
    ("0056_waiting_notice", "5a57ad3880bc", "95782cac5a9d"),
    ("0057_ticket_offer", "a0c84c284686", "4a9c44a6c3f0"),
    ("0058_delivery_chat", "4b79e147c108", "4b79e147c108"),
    ("0059_service_level", "6b2256cd5d0f", "e4355a46076d"),
    ("0060_survey", "6d3828cb4ceb", "9585a30290e4"),
    ("0061_webhook_secret", "8b737ec7345b", "2ffe025354ac"),
    ("0062_ai_agent", "2d5105dbfe44", "f4fca8e0da51"),
    ("0063_agent_turn", "126faf9061d7", "c06e899ca676"),
    ("0064_ai_ticket", "742920c5f842", "00f256390dd6"),
    ("0065_agent_usage", "c15b31a134c3", "57d016dbeb7c"),
    ("0066_knowledge", "c861691728a6", "6652efad122c"),
    ("0067_summary", "b0f34b3b57bd", "a269a3674654"),
    ("0068_ticket_to_claim", "334f30035190", "76a55d511806"),
    ("0069_guardrail_rules", "80a8a573180b", "f039f3d83f9f"),
    ("0070_ticket_handoff", "6a659cfad1fb", "a094533dc138"),
    ("0071_knowledge_address", "0a6ec547bdf3", "50b2499844f7"),
    ("0072_model_work", "85bedb5725e7", "f742da2c9ad7"),
    ("0073_turn_pages", "b94cd174dee8", "32785bdb07de"),
];

fn names(migrator: &Migrator) -> Vec<(i64, String)> {
    migrator.iter().map(|migration| (migration.version, migration.description.to_string())).collect()
}

fn checksums(migrator: &Migrator) -> Vec<String> {
    let hex = |bytes: &[u8]| bytes.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    migrator.iter().map(|migration| hex(&migration.checksum)).collect()
}

#[test]
fn landed_files_were_not_edited() {
    let (sqlite, postgres) = (checksums(&sqlite()), checksums(&postgres()));
    let found: Vec<_> = sqlite.iter().zip(&postgres).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let landed: Vec<_> = LANDED.iter().map(|(_, a, b)| (*a, *b)).collect();
    assert_eq!(found, landed);
}

#[test]
fn both_engines_have_the_same_migrations_and_every_file_is_one() {
    assert_eq!(names(&sqlite()), names(&postgres()));
    let listed: BTreeSet<_> = names(&sqlite()).into_iter().map(|(_, name)| format!("{name}.sql")).collect();
    assert_eq!(listed, LANDED.iter().map(|(name, ..)| format!("{name}.sql")).collect());
    for (number, name) in names(&sqlite()) {
        assert!(name.starts_with(&format!("{number:04}_")), "{number} {name}");
    }
    for engine in ["sqlite", "postgres"] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(engine);
        let files = std::fs::read_dir(directory).expect("a directory");
        let files: BTreeSet<_> =
            files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        assert_eq!(files, listed, "{engine}");
    }
}

#[tokio::test]
async fn an_upgrade_that_fails_leaves_the_file_as_it_was() {
    let mut connection = super::sqlite().await;
    super::before(&sqlite(), 22).run_direct(None, &mut connection, false).await.expect("migrated");
    // 22 succeeds, and 23 adds the column again.
    let column = "ALTER TABLE webchat_identity ADD COLUMN session_key_digest TEXT";
    sqlx::raw_sql(column).execute(&mut connection).await.expect("altered");
    migrate_file(&mut connection).await.expect_err("the column is there");
    let last: (i64,) = sqlx::query_as("SELECT MAX(version) FROM _sqlx_migrations")
        .fetch_one(&mut connection)
        .await
        .expect("the last migration");
    assert_eq!(last.0, 21);
    let column = "ALTER TABLE webchat_identity DROP COLUMN session_key_digest";
    sqlx::raw_sql(column).execute(&mut connection).await.expect("altered");
    migrate_file(&mut connection).await.expect("migrated");
}

#[tokio::test]
async fn an_empty_database_is_migrated_and_a_migrated_one_left_alone() {
    let mut connection = super::sqlite().await;
    for _ in 0..2 {
        sqlite().run_direct(None, &mut connection, false).await.expect("migrated");
        let applied: (i64,) = sqlx::query_as("SELECT COUNT(*) FROM _sqlx_migrations")
            .fetch_one(&mut connection)
            .await
            .expect("count");
        assert_eq!(applied.0, LANDED.len() as i64);
    }
    let Some(mut connection) = super::postgres().await else {
        return super::skipped("an_empty_database_is_migrated");
    };
    for _ in 0..2 {
        postgres().run_direct(None, &mut connection, false).await.expect("migrated");
        let applied: (i64,) = sqlx::query_as("SELECT COUNT(*) FROM _sqlx_migrations")
            .fetch_one(&mut connection)
            .await
            .expect("count");
        assert_eq!(applied.0, LANDED.len() as i64);
    }
}
