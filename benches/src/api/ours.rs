//! Our server: a router written before it starts, the members made over its API.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{OutboxRoutes, SqlStore};
use serde_json::{Value, json};

use super::{PASSWORD, USERS, email, login};
use crate::http::{Connection, Request};

/// The address of the administrator, whose password is [`PASSWORD`].
pub(crate) const ADMIN: &str = "admin@race.example";

/// The command that serves `database`, with every limit off that a race would meet.
pub(crate) fn command(server: &Path, address: SocketAddr, database: &str, redis: Option<&str>) -> Command {
    let mut command = Command::new(server);
    command
        .arg("serve")
        .env("DATABASE_URL", database)
        .env("LISTEN_ADDR", address.to_string())
        .env("CRYPTO_SECRET", "0123456789abcdef0123456789abcdef")
        .env("JWT_ACCESS_SECRET", "the access secret of the race")
        .env("JWT_REFRESH_SECRET", "the refresh secret of the race")
        .env("ADMIN_EMAIL", ADMIN)
        .env("ADMIN_PASSWORD", PASSWORD)
        .env("API_REQUESTS_PER_SECOND", "0")
        .env("LOGIN_FAILURES_PER_MINUTE", "0")
        .env("LOGIN_FAILURES_PER_ADDRESS", "0")
        .env("SMS_DRIVER", "none")
        // The peer logs no requests either.
        .env("RUST_LOG", "info,flowsdk_server::requests=warn")
        .env_remove("REDIS_URL");
    if let Some(redis) = redis {
        command.env("REDIS_URL", redis);
    }
    command
}

/// Makes the schema and one router in it.
pub(crate) async fn seed(database: &str) -> Result<RouterId> {
    let store = SqlStore::connect(&database.parse()?, OutboxRoutes::embedded([])).await?;
    let cx = OpContext::system();
    let router = Router::new(RouterId::generate(cx.ids()), "Race", cx.now());
    let mut tx = store.begin().await?;
    tx.routers().insert(&router).await?;
    tx.commit().await.context("the database of the race")?;
    store.close().await;
    Ok(router.id)
}

/// Makes a group that may read routers, and its members.
pub(crate) async fn make_members(address: SocketAddr) -> Result<()> {
    let mut connection = Connection::open(address).await?;
    let entered = connection.json(&login(ADMIN)).await?;
    let token = text(&entered, "accessToken")?;
    let group = json!({ "name": "Readers", "routerIds": [],
                        "permissions": [{ "resource": "routers", "actions": ["read"] }] });
    let group = connection.json(&Request::new("POST", "/groups", Some(token), Some(&group))).await?;
    let group = text(&group, "id")?;
    for number in 0..USERS {
        let user = json!({ "name": format!("Member {number}"), "email": email(number), "password": PASSWORD,
                           "phone": format!("55119999900{number:02}"), "userRole": "member", "groupId": group });
        connection.json(&Request::new("POST", "/users", Some(token), Some(&user))).await?;
    }
    Ok(())
}

fn text<'a>(body: &'a Value, name: &str) -> Result<&'a str> {
    body.get(name).and_then(Value::as_str).with_context(|| format!("no {name} in {body}"))
}
