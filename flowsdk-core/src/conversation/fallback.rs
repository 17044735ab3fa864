//! Tells contacts whom nothing else answers (rulings S20). It is rare, so its rows are read only then.

use std::collections::HashMap;
use std::time::Duration;

use crate::chat::HasChats;
use crate::context::OpContext;
use crate::event::OutgoingEvent;
use crate::fault::StorageError;
use crate::id::ChatId;
use crate::router::{Fallback, HasRouters, Wording};
use crate::session::{Session, SessionId};
use crate::text::Language;

/// For how long a chat is not told again that no flow answers.
const TOLD_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// A contact who is to be told why nothing else answers.
#[derive(Debug)]
pub struct Unsaid {
    /// The session of the contact.
    pub session_id: SessionId,
    /// The chat of the session.
    pub chat_id: ChatId,
    /// The epoch of the session; 0 where there is none.
    pub epoch: i64,
    /// Why nothing else answers.
    pub fallback: Fallback,
}

impl Unsaid {
    /// Returns the contact of a session of which nothing else is to be expected.
    pub fn of(session: &Session, fallback: Fallback) -> Self {
        Self {
            session_id: session.id.clone(),
            chat_id: session.chat_id.clone(),
            epoch: session.epoch,
            fallback,
        }
    }

    /// No flow answers a message in this chat.
    pub(super) fn unanswered(session_id: SessionId, chat_id: ChatId) -> Self {
        Self { session_id, chat_id, epoch: 0, fallback: Fallback::Unanswered }
    }
}

/// Returns the message to each of these contacts, in order; `None` for one who was told already, or is to be told nothing.
/// `language` is the one of channels that name none.
///
/// # Errors
/// [`StorageError`].
pub async fn fallback_messages<T: HasRouters + HasChats>(
    tx: &mut T,
    cx: &OpContext,
    language: Language,
    unsaid: &[&Unsaid],
) -> Result<Vec<Option<OutgoingEvent>>, StorageError> {
    if unsaid.is_empty() {
        return Ok(Vec::new());
    }
    let now = cx.now();
    let wordings = wordings_of(tx, unsaid).await?;
    let text = |one: &&Unsaid| {
        let wording = wordings.get(one.session_id.phone_number_id());
        wording.and_then(|wording| wording.text(one.fallback, language)).map(str::to_owned)
    };
    let texts: Vec<Option<String>> = unsaid.iter().map(text).collect();
    let unanswered: Vec<ChatId> = unsaid
        .iter()
        .zip(&texts)
        .filter(|(one, text)| one.fallback == Fallback::Unanswered && text.is_some())
        .map(|(one, _)| one.chat_id.clone())
        .collect();
    let untold = match unanswered.as_slice() {
        [] => Vec::new(),
        chats => tx.chats().note_told(chats, now, TOLD_FOR).await?,
    };
    let is_due = |one: &Unsaid| one.fallback != Fallback::Unanswered || untold.contains(&one.chat_id);
    let message = |(one, text): (&&Unsaid, Option<String>)| {
        let text = text.filter(|_| is_due(one))?;
        let (session, chat) = (one.session_id.clone(), one.chat_id.clone());
        Some(OutgoingEvent::text_of_flow(cx, session, chat, one.epoch, text))
    };
    Ok(unsaid.iter().zip(texts).map(message).collect())
}

async fn wordings_of<T: HasRouters>(
    tx: &mut T,
    unsaid: &[&Unsaid],
) -> Result<HashMap<String, Wording>, StorageError> {
    let mut ids: Vec<String> = unsaid.iter().map(|one| one.session_id.phone_number_id().to_owned()).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = tx.routers().wordings(&ids).await?;
    Ok(found.into_iter().map(|wording| (wording.phone_number_id.clone(), wording)).collect())
}
