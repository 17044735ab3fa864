//! The permissions of a group or an API client.

use flowsdk_core::cell::Named;
use flowsdk_core::schema::SchemaAttributes;
use serde::{Deserialize, Serialize};

/// A resource that permissions name (spec A 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the contract's")]
pub enum Resource {
    Flows,
    Routers,
    Contacts,
    ChannelNumbers,
    ChannelBusinessProfile,
    Queues,
    Users,
    Reports,
    Settings,
    Helpdesk,
    Campaigns,
    Sessions,
    Chats,
    AuditLogs,
}

impl Resource {
    /// Returns whether it belongs to no router: principals with a router scope may not use it (spec A 5.3 rule 7).
    pub const fn is_global(self) -> bool {
        matches!(self, Self::Users | Self::Settings)
    }
}

/// An action on a resource. None includes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the contract's")]
#[named(description = "None includes another.")]
pub enum Action {
    Read,
    Write,
    Admin,
}

impl Action {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// One entry of a list of permissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Permission {
    /// The resource.
    pub resource: Resource,
    /// The actions permitted with it.
    #[schema(max_items = 16)]
    pub actions: Vec<Action>,
}

/// The permitted actions. On the wire and in storage a list of [`Permission`]s, here without repetitions and in the
/// order of [`Resource::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Permission>", into = "Vec<Permission>")]
pub struct Permissions([u8; Resource::ALL.len()]);

impl Permissions {
    /// Returns whether `action` is permitted with `resource`.
    pub const fn allow(&self, resource: Resource, action: Action) -> bool {
        self.0[resource as usize] & action.bit() != 0
    }
}

impl From<Vec<Permission>> for Permissions {
    fn from(list: Vec<Permission>) -> Self {
        let mut permissions = Self::default();
        for Permission { resource, actions } in list {
            permissions.0[resource as usize] |=
                actions.into_iter().fold(0, |bits, action| bits | action.bit());
        }
        permissions
    }
}

impl From<Permissions> for Vec<Permission> {
    fn from(permissions: Permissions) -> Self {
        let entry = |resource| {
            let allowed = |action: &Action| permissions.allow(resource, *action);
            let actions: Vec<_> = Action::ALL.into_iter().filter(allowed).collect();
            (!actions.is_empty()).then_some(Permission { resource, actions })
        };
        Resource::ALL.into_iter().filter_map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_wire() {
        for resource in Resource::ALL {
            assert_eq!(serde_json::to_value(resource).expect("json"), resource.name());
        }
        for action in Action::ALL {
            assert_eq!(serde_json::to_value(action).expect("json"), action.name());
        }
    }

    #[test]
    fn a_list_allows_what_it_names_and_nothing_else() {
        let text = r#"[{"resource":"users","actions":["write"]},{"resource":"flows","actions":["read","read"]},
                       {"resource":"users","actions":["read"]},{"resource":"chats","actions":[]}]"#;
        let permissions: Permissions = serde_json::from_str(text).expect("permissions");
        for resource in Resource::ALL {
            for action in Action::ALL {
                let named = matches!(
                    (resource, action),
                    (Resource::Users, Action::Read | Action::Write) | (Resource::Flows, Action::Read)
                );
                assert_eq!(permissions.allow(resource, action), named, "{resource:?} {action:?}");
            }
        }
        assert_eq!(
            serde_json::to_string(&permissions).expect("json"),
            r#"[{"resource":"flows","actions":["read"]},{"resource":"users","actions":["read","write"]}]"#
        );
        assert!(serde_json::from_str::<Permissions>(r#"[{"resource":"all","actions":["read"]}]"#).is_err());
    }
}
