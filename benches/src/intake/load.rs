//! Deliveries, signed and sent again and again.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_core::context::OpContext;
use secrecy::SecretString;
use serde_json::json;
use tokio::task::JoinSet;

use super::{ACCOUNT, CONNECTIONS, NUMBER, SECRET};
use crate::http::{Connection, Request};
use crate::load::{self, Outcome};

#[derive(Default)]
struct Shared {
    outcome: RefCell<Outcome>,
    in_window: Cell<bool>,
    stop: Cell<bool>,
}

/// The work of one measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// The address of the server.
    pub(super) address: SocketAddr,
    /// The process whose processor time is counted.
    pub(super) pid: u32,
    /// Deliveries a second over all connections; `None` delivers again as soon as the one before is answered.
    pub(super) pace: Option<f64>,
    /// How long to measure.
    pub(super) window: Duration,
}

/// Carries out `plan`.
pub(super) async fn run(plan: Plan) -> Result<Outcome> {
    tokio::task::LocalSet::new().run_until(conduct(plan)).await
}

async fn conduct(plan: Plan) -> Result<Outcome> {
    let shared = Rc::new(Shared::default());
    let mut asking = JoinSet::new();
    for number in 0..CONNECTIONS {
        let connection = Connection::open(plan.address).await?;
        let shared = Rc::clone(&shared);
        asking.spawn_local(async move {
            let done = deliver(connection, plan.pace, number, &shared).await;
            shared.outcome.borrow_mut().note_end(done);
        });
    }
    let (seconds, cpu) = load::measure(plan.window, &[plan.pid], &shared.in_window).await?;
    shared.stop.set(true);
    load::drain(asking).await;
    let mut outcome = shared.outcome.take();
    (outcome.seconds, outcome.cpu) = (seconds, cpu);
    outcome.latencies.sort_unstable();
    if outcome.answered_in_window == 0 {
        bail!("nothing was answered: {:?}", outcome.wrong);
    }
    Ok(outcome)
}

async fn deliver(
    mut connection: Connection,
    pace: Option<f64>,
    number: usize,
    shared: &Shared,
) -> Result<()> {
    let (deliveries, secret) = (deliveries(number), SecretString::from(SECRET));
    let every = pace.map(|pace| Duration::from_secs_f64(CONNECTIONS as f64 / pace));
    let mut due = Instant::now() + every.unwrap_or_default().mul_f64(number as f64 / CONNECTIONS as f64);
    for nth in 0_u64.. {
        if shared.stop.get() {
            break;
        }
        let request = delivery(&deliveries, nth, &secret);
        let mut began = Instant::now();
        if let Some(every) = every {
            // The timer is a millisecond late at times, which is not the server's doing. When the connection was still
            // busy at the due moment, the wait counts.
            if began < due {
                tokio::time::sleep_until(due.into()).await;
                began = Instant::now();
            } else {
                began = due;
            }
            due += every;
        }
        shared.outcome.borrow_mut().written += 1;
        let status = connection.ask(&request).await?;
        let wrong =
            (status != 200).then(|| format!("{status} {}", String::from_utf8_lossy(connection.body())));
        shared.outcome.borrow_mut().note(began, shared.in_window.get(), wrong);
    }
    Ok(())
}

/// Stand in the deliveries of a connection for what each has of its own.
const NTH: &str = "<nth>";
const SENT_AT: &str = "<sent at>";

/// The deliveries of a text, as the provider words them. Each connection is another contact.
fn deliveries(number: usize) -> String {
    let phone = format!("55119{number:08}");
    json!({ "object": "whatsapp_business_account", "entry": [{ "id": ACCOUNT, "changes": [{ "field": "messages", "value": {
        "messaging_product": "whatsapp",
        "metadata": { "display_phone_number": "5511987654321", "phone_number_id": NUMBER },
        "contacts": [{ "profile": { "name": "Ana" }, "wa_id": phone }],
        "messages": [{ "from": phone, "id": format!("wamid.{number:04}{NTH}"), "timestamp": SENT_AT,
            "type": "text", "text": { "body": format!("hello from the load generator {NTH}") } }] } }] }] })
    .to_string()
}

/// One of them, signed.
fn delivery(deliveries: &str, nth: u64, secret: &SecretString) -> Request {
    let sent_at = (OpContext::system().now().as_millis() / 1_000).to_string();
    let body = deliveries.replace(NTH, &format!("{nth:012}")).replace(SENT_AT, &sent_at);
    let signature = sign(secret, body.as_bytes());
    Request::with_json("POST", "/phone/webhook", &body).with_header(SIGNATURE_HEADER, &signature)
}

/// One delivery that the load does not send.
pub(super) fn first() -> Request {
    delivery(&deliveries(CONNECTIONS), 0, &SecretString::from(SECRET))
}
