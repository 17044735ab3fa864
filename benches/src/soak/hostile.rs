//! The place of hostile tenants: attacks that run beside the visitors, who must not notice them.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context as _, Result};

use super::server::{ADMIN, PASSWORD};
use crate::http::{Connection, Request};

/// The server that is attacked.
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "the attacks read it, and the list of them is empty")]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// An access token of the administrator.
    pub(crate) admin_token: String,
}

/// Runs until it is cancelled. An error is a violation: the attack succeeded.
pub(crate) type Attack = fn(Arc<Target>) -> Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// The attacks of every soak, by name.
pub(crate) const ATTACKS: &[(&str, Attack)] = &[];

/// Logs the administrator in.
pub(super) async fn target(address: SocketAddr) -> Result<Target> {
    let login = serde_json::json!({ "email": ADMIN, "password": PASSWORD });
    let request = Request::new("POST", "/auth/login", None, Some(&login));
    let answer = Connection::open(address).await?.json(&request).await?;
    let admin_token = answer["accessToken"].as_str().context("no access token")?.to_owned();
    Ok(Target { address, admin_token })
}
