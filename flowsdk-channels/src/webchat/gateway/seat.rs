//! A socket's place in its room: the replay, and the leaving.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use flowsdk_core::id::MessageId;
use tokio::time::Instant;

use super::member::Member;
use super::notices::notice_of;
use super::write::PATIENCE;
use super::{ChatEvent, Gateway};
use crate::webchat::payload::ServerMessage;

/// A socket's place in its room; it leaves when dropped.
#[derive(Debug)]
pub struct Seat {
    pub(super) gateway: Arc<Gateway>,
    pub(super) member: Arc<Member>,
}

impl Seat {
    /// Writes the missed messages, then those that arrived meanwhile, in order, and from now on every new
    /// one. A message that is in both, or that the visitor `had` before (newest first), is not repeated. A
    /// slow socket is waited for, but ten seconds in all: then it is broken off.
    pub async fn go_live(&self, had: &[MessageId], missed: &[ServerMessage]) {
        let (gateway, member) = (&self.gateway, &self.member);
        {
            let mut state = member.state.lock().unwrap_or_else(PoisonError::into_inner);
            had.iter().rev().for_each(|message| state.note(message));
        }
        let until = Instant::now() + PATIENCE;
        for message in missed {
            gateway.write_patiently(member, message, until).await;
        }
        while let Some(event) = self.next_held() {
            match event {
                ChatEvent::Message(event) => {
                    gateway.write_patiently(member, &ServerMessage::from(&*event), until).await;
                }
                ChatEvent::Notice(notice) => member.connection.notify(&notice_of(&notice)),
            }
        }
    }

    /// The oldest event that waits; without one the socket is live.
    fn next_held(&self) -> Option<ChatEvent> {
        let mut state = self.member.state.lock().unwrap_or_else(PoisonError::into_inner);
        let next = state.held.as_mut().and_then(VecDeque::pop_front);
        if next.is_none() {
            state.held = None;
        }
        next
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut rooms = self.gateway.rooms.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(members) = rooms.get_mut(&self.member.session) {
            members.retain(|member| !Arc::ptr_eq(member, &self.member));
            if members.is_empty() {
                rooms.remove(&self.member.session);
            }
        }
        metrics::gauge!("flowsdk_webchat_sessions_online").set(rooms.len() as f64);
    }
}
