//! Resumes a frozen session (rulings S5): the entry that failed first, then the entries kept for it, in order.
//!
//! Each entry is one commit that runs it and takes it off the list, so it runs once whatever dies in between.
//! Until the last one has run the session stays frozen, so that later events are kept behind them.

use serde_json::Value;

use super::facts::Facts;
use super::flow_cache::Compiled;
use super::flows::Flows;
use super::rehearsal::Rehearsed;
use super::service::{ATTEMPTS, Interrupted, allowance, evicted};
use super::{ConversationError, ConversationEvent, ConversationTx, Conversations, TurnReport};
use crate::event::{FlowEvent, IncomingEvent, Resume};
use crate::fault::StorageError;
use crate::flow::HasFlows as _;
use crate::router::HasRouters as _;
use crate::session::{FrozenSession, HasSessions as _};
use crate::store::{Store, Transaction as _};
use crate::stream::broker::NewEntry;
use crate::stream::outbox::HasOutbox as _;
use crate::stream::topic::{Flow, TopicName};

/// Most entries of one call: other sessions wait meanwhile. The rest is left to another event.
const AT_ONCE: usize = 64;

/// The outcome of one entry.
enum Replayed {
    /// There is none, or it cannot be read.
    Nothing,
    /// It ran, and was the last one or froze the session again.
    Last(TurnReport),
    /// It ran, and there are more.
    More(TurnReport),
}

impl<S: Store> Conversations<S>
where
    S::Tx: ConversationTx,
{
    /// Replays the waiting entries of a frozen session, until it froze again or none is left. Idempotent: a session
    /// that is not frozen since `resume.frozen_at` is left alone.
    ///
    /// # Errors
    /// The entries that ran before are committed; the rest still waits.
    pub async fn resume(&self, resume: &Resume) -> Result<TurnReport, ConversationError> {
        let mut all = TurnReport::default();
        for count in 1..=AT_ONCE {
            let (report, more) = match self.replay(resume, count == AT_ONCE).await? {
                Replayed::Nothing => return Ok(all),
                Replayed::Last(report) => (report, false),
                Replayed::More(report) => (report, true),
            };
            self.committed(&resume.session_id, &report);
            all.stored.extend(report.stored);
            all.outgoing.extend(report.outgoing);
            if !more {
                return Ok(all);
            }
        }
        Ok(all)
    }

    async fn replay(&self, resume: &Resume, is_last: bool) -> Result<Replayed, ConversationError> {
        let mut compiled = Compiled::new();
        let mut rehearsed = Rehearsed::default();
        for attempt in 0..ATTEMPTS {
            let (flows, pace) = (Flows::among(compiled.clone()), (&rehearsed, allowance(attempt)));
            match self.try_replay(resume, is_last, flows, pace).await {
                Ok(replayed) => return Ok(replayed),
                Err(Interrupted::Failed(error)) => return Err(error),
                Err(Interrupted::NotCompiled { versions, .. }) => {
                    compiled.extend(self.compile(versions).await?)
                }
                Err(Interrupted::Long(turns)) => {
                    rehearsed.add(turns).await?;
                }
            }
        }
        Err(evicted().into())
    }

    async fn try_replay(
        &self,
        resume: &Resume,
        is_last: bool,
        flows: Flows,
        pace: (&Rehearsed, u64),
    ) -> Result<Replayed, Interrupted> {
        let id = &resume.session_id;
        let mut tx = self.store.begin().await?;
        let frozen = tx.sessions().take_frozen(id).await?;
        let Some(frozen) = frozen.filter(|frozen| frozen.frozen_at == resume.frozen_at) else {
            return Ok(Replayed::Nothing);
        };
        let Some(event) = read(&frozen.entry) else {
            tracing::warn!(session = %id, "what froze a session cannot be read, so it stays frozen");
            return Ok(Replayed::Nothing);
        };
        let mut facts = Facts::read(&mut tx, &[&event], true, flows).await?;
        facts.replaying = true;
        self.renew(&mut tx, &mut facts).await?;
        if let Some(missing) = facts.flows.take_missing() {
            return Err(Interrupted::NotCompiled { versions: missing.versions, sessions: vec![id.clone()] });
        }
        let report = self.decide_in(&mut tx, &[&event], facts, pace).await?.pop().unwrap_or_default();
        let froze_again = !tx.sessions().frozen_among(std::slice::from_ref(id)).await?.is_empty();
        let next = if froze_again { None } else { tx.sessions().take_kept(id).await? };
        let more = next.is_some();
        if let Some(entry) = next {
            tx.sessions().freeze_many(&[FrozenSession { entry, ..frozen }]).await?;
            if is_last {
                let again = FlowEvent::Resume(resume.clone());
                tx.outbox().push_many(&[NewEntry::of::<Flow>(&again)]).await?;
            }
        }
        tx.commit().await?;
        Ok(if more { Replayed::More(report) } else { Replayed::Last(report) })
    }

    /// Puts the session on the published version of its flow, on a test channel on the tested one, where that has
    /// its block: the cause of the freeze may have been put right there.
    async fn renew(&self, tx: &mut S::Tx, facts: &mut Facts) -> Result<(), StorageError> {
        let Some(session) = facts.sessions.values_mut().next().map(|stored| &mut stored.session) else {
            return Ok(());
        };
        let route = tx.routers().find_routes(&[session.id.phone_number_id().to_owned()]).await?.pop();
        let Some(position) = session.position.as_mut() else { return Ok(()) };
        let ids = [position.flow_id.clone()];
        self.flows.load_published(tx.flows(), &mut facts.flows, &ids).await?;
        let flow = if route.is_some_and(|route| route.is_test) {
            facts.flows.tested(&position.flow_id)
        } else {
            facts.flows.published(&position.flow_id)
        };
        if let Some(flow) = flow
            && position.block_id.as_ref().is_none_or(|block| flow.find(block).is_some())
        {
            position.version_id = flow.version_id().clone();
        }
        Ok(())
    }
}

/// Returns the event of a kept entry: as [`ConversationEvent::to_json`] wrote it, or as it came from a stream and
/// could not be read then.
fn read(entry: &Value) -> Option<ConversationEvent> {
    if let (Some(stream), Some(payload)) = (entry["stream"].as_str(), entry["payload"].as_str()) {
        return match TopicName::parse(stream)? {
            TopicName::Incoming => serde_json::from_str(payload).ok().map(ConversationEvent::Incoming),
            TopicName::Flow => serde_json::from_str(payload).ok().map(ConversationEvent::Flow),
            _ => None,
        };
    }
    match entry.get("kind") {
        Some(_) => serde_json::from_value::<FlowEvent>(entry.clone()).ok().map(ConversationEvent::Flow),
        None => serde_json::from_value::<IncomingEvent>(entry.clone()).ok().map(ConversationEvent::Incoming),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_kept_is_read_back() {
        let incoming = json!({
            "channelType": "webchat", "sessionId": "wc-c1-ana", "phoneNumberId": "wc-c1", "contactName": "Ana",
            "messages": [], "timestamp": 1
        });
        let timeout = json!({ "kind": "inputTimeout", "sessionId": "wc-c1-ana" });
        for entry in [incoming.clone(), timeout] {
            assert_eq!(read(&entry).map(|event| event.to_json()), Some(entry));
        }
        let unread = json!({ "stream": "stream:incoming", "id": "1", "payload": incoming.to_string() });
        assert_eq!(read(&unread).map(|event| event.to_json()), Some(incoming));
        for bad in
            [json!(null), json!({}), json!({ "kind": "nothing" }), json!({ "stream": "x", "payload": "{}" })]
        {
            assert_eq!(read(&bad), None, "{bad}");
        }
    }
}
