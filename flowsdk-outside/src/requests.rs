//! The queue of requests that flows make, and the task that performs them and brings the results to their sessions.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use flowsdk_core::conversation::Outside;
use flowsdk_core::event::EffectDone;
use flowsdk_core::fair_queue::{FairLimits, FairQueue};
use flowsdk_core::flow::{EffectRequest, HttpCaller, OutsideCall, ScriptRunner, perform};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Clock;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Most requests of a kind that are on their way to the queue.
const QUEUE: usize = 10_000;

/// HTTP requests last as long as their servers like, so that a router never has more than a quarter of the places.
const HTTP: FairLimits =
    FairLimits { places: 256, places_of_one: 64, waiting: QUEUE, waiting_of_one: QUEUE / 4 };

/// Nothing takes the worker from a script, which may have it for a second. So a router never has more than half of
/// them, and the scripts of others find one that is free.
fn scripts_at_once(runner: &dyn ScriptRunner) -> FairLimits {
    let places = runner.at_once().max(1);
    FairLimits { places, places_of_one: (places / 2).max(1), waiting: QUEUE, waiting_of_one: QUEUE / 4 }
}

type Asked = (SessionId, EffectRequest, UnderWay);

/// Takes requests after the commit of their turn. The session's deadline covers the requests that it cannot take,
/// and those lost with the process.
#[derive(Debug)]
pub struct Requests {
    http: mpsc::Sender<Asked>,
    scripts: mpsc::Sender<Asked>,
    under_way: Arc<AtomicUsize>,
}

impl Requests {
    /// Requests that were taken and whose result is not delivered yet.
    pub fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }
}

/// Counts a request until it is dropped with it.
#[derive(Debug)]
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn begin(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Outside for Requests {
    fn perform(&self, session: &SessionId, request: EffectRequest) {
        let queue = match &request.call {
            OutsideCall::Http(_) => &self.http,
            OutsideCall::Script(_) => &self.scripts,
        };
        let asked = (session.clone(), request, UnderWay::begin(&self.under_way));
        if queue.try_send(asked).is_err() {
            lost(session);
        }
    }
}

fn lost(session: &SessionId) {
    tracing::warn!(%session, "too many requests to the outside wait; this one will count as lost");
    metrics::counter!("flowsdk_flow_requests_dropped").increment(1);
}

/// Requests on their way, and those who perform them. A slow server holds up no scripts, and a router with many
/// requests none of the others.
#[derive(Debug)]
pub struct Performer {
    http: mpsc::Receiver<Asked>,
    scripts: mpsc::Receiver<Asked>,
    performers: Performers,
}

/// The adapters that perform requests.
#[derive(Debug, Clone)]
struct Performers {
    clock: Arc<dyn Clock>,
    http: Arc<dyn HttpCaller>,
    scripts: Arc<dyn ScriptRunner>,
}

/// The two ends of the queue of requests.
pub fn requests(
    clock: Arc<dyn Clock>,
    http: Arc<dyn HttpCaller>,
    scripts: Arc<dyn ScriptRunner>,
) -> (Arc<Requests>, Performer) {
    let performers = Performers { clock, http, scripts };
    let (http, http_queue) = mpsc::channel(QUEUE);
    let (scripts, script_queue) = mpsc::channel(QUEUE);
    let worker = Performer { http: http_queue, scripts: script_queue, performers };
    (Arc::new(Requests { http, scripts, under_way: Arc::default() }), worker)
}

impl Performer {
    /// Performs requests until `stop`, and gives each result to `deliver`.
    pub async fn run<F, Fut>(self, stop: CancellationToken, deliver: F)
    where
        F: Fn(EffectDone) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (performers, deliver) = (&self.performers, &Arc::new(deliver));
        tokio::join!(
            perform_all(self.http, HTTP, performers, &stop, deliver),
            perform_all(self.scripts, scripts_at_once(&*performers.scripts), performers, &stop, deliver),
        );
    }
}

async fn perform_all<F, Fut>(
    mut incoming: mpsc::Receiver<Asked>,
    limits: FairLimits,
    performers: &Performers,
    stop: &CancellationToken,
    deliver: &Arc<F>,
) where
    F: Fn(EffectDone) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let mut queue = FairQueue::new(limits);
    let mut running = JoinSet::new();
    let mut routers = HashMap::new();
    let mut open = true;
    while open || !running.is_empty() {
        tokio::select! {
            () = stop.cancelled() => break,
            Some(ended) = running.join_next_with_id(), if !running.is_empty() => {
                let task = ended.map_or_else(|error| error.id(), |(task, ())| task);
                if let Some(router) = routers.remove(&task) {
                    queue.end(&router);
                }
            }
            asked = incoming.recv(), if open => match asked {
                Some(asked) => {
                    if let Err(refused) = queue.push(asked.1.router_id.clone(), asked) {
                        lost(&refused.into_item().0);
                    }
                }
                // All senders are gone: nothing will ever come again.
                None => open = false,
            },
        }
        while let Some((router, (session_id, request, under_way))) = queue.start() {
            if request.deadline <= performers.clock.now() {
                // Its session has been told that it is lost, and may have asked again.
                tracing::warn!(session = %session_id, "a request waited too long and is not made any more");
                metrics::counter!("flowsdk_flow_requests_dropped").increment(1);
                queue.end(&router);
                continue;
            }
            let (performers, deliver) = (performers.clone(), Arc::clone(deliver));
            let task = running.spawn(async move {
                let began = Instant::now();
                let result = perform(&request.call, &*performers.http, &*performers.scripts).await;
                let took_ms = u64::try_from(began.elapsed().as_millis()).ok();
                deliver(EffectDone { session_id, seq: request.seq, result, took_ms }).await;
                drop(under_way);
            });
            routers.insert(task.id(), router);
        }
    }
    stop.cancelled().await;
    // A request that was made cannot be taken back, and its result would find nobody: the next start
    // notices it by the deadline.
    running.abort_all();
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use async_trait::async_trait;
    use flowsdk_core::flow::definition::HttpMethod;
    use flowsdk_core::flow::{HttpAnswer, HttpRequest, OutsideFailure, ScriptRequest};
    use flowsdk_core::id::RouterId;
    use flowsdk_core::time::{ManualClock, Timestamp};
    use serde_json::{Value, json};

    use super::*;

    /// A server that never answers, and scripts that are done at once.
    #[derive(Debug, Default)]
    struct Fakes(Mutex<usize>);

    #[async_trait]
    impl HttpCaller for Fakes {
        async fn call(&self, _request: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
            *self.0.lock().expect("a lock") += 1;
            std::future::pending().await
        }
    }

    #[async_trait]
    impl ScriptRunner for Fakes {
        async fn run(&self, _request: &ScriptRequest) -> Result<Value, OutsideFailure> {
            Ok(json!(1))
        }
    }

    fn asked(router: &str, seq: i64, deadline: Timestamp, is_script: bool) -> EffectRequest {
        let router_id = RouterId::parse(router).expect("an id");
        let call = if is_script {
            OutsideCall::Script(ScriptRequest { script: "1".to_owned(), scope: json!({}), seed: 1 })
        } else {
            OutsideCall::Http(HttpRequest {
                method: HttpMethod::Get,
                url: "https://api.example".into(),
                headers: Vec::new(),
                body: None,
                is_json: false,
                follows_redirects: true,
                timeout: Duration::from_secs(30),
                paths: Vec::new(),
            })
        };
        EffectRequest { seq, router_id, deadline, call }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_servers_hold_up_neither_scripts_nor_the_end() {
        let fakes = Arc::new(Fakes::default());
        let clock = ManualClock::at(1_800_000_000_000);
        let now = clock.now();
        let (outside, worker) = requests(Arc::new(clock), Arc::clone(&fakes) as _, Arc::clone(&fakes) as _);
        let session = SessionId::parse("wc-c-u").expect("an id");
        let later = now + Duration::from_secs(35);
        let requests = i64::try_from(HTTP.places).expect("few") + 10;
        outside.perform(&session, asked("r1", 0, now, false));
        for seq in 1..=requests {
            outside.perform(&session, asked("r1", seq, later, false));
        }
        outside.perform(&session, asked("r2", 900, later, false));
        outside.perform(&session, asked("r1", 1_000, now, true));
        outside.perform(&session, asked("r1", 1_001, later, true));

        let (stop, (done, mut results)) = (CancellationToken::new(), mpsc::channel(8));
        let run = worker.run(stop.clone(), move |result| {
            let done = done.clone();
            async move { done.send(result.seq).await.expect("somebody listens") }
        });
        let end = async {
            let first = results.recv().await;
            // Time goes on when nobody has anything to do any more.
            tokio::time::sleep(Duration::from_millis(1)).await;
            stop.cancel();
            (first, results.recv().await)
        };
        let (_ended, told) = tokio::time::timeout(Duration::from_secs(5), async { tokio::join!(run, end) })
            .await
            .expect("the end waits for no server");
        assert_eq!(told, (Some(1_001), None), "what is late is not done");
        let of_both = HTTP.places_of_one + 1;
        assert_eq!(
            *fakes.0.lock().expect("a lock"),
            of_both,
            "a router has its share, and the other its request"
        );
    }
}
