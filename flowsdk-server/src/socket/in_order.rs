//! The connect handler that has a socket attached before its client knows that it is connected.

use std::{future::Future, pin::Pin, sync::Arc};

use socketioxide::{
    adapter::Adapter,
    extract::SocketRef,
    handler::{ConnectHandler, Value as RawValue},
    socket::Socket,
};
use tokio_util::task::TaskTracker;

use super::{
    event::{self, EventHandler},
    ordered::{Ordered, OrderedConfig, Phase, Queue, Shared},
};

/// The connect handler of a namespace whose sockets are all handled in order by `handler`:
/// `io.ns("/", in_order(&tracker, OrderedConfig::default(), handler))`.
pub fn in_order<H>(tracker: &TaskTracker, config: OrderedConfig, handler: H) -> InOrder<H> {
    InOrder(Arc::new(Shared { handler, tracker: tracker.clone(), config }))
}

/// The layer that [`in_order`] makes.
pub struct InOrder<H>(Arc<Shared<H>>);

impl<H> Clone for InOrder<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Carries the queue from the middleware to the connect handler.
struct Joining<H>(Arc<Queue<H>>);

impl<H> Clone for Joining<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

type Verdict<'a> = Pin<Box<dyn Future<Output = Result<(), Box<dyn std::fmt::Display + Send>>> + Send + 'a>>;

impl<A: Adapter, H: EventHandler<A>> ConnectHandler<A, Ordered> for InOrder<H> {
    fn call_middleware<'a>(&'a self, socket: Arc<Socket<A>>, auth: &'a Option<RawValue>) -> Verdict<'a> {
        Box::pin(async move {
            let verdict = async {
                let auth = event::parse_auth(auth.as_ref())?;
                self.0.handler.authorize(&SocketRef::from(socket.clone()), &auth).await
            };
            verdict.await.map_err(|message| Box::new(message) as Box<dyn std::fmt::Display + Send>)?;
            let queue = Queue::attach(&*socket, self.0.clone(), Phase::Joining);
            socket.extensions.insert(Joining(queue));
            Ok(())
        })
    }

    fn call(&self, socket: Arc<Socket<A>>, auth: Option<RawValue>) {
        let Some(Joining(queue)) = socket.extensions.remove::<Joining<H>>() else {
            return;
        };
        queue.open(socket, event::parse_auth(auth.as_ref()).unwrap_or_default());
    }
}
