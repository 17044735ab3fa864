//! Why a principal may not do something.

use flowsdk_core::fault::{Fault, FaultKind};
use flowsdk_core::text::Text;

/// The reason; a 403 each (spec A 5.3, rulings H6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// A member without a group.
    #[error("no group")]
    NoGroup,
    /// The grant does not hold the permission.
    #[error("permission not granted")]
    Permission,
    /// Only administrators may do this.
    #[error("no administrator")]
    Admin,
    /// The resource belongs to no router, and the principal is confined to some.
    #[error("global resource, but confined to routers")]
    Global,
    /// The router is not among those of the principal.
    #[error("router out of scope")]
    Router,
    /// Only users may do this, and an API client is none.
    #[error("no user")]
    UserOnly,
}

impl Fault for Denied {
    fn kind(&self) -> FaultKind {
        FaultKind::Forbidden
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NoGroup | Self::Permission => "permission_denied",
            Self::Admin => "admin_only",
            Self::Global => "resource_global",
            Self::Router => "router_out_of_scope",
            Self::UserOnly => "user_only",
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NoGroup | Self::Permission => Text::new("Sem permissão", "Permission denied"),
            Self::Admin => Text::new("Acesso restrito a administradores", "Administrators only"),
            Self::Global => {
                Text::new("Recurso global fora do escopo", "Global resource out of your router scope")
            }
            Self::Router => Text::new("Roteador fora do escopo", "Router out of scope"),
            Self::UserOnly => Text::new("Acesso restrito a usuários", "Users only"),
        }
    }
}
