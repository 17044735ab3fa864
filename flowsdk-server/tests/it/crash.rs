//! What a crash may not do: lose a message, answer one twice, or show one twice (rulings S1, S2, S8).
//!
//! `FLOWSDK_TEST_CONVERSATIONS` sets how many conversations each test holds (default 60).

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flowsdk_channels::webchat::HasWebchat as _;
use flowsdk_core::contact::HasContacts as _;
use flowsdk_core::id::{ChannelId, VisitorId};
use flowsdk_core::message::{Direction, HasMessages as _, HistoryQuery, Message};
use flowsdk_core::session::SessionId;
use flowsdk_core::store::Store as _;
use flowsdk_store::sql::SqlStore;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::harness::client::{Manner, id, text};
use crate::harness::{Client, Setup, everywhere};

everywhere!(killed_and_restarted);

/// Messages of one conversation.
const MESSAGES: usize = 6;
/// How long all conversations of a test may take.
const LIMIT: Duration = Duration::from_secs(150);

fn conversations() -> usize {
    let wanted = std::env::var("FLOWSDK_TEST_CONVERSATIONS").ok();
    wanted.map_or(60, |text| text.parse().expect("a number"))
}

/// A visitor who says 1, 2, 3.. and wants every answer, whatever happens to the server.
struct Talker {
    name: String,
    auth: Value,
    /// Where the server is now.
    server: watch::Receiver<SocketAddr>,
    /// Answers of all talkers.
    answered: Arc<AtomicUsize>,
    /// Everything that came, repetitions included.
    seen: Vec<Value>,
    taken: usize,
    /// Waits for each answer; the others go on at once.
    patient: bool,
    /// How many answers did not come although the connection stayed open.
    missing: usize,
}

impl Talker {
    async fn talk(mut self) -> Self {
        while self.missing == 0 && (self.taken < MESSAGES || self.distinct() < MESSAGES) {
            self.session().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self
    }

    fn distinct(&self) -> usize {
        self.seen.iter().map(id).collect::<HashSet<_>>().len()
    }

    /// One connection, until everything is said and heard or it breaks.
    async fn session(&mut self) {
        let mut auth = self.auth.clone();
        // An id that nobody has given means everything.
        auth["since"] = self.seen.last().map_or(json!("nothing"), |last| json!(id(last)));
        let addr = *self.server.borrow_and_update();
        let moved = self.server.clone();
        let Some(client) = Client::try_open(addr, &auth.to_string(), Manner::default()).await else {
            return;
        };
        let before = self.seen.len();
        tokio::select! {
            () = self.exchange(&client, before) => {}
            // The machine is gone: nobody will ever answer on this connection.
            () = has_moved(moved) => {}
        }
        self.keep(&client, before);
    }

    async fn exchange(&mut self, client: &Client, before: usize) {
        match client.try_answer().await {
            Some((name, _)) if name == "auth_ok" => {}
            other => {
                assert!(
                    other.as_ref().is_none_or(|(_, error)| error["code"] == "unavailable"),
                    "{}: {other:?}",
                    self.name
                );
                return;
            }
        }
        if self.patient {
            self.hear(client, before, self.taken).await;
        }
        while self.missing == 0 && self.taken < MESSAGES {
            let next = self.taken + 1;
            let payload = json!({ "text": format!("{next}"), "clientMessageId": format!("m{next}") });
            let waiting = client.emit_later("message", &payload);
            match client.try_ack(waiting).await {
                Some(ack) if ack["ok"] == true => self.taken = next,
                Some(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                None => return,
            }
            if self.patient {
                self.hear(client, before, self.taken).await;
            }
            self.keep(client, before);
        }
        if self.missing == 0 {
            self.hear(client, before, MESSAGES).await;
        }
    }

    /// Waits on this connection until `count` messages are answered, or it breaks.
    async fn hear(&mut self, client: &Client, before: usize, count: usize) {
        loop {
            self.keep(client, before);
            let missing = count.saturating_sub(self.distinct());
            if missing == 0 || client.is_closed() {
                return;
            }
            let here = self.seen.len() - before;
            let come = client.gather(here + missing).await.len();
            if !client.is_closed() && come < here + missing {
                self.missing = here + missing - come;
                return;
            }
        }
    }

    /// Takes over what `client` has received; `before` is what there was from earlier connections.
    fn keep(&mut self, client: &Client, before: usize) {
        let messages = client.messages();
        let new = messages.len() - (self.seen.len() - before);
        self.answered.fetch_add(new, Ordering::SeqCst);
        let known = messages.len() - new;
        self.seen.extend_from_slice(&messages[known..]);
    }
}

async fn has_moved(mut server: watch::Receiver<SocketAddr>) {
    if server.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The conversations of a test.
#[derive(Default)]
pub(crate) struct Crowd {
    talkers: JoinSet<Talker>,
    answered: Arc<AtomicUsize>,
    size: usize,
    /// Whether everybody waits for each answer, and not every second visitor only.
    is_patient: bool,
}

impl Crowd {
    fn new() -> Self {
        Self::default()
    }

    /// Conversations in which everybody waits for each answer.
    pub(crate) fn patient() -> Self {
        Self { is_patient: true, ..Self::default() }
    }

    /// Lets `count` more visitors talk.
    pub(crate) fn add(&mut self, setup: &Setup, count: usize, server: &watch::Receiver<SocketAddr>) {
        for _ in 0..count {
            let name = format!("v{}", self.size);
            let token = setup.token(json!({ "sub": name, "name": name }));
            let auth = json!({ "channelId": setup.seeded.closed, "token": token });
            let talker = Talker {
                name,
                auth,
                server: server.clone(),
                answered: Arc::clone(&self.answered),
                seen: Vec::new(),
                taken: 0,
                patient: self.is_patient || self.size.is_multiple_of(2),
                missing: 0,
            };
            self.talkers.spawn(talker.talk());
            self.size += 1;
        }
    }

    /// Waits until `count` answers have come in all.
    pub(crate) async fn reached(&self, setup: &Setup, count: usize) {
        let answered = || self.answered.load(Ordering::SeqCst);
        let begin = Instant::now();
        while answered() < count {
            if begin.elapsed() >= LIMIT {
                let (now, all, streams) = (answered(), self.expected(), setup.streams().await);
                panic!("{now} of {all} answers, {count} awaited\n{streams}");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn expected(&self) -> usize {
        self.size * MESSAGES
    }

    /// Waits for everybody, then looks at what each has seen and at what is stored.
    pub(crate) async fn verify(mut self, setup: &Setup) {
        let all = async {
            let mut done = Vec::new();
            while let Some(talker) = self.talkers.join_next().await {
                done.push(talker.expect("a talker"));
            }
            done
        };
        let done = tokio::time::timeout(LIMIT, all).await.expect("every conversation comes to its end");
        // As they stand now, before anything else happens.
        let streams =
            if done.iter().any(|talker| talker.missing > 0) { setup.streams().await } else { String::new() };
        let store = setup.store().await;
        let said: Vec<String> = (1..=MESSAGES).map(|n| n.to_string()).collect();
        let answers: Vec<String> = said.iter().map(|n| format!("eco {n}")).collect();
        let mut wrong = Vec::new();
        for Talker { name, seen, missing, .. } in done {
            let rows = stored(&store, &setup.seeded.closed, &name).await;
            let of = |direction| -> Vec<String> {
                let rows = rows.iter().filter(|row| row.direction == direction);
                rows.map(|row| text(&row.content)).collect()
            };
            let shown: Vec<String> = seen.iter().map(text).collect();
            if missing > 0 || of(Direction::In) != said || of(Direction::Out) != answers || shown != answers {
                wrong.push(format!(
                    "{name}: stored {:?} {:?}, seen {shown:?}, {missing} did not come on an open connection",
                    of(Direction::In),
                    of(Direction::Out)
                ));
            }
        }
        store.close().await;
        assert!(wrong.is_empty(), "{} of {}:\n{}\n{streams}", wrong.len(), self.size, wrong.join("\n"));
    }
}

/// Every row of a visitor, oldest first.
async fn stored(store: &SqlStore, channel: &str, visitor: &str) -> Vec<Message> {
    let channel = ChannelId::parse(channel).unwrap();
    let visitor = VisitorId::parse(visitor).unwrap();
    let identity = SessionId::webchat(&channel, &visitor, None).unwrap().contact_identity();
    let mut tx = store.read().await.unwrap();
    let contacts = tx.contacts().find_by_phone_numbers(&[identity]).await.unwrap();
    let contact = contacts.first().expect("the visitor's contact");
    let chat = tx.webchat().find_chat(&channel, &contact.id).await.unwrap();
    let (chat, _) = chat.expect("the visitor's chat");
    let query = HistoryQuery { chat_id: &chat, before: None, limit: 200 };
    let mut rows = tx.messages().history(&query).await.unwrap().items;
    rows.reverse();
    rows
}

/// Killed again and again in the middle of everything, and started on the same data.
async fn killed_and_restarted(setup: Setup) {
    let mut server = setup.start().await;
    let (place, places) = watch::channel(server.addr);
    let mut crowd = Crowd::new();
    crowd.add(&setup, conversations(), &places);
    for part in [1, 3, 5] {
        crowd.reached(&setup, crowd.expected() * part / 7).await;
        server.kill();
        let (killed, before) = (Instant::now(), crowd.answered.load(Ordering::SeqCst));
        server = setup.start().await;
        let ready = killed.elapsed();
        place.send_replace(server.addr);
        crowd.reached(&setup, (before + 1).min(crowd.expected())).await;
        let kind = if setup.is_distributed() { "distributed" } else { "embedded" };
        eprintln!("{kind}: ready {ready:?}, first answer {:?} after kill -9", killed.elapsed());
    }
    crowd.verify(&setup).await;
    let (status, time) = server.stop().await;
    assert!(status.success(), "{status}");
    assert!(time < Duration::from_secs(10), "{time:?}");
}

/// One of two dies for good; its visitors go on with the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_dies() {
    let Some(setup) = Setup::distributed().await else {
        return;
    };
    let (first, second) = (setup.start().await, setup.start().await);
    let (place, places) = watch::channel(first.addr);
    let (_stays, second_place) = watch::channel(second.addr);
    let mut crowd = Crowd::new();
    crowd.add(&setup, conversations() / 2, &places);
    crowd.add(&setup, conversations() / 2, &second_place);
    crowd.reached(&setup, crowd.expected() / 3).await;
    first.kill();
    let killed = Instant::now();
    place.send_replace(second.addr);
    let size = crowd.size;
    crowd.verify(&setup).await;
    eprintln!("one of two died: {size} conversations done {:?} later", killed.elapsed());
    let (status, _) = second.stop().await;
    assert!(status.success(), "{status}");
}

/// Visitors wait less than two seconds for their answers when the process dies that has every partition.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_a_dead_process_come_from_another_soon() {
    let Some(setup) = Setup::distributed().await else {
        return;
    };
    let setup = setup.without("LEASE_TTL");
    let mut owner = setup.start().await;
    let mut waits = Vec::new();
    for round in 0..3 {
        // It has nothing as long as the first one lives.
        let other = setup.start().await;
        let (mut client, _) = setup.visit(&other).await;
        client.say(&format!("before {round}")).await;
        client.texts(1).await;
        owner.kill();
        let killed = Instant::now();
        client.say(&format!("after {round}")).await;
        client.texts(1).await;
        waits.push(killed.elapsed());
        owner = other;
    }
    waits.sort_unstable();
    eprintln!("answers after kill -9 of their owner: {waits:?}");
    // The longest is not judged: other tests run on this machine.
    assert!(waits[1] < Duration::from_secs(2), "{waits:?}");
    let (status, _) = owner.stop().await;
    assert!(status.success(), "{status}");
}

/// One of two sleeps for longer than its leases, and wakes up believing that it still has them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_sleeps() {
    let Some(setup) = Setup::distributed().await else {
        return;
    };
    let (first, second) = (setup.start().await, setup.start().await);
    let (_a, first_place) = watch::channel(first.addr);
    let (_b, second_place) = watch::channel(second.addr);
    let mut crowd = Crowd::new();
    crowd.add(&setup, conversations() / 2, &first_place);
    crowd.reached(&setup, crowd.expected() / 4).await;
    first.signal(Signal::STOP);
    // Whoever talks to the other is answered, by partitions that the sleeper had: its leases are over.
    let mut awake = Crowd::new();
    awake.size = 10_000;
    awake.add(&setup, conversations() / 2, &second_place);
    awake.verify(&setup).await;
    first.signal(Signal::CONT);
    crowd.verify(&setup).await;
    for server in [first, second] {
        let (status, _) = server.stop().await;
        assert!(status.success(), "{status}");
    }
}

/// How long a message takes to its answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn round_trips() {
    let Some(setup) = Setup::distributed().await else {
        return;
    };
    let server = setup.start().await;
    let (mut client, _) = setup.visit(&server).await;
    let mut times = Vec::new();
    for n in 0..40 {
        let begin = Instant::now();
        client.say(&format!("{n}")).await;
        client.texts(1).await;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    eprintln!("distributed round trip: median {:?}, longest {:?}", times[20], times[39]);
    // Nothing on the way may wait for a poll to come round.
    assert!(times[20] < Duration::from_millis(250), "{times:?}");
}
