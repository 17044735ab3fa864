//! The codes of the error body, for the published document.

/// Every `code` that an error of the HTTP surface can have. Clients branch on them, so they never change.
pub const CODES: &[&str] = &[
    // The request itself.
    "validation_failed",
    "payload_too_large",
    "range_invalid",
    "unsupported_media_type",
    "method_not_allowed",
    "not_found",
    "rate_limited",
    // Authentication.
    "token_missing",
    "token_invalid",
    "token_expired",
    "session_ended",
    "principal_unknown",
    "invalid_credentials",
    "recovery_code_invalid",
    // Permissions.
    "permission_denied",
    "admin_only",
    "user_only",
    "resource_global",
    "router_out_of_scope",
    "schedule_blocked",
    // Files.
    "link_invalid",
    "media_empty",
    "media_too_large",
    "media_type_refused",
    "media_type_mismatch",
    "media_kind_refused",
    "attachments_disabled",
    "caption_too_long",
    "media_unknown",
    // Conflicts with the state.
    "email_taken",
    "group_unknown",
    "last_administrator",
    "token_taken",
    "router_unknown",
    "flow_unknown",
    "credential_unknown",
    "phone_number_taken",
    "keys_missing",
    "key_taken",
    "name_taken",
    "model_taken",
    "budget_taken",
    "channel_type_taken",
    "channel_number_unknown",
    "form_status",
    "form_empty",
    "flow_not_tool",
    "in_use",
    "stale_revision",
    "flow_invalid",
    "flow_not_published",
    "flow_is_tool",
    "test_channel",
    "import_invalid",
    "too_many_drafts",
    "draft_applied",
    "draft_invalid",
    "draft_stale",
    "idempotency_conflict",
    "conflict",
    // Sessions.
    "session_in_human_attendance",
    "cross_router_redirect",
    "block_not_found",
    "session_not_frozen",
    "stream_not_read",
    "variables_too_large",
    // Contacts.
    "contact_taken",
    "alias_taken",
    "contact_unknown",
    "merge_conflict",
    "import_refused",
    // Failures of servers of others.
    "provider_refused",
    "provider_unreachable",
    "provider_answer_too_large",
    "provider_timeout",
    // The web chat's visitors.
    "channel_unknown",
    "identity_invalid",
    "origin_refused",
    // Dispatch.
    "dispatch_not_allowed",
    "opt_in_missing",
    "queue_unknown",
    "template_unknown",
    "template_not_approved",
    "no_access_token",
    "already_submitted",
    "provider_unanswered",
    "template_other_account",
    "template_parameters",
    "channel_number_inactive",
    "channel_number_paused",
    // The helpdesk.
    "ticket_closed",
    "ticket_waiting",
    "ticket_assigned",
    "ticket_of_ai_agent",
    "ticket_handed_over",
    "ticket_not_offered",
    "conversation_moved_on",
    "messages_unseen",
    "message_unknown",
    "window_closed",
    "agent_limit_reached",
    "agent_unknown",
    "agent_not_in_queue",
    "agent_taken",
    "agent_group_unknown",
    "tag_unknown",
    "close_reason_unknown",
    "ai_agent_unknown",
    "route_taken",
    "guardrail_rules_invalid",
    "sentiment_disabled",
    "llm_credential_missing",
    "budget_used_up",
    "nothing_said",
    "model_failed",
    "knowledge_full",
    "embedder_failed",
    "shortcut_taken",
    "content_unsupported",
    "user_unknown",
    // The provider of the phone channel.
    "delivery_malformed",
    "signature_invalid",
    "question_malformed",
    "question_undecipherable",
    "form_unanswered",
    "verify_token_invalid",
    // Us.
    "unavailable",
    "internal",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CODES;

    /// Clients that are generated from the document have one name for each.
    #[test]
    fn every_code_is_there_once() {
        assert_eq!(CODES.iter().collect::<BTreeSet<_>>().len(), CODES.len());
    }
}
