//! What a crash may not do at the desk: give a ticket twice, exceed the limit of an agent, or forget a ticket (rulings D2).
//!
//! `FLOWSDK_TEST_AGENTS` sets how many agents race (default 8), `FLOWSDK_TEST_TICKETS` for how many tickets (default 240).

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::flow::HasFlows as _;
use flowsdk_core::id::{RouterId, TicketId};
use flowsdk_core::session::{
    Channel, HasSessions as _, HelpdeskState, Mode, Position, Session, SessionId, SessionWrite,
};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::ticket::{HasTickets as _, Ticket};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use crate::api::building::id;
use crate::api::tickets::Tickets;
use crate::harness::client::Manner;
use crate::harness::{Api, Client, Server, Setup, eventually, everywhere, http};

everywhere!(agents_race_for_tickets);

/// Most open tickets of an agent.
const LIMIT: usize = 5;
/// How often a process is killed; each in its turn.
const KILLS: usize = 2;
/// Tickets that are written in one transaction.
const AT_ONCE: usize = 500;
/// For how long an agent whose process is gone waits before they try again.
const PAUSE: Duration = Duration::from_millis(20);

const MOST_HELD: &str = "SELECT CAST(COALESCE(MAX(held), 0) AS TEXT) FROM (
    SELECT COUNT(*) AS held FROM ticket WHERE status = 'assigned' GROUP BY assigned_user_id) AS theirs";
const WITH_PEOPLE: &str = "SELECT CAST(COUNT(*) AS TEXT) FROM session WHERE mode = 'human'";
const ALL_MESSAGES: &str = "SELECT CAST(COUNT(*) AS TEXT) FROM message";
const ASSIGNMENTS: &str = "SELECT CAST(COUNT(*) AS TEXT) FROM desk_news WHERE event = 'ticket:assigned'";

/// Returns the number that a variable of the environment sets.
pub(crate) fn wanted(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Where the agents work.
struct Floor {
    /// Where the processes listen now; the same twice where there is one.
    places: Cell<[SocketAddr; 2]>,
    /// Pickups that were answered with a ticket.
    picked: Cell<usize>,
    /// Tickets that were closed.
    closed: Cell<usize>,
}

/// An agent who works until no ticket is left, whatever happens to the processes.
struct Agent {
    token: String,
    user: String,
    /// Which process they work at.
    place: usize,
    /// Goes on at the other process when theirs is gone; else waits until it is back.
    moves: bool,
    /// Their desk, if they work over the socket.
    desk: Option<Client>,
    by_socket: bool,
    /// What their desks were told, in the order of arrival.
    heard: Vec<(String, Value)>,
    /// Tickets with which their pickups were answered.
    picked: Vec<String>,
    /// Commands and questions without an answer.
    lost: usize,
}

impl Agent {
    /// Agents differ in their process, in how they talk to it, and in what they do when it is gone.
    fn new(number: usize, token: String, user: String) -> Self {
        let has = |bit: usize| number >> bit & 1 == 1;
        Self {
            token,
            user,
            place: usize::from(has(0)),
            moves: has(2),
            desk: None,
            by_socket: has(1),
            heard: Vec::new(),
            picked: Vec::new(),
            lost: 0,
        }
    }

    async fn work(&mut self, floor: &Floor) {
        loop {
            match self.round(floor).await {
                Some(true) => break,
                Some(false) => {}
                None => {
                    self.lost += 1;
                    self.leave_desk();
                    self.place ^= usize::from(self.moves);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        self.leave_desk();
    }

    /// Picks up as much as they may, and closes half of what they have. Returns whether nothing is left to do; `None` when
    /// the process gave no answer.
    async fn round(&mut self, floor: &Floor) -> Option<bool> {
        if self.by_socket && self.desk.is_none() {
            self.desk = Some(self.connect(floor).await?);
        }
        self.post(floor, "/agents/me/heartbeat").await?;
        while let Some(ticket) = self.pick_up(floor).await? {
            self.picked.push(ticket);
            floor.picked.set(floor.picked.get() + 1);
        }
        // In this order: what waits no more is with somebody by the second question.
        let waiting = self.list(floor, "status=waiting&limit=1").await?;
        let mine = self.list(floor, &format!("status=assigned&assignedUserId={}", self.user)).await?;
        assert!(mine.len() <= LIMIT, "{} has {} tickets", self.user, mine.len());
        for ticket in &mine[..mine.len().div_ceil(2)] {
            self.close(floor, &id(ticket)).await?;
            floor.closed.set(floor.closed.get() + 1);
        }
        Some(waiting.is_empty() && mine.is_empty())
    }

    /// Returns the ticket; `Some(None)` if none waits, or they have as many as they may.
    async fn pick_up(&self, floor: &Floor) -> Option<Option<String>> {
        let answer = self.command(floor, "agent:pickup", &json!({}), "/tickets/pickup").await?;
        match answer["code"].as_str() {
            None => Some(answer["ticket"]["id"].as_str().map(str::to_owned)),
            Some("agent_limit_reached" | "nothing_waiting") => Some(None),
            Some(_) => panic!("{}: {answer}", self.user),
        }
    }

    async fn close(&self, floor: &Floor, ticket: &str) -> Option<()> {
        let (payload, path) = (json!({ "ticketId": ticket }), format!("/tickets/{ticket}/close"));
        let answer = self.command(floor, "agent:close", &payload, &path).await?;
        // A close whose answer was lost may have been committed after they had looked at what they have.
        let is_done = self.lost > 0 && answer["code"] == "ticket_closed";
        assert!(answer["code"].is_null() || is_done, "{}: {answer}", self.user);
        Some(())
    }

    /// Gives a command over the socket or over HTTP, as they work.
    async fn command(&self, floor: &Floor, event: &str, payload: &Value, path: &str) -> Option<Value> {
        let Some(desk) = &self.desk else { return self.post(floor, path).await };
        let answer = desk.try_ack(desk.emit_later(event, payload)).await;
        assert!(answer.is_some() || desk.is_closed(), "{}: no answer to {event}", self.user);
        answer
    }

    async fn list(&self, floor: &Floor, query: &str) -> Option<Vec<Value>> {
        let page = self.send(floor, "GET", &format!("/tickets?{query}")).await?;
        Some(page["items"].as_array().expect("tickets").clone())
    }

    async fn post(&self, floor: &Floor, path: &str) -> Option<Value> {
        self.send(floor, "POST", path).await
    }

    async fn send(&self, floor: &Floor, method: &str, path: &str) -> Option<Value> {
        let token = format!("Bearer {}", self.token);
        let headers = [("authorization", &*token), ("content-type", "application/json")];
        let body = (method == "POST").then_some(&b"{}"[..]);
        let answer = http::send(floor.places.get()[self.place], method, path, &headers, body).await?;
        assert!([200, 409].contains(&answer.status), "{method} {path}: {answer:?}");
        Some(answer.json())
    }

    /// Connects a desk that wants what it has missed.
    async fn connect(&self, floor: &Floor) -> Option<Client> {
        // News are numbered from 1.
        let auth = json!({ "token": self.token, "since": self.heard.len() }).to_string();
        let manner = Manner { socket: Some("desk"), ..Manner::default() };
        let desk = Client::try_open(floor.places.get()[self.place], &auth, manner).await?;
        assert!(!desk.names().contains(&"connect_error".to_owned()), "{}", self.user);
        Some(desk)
    }

    /// Keeps what the desk was told, and hangs up.
    fn leave_desk(&mut self) {
        let told = self.desk.take().into_iter().flat_map(|desk| desk.received());
        self.heard.extend(told.filter(|(name, _)| name.starts_with("ticket:")));
    }

    /// Hears what their desks have not told them yet, and looks at all of it. News are numbered in the order of the commits:
    /// each ticket was theirs once, and at no moment had they more than the limit. Returns the tickets.
    async fn tickets(&mut self, floor: &Floor, owned: usize) -> Vec<String> {
        let desk = self.connect(floor).await.expect("the process is there");
        let told = || desk.names().iter().filter(|name| name.starts_with("ticket:")).count();
        let missing = (2 * owned).saturating_sub(self.heard.len());
        eventually("the desk is told all", || async { (told() >= missing).then_some(()) }).await;
        self.desk = Some(desk);
        self.leave_desk();
        let (mut got, mut open) = (Vec::new(), BTreeSet::new());
        for (seq, (name, news)) in (1..).zip(&self.heard) {
            assert_eq!((&news["seq"], &news["ticket"]["assignedUserId"]), (&json!(seq), &json!(self.user)));
            let ticket = id(&news["ticket"]);
            if name == "ticket:assigned" {
                got.push(ticket.clone());
                open.insert(ticket);
                assert!(open.len() <= LIMIT, "{} has at news {seq} {open:?}", self.user);
            } else {
                assert!(name == "ticket:closed" && open.remove(&ticket), "{name}: {news}");
            }
        }
        assert_eq!(open, BTreeSet::new(), "{}", self.user);
        got.sort();
        got
    }
}

/// Conversations that people have, each with a ticket that waits. Those of the first queue have waited for longer.
async fn fill(setup: &Setup, shop: &Tickets, queues: &[String], count: usize) {
    let (store, cx) = (setup.store().await, OpContext::system());
    let flow = store.read().await.unwrap().flows().find(&shop.flow.parse().unwrap()).await.unwrap().unwrap();
    let position = Position {
        version_id: flow.published_version_id.unwrap(),
        flow_id: flow.id,
        block_id: Some("people".parse().unwrap()),
        waiting: None,
    };
    let router: RouterId = shop.router.parse().unwrap();
    let numbers: Vec<usize> = (0..count).collect();
    for numbers in numbers.chunks(AT_ONCE) {
        let mut tx = store.begin().await.unwrap();
        let ids =
            numbers.iter().map(|number| SessionId::parse(format!("wc-{}-v{number}", shop.channel)).unwrap());
        let ids: Vec<SessionId> = ids.collect();
        let contact =
            |id: &SessionId| Contact::create(&cx, id.contact_identity(), "Ana".to_owned(), Channel::Webchat);
        let contacts: Vec<Contact> = ids.iter().map(contact).collect();
        let contacts = tx.contacts().insert_or_get_many(&contacts).await.unwrap();
        let chats = contacts.iter().map(|contact| Chat::open(&cx, contact.id.clone(), router.clone()));
        let chats = tx.chats().open_or_get_many(&chats.collect::<Vec<_>>()).await.unwrap();
        let (mut sessions, mut tickets) = (Vec::new(), Vec::new());
        for ((number, id), chat) in numbers.iter().zip(ids).zip(chats) {
            let (queue, of) = (
                queues[number * queues.len() / count].parse().unwrap(),
                (chat.id.clone(), chat.contact_id.clone()),
            );
            let mut ticket =
                Ticket::opened(TicketId::generate(cx.ids()), router.clone(), of, queue, cx.now());
            let mut session = Session::begin(id, router.clone(), chat.contact_id, chat.id, cx.now());
            session.give_to(Mode::Human);
            session.position = Some(position.clone());
            session.helpdesk = Some(HelpdeskState { ticket_id: Some(ticket.id.clone()) });
            ticket.session_id = Some(session.id.clone());
            ticket.epoch = Some(session.epoch);
            sessions.push(session);
            tickets.push(ticket);
        }
        let writes: Vec<_> =
            sessions.iter().map(|session| SessionWrite { session, expected: None }).collect();
        tx.sessions().save_many(&writes).await.unwrap();
        tx.tickets().insert_many(&tickets).await.unwrap();
        tx.commit().await.unwrap();
    }
    setup.done(store).await;
}

/// Agents of two queues, one that gives its tickets out and one that does not, while processes are killed and started again.
async fn agents_race_for_tickets(setup: Setup) {
    let (agents, count) = (wanted("FLOWSDK_TEST_AGENTS", 8), wanted("FLOWSDK_TEST_TICKETS", 240));
    let setup = setup.with("API_REQUESTS_PER_SECOND", "0");
    let mut servers = vec![setup.start().await];
    if setup.is_distributed() {
        servers.push(setup.start().await);
    }
    let admin = Api::admin(&setup, &servers[0]).await;
    let tickets = Tickets::new(&admin).await;
    let giving = json!({ "maxConcurrentTicketsPerAgent": LIMIT });
    let manual = json!({ "name": "Outra", "distributionStrategy": "manual_pickup", "maxConcurrentTicketsPerAgent": LIMIT });
    let queues = [tickets.queue(&giving).await, tickets.queue(&manual).await];
    fill(&setup, &tickets, &queues, count).await;

    let places = |servers: &[Server]| [servers[0].addr, servers[servers.len() - 1].addr];
    let floor =
        Floor { places: Cell::new(places(&servers)), picked: Cell::default(), closed: Cell::default() };
    let mut crowd = Vec::new();
    for number in 0..agents {
        let (api, user) = tickets.agent(&setup, &[&queues[0], &queues[1]]).await;
        // Whoever is not online is given nothing, and has to pick up from both queues.
        let status = if number % 3 == 0 { "busy" } else { "online" };
        api.put("/agents/me/presence", &json!({ "status": status })).await.ok(200);
        crowd.push(Agent::new(number, api.token.unwrap(), user));
    }
    let began = Instant::now();
    let working = join_all(crowd.iter_mut().map(|agent| agent.work(&floor)));
    let killing = async {
        for kill in 1..=KILLS {
            while floor.closed.get() < count * kill / (KILLS + 1) {
                tokio::time::sleep(PAUSE).await;
            }
            let at = kill % servers.len();
            servers.remove(at).kill();
            servers.insert(at, setup.start().await);
            floor.places.set(places(&servers));
        }
    };
    let mut looks = 0_usize;
    let watching = async {
        loop {
            let most = number(&setup, MOST_HELD).await;
            assert!(most <= LIMIT, "somebody has {most} tickets");
            looks += 1;
        }
    };
    let within = Duration::from_secs(60) + count as u32 * Duration::from_millis(100);
    tokio::select! {
        done = tokio::time::timeout(within, join(working, killing)) => drop(done.expect("no ticket is left")),
        () = watching => {}
    }
    let took = began.elapsed();

    let admin = admin.at(&servers[0]);
    let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ticket in all_tickets(&admin, &tickets.router).await {
        assert_eq!(
            (&ticket["status"], &ticket["closeKind"]),
            (&json!("closed"), &json!("resolved")),
            "{ticket}"
        );
        let user = ticket["assignedUserId"].as_str().expect("somebody had it").to_owned();
        owners.entry(user).or_default().push(id(&ticket));
    }
    assert_eq!(owners.values().map(Vec::len).sum::<usize>(), count, "every ticket had somebody");
    for agent in &mut crowd {
        let mut owned = owners.remove(&agent.user).unwrap_or_default();
        owned.sort();
        assert_eq!(
            agent.tickets(&floor, owned.len()).await,
            owned,
            "{} is told of each ticket once",
            agent.user
        );
        let picked: BTreeSet<&String> = agent.picked.iter().collect();
        assert_eq!(picked.len(), agent.picked.len(), "{} picked a ticket up twice", agent.user);
        let is_theirs = |ticket: &&String| owned.binary_search(ticket).is_ok();
        assert!(picked.into_iter().all(|ticket| is_theirs(&ticket)), "an answered pickup is lost");
    }
    assert_eq!(number(&setup, ASSIGNMENTS).await, count, "nobody else is told");
    // Every conversation is with its flow again, which has said so once.
    eventually("the flows go on", || async { (number(&setup, WITH_PEOPLE).await == 0).then_some(()) }).await;
    eventually("all is said", || async { (number(&setup, ALL_MESSAGES).await >= count).then_some(()) }).await;
    for server in servers {
        assert!(server.stop().await.0.success());
    }
    assert_eq!(number(&setup, ALL_MESSAGES).await, count, "nothing is said twice");
    let kind = if setup.is_distributed() { "distributed" } else { "embedded" };
    let (picked, lost) = (floor.picked.get(), crowd.iter().map(|agent| agent.lost).sum::<usize>());
    eprintln!(
        "{kind}: {agents} agents, {count} tickets, {picked} picked up, {lost} tries without an answer, {looks} looks at the database, {took:?}"
    );
}

/// Every ticket of a router.
async fn all_tickets(admin: &Api, router: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/tickets?routerId={router}&limit=200{cursor}")).await.ok(200);
        all.extend(page["items"].as_array().expect("tickets").iter().cloned());
        let Some(next) = page["nextCursor"].as_str() else { return all };
        cursor = format!("&cursor={next}");
    }
}

async fn number(setup: &Setup, query: &'static str) -> usize {
    setup.text_of(query).await.parse().expect("a number")
}
