//! Writing to one socket, and finding out whether it arrived.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use flowsdk_core::event::DeliveryStatus;
use flowsdk_core::id::MessageId;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::member::{Acks, Member, State};
use super::{Gateway, Probation, SendError, status};
use crate::webchat::payload::ServerMessage;

/// How long a socket that never acknowledges must stay connected for a message to count as delivered
/// (rulings S8).
const DELIVERED_AFTER: Duration = Duration::from_secs(5);
/// How long a replay waits for a slow socket, all its messages together.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How often it tries.
const RETRY: Duration = Duration::from_millis(10);

impl Gateway {
    /// Writes a message to a live socket. One that takes no more is closed: its visitor comes back and is
    /// given the missed messages.
    pub(super) fn write(&self, member: &Arc<Member>, state: &mut State, message: &ServerMessage) {
        if self.try_write(member, state, message).is_err() {
            self.break_off(member, state);
        }
    }

    pub(super) fn break_off(&self, member: &Arc<Member>, state: &mut State) {
        state.broken = true;
        metrics::counter!("flowsdk_webchat_emits", "to" => "full_socket").increment(1);
        member.connection.close();
        // A full socket may not even take the close: it is closed again until it is gone.
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(member));
    }

    fn try_write(
        &self,
        member: &Arc<Member>,
        state: &mut State,
        message: &ServerMessage,
    ) -> Result<(), SendError> {
        if state.broken || state.has(&message.id) {
            return Ok(());
        }
        // One message finds out whether the client acknowledges; the others do not wait for it.
        if state.acks == Acks::Unknown(true) {
            member.connection.send(message)?;
            self.put_on_probation(member, &message.id);
        } else {
            let acknowledged = member.connection.send_acknowledged(message)?;
            if state.acks == Acks::Unknown(false) {
                state.acks = Acks::Unknown(true);
            }
            self.await_ack(member, &message.id, acknowledged);
        }
        state.note(&message.id);
        Ok(())
    }

    /// Writes a message of a replay, waiting for room `until` then.
    pub(super) async fn write_patiently(
        &self,
        member: &Arc<Member>,
        message: &ServerMessage,
        until: Instant,
    ) {
        loop {
            {
                let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
                if self.try_write(member, &mut state, message).is_ok() {
                    return;
                }
                if !member.connection.is_connected() {
                    state.broken = true;
                    return;
                }
                if Instant::now() >= until {
                    return self.break_off(member, &mut state);
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    fn await_ack(&self, member: &Arc<Member>, message: &MessageId, acknowledged: BoxFuture<'static, bool>) {
        let (member, message) = (Arc::clone(member), message.clone());
        let (cx, statuses) = (self.cx.clone(), Arc::clone(&self.statuses));
        self.tasks.spawn(async move {
            let acknowledged = acknowledged.await;
            if acknowledged {
                member.state.lock().unwrap_or_else(PoisonError::into_inner).acks = Acks::Yes;
            }
            // The wait for the acknowledgement is as long as the probation.
            if acknowledged || member.connection.is_connected() {
                statuses.push(status(&cx, &member.session, &message, DeliveryStatus::Delivered));
            }
        });
    }

    fn put_on_probation(&self, member: &Arc<Member>, message: &MessageId) {
        self.probation.lock().unwrap_or_else(PoisonError::into_inner).push_back(Probation {
            until: self.cx.now() + DELIVERED_AFTER,
            member: Arc::clone(member),
            message: message.clone(),
        });
    }
}
