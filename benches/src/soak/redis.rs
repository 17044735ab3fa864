//! Looks into the streams of Redis.

use std::collections::HashMap;

use anyhow::Result;
use redis::streams::StreamRangeReply;
use redis::{Value, cmd, from_redis_value_ref};

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
            let pending = group.get("pending").map_or(Ok(0), from_redis_value_ref::<u64>)?;
            // Redis tells how many are not read, but miscounts them after it was killed.
            let read = group.get("last-delivered-id").map_or(Ok(String::new()), from_redis_value_ref)?;
            let unread: StreamRangeReply = cmd("XRANGE")
                .arg(&key)
                .arg(format!("({read}"))
                .arg("+")
                .arg("COUNT")
                .arg(1_000)
                .query_async(&mut connection)
                .await?;
            let unread = unread.ids.len();
            if pending > 0 || unread > 0 {
                left.push(format!("{key}: {pending} pending, {unread} not read by {:?}", group.get("name")));
            }
        }
    }
    Ok(left)
}
