//! The peer: Fastify with @fastify/jwt, pg and bcrypt.

use std::net::SocketAddr;
use std::process::Command;

use anyhow::Result;
use flowsdk_crypto::PASSWORD_COST;

use super::{PASSWORD, USERS, email};
use crate::peers;
use crate::services::execute;

/// The router that it is asked for.
pub(super) const ROUTER: &str = "cm000000000000000000router";

const TABLES: &str = "
CREATE TABLE grp (id text PRIMARY KEY, permissions text NOT NULL, router_ids text NOT NULL);
CREATE TABLE usr (id text PRIMARY KEY, name text NOT NULL, email text NOT NULL UNIQUE, password_hash text NOT NULL,
                  role text NOT NULL, group_id text REFERENCES grp(id));
INSERT INTO grp VALUES ('g1', '[{\"resource\":\"routers\",\"actions\":[\"read\"]}]', '[]');
";

/// Its tables and rows. Every user has the same password, so one hash is enough.
pub(super) async fn seed(database: &str) -> Result<()> {
    let hash = bcrypt::hash(PASSWORD, PASSWORD_COST)?;
    let mut statements = TABLES.to_owned();
    for number in 0..USERS {
        let email = email(number);
        statements.push_str(&format!(
            "INSERT INTO usr VALUES ('u{number}', 'Member {number}', '{email}', '{hash}', 'member', 'g1');\n"
        ));
    }
    statements.push_str("ANALYZE;");
    execute(database, &statements).await
}

pub(super) fn command(address: SocketAddr, database: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(peers::folder().join("api.mjs")).arg(address.port().to_string()).arg(database);
    command.env("NODE_ENV", "production");
    command
}
