//! Every column that refers to a row, and every secret: deletions, merges, in-use answers and the rotation of keys take
//! their tables from here. A test holds that every foreign key and every column of an id is listed.

use std::sync::OnceLock;

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::in_use::{HasReferences, References, Referred, Referrer};
use flowsdk_core::session::SessionId;

use super::SqlTx;
use super::executor::Conn;
use super::statement::{Sql, sql_per};

/// A column that refers to the rows of a table by their ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference {
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    pub(super) to: &'static str,
    /// The effect on its row of deleting the other one.
    pub(super) on_delete: OnDelete,
    /// The effect on it of merging the other one into another of its table.
    pub(super) on_merge: OnMerge,
    /// The name of the reference where it stands in the way of a deletion.
    pub(super) label: Option<&'static str>,
    /// Whether SQLite finds the rows of the other one by a chain: each names the one before it in `previous`, and the
    /// other one the last in `last_<table>`. Then it has neither key nor index.
    pub(super) is_chained: bool,
}

/// The effect on a row of deleting the row that it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnDelete {
    /// The foreign key deletes it.
    Cascade,
    /// The foreign key leaves it without the reference.
    SetNull,
    /// A statement of [`ends`] deletes it, after its own dependants.
    End,
    /// [`References::detach`] leaves it without the reference.
    Detach,
    /// It goes with something else, or keeps the id of a row that is gone. The reason says which.
    Stays(&'static str),
}

/// The effect on a reference of merging the row that it refers to into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnMerge {
    /// Rows of the table are not merged.
    Never,
    /// It refers to the other one. The text is set too.
    Move(&'static str),
    /// A statement of its own does it, for the reason given.
    Own(&'static str),
}

const fn reference(
    table: &'static str,
    column: &'static str,
    to: &'static str,
    on_delete: OnDelete,
) -> Reference {
    Reference { table, column, to, on_delete, on_merge: OnMerge::Never, label: None, is_chained: false }
}

impl Reference {
    const fn merged(mut self, on_merge: OnMerge) -> Self {
        self.on_merge = on_merge;
        self
    }

    const fn chained(mut self) -> Self {
        self.is_chained = true;
        self
    }

    const fn labelled(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }
}

use OnDelete::{Cascade, Detach, End, SetNull, Stays};
use OnMerge::{Move, Own};

const BY_LIVE_SESSIONS: OnDelete = Stays("the sessions of a router are ended before it is deleted");
const HISTORY: OnDelete = Stays("history: it outlives what it names");

/// In the order in which a deletion takes them.
pub(super) const REFERENCES: &[Reference] = &[
    reference("session", "contact_id", "contact", End).merged(Move(", version = version + 1")),
    reference("flow_event", "contact_id", "contact", End).merged(Move("")),
    reference("chat", "contact_id", "contact", End).merged(Move("")),
    // The key of a delivery is a contact, or a chat.
    reference("webhook_delivery", "key", "contact", End)
        .merged(Own("of a contact that becomes part of another one they go")),
    reference("contact_alias", "contact_id", "contact", Cascade).merged(Move("")),
    reference("contact_opt_in", "contact_id", "contact", Cascade).merged(Move("")),
    reference("webchat_identity", "contact_id", "contact", Cascade).merged(Move("")),
    reference("session_trace", "contact_id", "contact", Cascade).merged(Move("")),
    reference("contact_word", "contact_id", "contact", Cascade)
        .merged(Own("words are made anew of both names")),
    reference("ticket", "contact_id", "contact", Cascade).merged(Move("")),
    reference("contact_router", "contact_id", "contact", Cascade)
        .merged(Own("its key has the time of the contact, and both may be known to a router")),
    reference("frozen_session", "session_id", "session", End),
    reference("kept_entry", "session_id", "session", End),
    reference("session_history", "session_id", "session", Cascade),
    reference("message", "session_id", "session", HISTORY),
    reference("ticket", "session_id", "session", Stays("a sweep closes it, and it is history then")),
    reference("stuck_handoff", "session_id", "session", Stays("it is forgotten when it is tried again")),
    reference("flow_event", "session_id", "session", HISTORY),
    reference("session_trace", "session_id", "session", HISTORY),
    reference("message", "chat_id", "chat", End).chained(),
    reference("broadcast_intent", "message_id", "message", Cascade),
    reference("broadcast_intent", "flow_id", "flow", Cascade),
    reference("broadcast_intent", "router_id", "router", Cascade),
    reference("broadcast_intent", "queue_id", "queue", Cascade),
    reference("broadcast_intent", "user_id", "user_account", SetNull),
    reference("outbound", "message_id", "message", Cascade),
    reference("outbound", "session_id", "session", HISTORY),
    reference("outbound", "contact_id", "contact", Stays("it goes with its message")).merged(Move("")),
    reference("send_attempt", "message_id", "message", Cascade),
    reference("media", "message_id", "message", SetNull),
    reference("media", "session_id", "session", HISTORY),
    reference("media", "router_id", "router", SetNull),
    reference("webhook_delivery", "key", "chat", End),
    reference("chat_tag", "chat_id", "chat", Cascade),
    reference("ticket", "chat_id", "chat", Cascade),
    reference("ticket", "previous_ticket_id", "ticket", SetNull),
    reference(
        "ticket",
        "queue_id",
        "queue",
        Stays("its tickets end before it is deleted, and are history then"),
    ),
    reference("queue_agent", "queue_id", "queue", Cascade),
    reference("queue_agent", "agent_id", "agent", Cascade),
    reference("queue_distribution_rule", "target_queue_id", "queue", Cascade)
        .labelled("queueDistributionRule.targetQueueId"),
    reference("queue_distribution_rule", "flow_id", "flow", Cascade).labelled("queueDistributionRule.flowId"),
    reference("contact_opt_in", "chat_id", "chat", SetNull),
    reference("session", "chat_id", "chat", Stays("chats go with their contact, as sessions do")),
    reference("flow_event", "chat_id", "chat", Stays("chats go with their contact, as events do")),
    reference("router", "initial_flow_id", "flow", SetNull).labelled("router.initialFlowId"),
    reference("webchat_channel", "initial_flow_id", "flow", SetNull).labelled("webchatChannel.initialFlowId"),
    reference("channel", "initial_flow_id", "flow", SetNull),
    reference("interactive_form", "flow_id", "flow", SetNull).labelled("interactiveForm.flowId"),
    reference("flow_version", "flow_id", "flow", Cascade),
    reference("flow_draft", "flow_id", "flow", Cascade),
    reference("flow_variable", "flow_id", "flow", Cascade),
    reference("flow_event", "flow_id", "flow", HISTORY),
    reference("flow", "published_version_id", "flow_version", Stays("a flow is deleted with its versions")),
    reference("flow", "test_version_id", "flow_version", Stays("a flow is deleted with its versions")),
    reference("session", "router_id", "router", BY_LIVE_SESSIONS),
    reference("frozen_session", "router_id", "router", BY_LIVE_SESSIONS),
    reference("chat", "router_id", "router", SetNull),
    reference("flow", "router_id", "router", Cascade),
    reference("flow_version", "router_id", "router", Cascade),
    reference("router_variable", "router_id", "router", Cascade),
    reference("channel", "router_id", "router", Cascade),
    reference("webchat_channel", "router_id", "router", Cascade),
    reference("channel_number", "router_id", "router", Cascade),
    reference("message_template", "router_id", "router", Cascade),
    reference("integration", "router_id", "router", Cascade),
    reference("contact_filter", "router_id", "router", Cascade),
    reference("import_draft_file", "draft_id", "import_draft", Cascade),
    reference("import_draft", "router_id", "router", Cascade),
    reference("interactive_form_definition", "form_id", "interactive_form", Cascade),
    reference("number_pause", "phone_number_id", "channel_number", Cascade),
    reference("interactive_form", "channel_number_id", "channel_number", SetNull),
    reference("interactive_form", "router_id", "router", Cascade),
    reference("channel_type_mapping", "router_id", "router", Cascade),
    reference("event_definition", "router_id", "router", Cascade),
    reference("agent", "router_id", "router", Cascade),
    reference("agent", "group_id", "agent_group", SetNull),
    reference("agent_group", "router_id", "router", Cascade),
    reference("queue", "router_id", "router", Cascade),
    reference("queue_distribution_rule", "router_id", "router", Cascade),
    reference("ticket", "router_id", "router", Cascade),
    reference("tag", "router_id", "router", Cascade),
    reference("close_reason", "router_id", "router", Cascade),
    reference("ticket_note", "router_id", "router", Cascade),
    reference("ticket_note", "chat_id", "chat", Cascade),
    reference("ticket_note", "ticket_id", "ticket", Cascade),
    reference("ticket_note", "author_user_id", "user_account", HISTORY),
    reference("quick_reply", "router_id", "router", Cascade),
    reference("quick_reply", "queue_id", "queue", Cascade).labelled("quickReply.queueId"),
    reference("stuck_handoff", "router_id", "router", Cascade),
    reference("webhook", "router_id", "router", Cascade),
    reference("webhook_delivery", "webhook_id", "webhook", Cascade),
    reference("webhook_attempt", "delivery_id", "webhook_delivery", Cascade),
    reference("contact_opt_in", "router_id", "router", Cascade),
    reference("contact_router", "router_id", "router", Cascade),
    reference("flow_event", "router_id", "router", Cascade),
    reference("session_trace", "router_id", "router", Cascade),
    reference("dead_letter", "router_id", "router", Cascade),
    reference("audit_log", "router_id", "router", HISTORY),
    reference("router", "llm_credential_id", "llm_credential", Detach).labelled("router.llmCredentialId"),
    reference("ai_agent", "router_id", "router", Cascade),
    reference("ai_agent", "llm_credential_id", "llm_credential", SetNull).labelled("aiAgent.llmCredentialId"),
    reference("ai_agent", "fallback_llm_credential_id", "llm_credential", SetNull)
        .labelled("aiAgent.fallbackLlmCredentialId"),
    reference("agent_turn", "router_id", "router", Cascade),
    reference("agent_turn", "chat_id", "chat", Cascade),
    reference("agent_turn", "session_id", "session", HISTORY),
    reference("agent_turn", "agent_id", "ai_agent", HISTORY),
    reference("model_price", "router_id", "router", Cascade),
    reference("model_call", "router_id", "router", Cascade),
    reference("model_call", "turn_id", "agent_turn", HISTORY),
    reference("model_call", "agent_id", "ai_agent", HISTORY),
    reference("model_usage", "router_id", "router", Cascade),
    reference("model_usage", "agent_id", "ai_agent", HISTORY),
    reference("router_spending", "router_id", "router", Cascade),
    reference("ai_budget", "router_id", "router", Cascade),
    reference("agent_inbox", "session_id", "session", Stays("it is taken by the next look at it")),
    reference("system_prompt", "router_id", "router", Cascade),
    reference("system_prompt", "agent_id", "ai_agent", Cascade),
    reference("guardrail", "router_id", "router", Cascade),
    reference("guardrail", "agent_id", "ai_agent", Cascade),
    reference("ai_agent_route", "router_id", "router", Cascade),
    reference("ai_agent_route", "from_agent_id", "ai_agent", Cascade),
    reference("ai_agent_route", "to_agent_id", "ai_agent", Cascade).labelled("aiAgentRoute.toAgentId"),
    reference("knowledge_document", "router_id", "router", Cascade),
    reference("knowledge_content", "document_id", "knowledge_document", Cascade),
    reference("knowledge_work", "document_id", "knowledge_document", Cascade),
    reference("knowledge_chunk", "document_id", "knowledge_document", Cascade),
    reference("webchat_identity", "channel_id", "webchat_channel", Cascade),
    reference("user_account", "group_id", "user_group", SetNull),
    reference("user_device", "user_id", "user_account", Cascade),
    reference("password_recovery", "user_id", "user_account", Cascade),
    reference("agent", "user_id", "user_account", Cascade),
    reference("desk_presence", "user_id", "user_account", Cascade),
    reference("desk_view", "user_id", "user_account", Cascade),
    reference("desk_view", "ticket_id", "ticket", Cascade),
    reference(
        "desk_seq",
        "user_id",
        "user_account",
        Stays("what concerns a ticket of a user who is gone must not fail"),
    ),
    reference("desk_news", "user_id", "user_account", Stays("they are forgotten after a day")),
    reference("queue", "last_user_id", "user_account", HISTORY),
    reference("ticket", "agent_id", "ai_agent", HISTORY),
    reference("ticket", "assigned_user_id", "user_account", HISTORY),
    reference("ticket", "offered_user_id", "user_account", HISTORY),
    reference("ticket", "opened_by_user_id", "user_account", HISTORY),
    reference("ticket", "closed_by_user_id", "user_account", HISTORY),
    reference("audit_log", "actor_id", "user_account", HISTORY),
];

/// Columns whose names look like references.
#[cfg(test)]
pub(super) const NO_REFERENCES: &[(&str, &str, &str)] = &[
    ("audit_log", "entity_id", "the id of a row of any table, of which the record is history"),
    ("channel_number", "phone_number_id", "the provider's"),
    ("channel_number", "business_account_id", "the provider's"),
    ("flow_event", "block_id", "a block is a part of a definition"),
    ("webhook_delivery", "event_id", "events are no rows"),
    ("idempotent_request", "principal_id", "a user or an API client; it is forgotten after a day"),
    ("interactive_form", "provider_form_id", "the provider's"),
    ("message", "channel_message_id", "the channel's"),
    ("message", "provider_id", "the provider's"),
    ("broadcast_intent", "campaign_id", "a dispatch or a campaign, told apart by its text"),
    ("broadcast_intent", "phone_number_id", "the provider's"),
    ("broadcast_intent", "block_id", "a block is a part of a definition"),
    ("outbound", "phone_number_id", "the provider's"),
    ("parked_status", "provider_id", "the provider's"),
    ("parked_status", "phone_number_id", "the provider's"),
    ("media", "phone_number_id", "the provider's"),
    ("media", "provider_id", "the provider's"),
    ("message_template", "business_account_id", "the provider's"),
    ("message_template", "provider_id", "the provider's"),
];

/// A column whose values are encrypted under the master key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Secret {
    /// Its table and name.
    pub(super) name: &'static str,
    table: &'static str,
    column: &'static str,
    /// The id of a row, as a text.
    id: &'static str,
}

/// Parses the name `table.column` of a secret.
const fn secret(name: &'static str) -> Secret {
    let bytes = name.as_bytes();
    let mut dot = 0;
    while bytes[dot] != b'.' {
        dot += 1;
    }
    let (table, column) = (name.split_at(dot).0, name.split_at(dot + 1).1);
    Secret { name, table, column, id: "id" }
}

/// Every encrypted column of the schema.
pub(super) const SECRETS: &[Secret] = &[
    secret("router.channel_app_secret_encrypted"),
    secret("router_variable.value_encrypted"),
    secret("flow_variable.value_encrypted"),
    secret("webchat_channel.embed_secret_encrypted"),
    secret("channel_number.access_token_encrypted"),
    secret("channel_number.encryption_private_key_encrypted"),
    secret("channel_number.encryption_passphrase_encrypted"),
    secret("llm_credential.api_key_encrypted"),
    secret("integration.credentials_encrypted"),
    secret("webhook.secret_encrypted"),
    secret("webhook.previous_secret_encrypted"),
    // One row, whose id is a number.
    Secret { id: "CAST(id AS TEXT)", ..secret("observability_settings.logfire_token_encrypted") },
];

/// The references to the rows of a table.
pub(super) fn to(table: &str) -> impl Iterator<Item = &'static Reference> {
    REFERENCES.iter().filter(move |reference| reference.to == table)
}

/// Statements that are made once, of the registry.
#[derive(Debug)]
pub(super) struct Derived {
    make: fn() -> Vec<Sql>,
    made: OnceLock<Vec<Sql>>,
}

impl Derived {
    pub(super) const fn new(make: fn() -> Vec<Sql>) -> Self {
        Self { make, made: OnceLock::new() }
    }

    /// The statements, in the order in which they are to run.
    pub(super) fn all(&self) -> Vec<Sql> {
        self.made.get_or_init(self.make).clone()
    }
}

/// Leaked once a reference: the drivers keep prepared statements by static text.
fn leaked(sqlite: String, postgres: String) -> Sql {
    Sql { sqlite: Box::leak(sqlite.into_boxed_str()), postgres: Box::leak(postgres.into_boxed_str()) }
}

fn same(text: String) -> Sql {
    leaked(text.clone(), text)
}

/// Deletes the dependants of row `$1` of a table, the dependants of dependants first.
pub(super) fn ends(table: &str) -> Vec<Sql> {
    let ended = |table| to(table).filter(|reference| reference.on_delete == End);
    let mut statements = Vec::new();
    for Reference { table, column, .. } in ended(table) {
        for inner in ended(table) {
            let of_each = format!(
                "DELETE FROM {} WHERE {} IN (SELECT id FROM {table} WHERE {column} = $1)",
                inner.table, inner.column
            );
            statements.push(if inner.is_chained {
                leaked(chained(inner.table, table, column), of_each)
            } else {
                same(of_each)
            });
        }
        statements.push(same(format!("DELETE FROM {table} WHERE {column} = $1")));
    }
    statements
}

/// Deletes the rows of a table of SQLite that are chains of those rows of another whose `column` is `$1`.
fn chained(table: &str, of: &str, column: &str) -> String {
    format!(
        "WITH RECURSIVE back (at, previous) AS (
            SELECT {table}.id, {table}.previous FROM {of} CROSS JOIN {table} ON {table}.id = {of}.last_{table}
            WHERE {of}.{column} = $1
            UNION ALL SELECT {table}.id, {table}.previous FROM back CROSS JOIN {table} ON {table}.id = back.previous)
         DELETE FROM {table} WHERE id IN (SELECT at FROM back)"
    )
}

/// Moves references from row `$2` of a table to row `$1`.
pub(super) fn moves(table: &str) -> Vec<Sql> {
    let moved = to(table).filter_map(|reference| match reference.on_merge {
        Move(also) => Some((reference, also)),
        _ => None,
    });
    moved
        .map(|(Reference { table, column, .. }, also)| {
            same(format!("UPDATE {table} SET {column} = $1{also} WHERE {column} = $2"))
        })
        .collect()
}

/// Dependants of sessions, of which there may be rows without them.
static OF_SESSIONS: Derived = Derived::new(|| {
    let ended = to("session").filter(|reference| reference.on_delete == End);
    ended
        .map(|Reference { table, column, .. }| {
            leaked(
                format!("DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each($1))"),
                format!(
                    "DELETE FROM {table} WHERE {column} = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))"
                ),
            )
        })
        .collect()
});

fn labelled() -> impl Iterator<Item = (&'static Reference, &'static str)> {
    REFERENCES.iter().filter_map(|reference| Some((reference, reference.label?)))
}

/// The rows that refer to a row, for each reference with a label.
static REFERRERS: Derived = Derived::new(|| {
    let rows = |(Reference { table, column, .. }, _): (&Reference, &str)| {
        same(format!("SELECT id FROM {table} WHERE {column} = $1 ORDER BY id LIMIT 100"))
    };
    labelled().map(rows).collect()
});

fn detached() -> impl Iterator<Item = &'static Reference> {
    REFERENCES.iter().filter(|reference| reference.on_delete == Detach)
}

/// Leaves rows without their reference, for each reference that no foreign key takes away.
static DETACHED: Derived = Derived::new(|| {
    let rows = |Reference { table, column, .. }: &Reference| {
        same(format!("UPDATE {table} SET {column} = NULL WHERE {column} = $1"))
    };
    detached().map(rows).collect()
});

/// The table and the id of a row that is referred to.
fn row<'a>(of: &Referred<'a>) -> (&'static str, &'a str) {
    match of {
        Referred::Flow(id) => ("flow", id.as_str()),
        Referred::LlmCredential(id) => ("llm_credential", id.as_str()),
        Referred::Queue(id) => ("queue", id.as_str()),
        Referred::AiAgent(id) => ("ai_agent", id.as_str()),
    }
}

super::accessor::has!(HasReferences::references -> References);

#[async_trait]
impl References for SqlTx {
    async fn referrers(&mut self, to: Referred<'_>) -> Result<Vec<Referrer>, StorageError> {
        let (table, id) = row(&to);
        let mut found = Vec::new();
        for ((reference, label), sql) in labelled().zip(REFERRERS.all()) {
            if reference.to == table {
                let rows: Vec<String> = self.conn.fetch_column(sql, (id,)).await?;
                found.extend(rows.into_iter().map(|id| Referrer { field: label.to_owned(), id }));
            }
        }
        Ok(found)
    }

    async fn published_flows_naming(
        &mut self,
        router: &RouterId,
        id: &str,
    ) -> Result<Vec<FlowId>, StorageError> {
        let quoted = format!("\"{id}\"");
        self.conn.fetch_column(FLOWS_NAMING, (router, id, &quoted)).await
    }

    async fn detach(&mut self, from: Referred<'_>) -> Result<(), StorageError> {
        let (table, id) = row(&from);
        for (reference, sql) in detached().zip(DETACHED.all()) {
            if reference.to == table {
                self.conn.execute(sql, (id,)).await?;
            }
        }
        Ok(())
    }
}

/// Published versions in which the id stands as a text: each engine searches in its own way.
const FLOWS_NAMING: Sql = sql_per(
    "SELECT flow.id FROM flow JOIN flow_version ON flow_version.id = flow.published_version_id
     WHERE flow.router_id = $1 AND flow.id <> $2 AND instr(flow_version.definition, $3) > 0
     ORDER BY flow.created_at, flow.id LIMIT 100",
    "SELECT flow.id FROM flow JOIN flow_version ON flow_version.id = flow.published_version_id
     WHERE flow.router_id = $1 AND flow.id <> $2 AND strpos(flow_version.definition::text, $3) > 0
     ORDER BY flow.created_at, flow.id LIMIT 100",
);

/// Every secret: its ids and values, and a change of `$2` to `$3` unless somebody changed it since it was read.
static ROTATED: Derived = Derived::new(|| {
    let both = |Secret { table, column, id, .. }: &Secret| {
        [
            same(format!("SELECT {id}, {column} FROM {table} WHERE {column} IS NOT NULL")),
            same(format!("UPDATE {table} SET {column} = $3 WHERE {id} = $1 AND {column} = $2")),
        ]
    };
    SECRETS.iter().flat_map(both).collect()
});

super::statement::statements! { FLOWS_NAMING; OF_SESSIONS, REFERRERS, DETACHED, ROTATED }

/// The statements of each secret: its ids and values, and its change.
pub(super) fn rotated() -> impl Iterator<Item = (&'static Secret, [Sql; 2])> {
    let pairs = ROTATED.all();
    SECRETS.iter().enumerate().map(move |(at, secret)| (secret, [pairs[2 * at], pairs[2 * at + 1]]))
}

impl Conn {
    /// Deletes the dependants of sessions, whether or not they began.
    pub(super) async fn end_dependants(&mut self, sessions: &[SessionId]) -> Result<(), StorageError> {
        if !sessions.is_empty() {
            for statement in OF_SESSIONS.all() {
                self.execute(statement, (Json(sessions),)).await?;
            }
        }
        Ok(())
    }
}
