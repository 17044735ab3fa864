//! Reads the history that the web chat gives to a visitor.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};

use super::record::{Direction, Listed, Visitor};
use super::seed::Seeded;
use crate::http::{Connection, Request};

/// As many as a page may have.
const PAGE: usize = 200;

/// Returns the whole history of a visitor, newest first as it comes; `None` for one who was never let in.
pub(super) async fn read(
    address: SocketAddr,
    seeded: &Seeded,
    visitor: &Visitor,
) -> Result<Option<Vec<Listed>>> {
    let Some(identity) = &visitor.identity else { return Ok(None) };
    let mut connection = Connection::open(address).await?;
    let mut listed = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/webchat/history?limit={PAGE}{cursor}");
        let request = match &identity.key {
            Some(key) => Request::new("GET", &path, None, None)
                .with_header("x-channel-id", &seeded.open)
                .with_header("x-user-id", &identity.user)
                .with_header("x-session-key", key),
            None => Request::new("GET", &path, Some(&seeded.token(&visitor.name)), None)
                .with_header("x-channel-id", &seeded.closed),
        };
        let page = connection.json(&request).await?;
        for item in page["items"].as_array().context("no items")? {
            let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
            listed.push(Listed {
                id: text("id"),
                chat: text("chatId"),
                seq: item["seq"].as_u64().unwrap_or_default(),
                direction: if item["direction"] == "in" { Direction::In } else { Direction::Out },
                text: item["text"]["body"].as_str().unwrap_or_default().to_owned(),
            });
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(Some(listed)),
        }
    }
}
