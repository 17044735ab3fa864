//! The conversation service: a batch of events of different sessions, in one transaction.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::decide::Decider;
use super::facts::Facts;
use super::fallback::{Unsaid, fallback_messages};
use super::flow_cache::{Compiled, FlowCache};
use super::flows::Flows;
use super::opening::{Opened, note_aliases, open_many};
use super::rehearsal::{Rehearsal, Rehearsed, SHORT};
use super::writes::Writes;
use super::{ConversationError, ConversationEvent, ConversationTx, TurnReport};
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::event::{IncomingEvent, Notice, OutgoingEvent};
use crate::fault::StorageError;
use crate::flow::{EffectRequest, HasFlows as _, MAX_TURN_WORK};
use crate::id::{FlowVersionId, RouterId};
use crate::router::Fallback;
use crate::session::{FrozenError, FrozenSession, HasSessions as _, SessionId};
use crate::store::{Store, Transaction as _};
use crate::stream::broker::NewEntry;
use crate::stream::topic::TopicName;
use crate::text::Language;

/// Takes outgoing webchat messages in the process that ran the turn, after its commit.
pub trait OutgoingSink: Send + Sync + fmt::Debug {
    /// Must not block; events of one session are in order.
    fn deliver(&self, events: Vec<OutgoingEvent>);

    /// Tells the sockets of a session something, behind the messages delivered before. Must not block.
    fn notify(&self, _notice: Notice) {}
}

/// Performs the outside requests of flows, after the commit of the turn that asks.
///
/// The result comes back as a [`FlowEvent::EffectDone`](crate::event::FlowEvent::EffectDone) of the same
/// session, through its lane. A request whose result is lost is asked for again, or counts as failed with
/// `unknown_outcome`, when its deadline has passed.
pub trait Outside: Send + Sync + fmt::Debug {
    /// Takes a request. Must not block.
    fn perform(&self, session: &SessionId, request: EffectRequest);
}

/// Where outgoing webchat messages go after the commit.
#[derive(Debug, Clone)]
pub enum Handover {
    /// To the gateway in this process. The row is stored as `sent`: should the process die before the gateway emits
    /// it, the visitor reads it from the store when they come back.
    Direct(Arc<dyn OutgoingSink>),
    /// Through the outbox to `stream:outgoing-chat`.
    Stream,
}

impl Handover {
    /// Returns what the outbox takes of a notice, in the transaction that it tells of.
    pub fn entry(&self, notice: &Notice) -> Option<NewEntry> {
        matches!(self, Self::Stream).then(|| notice_entry(notice))
    }

    /// Passes on a notice that the outbox does not take, after the commit.
    pub fn pass_on(&self, notice: Notice) {
        if let Self::Direct(sink) = self {
            sink.notify(notice);
        }
    }
}

/// The entry of a notice, which goes among the messages of its session.
fn notice_entry(notice: &Notice) -> NewEntry {
    NewEntry {
        topic: TopicName::OutgoingChat,
        key: notice.session_id.to_string(),
        payload: serde_json::to_string(notice).unwrap_or_default(),
    }
}

/// Most times that a batch begins anew because flows are to be compiled first, or turns to be decided: a flow leads to
/// others, whose versions are not known before it is compiled itself, and a turn may be followed by another one.
pub(super) const ATTEMPTS: usize = 64;

/// Returns the units of work that a turn may take in the transaction. The last attempts decide whatever is left, so
/// that a batch ends even if its sessions change all the time.
pub(super) fn allowance(attempt: usize) -> u64 {
    if attempt < ATTEMPTS / 2 { SHORT } else { MAX_TURN_WORK }
}

/// Why a batch is not decided.
pub(super) enum Interrupted {
    /// It failed.
    Failed(ConversationError),
    /// These versions are to be compiled first, while no transaction waits for it. The sessions may need them.
    NotCompiled { versions: Vec<FlowVersionId>, sessions: Vec<SessionId> },
    /// These turns take long, and are to be decided first.
    Long(Vec<Rehearsal>),
}

impl<E: Into<ConversationError>> From<E> for Interrupted {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// How long a batch waits for flows that are being compiled before it goes on without their events.
const PATIENCE: Duration = Duration::from_millis(10);

/// How long a batch waits where it is held up: by turns that take long, and by flows that are being compiled.
#[derive(Debug, Clone, Copy)]
enum Patience {
    /// Until the hold-up ends.
    Endless,
    /// Not at all for turns. For flows `longest` in all, which is over at `until` once it has begun.
    Short { longest: Duration, until: Option<Instant> },
}

impl Patience {
    /// Waits for the `end` of a compilation; `None` if that takes too long. Where `longest` is zero, `end` does not begin.
    async fn wait<T>(&mut self, end: impl Future<Output = T>) -> Option<T> {
        match self {
            Self::Endless => Some(end.await),
            Self::Short { longest, .. } if longest.is_zero() => None,
            Self::Short { longest, until } => {
                let until = *until.get_or_insert_with(|| Instant::now() + *longest);
                timeout_at(until, end).await.ok()
            }
        }
    }
}

/// Puts the reports of some of the events `all` into the places of their events. No two are of one session.
fn in_places(
    all: &[&ConversationEvent],
    some: &[&ConversationEvent],
    reports: Vec<TurnReport>,
) -> Vec<Option<TurnReport>> {
    let mut handled = some.iter().zip(reports).peekable();
    all.iter()
        .map(|event| handled.next_if(|(next, _)| std::ptr::eq(**next, *event)).map(|(_, report)| report))
        .collect()
}

/// Goes on without the events of the sessions of which `is_left` holds.
fn leave(events: &mut Vec<&ConversationEvent>, is_left: impl Fn(&SessionId) -> bool) {
    events.retain(|event| !is_left(event.session_id()));
}

/// The flows of a batch do not fit into the cache together with those of others.
pub(super) fn evicted() -> StorageError {
    StorageError::Contention("flows leave the cache as soon as they are compiled".into())
}

/// The orchestrator and the engine, in one transaction a batch.
#[derive(Debug)]
pub struct Conversations<S> {
    pub(super) store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    pub(super) flows: Arc<FlowCache>,
    handover: Handover,
    outside: Option<Arc<dyn Outside>>,
    /// How long a batch waits for flows that are being compiled.
    patience: Duration,
    /// The language of texts for contacts of channels that name none.
    language: Language,
}

impl<S: Store> Conversations<S>
where
    S::Tx: ConversationTx,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, master_key: Arc<MasterKey>, handover: Handover) -> Self {
        Self {
            store,
            cx,
            master_key,
            flows: Arc::default(),
            handover,
            outside: None,
            patience: PATIENCE,
            language: Language::default(),
        }
    }

    /// Sets the `outside` that performs the outside requests of flows. Without it such actions fail at once, with
    /// `not_available`.
    #[must_use]
    pub fn with_outside(self, outside: Arc<dyn Outside>) -> Self {
        Self { outside: Some(outside), ..self }
    }

    /// Sets the language in which contacts are told why nothing answers them, where neither their channel nor its router
    /// words it. It is Portuguese otherwise.
    #[must_use]
    pub fn with_language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Sets how long [`Self::handle_short`] waits in all for flows that are being compiled, in place of 10 ms. With zero
    /// it does not wait.
    #[must_use]
    pub fn waiting_for_flows(self, longest: Duration) -> Self {
        Self { patience: longest, ..self }
    }

    /// Handles events, no two of one session, in one commit; one report each, in order.
    ///
    /// Idempotent: a message that was stored before is reported as such and runs no turn.
    ///
    /// # Errors
    /// Nothing of the batch was committed.
    pub async fn handle(&self, events: &[&ConversationEvent]) -> Result<Vec<TurnReport>, ConversationError> {
        let reports = self.handle_each(events, Patience::Endless).await?;
        Ok(reports.into_iter().flatten().collect())
    }

    /// Handles events in the same way, but for those whose turn takes long, or whose flow takes long to compile: nothing
    /// of these is stored, and their report is `None`. [`Self::handle`] handles them.
    ///
    /// # Errors
    /// Nothing of the batch was committed.
    pub async fn handle_short(
        &self,
        events: &[&ConversationEvent],
    ) -> Result<Vec<Option<TurnReport>>, ConversationError> {
        self.handle_each(events, Patience::Short { longest: self.patience, until: None }).await
    }

    async fn handle_each(
        &self,
        events: &[&ConversationEvent],
        patience: Patience,
    ) -> Result<Vec<Option<TurnReport>>, ConversationError> {
        let reports = match self.attempt(events, false, patience).await {
            // A repetition breaks the unique key of its message. It is rare, so only then is it looked for.
            Err(ConversationError::Storage(StorageError::Unique { .. })) => {
                self.attempt(events, true, patience).await
            }
            other => other,
        }?;
        for (event, report) in events.iter().zip(&reports) {
            if let Some(report) = report {
                self.committed(event.session_id(), report);
            }
        }
        Ok(reports)
    }

    /// Passes on the effects of a turn, after its commit.
    pub(super) fn committed(&self, session: &SessionId, report: &TurnReport) {
        if let Handover::Direct(sink) = &self.handover {
            let chat =
                |event: &&OutgoingEvent| TopicName::outgoing(&event.session_id) == TopicName::OutgoingChat;
            let events: Vec<_> = report.outgoing.iter().filter(chat).cloned().collect();
            if !events.is_empty() {
                sink.deliver(events);
            }
            report.notices.iter().cloned().for_each(|notice| sink.notify(notice));
        }
        if let (Some(outside), Some(request)) = (&self.outside, &report.request) {
            outside.perform(session, request.clone());
        }
    }

    /// Freezes a session whose event failed for good, and tells its contact. The event is kept for a replay (rulings S5),
    /// behind the entries kept already if the session is frozen.
    ///
    /// # Errors
    /// The event is not kept.
    pub async fn freeze(
        &self,
        session_id: SessionId,
        entry: serde_json::Value,
        code: &str,
        message: &str,
    ) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        let stored = tx.sessions().find_many_for_update(std::slice::from_ref(&session_id)).await?.pop();
        let unsaid = stored
            .filter(|stored| !stored.frozen)
            .map(|stored| (0, Unsaid::of(&stored.session, Fallback::Failed)));
        let error = FrozenError { code: code.to_owned(), message: message.to_owned() };
        let frozen = vec![FrozenSession { session_id, error, entry, frozen_at: self.cx.now() }];
        let mut writes = Writes { frozen, ..Writes::default() };
        let mut reports = [TurnReport::default()];
        self.tell(&mut tx, &mut writes, &mut reports, unsaid.as_slice()).await?;
        let numbers = writes.write(&mut tx).await?;
        tx.commit().await?;
        let [mut report] = reports;
        report.outgoing.iter_mut().for_each(|event| numbers.set(event));
        if let Some((_, unsaid)) = &unsaid {
            self.committed(&unsaid.session_id, &report);
        }
        Ok(())
    }

    /// Tells contacts why nothing else answers them. Each is named with the place of their report.
    async fn tell(
        &self,
        tx: &mut S::Tx,
        writes: &mut Writes,
        reports: &mut [TurnReport],
        unsaid: &[(usize, Unsaid)],
    ) -> Result<(), StorageError> {
        let contacts: Vec<&Unsaid> = unsaid.iter().map(|(_, unsaid)| unsaid).collect();
        let messages = fallback_messages(tx, &self.cx, self.language, &contacts).await?;
        for ((place, unsaid), message) in unsaid.iter().zip(messages) {
            if let Some(message) = message {
                writes.say(message.clone(), &unsaid.chat_id, &self.handover);
                reports[*place].outgoing.push(message);
            }
        }
        Ok(())
    }

    async fn attempt(
        &self,
        all: &[&ConversationEvent],
        look_for_duplicates: bool,
        mut patience: Patience,
    ) -> Result<Vec<Option<TurnReport>>, ConversationError> {
        let mut events = all.to_vec();
        // Of several messages, some may wait for another session than the first: by then they must be known to be new.
        let has_several =
            events.iter().filter_map(|event| event.incoming()).any(|event| event.messages.len() > 1);
        let mut compiled = Compiled::new();
        let mut rehearsed = Rehearsed::default();
        for attempt in 0..ATTEMPTS {
            let mut tx = self.store.begin().await?;
            let flows = Flows::among(compiled.clone());
            let facts = Facts::read(&mut tx, &events, look_for_duplicates || has_several, flows).await?;
            match self.decide_in(&mut tx, &events, facts, (&rehearsed, allowance(attempt))).await {
                Ok(reports) => {
                    tx.commit().await?;
                    return Ok(in_places(all, &events, reports));
                }
                Err(Interrupted::Failed(error)) => return Err(error),
                Err(Interrupted::NotCompiled { versions, sessions }) => {
                    drop(tx);
                    let compiling = self.compiling(versions).await?;
                    // Without sessions there is nothing to go on without.
                    let found = if sessions.is_empty() {
                        Some(compiling.await)
                    } else {
                        patience.wait(compiling).await
                    };
                    match found {
                        Some(found) => compiled.extend(found?),
                        None => leave(&mut events, |id| sessions.contains(id)),
                    }
                }
                Err(Interrupted::Long(turns)) => {
                    // So far it has opened chats only: whoever reads them again finds these.
                    tx.commit().await?;
                    match patience {
                        Patience::Endless => rehearsed.add(turns).await?,
                        Patience::Short { .. } => {
                            leave(&mut events, |id| turns.iter().any(|turn| turn.session.id == *id))
                        }
                    }
                }
            }
            if events.is_empty() {
                return Ok(in_places(all, &events, Vec::new()));
            }
        }
        Err(evicted().into())
    }

    /// Compiles versions of flows while no transaction waits for it.
    pub(super) async fn compile(&self, missing: Vec<FlowVersionId>) -> Result<Compiled, StorageError> {
        self.compiling(missing).await?.await
    }

    /// Reads versions of flows, and returns how they are compiled. Once begun, they are compiled even if nobody waits for
    /// it any more.
    async fn compiling(
        &self,
        missing: Vec<FlowVersionId>,
    ) -> Result<impl Future<Output = Result<Compiled, StorageError>>, StorageError> {
        let mut tx = self.store.read().await?;
        let versions = tx.flows().find_versions(&missing).await?;
        drop(tx);
        Ok(self.flows.compile(missing, versions))
    }

    /// Decides events on `facts` and writes their outcome. An event after the end of its session begins another
    /// one, as it would with an event of its own.
    pub(super) async fn decide_in(
        &self,
        tx: &mut S::Tx,
        events: &[&ConversationEvent],
        facts: Facts,
        pace: (&Rehearsed, u64),
    ) -> Result<Vec<TurnReport>, Interrupted> {
        let compiled = facts.flows.compiled().clone();
        let (mut reports, mut left) = self.round(tx, events, facts, pace).await?;
        while !left.is_empty() {
            let again: Vec<&ConversationEvent> = left.iter().map(|(_, event)| event).collect();
            // Some of their messages are stored, and none is answered.
            let mut facts = Facts::read(tx, &again, true, Flows::among(compiled.clone())).await?;
            facts.replaying = true;
            // The first part is written, so that this one is decided here.
            let (rest, next) = self.round(tx, &again, facts, (pace.0, MAX_TURN_WORK)).await?;
            for ((place, _), report) in left.iter().zip(rest) {
                reports[*place].extend(report);
            }
            left = next.into_iter().map(|(at, event)| (left[at].0, event)).collect();
        }
        Ok(reports)
    }

    /// Decides one event of each session; returns also the part after the end of its session, with its place.
    async fn round(
        &self,
        tx: &mut S::Tx,
        events: &[&ConversationEvent],
        mut facts: Facts,
        (rehearsed, allowance): (&Rehearsed, u64),
    ) -> Result<(Vec<TurnReport>, Vec<(usize, ConversationEvent)>), Interrupted> {
        let now = self.cx.now();
        let first: Vec<&IncomingEvent> = events
            .iter()
            .filter(|event| !facts.sessions.contains_key(event.session_id()))
            .filter_map(|event| event.incoming())
            .collect();
        let mut opened = HashMap::new();
        if !first.is_empty() {
            let outcomes = open_many(tx, &self.cx, &self.flows, &mut facts.flows, now, &first).await?;
            opened.extend(first.iter().map(|event| event.session_id.clone()).zip(outcomes));
        }
        let known = events.iter().filter_map(|event| event.incoming()).filter_map(|event| {
            let stored = facts.sessions.get(&event.session_id)?;
            let contact = facts.contacts.get(&stored.session.contact_id)?;
            (!event.aliases.is_empty()).then_some((event, contact))
        });
        note_aliases(tx, &self.cx, &known.collect::<Vec<_>>()).await?;
        facts.read_flows(tx, &self.flows, &self.master_key, &opened, events).await?;
        if let Some(missing) = facts.flows.take_missing() {
            let of_these = |router: &RouterId| missing.routers.contains(router);
            let needs = |id: &&SessionId| match (facts.sessions.get(id), opened.get(id)) {
                (Some(stored), _) => of_these(&stored.session.router_id),
                (None, Some(Opened::Session(session, _))) => of_these(&session.router_id),
                // A session does not begin before its flow is compiled.
                (None, Some(Opened::ChatOnly(_) | Opened::Attended(_))) => true,
                (None, _) => false,
            };
            let sessions = events.iter().map(|event| event.session_id()).filter(needs).cloned().collect();
            return Err(Interrupted::NotCompiled { versions: missing.versions, sessions });
        }

        let writes = Writes::default();
        let mut decider = Decider {
            cx: &self.cx,
            now,
            handover: &self.handover,
            has_outside: self.outside.is_some(),
            facts,
            writes,
            left: None,
            unsaid: None,
            rehearsed,
            allowance,
            long: Vec::new(),
            stored: HashMap::new(),
        };
        let mut reports = Vec::with_capacity(events.len());
        let (mut left, mut unsaid) = (Vec::new(), Vec::new());
        for (place, event) in events.iter().enumerate() {
            reports.push(decider.decide(event, opened.remove(event.session_id()))?);
            unsaid.extend(decider.unsaid.take().map(|unsaid| (place, unsaid)));
            left.extend(decider.left.take().map(|event| (place, ConversationEvent::Incoming(event))));
        }
        if !decider.long.is_empty() {
            return Err(Interrupted::Long(decider.long));
        }
        self.tell(tx, &mut decider.writes, &mut reports, &unsaid).await?;
        let numbers = decider.writes.write(tx).await?;
        reports.iter_mut().flat_map(|report| &mut report.outgoing).for_each(|event| numbers.set(event));
        Ok((reports, left))
    }
}
