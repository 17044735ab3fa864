//! `ROLES`: which parts of the product a process runs.

use std::fmt;
use std::str::FromStr;

use crate::app::roles;

/// A role of a process. The parts of the product declare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    /// The names of the role in `ROLES`. A process has all of them or none.
    pub names: &'static [&'static str],
    /// Why the names go together, when they are several.
    pub together: Option<&'static str>,
    /// The sections of the configuration that are read for this role only.
    pub sections: &'static [Section],
}

/// A section of the configuration that a process reads only when one of its roles needs it, because it holds secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// `JWT_*`, `ADMIN_*`, `SMS_*` and `TWILIO_*`.
    Administration,
}

/// The roles of a process; all of them by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles(Vec<Role>);

impl Roles {
    /// Returns the set of every role.
    pub fn all() -> Self {
        Self(roles())
    }

    /// Returns whether the process has this role.
    pub fn include(&self, role: Role) -> bool {
        self.0.contains(&role)
    }

    /// Returns whether one of the roles needs this section.
    pub fn need(&self, section: Section) -> bool {
        self.0.iter().any(|role| role.sections.contains(&section))
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().flat_map(|role| role.names).copied().collect();
        f.write_str(&names.join(","))
    }
}

/// A list that names no roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct InvalidRoles;

impl fmt::Display for InvalidRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles = roles();
        let mut names: Vec<&str> = roles.iter().flat_map(|role| role.names).copied().collect();
        let last = names.pop().unwrap_or_default();
        write!(f, "must be a comma-separated list of {} and {last}", names.join(", "))?;
        roles.iter().filter_map(|role| role.together).try_for_each(|reason| write!(f, "; {reason}"))
    }
}

impl FromStr for Roles {
    type Err = InvalidRoles;

    fn from_str(text: &str) -> Result<Self, InvalidRoles> {
        let mut found = roles();
        let known = |name: &str| found.iter().any(|role| role.names.contains(&name));
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        let is_whole = |role: &Role| {
            let given = role.names.iter().filter(|name| names.contains(name)).count();
            given == 0 || given == role.names.len()
        };
        if !names.iter().all(|name| known(name)) || !found.iter().all(is_whole) {
            return Err(InvalidRoles);
        }
        found.retain(|role| role.names.iter().any(|name| names.contains(name)));
        Ok(Self(found))
    }
}
