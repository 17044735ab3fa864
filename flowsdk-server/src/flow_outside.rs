//! Performs what flows ask of the outside, and brings the results back to their sessions.

use std::future::Future;
use std::sync::Arc;

use flowsdk_core::conversation::Outside;
use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::{EffectRequest, HttpCaller, ScriptRunner, perform};
use flowsdk_core::session::SessionId;
use flowsdk_core::stream::event::EffectDone;
use flowsdk_outside::http::{AllowedHosts, GuardedHttp};
use flowsdk_outside::script::{ScriptWorkers, WorkerCommand};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The subcommand of this program that serves scripts.
pub const WORKER_COMMAND: &str = "script-worker";
/// Most requests that wait.
const QUEUE: usize = 10_000;
/// Most requests that are performed at once.
const AT_ONCE: usize = 256;
/// Worker processes for scripts.
const SCRIPT_WORKERS: usize = 2;

/// Takes requests after the commit of their turn. What it cannot take, and what is lost with the process, is
/// noticed by the session's deadline.
#[derive(Debug)]
pub struct FlowOutside {
    queue: mpsc::Sender<(SessionId, EffectRequest)>,
}

impl Outside for FlowOutside {
    fn perform(&self, session: &SessionId, request: EffectRequest) {
        if self.queue.try_send((session.clone(), request)).is_err() {
            tracing::warn!(%session, "too many requests to the outside wait; this one will count as lost");
            metrics::counter!("flowsdk_flow_requests_dropped").increment(1);
        }
    }
}

/// Requests on their way, and those who perform them.
#[derive(Debug)]
pub struct OutsideWorker {
    queue: mpsc::Receiver<(SessionId, EffectRequest)>,
    http: Arc<dyn HttpCaller>,
    scripts: Arc<dyn ScriptRunner>,
}

/// The two ends.
///
/// # Errors
/// When TLS cannot be set up or this program does not know where it is.
pub fn flow_outside(allowed: AllowedHosts) -> Result<(Arc<FlowOutside>, OutsideWorker), BoxError> {
    let (sender, queue) = mpsc::channel(QUEUE);
    let command =
        WorkerCommand { program: std::env::current_exe()?, arguments: vec![WORKER_COMMAND.to_owned()] };
    let worker = OutsideWorker {
        queue,
        http: Arc::new(GuardedHttp::new(allowed)?),
        scripts: Arc::new(ScriptWorkers::new(command, SCRIPT_WORKERS)),
    };
    Ok((Arc::new(FlowOutside { queue: sender }), worker))
}

impl OutsideWorker {
    /// Performs requests until `stop`, and gives each result to `deliver`.
    pub async fn run<F, Fut>(mut self, stop: CancellationToken, deliver: F)
    where
        F: Fn(EffectDone) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (places, deliver) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::new(deliver));
        let mut running = JoinSet::new();
        loop {
            let next = tokio::select! {
                () = stop.cancelled() => break,
                next = self.queue.recv() => next,
                Some(_) = running.join_next() => continue,
            };
            // All senders are gone: nothing will ever come again.
            let Some((session_id, request)) = next else { break };
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
            let (http, scripts, deliver) =
                (Arc::clone(&self.http), Arc::clone(&self.scripts), Arc::clone(&deliver));
            running.spawn(async move {
                let result = perform(&request.call, &*http, &*scripts).await;
                deliver(EffectDone { session_id, seq: request.seq, result }).await;
                drop(place);
            });
        }
        stop.cancelled().await;
        // A request that was made cannot be taken back, and its result would find nobody: the next start
        // notices it by the deadline.
        running.abort_all();
    }
}
