//! Where the conversation of a visitor stands, read when they enter or begin another session.

use flowsdk_channels::webchat::payload::ServerMessage;
use flowsdk_channels::webchat::{HasWebchat, RECENT, Visitor};
use flowsdk_core::chat::ChatStatus;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::MessageId;
use flowsdk_core::message::HasMessages;
use flowsdk_core::session::{HasSessions, Mode};
use flowsdk_core::store::Store;

/// Most messages of a replay; older ones are read from the history.
const REPLAY_LIMIT: u32 = 200;

/// What a socket has to know before it is live.
#[derive(Default)]
pub(super) struct Standing {
    /// Who has the session.
    pub(super) mode: Option<Mode>,
    /// Messages that the visitor has, newest first.
    pub(super) had: Vec<MessageId>,
    /// Messages that they missed.
    pub(super) missed: Vec<ServerMessage>,
}

impl Standing {
    /// Reads it; the messages only if `since` names the visitor's last one (rulings S8).
    pub(super) async fn read<S: Store>(store: &S, visitor: &Visitor) -> Result<Self, StorageError>
    where
        S::Tx: HasWebchat + HasMessages + HasSessions,
    {
        let session = &visitor.session_id;
        let Some(since) = &visitor.since else {
            let mode = store.glance().await?.sessions().mode(session).await?;
            return Ok(Self { mode, ..Self::default() });
        };
        let mut tx = store.read().await?;
        let mode = tx.sessions().mode(session).await?;
        let Some((chat, _)) = tx.webchat().find_chat(&visitor.channel_id, &visitor.contact_id).await? else {
            return Ok(Self { mode, ..Self::default() });
        };
        let messages = tx.messages();
        let had = messages.outgoing_until(session, &chat, since, RECENT).await?;
        let missed = messages.outgoing_since(session, &chat, Some(since), REPLAY_LIMIT).await?;
        Ok(Self { mode, had, missed: missed.into_iter().map(ServerMessage::from).collect() })
    }
}

/// The chat that the next session of a visitor is about.
pub(super) struct NextChat {
    /// The number of its newest message; 0 in a new one.
    pub(super) newest: i64,
    /// Whether the visitor has never had a chat with a message.
    pub(super) is_first: bool,
}

impl NextChat {
    /// Reads it. A closed chat stays as it is: the next session begins another one.
    pub(super) async fn read<S: Store>(store: &S, visitor: &Visitor) -> Result<Self, StorageError>
    where
        S::Tx: HasWebchat + HasMessages,
    {
        let mut tx = store.glance().await?;
        let found = tx.webchat().find_chat(&visitor.channel_id, &visitor.contact_id).await?;
        let Some((chat, status)) = found else {
            return Ok(Self { newest: 0, is_first: true });
        };
        let numbers = tx.messages().last_numbers(&[chat]).await?;
        let number = numbers.first().map_or(0, |(_, number)| *number);
        let newest = if status == ChatStatus::Open { number } else { 0 };
        Ok(Self { newest, is_first: number == 0 })
    }
}
