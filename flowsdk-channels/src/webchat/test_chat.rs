//! The test channel over HTTP: a message in, the answers of its turn out, in one call. For authors who try a
//! flow from a script, and for their CI.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flowsdk_core::admin::flow::TOOL_BEGINS_NOTHING;
use flowsdk_core::contact::HasContacts;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{Chain, Fault, StorageError, UNAVAILABLE};
use flowsdk_core::flow::{FlowKind, HasFlows};
use flowsdk_core::id::{FlowId, MessageId, RouterId};
use flowsdk_core::message::{HasMessages, IncomingMessage};
use flowsdk_core::session::{HasSessions, SessionId, Standstill};
use flowsdk_core::store::Store;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::inbound::InboundError;
use super::payload::{AuthOk, ServerMessage};
use super::{AuthError, Caller, Handshake, HasWebchat, Ingress, IngressError, Limits, Visitor, Visitors};

/// Most messages of an answer; older ones are read from the history.
const MOST_ANSWERS: u32 = 200;
/// Pauses between two looks at a turn that runs elsewhere.
const FIRST_PAUSE: Duration = Duration::from_millis(3);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error, Fault)]
pub enum TestChatError {
    /// The visitor was not let in.
    #[error(transparent)]
    #[fault(transparent)]
    Auth(#[from] AuthError),
    /// The input is not a message.
    #[error(transparent)]
    #[fault(Invalid, "validation_failed", text = .0.text(), field = .0.field())]
    Inbound(#[from] InboundError),
    /// The flow to begin with is none of the router's, or was neither published nor made a test version.
    #[error("no such flow to begin with")]
    #[fault(
        Unprocessable,
        "flow_unknown",
        pt = "Flow não pertence ao roteador, ou não tem versão publicada ou de teste",
        en = "The flow does not belong to the router, or has neither a published version nor a test version",
        field = "flowId"
    )]
    FlowUnknown,
    /// The flow to begin with is a tool.
    #[error("tool")]
    #[fault(Unprocessable, "flow_is_tool", text = TOOL_BEGINS_NOTHING, field = "flowId")]
    FlowIsTool,
    /// The visitor sends more messages than the rate limit admits, or more of the router wait than may.
    #[error("too many messages")]
    #[fault(
        RateLimited,
        "rate_limited",
        pt = "Muitas mensagens, aguarde um momento",
        en = "Too many messages, wait a moment"
    )]
    RateLimited,
    /// The message was not taken.
    #[error("not taken")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Ingress(#[source] IngressError),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

impl From<IngressError> for TestChatError {
    fn from(error: IngressError) -> Self {
        match error {
            IngressError::Backpressure => Self::RateLimited,
            error => Self::Ingress(error),
        }
    }
}

/// The result of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct TestTurn {
    /// The visitor, with the key of a new one.
    pub visitor: AuthOk,
    /// The session of the visitor.
    pub session_id: SessionId,
    /// The router of the channel.
    pub router_id: RouterId,
    /// Id of the stored message; of the first one, when it came twice.
    pub message_id: MessageId,
    /// Whether the message came before. Then it was answered before, and is not answered again.
    pub repeated: bool,
    /// Messages sent to the visitor since, in order.
    pub messages: Vec<ServerMessage>,
    /// Whether `messages` is complete. Otherwise the time was up first, and the rest will be in the history.
    pub complete: bool,
    /// Whether an error has stopped the session, now or before.
    pub frozen: bool,
}

/// The known answers to a message.
#[derive(Debug, Default)]
struct Answers {
    messages: Vec<ServerMessage>,
    complete: bool,
    frozen: bool,
}

/// Takes messages on test channels and returns their answers.
///
/// Messages of one visitor are taken one after the other, in the order in which they came, so that each has
/// its own answers.
#[derive(Debug)]
pub struct TestChat<S> {
    store: Arc<S>,
    visitors: Arc<Visitors<S>>,
    ingress: Arc<dyn Ingress>,
    limits: Arc<Limits>,
    queues: Arc<Queues>,
}

impl<S: Store> TestChat<S>
where
    S::Tx: HasWebchat + HasContacts + HasMessages + HasSessions + HasFlows,
{
    /// A service over the same parts as the sockets.
    pub fn new(
        store: Arc<S>,
        visitors: Arc<Visitors<S>>,
        ingress: Arc<dyn Ingress>,
        limits: Arc<Limits>,
    ) -> Self {
        Self { store, visitors, ingress, limits, queues: Arc::default() }
    }

    /// Takes a message and waits for its answers, at most as long as `patience`. A session that begins with it begins with
    /// `flow`, if one is given, and not with the channel's.
    ///
    /// # Errors
    /// The message was not taken. When it was, but its answers cannot be read, they count as not complete.
    pub async fn say(
        &self,
        handshake: &Handshake,
        caller: Caller<'_>,
        message: impl FnOnce(&OpContext) -> Result<IncomingMessage, InboundError>,
        flow: Option<FlowId>,
        patience: Duration,
    ) -> Result<TestTurn, TestChatError> {
        let cx = self.visitors.context();
        let mut message = message(cx)?;
        let (mut visitor, ok) = self.visitors.enter_test_channel(handshake, caller).await?;
        if let Some(flow) = flow {
            self.require(&flow, &visitor.router_id).await?;
            visitor.flow_id = Some(flow);
        }
        if !self.limits.admit_message(&visitor.session_id) {
            return Err(TestChatError::RateLimited);
        }
        let _turn = self.queues.wait(&visitor.session_id).await;
        let id = MessageId::generate(cx.ids());
        message.internal_id = Some(id.clone());
        let accepted = self.ingress.accept(visitor.incoming(message, cx), &visitor.router_id).await?;
        let repeated = id != accepted.message_id;
        let Answers { messages, complete, frozen } = match accepted.answers {
            Some(answers) => Answers {
                messages: answers.iter().map(ServerMessage::from).collect(),
                complete: true,
                frozen: accepted.frozen,
            },
            None => self.answers(&visitor, &accepted.message_id, patience).await,
        };
        Ok(TestTurn {
            visitor: ok,
            session_id: visitor.session_id,
            router_id: visitor.router_id,
            message_id: accepted.message_id,
            repeated,
            messages: if repeated { Vec::new() } else { messages },
            complete,
            frozen,
        })
    }

    /// Requires that sessions of the test channel of `router` can begin with `flow`.
    async fn require(&self, flow: &FlowId, router: &RouterId) -> Result<(), TestChatError> {
        let found = self.store.read().await?.flows().find(flow).await?;
        let flow = found.filter(|flow| flow.router_id == *router).ok_or(TestChatError::FlowUnknown)?;
        if flow.kind == FlowKind::Tool {
            return Err(TestChatError::FlowIsTool);
        }
        let can_run = flow.published_version_id.is_some() || flow.test_version_id.is_some();
        if can_run { Ok(()) } else { Err(TestChatError::FlowUnknown) }
    }

    /// Looks at the store until the turn of `message` is there and waits for nothing.
    async fn answers(&self, visitor: &Visitor, message: &MessageId, patience: Duration) -> Answers {
        let end = Instant::now() + patience;
        let mut pause = FIRST_PAUSE;
        loop {
            let answers = match self.look(visitor, message).await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "the answers of a test cannot be read");
                    Answers::default()
                }
            };
            if answers.complete || Instant::now() + pause >= end {
                return answers;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn look(&self, visitor: &Visitor, message: &MessageId) -> Result<Answers, StorageError> {
        let session = &visitor.session_id;
        let mut tx = self.store.read().await?;
        let Some(first) = tx.messages().answers_to(session, message, MOST_ANSWERS).await? else {
            return Ok(Answers::default());
        };
        let standstill = tx.sessions().standstill(session).await?;
        // Each statement may see more than the one before: a message stored between the two
        // counts.
        let all = match standstill {
            Some(Standstill::Outside) => first,
            Some(Standstill::Frozen) | None => {
                tx.messages().answers_to(session, message, MOST_ANSWERS).await?.unwrap_or_default()
            }
        };
        Ok(Answers {
            messages: all.into_iter().map(ServerMessage::from).collect(),
            complete: standstill != Some(Standstill::Outside),
            frozen: standstill == Some(Standstill::Frozen),
        })
    }
}

/// A queue for each session that is written to.
#[derive(Debug, Default)]
struct Queues(Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>);

impl Queues {
    /// Waits for one's turn, which ends when the answer is dropped.
    async fn wait(self: &Arc<Self>, session: &SessionId) -> Turn {
        let queue = {
            let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(queues.entry(session.clone()).or_default())
        };
        // Made before the wait: a caller that gives up waiting cleans up too.
        let mut turn = Turn { queues: Arc::clone(self), session: session.clone(), held: None };
        turn.held = Some(queue.lock_owned().await);
        turn
    }
}

/// A place in the queue of one session.
#[derive(Debug)]
struct Turn {
    queues: Arc<Queues>,
    session: SessionId,
    held: Option<OwnedMutexGuard<()>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.held = None;
        let mut queues = self.queues.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody else has it, and nobody can get it meanwhile.
        if queues.get(&self.session).is_some_and(|queue| Arc::strong_count(queue) == 1) {
            queues.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_in_order_and_nothing_is_left_behind() {
        let queues = Arc::new(Queues::default());
        let session = SessionId::parse("wc-c-u").expect("an id");
        let first = queues.wait(&session).await;
        let mut second = Box::pin(queues.wait(&session));
        let mut third = Box::pin(queues.wait(&session));
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        drop(first);
        assert!((&mut third).now_or_never().is_none());
        let second = second.await;
        // A caller that gives up does not hold up the others.
        drop(third);
        drop(second);
        assert!(queues.0.lock().expect("a lock").is_empty());
        let other = SessionId::parse("wc-c-v").expect("an id");
        let (_one, _two) = (queues.wait(&session).await, queues.wait(&other).await);
        assert_eq!(queues.0.lock().expect("a lock").len(), 2);
    }
}
