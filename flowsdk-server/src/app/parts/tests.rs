use super::*;

#[test]
fn a_stream_is_read_once_by_a_group() {
    let mut groups: Vec<_> = outbox_groups(REGISTRY).collect();
    let count = groups.len();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups.len(), count, "{groups:?}");
}

/// Databases and Redis servers hold these names.
#[test]
fn groups_keep_their_names() {
    let groups: Vec<_> = outbox_groups(REGISTRY).map(|(topic, group)| (topic.name(), group)).collect();
    assert_eq!(
        groups,
        [
            ("stream:incoming", "conversation"),
            ("stream:flow", "conversation"),
            ("stream:status", "persister"),
            ("stream:outgoing-phone", "phone-sender"),
            ("stream:read-receipts", "phone-receipts"),
            ("stream:provider-news", "phone-news"),
            ("stream:helpdesk", "helpdesk"),
            ("stream:webhooks", "webhooks"),
            ("stream:agent", "agent"),
            ("stream:summary", "summary"),
        ]
    );
}

#[test]
fn a_role_starts_parts_and_every_name_is_of_one_role() {
    let roles = roles();
    let mut names: Vec<_> = roles.iter().flat_map(|role| role.names).collect();
    assert_eq!(names.len(), 8);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 8);
}
