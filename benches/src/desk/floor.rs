//! The agents, the queues and the rules of the race, and the contacts who wait.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use flowsdk_auth::group::{Group, HasGroups as _};
use flowsdk_auth::permission::{Action, Permission, Permissions, Resource};
use flowsdk_auth::user::{Email, HasUsers as _, User, UserRole};
use flowsdk_core::context::OpContext;
use flowsdk_core::event::{HandoffContact, HandoffEvent, HelpdeskEvent};
use flowsdk_core::id::{ChatId, ContactId, FlowId, FlowVersionId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::login_schedule::LoginSchedule;
use flowsdk_core::record::{HasRecords as _, NewRecord as _};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::session::{HasSessions as _, Mode, Position, Session, SessionId, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::agent::{DeskAgent, HasPresence as _, PresenceStatus};
use flowsdk_helpdesk::queue::{DistributionStrategy, HasQueues as _, NewQueue, Queue};
use flowsdk_helpdesk::rule::{DistributionRule, NewRule};
use flowsdk_helpdesk::ticket::{HasTickets as _, Ticket};
use flowsdk_store::sql::SqlStore;
use serde_json::{Map, Value, json};

use super::Work;

/// Agents who work at once.
pub(super) const AGENTS: usize = 32;
/// Queues in which tickets wait.
const QUEUES: usize = 4;
/// Rows that are written in one transaction.
const AT_ONCE: usize = 1_280;
/// For how long the agents are online.
const ONLINE: Duration = Duration::from_hours(24);
/// The owner epoch of the sessions.
pub(super) const EPOCH: i64 = 1;

/// An agent.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) user: UserId,
    /// The queues in which they work.
    pub(super) queues: Vec<QueueId>,
}

/// A desk with its agents.
#[derive(Debug)]
pub(super) struct Floor {
    pub(super) router: RouterId,
    pub(super) queues: Vec<QueueId>,
    pub(super) agents: Vec<Agent>,
    /// When everything was made.
    now: Timestamp,
}

/// A contact who waits.
struct Visitor {
    contact: ContactId,
    chat: ChatId,
    session: SessionId,
    /// The queue that they come to.
    queue: usize,
}

impl Visitor {
    fn numbered(number: usize) -> Result<Self> {
        Ok(Self {
            contact: format!("k{number:018}").parse()?,
            chat: format!("h{number:018}").parse()?,
            session: SessionId::parse(format!("wc-race-{number}"))?,
            queue: number % QUEUES,
        })
    }
}

/// The statements that make contacts and chats like those of [`Visitor::numbered`].
pub(super) fn people(count: usize, router: &RouterId) -> String {
    let numbers =
        format!("WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n + 1 < {count})");
    let id = |letter: char| format!("'{letter}' || substr(CAST(1000000000000000000 + n AS TEXT), 2)");
    let (contact, chat) = (id('k'), id('h'));
    format!(
        "INSERT INTO contact (id, phone_number, name, created_at) {numbers} SELECT {contact}, 'wc-race-' || n, 'Ana', 0 FROM s;
         INSERT INTO chat (id, contact_id, router_id, status, created_at)
         {numbers} SELECT {chat}, {contact}, '{router}', 'open', 0 FROM s;"
    )
}

impl Floor {
    /// Makes the router, its queues, agents and rules.
    pub(super) async fn lay(store: &SqlStore, work: Work, limit: u32) -> Result<Self> {
        let cx = OpContext::system();
        let now = cx.now();
        let router = Router::new(RouterId::generate(cx.ids()), "Race", now);
        let mut tx = store.begin().await?;
        tx.routers().insert(&router).await?;
        let mut queues = Vec::new();
        for number in 0..QUEUES {
            let new = NewQueue {
                distribution_strategy: match work {
                    Work::Pickup => DistributionStrategy::ManualPickup,
                    Work::Handoff => DistributionStrategy::LeastLoaded,
                },
                max_concurrent_tickets_per_agent: limit,
                ..NewQueue::named(router.id.clone(), format!("Queue {number}").parse()?)
            };
            let queue: Queue = new.into_record(cx.ids(), now);
            tx.records().insert(&queue).await?;
            let rule: DistributionRule = NewRule {
                router_id: router.id.clone(),
                name: format!("Rule {number}").parse()?,
                priority: i64::try_from(number)?,
                conditions: serde_json::from_value(
                    json!([{ "source": { "type": "context", "key": "subject" },
                    "comparator": "equals", "values": [subject(number)] }]),
                )?,
                target_queue_id: queue.id.clone(),
                flow_id: None,
                is_active: true,
            }
            .into_record(cx.ids(), now);
            tx.records().insert(&rule).await?;
            queues.push(queue.id);
        }
        let actions = vec![Action::Read, Action::Write];
        let group = Group {
            id: cx.ids().next_id().parse()?,
            name: "Agents".to_owned(),
            permissions: Permissions::from(vec![Permission { resource: Resource::Helpdesk, actions }]),
            router_ids: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        tx.groups().insert(&group).await?;
        let mut agents = Vec::new();
        for number in 0..AGENTS {
            // Who is given tickets works everywhere, so that no room is left while tickets wait.
            let own: Vec<QueueId> = match work {
                Work::Pickup => (0..2).map(|next| queues[(number + next) % QUEUES].clone()).collect(),
                Work::Handoff => queues.clone(),
            };
            let user = User {
                id: UserId::generate(cx.ids()),
                name: format!("Agent {number}"),
                email: Email::parse(format!("agent{number}@example.com"))?,
                phone: "5511999990000".to_owned(),
                password_hash: "x".to_owned(),
                role: UserRole::Member,
                group_id: Some(group.id.clone()),
                logged_out_at: None,
                created_at: now,
                updated_at: now,
            };
            let agent = DeskAgent {
                id: cx.ids().next_id().parse()?,
                router_id: router.id.clone(),
                user_id: user.id.clone(),
                group_id: None,
                can_active_dispatch: false,
                login_schedule: LoginSchedule::default(),
                created_at: now,
                updated_at: now,
            };
            ensure!(tx.users().insert_if_absent(&user).await?, "a user is there already");
            tx.records().insert(&agent).await?;
            for queue in &own {
                tx.queues().add_agent(queue, &agent.id).await?;
            }
            tx.presence().set(&user.id, PresenceStatus::Online, now + ONLINE).await?;
            agents.push(Agent { user: user.id, queues: own });
        }
        tx.commit().await.context("the rows of the desk")?;
        Ok(Self { router: router.id, queues, agents, now })
    }

    /// Puts a waiting ticket of each contact into the queues, in turns.
    pub(super) async fn fill(&self, store: &SqlStore, count: usize) -> Result<()> {
        let cx = OpContext::system();
        let numbers: Vec<usize> = (0..count).collect();
        for numbers in numbers.chunks(AT_ONCE) {
            let tickets = numbers.iter().map(|&number| {
                let Visitor { contact, chat, session, queue } = Visitor::numbered(number)?;
                let (id, queue) = (TicketId::generate(cx.ids()), self.queues[queue].clone());
                let at = Timestamp::from_millis(self.now.as_millis() + i64::try_from(number)?);
                let mut ticket = Ticket::opened(id, self.router.clone(), (chat, contact), queue, at);
                ticket.session_id = Some(session);
                ticket.epoch = Some(EPOCH);
                Ok(ticket)
            });
            let tickets: Vec<Ticket> = tickets.collect::<Result<_>>()?;
            let mut tx = store.begin().await?;
            tx.tickets().insert_many(&tickets).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Puts a session of each contact into the hands of people.
    pub(super) async fn wait(&self, store: &SqlStore, count: usize) -> Result<()> {
        let cx = OpContext::system();
        let (flow, version) = (FlowId::generate(cx.ids()), FlowVersionId::generate(cx.ids()));
        let numbers: Vec<usize> = (0..count).collect();
        for numbers in numbers.chunks(AT_ONCE) {
            let sessions = numbers.iter().map(|&number| {
                let Visitor { contact, chat, session, queue } = Visitor::numbered(number)?;
                let mut session = Session::begin(session, self.router.clone(), contact, chat, self.now);
                session.epoch = EPOCH;
                session.mode = Mode::Human;
                session.position = Some(Position {
                    flow_id: flow.clone(),
                    version_id: version.clone(),
                    block_id: Some("human".parse()?),
                    waiting: None,
                });
                session.variables = variables(queue);
                Ok(session)
            });
            let sessions: Vec<Session> = sessions.collect::<Result<_>>()?;
            let writes: Vec<SessionWrite<'_>> =
                sessions.iter().map(|session| SessionWrite { session, expected: None }).collect();
            let mut tx = store.begin().await?;
            tx.sessions().save_many(&writes).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// The handoffs of these sessions.
    pub(super) fn handoffs(&self, count: usize) -> Result<Vec<HelpdeskEvent>> {
        let event = |number| {
            let Visitor { contact, chat, session, queue } = Visitor::numbered(number)?;
            Ok(HelpdeskEvent::Handoff(HandoffEvent {
                contact: HandoffContact {
                    id: contact,
                    name: "Ana".to_owned(),
                    phone_number: session.to_string(),
                    variables: Map::new(),
                },
                session_id: session,
                chat_id: chat,
                phone_number_id: "wc-race".to_owned(),
                router_id: self.router.clone(),
                context_variables: variables(queue),
                preset_queue_id: None,
                preset_user_id: None,
                ai_ticket_id: None,
                sentiment: None,
                requested_by: None,
                epoch: Some(EPOCH),
                timestamp: self.now,
            }))
        };
        (0..count).map(event).collect()
    }

    /// Returns the queue that a handoff goes to by the rules.
    pub(super) fn queue_of(&self, event: &HandoffEvent) -> Result<&QueueId> {
        let asked = event.context_variables.get("subject").and_then(Value::as_str);
        let number = (0..QUEUES).find(|&number| asked == Some(&subject(number)));
        number.and_then(|number| self.queues.get(number)).context("a handoff on no subject")
    }
}

fn subject(queue: usize) -> String {
    format!("subject {queue}")
}

fn variables(queue: usize) -> Map<String, Value> {
    Map::from_iter([("subject".to_owned(), subject(queue).into())])
}
