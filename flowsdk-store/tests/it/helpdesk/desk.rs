//! A router whose flow hands over to people, with agents in queues.

use std::sync::Arc;

use flowsdk_auth::group::{Group, HasGroups as _};
use flowsdk_auth::permission::{Action, Permission, Permissions, Resource};
use flowsdk_auth::user::{Email, HasUsers as _, User, UserRole};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::conversation::{ConversationEvent, Handover, OutgoingSink};
use flowsdk_core::event::{FlowEvent, HandoffEvent, HelpdeskEvent};
use flowsdk_core::id::{QueueId, UserId};
use flowsdk_core::login_schedule::LoginSchedule;
use flowsdk_core::record::{HasRecords as _, NewRecord as _};
use flowsdk_core::router::Reach;
use flowsdk_core::session::{HasSessions as _, Session, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::text::Language;
use flowsdk_helpdesk::agent::{DeskAgent, Presence, PresenceStatus};
use flowsdk_helpdesk::desk::{By, Desk, DeskSweep, WaitingNotices};
use flowsdk_helpdesk::dispatch::Dispatcher;
use flowsdk_helpdesk::intake::HelpdeskIntake;
use flowsdk_helpdesk::news::HasNews as _;
use flowsdk_helpdesk::queue::{DistributionStrategy, HasQueues as _, NewQueue, Queue, Queues};
use flowsdk_helpdesk::ticket::{HasTickets as _, Ticket, TicketFilter};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use crate::conversations::flows::{block, flow_of};
use crate::conversations::world::{World, bodies, session};
use crate::support::stepping::Stepping;

pub(crate) struct Helpdesk {
    pub(crate) world: World,
    pub(crate) dispatcher: Arc<Dispatcher<Stepping>>,
    pub(crate) intake: HelpdeskIntake<Stepping>,
    pub(crate) desk: Desk<Stepping>,
    pub(crate) presence: Presence<Stepping>,
    pub(crate) queues: Queues<Stepping>,
    pub(crate) sweep: DeskSweep<Stepping>,
    pub(crate) notices: WaitingNotices<Stepping>,
    author: Author,
}

/// Asks, hands over to people, and says how it ended.
fn attended() -> Value {
    let says = |text: &str| json!([{ "type": "text", "text": { "body": text } }]);
    flow_of(&[
        json!({ "id": "ask", "type": "content", "contents": says("Ask"), "input": { "variable": "subject" },
            "defaultOutput": { "blockId": "human" } }),
        json!({ "id": "human", "type": "human", "outputConditions": [], "defaultOutput": { "blockId": "bye" } }),
        json!({ "id": "bye", "type": "content", "contents": says("Bye {{ticket.exit.key}}{{handoffDeflect.reason}}"), "input": {},
            "defaultOutput": { "blockId": "ask" } }),
        block("elsewhere", "Elsewhere", &json!({ "blockId": "ask" })),
    ])
}

impl Helpdesk {
    pub(crate) async fn new(store: SqlStore) -> Self {
        let world = World::new(store).await;
        world.publish("router1", "attended", attended()).await;
        world.start_with("router1", "attended").await;
        Self::over(world)
    }

    /// The helpdesk of a world whose flow is another one.
    pub(crate) fn over(world: World) -> Self {
        let stepping = Arc::new(Stepping((*world.store).clone()));
        let (store, cx) = (|| Arc::clone(&stepping), world.cx.clone());
        let dispatcher = Arc::new(Dispatcher::new(store(), cx.clone()));
        let handover = || Handover::Direct(Arc::clone(&world.sink) as Arc<dyn OutgoingSink>);
        let changes = || Arc::new(NoChangeLog);
        Self {
            intake: HelpdeskIntake::new(
                store(),
                cx.clone(),
                Arc::clone(&dispatcher),
                handover(),
                Language::Portuguese,
            ),
            desk: Desk::new(store(), cx.clone(), changes(), handover(), Arc::clone(&dispatcher)),
            notices: WaitingNotices::new(store(), cx.clone(), handover()),
            presence: Presence::new(store(), cx.clone(), Arc::clone(&dispatcher)),
            queues: Queues::new(store(), cx.clone(), changes(), Arc::clone(&dispatcher)),
            sweep: DeskSweep::new(store(), cx.clone()),
            author: Author::default(),
            dispatcher,
            world,
        }
    }

    /// Adds a queue whose agents may have three tickets each.
    pub(crate) async fn add_queue(&self, id: &str, strategy: DistributionStrategy) -> Queue {
        self.add_queue_to("router1", id, strategy).await
    }

    pub(crate) async fn add_queue_to(&self, router: &str, id: &str, strategy: DistributionStrategy) -> Queue {
        let new = NewQueue {
            distribution_strategy: strategy,
            max_concurrent_tickets_per_agent: 3,
            ..NewQueue::named(router.parse().expect("an id"), id.parse().expect("a name"))
        };
        let cx = &self.world.cx;
        let queue = Queue { id: id.parse().expect("an id"), ..new.into_record(cx.ids(), cx.now()) };
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.records().insert(&queue).await.expect("a queue");
        tx.commit().await.expect("commit");
        // The next one is younger.
        self.world.clock.advance(std::time::Duration::from_millis(1));
        queue
    }

    /// Makes a user an agent of the router who works in these queues. They have a group of their own.
    pub(crate) async fn add_agent(&self, name: &str, queues: &[&str]) -> UserId {
        let now = self.world.cx.now();
        let group = Group {
            id: format!("group-{name}").parse().expect("an id"),
            name: name.to_uppercase(),
            permissions: to_serve(),
            router_ids: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        let user = User {
            id: name.parse().expect("an id"),
            name: name.to_uppercase(),
            email: Email::parse(format!("{name}@example.com")).expect("an address"),
            phone: "5511999990000".to_owned(),
            password_hash: "x".to_owned(),
            role: UserRole::Member,
            group_id: Some(group.id.clone()),
            logged_out_at: None,
            created_at: now,
            updated_at: now,
        };
        let agent = DeskAgent {
            id: format!("agent-{name}").parse().expect("an id"),
            router_id: self.world.router.clone(),
            user_id: user.id.clone(),
            group_id: None,
            can_active_dispatch: false,
            login_schedule: LoginSchedule::default(),
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.groups().insert(&group).await.expect("a group");
        assert!(tx.users().insert_if_absent(&user).await.expect("a user"));
        tx.records().insert(&agent).await.expect("an agent");
        for queue in queues {
            tx.queues().add_agent(&queue.parse().expect("an id"), &agent.id).await.expect("a member");
        }
        tx.commit().await.expect("commit");
        user.id
    }

    /// Changes the group of a user.
    pub(crate) async fn change_group(&self, name: &str, change: impl FnOnce(&mut Group)) {
        let id = format!("group-{name}").parse().expect("an id");
        let mut tx = self.world.store.begin().await.expect("begin");
        let mut group = tx.groups().find_for_update(&id).await.expect("find").expect("a group");
        change(&mut group);
        tx.groups().save(&group).await.expect("saved");
        tx.commit().await.expect("commit");
    }

    /// Confines a user to routers.
    pub(crate) async fn confine(&self, name: &str, routers: &[&str]) {
        let routers = routers.iter().map(|id| id.parse().expect("an id")).collect();
        self.change_group(name, |group| group.router_ids = routers).await;
    }

    pub(crate) async fn online(&self, name: &str) {
        self.presence.set(&name.parse().expect("an id"), PresenceStatus::Online).await.expect("set");
    }

    pub(crate) fn by<'a>(&'a self, user: &'a UserId) -> By<'a> {
        By { author: &self.author, user: Some(user), reach: Reach::ALL }
    }

    /// The flow hands a visitor over; their ticket, if a queue took it.
    pub(crate) async fn hand_over(&self, visitor: &str, subject: &str) -> Option<Ticket> {
        self.arrive(visitor, subject).await;
        self.take().await;
        self.open_ticket(visitor).await
    }

    /// The flow hands a visitor over to a queue; their ticket.
    pub(crate) async fn hand_over_to(&self, visitor: &str, queue: &str) -> Option<Ticket> {
        self.arrive(visitor, "bill").await;
        for event in self.events().await {
            let HelpdeskEvent::Handoff(mut event) = event else { panic!("{event:?}") };
            event.preset_queue_id = Some(queue.parse().expect("an id"));
            self.intake.take(&[&HelpdeskEvent::Handoff(event)]).await.expect("taken");
        }
        self.open_ticket(visitor).await
    }

    /// The visitor gets to the block that hands over.
    pub(crate) async fn arrive(&self, visitor: &str, subject: &str) {
        self.world.add_visitor(visitor).await;
        self.world.say(visitor, &format!("{visitor}-hi"), "oi").await;
        self.world.say(visitor, &format!("{visitor}-subject"), subject).await;
    }

    /// Events of the helpdesk's stream since the last look.
    pub(crate) async fn events(&self) -> Vec<HelpdeskEvent> {
        let events = self.world.published(TopicName::Helpdesk).await;
        events.into_iter().map(|event| serde_json::from_value(event).expect("an event")).collect()
    }

    /// The flow of a visitor goes on without the desk, and hands over once more.
    pub(crate) async fn hands_over_again(&self, visitor: &str) -> HandoffEvent {
        let mut session = self.session(visitor).await;
        let version = session.version;
        session.version += 1;
        session.epoch += 2;
        let mut tx = self.world.store.begin().await.expect("begin");
        let write = SessionWrite { session: &session, expected: Some(version) };
        tx.sessions().save_many(&[write]).await.expect("saved");
        tx.commit().await.expect("commit");
        HandoffEvent::of(&session, &self.world.contact(visitor).await, self.world.cx.now())
    }

    /// Takes what the stream has.
    pub(crate) async fn take(&self) {
        for event in self.events().await {
            self.intake.take(&[&event]).await.expect("taken");
        }
    }

    /// Runs the hand-backs of the flow's stream; gives what is said.
    pub(crate) async fn go_on(&self) -> Vec<String> {
        let mut said = Vec::new();
        for event in self.world.published(TopicName::Flow).await {
            let event: FlowEvent = serde_json::from_value(event).expect("an event");
            said.extend(bodies(&self.world.handle(ConversationEvent::Flow(event)).await));
        }
        said
    }

    pub(crate) async fn session(&self, visitor: &str) -> Session {
        self.world.stored(visitor).await.expect("a session").session
    }

    /// All tickets of a visitor's chat, oldest first.
    pub(crate) async fn chain(&self, visitor: &str) -> Vec<Ticket> {
        let chat = self.session(visitor).await.chat_id;
        let filter = TicketFilter { chat_id: Some(chat), ..TicketFilter::default() };
        self.tickets(filter).await
    }

    pub(crate) async fn tickets(&self, filter: TicketFilter) -> Vec<Ticket> {
        let page = flowsdk_core::page::PageRequest { limit: 200, after: None };
        let mut tx = self.world.store.read().await.expect("read");
        let mut items = tx.tickets().list(&filter, None, &page).await.expect("list").items;
        items.reverse();
        items
    }

    pub(crate) async fn open_ticket(&self, visitor: &str) -> Option<Ticket> {
        let id = session(visitor);
        let all = self.tickets(TicketFilter::default()).await;
        all.into_iter().find(|ticket| ticket.is_open() && ticket.session_id.as_ref() == Some(&id))
    }

    pub(crate) async fn ticket(&self, ticket: &Ticket) -> Ticket {
        let mut tx = self.world.store.read().await.expect("read");
        tx.tickets().find(&ticket.id).await.expect("find").expect("a ticket")
    }

    /// The names of what a user was told, in order.
    pub(crate) async fn heard(&self, user: &UserId) -> Vec<String> {
        let mut tx = self.world.store.read().await.expect("read");
        let news = tx.news().unseen(&[(user.clone(), 0)], 100).await.expect("news");
        news.into_iter().map(|row| row.event.to_string()).collect()
    }

    /// Changes a queue in the store.
    pub(crate) async fn change_queue(&self, id: &str, change: impl FnOnce(&mut Queue)) {
        let id: QueueId = id.parse().expect("an id");
        let mut tx = self.world.store.begin().await.expect("begin");
        let mut queue: Queue = tx.records().find(&id).await.expect("find").expect("a queue");
        change(&mut queue);
        tx.records().save(&queue).await.expect("save");
        tx.commit().await.expect("commit");
    }
}

/// What a group needs whose users serve contacts.
fn to_serve() -> Permissions {
    let actions = vec![Action::Read, Action::Write];
    Permissions::from(vec![Permission { resource: Resource::Helpdesk, actions }])
}

/// The queue of a ticket.
pub(crate) fn queue_of(ticket: &Ticket) -> &str {
    ticket.queue_id.as_ref().map_or("", QueueId::as_str)
}

/// Who has each ticket.
pub(crate) fn holder(ticket: &Ticket) -> Option<&str> {
    ticket.assigned_user_id.as_ref().map(UserId::as_str)
}
