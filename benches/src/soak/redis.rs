//! Looks into the streams of Redis.

use std::collections::HashMap;

use anyhow::Result;
use redis::{Value, cmd};

/// Returns the groups that have not handled all of their stream.
pub(super) async fn undelivered(url: &str) -> Result<Vec<String>> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let mut left = Vec::new();
    let keys: Vec<String> = cmd("KEYS").arg("*").query_async(&mut connection).await?;
    for key in keys {
        let kind: String = cmd("TYPE").arg(&key).query_async(&mut connection).await?;
        if kind != "stream" {
            continue;
        }
        let groups: Vec<HashMap<String, Value>> =
            cmd("XINFO").arg("GROUPS").arg(&key).query_async(&mut connection).await?;
        for group in groups {
            let count = |name: &str| match group.get(name) {
                Some(Value::Int(count)) => *count,
                _ => 0,
            };
            let (pending, lag) = (count("pending"), count("lag"));
            if pending + lag > 0 {
                left.push(format!("{key}: {pending} pending, {lag} not read by {:?}", group.get("name")));
            }
        }
    }
    Ok(left)
}
