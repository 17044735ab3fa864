//! Looks into the streams of Redis.

use std::collections::HashMap;

use anyhow::Result;
use redis::{Value, cmd};

/// Returns whether Redis answers and has loaded its data.
pub(super) async fn answers(url: &str) -> bool {
    let ping = async {
        let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
        cmd("PING").query_async::<String>(&mut connection).await
    };
    ping.await.is_ok()
}

/// Returns the groups that have not handled all of their stream.
pub(super) async fn undelivered(url: &str) -> Result<Vec<String>> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let mut left = Vec::new();
    let streams: Vec<String> = cmd("KEYS").arg("stream:*").query_async(&mut connection).await?;
    if streams.is_empty() {
        left.push("Redis has no streams".to_owned());
    }
    for key in streams {
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
