//! Whether the agent is there, as the server knows it.

use std::time::Duration;

use flowsdk_core::fault::BoxError;
use flowsdk_helpdesk::agent::PresenceStatus;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::agent::Agent;
use crate::socket::client::Packet;

/// How long a desk that ends waits until the server has noted that its agent is gone.
const FAREWELL: Duration = Duration::from_secs(2);

impl Agent<'_> {
    /// Says that the agent is still there.
    ///
    /// # Errors
    /// Nothing can be printed.
    pub(super) async fn renew_presence(&mut self) -> Result<(), BoxError> {
        self.beaten = self.emit("agent:heartbeat", &json!({})).await?;
        Ok(())
    }

    /// Hears how the agent counts. A presence that has run out, as that of a machine that slept, is set anew.
    ///
    /// # Errors
    /// Nothing can be printed.
    pub(super) async fn hear_presence(&mut self, answer: &Value) -> Result<(), BoxError> {
        self.beaten = None;
        if answer["status"] == json!(PresenceStatus::Offline) && self.status != PresenceStatus::Offline {
            self.emit("agent:status", &json!({ "status": self.status })).await?;
        }
        Ok(())
    }

    /// Ends the desk. Its agent is offline afterwards, if the server can be told.
    pub(super) async fn leave(mut self) {
        let Some(mut link) = self.link.take() else { return };
        let telling = async {
            let told = link.emit("agent:status", &json!({ "status": PresenceStatus::Offline })).await?;
            while let Some(packet) = link.next().await {
                if matches!(packet, Packet::Ack { id, .. } if id == told) {
                    break;
                }
            }
            link.leave().await;
            Some(())
        };
        // A server that is away finds out by itself: presence runs out.
        let _told = timeout(FAREWELL, telling).await;
    }
}
