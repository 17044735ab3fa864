//! The states of a form: a draft is published, a published form is deprecated, and nothing leads back.

use flowsdk_core::cell::Named;
use serde::{Deserialize, Serialize};

/// The state of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "InteractiveFormStatus")]
pub enum FormStatus {
    /// Its definition can be changed, and it can be deleted.
    Draft,
    /// Its definition is fixed.
    Published,
    /// It stays for conversations that have it, and is offered to no new one.
    Deprecated,
}

/// A command whose outcome depends on the state of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormCommand {
    /// Fixes the definition.
    Publish,
    /// Takes the form out of use.
    Deprecate,
    /// Changes the definition.
    Redefine,
    /// Deletes the form.
    Delete,
}

impl FormCommand {
    /// Returns the state of a form in `status` after the command; `None` where the form does not take it.
    pub fn leads_from(self, status: FormStatus) -> Option<FormStatus> {
        match (status, self) {
            (FormStatus::Draft, Self::Publish) => Some(FormStatus::Published),
            (FormStatus::Draft, Self::Redefine | Self::Delete) => Some(FormStatus::Draft),
            (FormStatus::Published, Self::Deprecate) => Some(FormStatus::Deprecated),
            (FormStatus::Draft, Self::Deprecate)
            | (FormStatus::Published, Self::Publish | Self::Redefine | Self::Delete)
            | (FormStatus::Deprecated, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_takes_its_commands_only() {
        use FormCommand::{Delete, Deprecate, Publish, Redefine};
        use FormStatus::{Deprecated, Draft, Published};
        for (status, command, next) in [
            (Draft, Publish, Some(Published)),
            (Draft, Deprecate, None),
            (Draft, Redefine, Some(Draft)),
            (Draft, Delete, Some(Draft)),
            (Published, Publish, None),
            (Published, Deprecate, Some(Deprecated)),
            (Published, Redefine, None),
            (Published, Delete, None),
            (Deprecated, Publish, None),
            (Deprecated, Deprecate, None),
            (Deprecated, Redefine, None),
            (Deprecated, Delete, None),
        ] {
            assert_eq!(command.leads_from(status), next, "{status:?} {command:?}");
        }
    }
}
