//! Why a principal may not do something.

use flowsdk_core::fault::Fault;

/// The reason; a 403 each (spec A 5.3, rulings H6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(Forbidden)]
pub enum Denied {
    /// A member without a group.
    #[error("no group")]
    #[fault("permission_denied", pt = "Sem permissão", en = "Permission denied")]
    NoGroup,
    /// The grant does not hold the permission.
    #[error("permission not granted")]
    #[fault("permission_denied", pt = "Sem permissão", en = "Permission denied")]
    Permission,
    /// Only administrators may do this.
    #[error("no administrator")]
    #[fault("admin_only", pt = "Acesso restrito a administradores", en = "Administrators only")]
    Admin,
    /// The resource belongs to no router, and the principal is confined to some.
    #[error("global resource, but confined to routers")]
    #[fault(
        "resource_global",
        pt = "Recurso global fora do escopo",
        en = "Global resource out of your router scope"
    )]
    Global,
    /// The router is not among those of the principal.
    #[error("router out of scope")]
    #[fault("router_out_of_scope", pt = "Roteador fora do escopo", en = "Router out of scope")]
    Router,
    /// Only users may do this, and an API client is none.
    #[error("no user")]
    #[fault("user_only", pt = "Acesso restrito a usuários", en = "Users only")]
    UserOnly,
}
