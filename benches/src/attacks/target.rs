//! A server that is attacked.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::http::{Connection, Request};
use crate::webchat::seed::Channel;

/// The processes of a server, and the token of its administrator.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    addresses: Vec<SocketAddr>,
    admin: String,
}

/// A tenant: a router, and a token that reaches nothing else.
pub(crate) struct Tenant {
    pub(crate) router: String,
    pub(crate) token: String,
    pub(crate) channel: Channel,
}

impl Target {
    /// Logs in as the administrator. There is at least one address.
    pub(crate) async fn enter(addresses: Vec<SocketAddr>, email: &str, password: &str) -> Result<Self> {
        let body = json!({ "email": email, "password": password });
        let first = *addresses.first().context("no address")?;
        let mut api = Connection::open(first).await?;
        let entered = api.json(&Request::new("POST", "/auth/login", None, Some(&body))).await?;
        let admin = entered["accessToken"].as_str().context("no accessToken")?.to_owned();
        Ok(Self { addresses, admin })
    }

    /// Returns the address for attacker `number`: they are spread over the processes.
    pub(crate) fn address(&self, number: usize) -> SocketAddr {
        self.addresses[number % self.addresses.len()]
    }

    /// Makes a tenant, whose visitors run `flow`.
    pub(crate) async fn tenant(&self, name: &str, flow: &Value) -> Result<Tenant> {
        let (mut api, admin) = (Connection::open(self.address(0)).await?, &self.admin);
        let router = post(&mut api, admin, "/routers", &json!({ "name": name })).await?;
        let router = id(&router)?;
        let token = self.confined(name, &router, &["routers", "flows", "sessions", "contacts"]).await?;
        let channel = channel(&mut api, admin, &router, name, flow).await?;
        Ok(Tenant { router, token, channel })
    }

    /// Makes an API client that reaches these resources of `router` and nothing else, and returns its token.
    pub(crate) async fn confined(&self, name: &str, router: &str, resources: &[&str]) -> Result<String> {
        let rights: Vec<Value> = resources
            .iter()
            .map(|resource| json!({ "resource": resource, "actions": ["read", "write"] }))
            .collect();
        let client = json!({ "name": name, "permissions": rights, "routerIds": [router] });
        let mut api = Connection::open(self.address(0)).await?;
        let client = post(&mut api, &self.admin, "/api-clients", &client).await?;
        Ok(client["token"].as_str().context("no token")?.to_owned())
    }

    /// Returns the token of the administrator.
    pub(crate) fn admin(&self) -> &str {
        &self.admin
    }

    /// Makes one more channel of `tenant`, whose visitors run `flow`.
    pub(crate) async fn channel(&self, tenant: &Tenant, name: &str, flow: &Value) -> Result<Channel> {
        let mut api = Connection::open(self.address(0)).await?;
        channel(&mut api, &self.admin, &tenant.router, name, flow).await
    }

    /// Counts the frozen sessions of `tenant`.
    pub(crate) async fn frozen(&self, tenant: &Tenant) -> Result<u64> {
        let path = format!("/sessions/frozen?routerId={}&limit=200", tenant.router);
        let mut api = Connection::open(self.address(0)).await?;
        let page = api.json(&Request::new("GET", &path, Some(&self.admin), None)).await?;
        Ok(page["items"].as_array().context("no items")?.len() as u64)
    }
}

/// Makes and publishes `flow`, and a closed channel that runs it.
async fn channel(
    api: &mut Connection,
    admin: &str,
    router: &str,
    name: &str,
    flow: &Value,
) -> Result<Channel> {
    let flow = json!({ "routerId": router, "name": name, "definition": flow });
    let flow = id(&post(api, admin, "/flows", &flow).await?)?;
    api.json(&Request::new("POST", &format!("/flows/{flow}/publish"), Some(admin), None)).await?;
    let channel = json!({ "routerId": router, "name": name, "initialFlowId": flow });
    let channel = id(&post(api, admin, "/webchat/channels", &channel).await?)?;
    let path = format!("/webchat/channels/{channel}/embed-secret");
    let made = api.json(&Request::new("POST", &path, Some(admin), None)).await?;
    let secret = made["embedSecret"].as_str().context("no embedSecret")?;
    Ok(Channel::new(channel.parse()?, secret))
}

async fn post(api: &mut Connection, token: &str, path: &str, body: &Value) -> Result<Value> {
    api.json(&Request::new("POST", path, Some(token), Some(body))).await
}

fn id(made: &Value) -> Result<String> {
    Ok(made["id"].as_str().context("no id")?.to_owned())
}
