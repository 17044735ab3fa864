//! `ROLES`: what a process does.

use std::fmt;
use std::str::FromStr;

/// What a process does; all of it by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    /// The administrative API.
    pub api: bool,
    /// Orchestrator and engine, which share a transaction, and the message persister.
    pub conversation: bool,
    /// The web chat gateway and its page.
    pub webchat: bool,
}

impl Roles {
    /// Every role.
    pub const ALL: Roles = Roles { api: true, conversation: true, webchat: true };
}

/// A list that names no roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct InvalidRoles;

impl fmt::Display for InvalidRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "must be a comma-separated list of api, orchestrator, engine and webchat; orchestrator and engine \
             share a transaction, so a process has both or none",
        )
    }
}

impl FromStr for Roles {
    type Err = InvalidRoles;

    fn from_str(text: &str) -> Result<Self, InvalidRoles> {
        let (mut api, mut orchestrator, mut engine, mut webchat) = (false, false, false, false);
        for name in text.split(',').map(str::trim) {
            match name {
                "api" => api = true,
                "orchestrator" => orchestrator = true,
                "engine" => engine = true,
                "webchat" => webchat = true,
                _ => return Err(InvalidRoles),
            }
        }
        if orchestrator == engine {
            Ok(Self { api, conversation: engine, webchat })
        } else {
            Err(InvalidRoles)
        }
    }
}
