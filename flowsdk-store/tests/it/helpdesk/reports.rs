//! Reports on random tickets, beside a plain computation of the same.

use std::collections::BTreeMap;
use std::time::Duration;

use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::id::RouterId;
use flowsdk_core::record::HasRecords;
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::session::Channel;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::report::{
    LevelFigures, ReportFilter, ReportGroup, Reports, Satisfaction, TicketFigures, TicketGrouping, TicketRow,
    TimeSpread,
};
use flowsdk_helpdesk::tag::Tag;
use flowsdk_helpdesk::ticket::{
    AskedSurvey, CloseKind, HasTickets as _, ServiceClock, ServiceClocks, ServiceStatus, Ticket, TicketKind,
    TicketStatus,
};
use flowsdk_store::sql::SqlStore;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::desk::Helpdesk;
use crate::conversations::world::NOW;
use crate::support::databases::on_every_database;

on_every_database! {
    figures_are_those_of_a_plain_computation,
    tickets_are_read_page_by_page,
}

const DAY: i64 = 24 * 60 * 60 * 1_000;
/// The first tickets are opened five days ago.
const FIRST: i64 = NOW - 5 * DAY;
const ROUTERS: [&str; 2] = ["router1", "router2"];
/// The third is gone.
const QUEUES: [&str; 3] = ["q1", "q2", "q3"];
const USERS: [&str; 3] = ["eva", "ivo", "gone"];
const REASONS: [Option<&str>; 4] = [None, Some("pago"), Some("Ação"), Some("acao")];

/// What there is of a ticket. Times are in seconds, few enough that many are alike.
#[derive(Debug, Clone)]
struct Drawn {
    created: i64,
    waited: Option<i64>,
    answered: Option<i64>,
    served: Option<i64>,
    kind: TicketKind,
    close_kind: CloseKind,
    of: (usize, usize, usize, usize),
    levels: (Option<ServiceStatus>, Option<ServiceStatus>),
    survey: Option<Option<u8>>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let time = || prop::option::weighted(0.7, 0_i64..9);
    let level = || prop::option::of(prop::sample::select(ServiceStatus::ALL.to_vec()));
    let kind = prop_oneof![7 => Just(TicketKind::Human), 1 => Just(TicketKind::Ai)];
    let close_kind = prop::sample::select(CloseKind::ALL.to_vec());
    let of = (0..ROUTERS.len(), 0..QUEUES.len(), 0..USERS.len(), 0..REASONS.len());
    let times = (0..5 * DAY, time(), time(), time());
    let survey = prop::option::of(prop::option::of(1_u8..=5));
    (times, kind, close_kind, of, (level(), level()), survey).prop_map(
        |(times, kind, close_kind, of, levels, survey)| {
            let (created, waited, answered, served) = times;
            Drawn { created, waited, answered, served, kind, close_kind, of, levels, survey }
        },
    )
}

fn survey(score: Option<u8>) -> AskedSurvey {
    let status = if score.is_some() { "answered" } else { "unanswered" };
    let survey = json!({ "survey": { "question": "?" }, "status": status, "askedAt": 0, "score": score });
    serde_json::from_value(survey).expect("a survey")
}

fn clock(status: ServiceStatus) -> ServiceClock {
    let at = Timestamp::from_millis(FIRST);
    ServiceClock { status, ..ServiceClock::new(at, at) }
}

/// A ticket of a chat; its number is its id.
fn ticket(number: usize, chat: &Chat, drawn: &Drawn) -> Ticket {
    let (_, queue, user, reason) = drawn.of;
    let created_at = Timestamp::from_millis(FIRST + drawn.created);
    let later = |seconds: i64| Timestamp::from_millis(FIRST + drawn.created + seconds * 1_000);
    let assigned_at = drawn.waited.map(later);
    let closed_at = drawn.served.map(|served| later(drawn.waited.unwrap_or_default() + served));
    let status = match (closed_at, assigned_at) {
        (Some(_), _) => TicketStatus::Closed,
        (None, Some(_)) => TicketStatus::Assigned,
        (None, None) => TicketStatus::Waiting,
    };
    let id = format!("t{number:05}").parse().expect("an id");
    let of = (chat.id.clone(), chat.contact_id.clone());
    let router = chat.router_id.clone().expect("a router");
    Ticket {
        kind: drawn.kind,
        status,
        assigned_user_id: assigned_at.map(|_| USERS[user].parse().expect("an id")),
        assigned_at,
        closed_at,
        close_kind: closed_at.map(|_| drawn.close_kind),
        close_reason: closed_at.and(REASONS[reason]).map(str::to_owned),
        first_replied_at: drawn.answered.map(later),
        service_clocks: ServiceClocks {
            first_response: drawn.levels.0.map(clock),
            resolution: drawn.levels.1.map(clock),
        },
        survey: drawn.survey.map(survey),
        ..Ticket::opened(id, router, of, QUEUES[queue].parse().expect("an id"), created_at)
    }
}

struct Scene {
    desk: Helpdesk,
    reports: Reports<SqlStore>,
    routers: Vec<RouterId>,
}

impl Scene {
    async fn new(store: SqlStore) -> Self {
        let desk = Helpdesk::new(store).await;
        desk.world.add_router("router2", "c2").await;
        desk.add_queue("q1", ManualPickup).await;
        desk.add_queue_to("router2", "q2", ManualPickup).await;
        for user in ["eva", "ivo"] {
            desk.add_agent(user, &["q1"]).await;
        }
        let reports = Reports::new(desk.world.store.clone(), desk.world.cx.clone());
        let routers = ROUTERS.map(|router| router.parse().expect("an id")).to_vec();
        Self { desk, reports, routers }
    }

    /// Opens a chat in each of these routers, of a contact of its own.
    async fn chats(&self, routers: impl Iterator<Item = usize>) -> Vec<Chat> {
        let cx = &self.desk.world.cx;
        let routers: Vec<usize> = routers.collect();
        let contact = |number: usize| {
            Contact::create(cx, format!("wc-c1-v{number}"), format!("Visita {number}"), Channel::Webchat)
        };
        let contacts: Vec<Contact> = (0..routers.len()).map(contact).collect();
        let mut tx = self.desk.world.store.begin().await.expect("begin");
        let contacts = tx.contacts().insert_or_get_many(&contacts).await.expect("contacts");
        let chats: Vec<Chat> = contacts
            .into_iter()
            .zip(routers)
            .map(|(contact, router)| Chat::open(cx, contact.id, self.routers[router].clone()))
            .collect();
        let chats = tx.chats().open_or_get_many(&chats).await.expect("chats");
        tx.commit().await.expect("commit");
        chats
    }

    async fn insert(&self, tickets: &[Ticket]) {
        let mut tx = self.desk.world.store.begin().await.expect("begin");
        tx.tickets().insert_many(tickets).await.expect("insert");
        tx.commit().await.expect("commit");
    }

    /// Who may ask, the router that they name, and the routers of the answer with the hours that their days begin after
    /// those of UTC.
    fn scopes(&self) -> Vec<(Reach<'_>, Option<RouterId>, &[RouterId], i64)> {
        let (all, one) = (&self.routers[..], &self.routers[..1]);
        vec![
            (Reach::ALL, None, all, 0),
            (Reach::only(all), None, all, 0),
            (Reach::ALL, Some(one[0].clone()), one, 3),
            (Reach::only(one), None, one, 3),
            (Reach::only(&[]), None, &[], 0),
        ]
    }
}

fn filter(router_id: Option<RouterId>, from: Timestamp, to: Timestamp) -> Admitted<ReportFilter> {
    Admitted::trusted(ReportFilter { router_id, from: Some(from), to: Some(to) })
}

/// The value that so many in a hundred do not exceed.
fn spread(times: impl Iterator<Item = Option<i64>>) -> TimeSpread {
    let mut times: Vec<i64> = times.flatten().collect();
    times.sort_unstable();
    let of = |percent: usize| times.get((percent * times.len()).div_ceil(100).max(1) - 1).copied();
    TimeSpread {
        count: times.len() as i64,
        p50: of(50),
        p90: of(90),
        p95: of(95),
        max: times.last().copied(),
    }
}

fn figures(tickets: &[&Ticket]) -> TicketFigures {
    use CloseKind::{Abandoned, AgentTransfer, QueueTransfer};
    let count = |is: fn(CloseKind) -> bool| {
        tickets.iter().filter(|ticket| ticket.close_kind.is_some_and(is)).count() as i64
    };
    let between =
        |begin: Option<Timestamp>, end: Option<Timestamp>| Some(end?.as_millis() - begin?.as_millis());
    let all = || tickets.iter();
    TicketFigures {
        opened: tickets.len() as i64,
        closed: count(|kind| !matches!(kind, AgentTransfer | QueueTransfer)),
        abandoned: count(|kind| kind == Abandoned),
        transferred: count(|kind| matches!(kind, AgentTransfer | QueueTransfer)),
        waiting_ms: spread(all().map(|ticket| between(Some(ticket.created_at), ticket.assigned_at))),
        first_response_ms: spread(
            all().map(|ticket| between(Some(ticket.created_at), ticket.first_replied_at)),
        ),
        service_ms: spread(all().map(|ticket| between(ticket.assigned_at, ticket.closed_at))),
        first_response_level: level(all().filter_map(|ticket| ticket.service_clocks.first_response)),
        resolution_level: level(all().filter_map(|ticket| ticket.service_clocks.resolution)),
        satisfaction: {
            let asked: Vec<&AskedSurvey> = all().filter_map(|ticket| ticket.survey.as_ref()).collect();
            let scores: Vec<i64> = asked.iter().filter_map(|asked| asked.score.map(i64::from)).collect();
            Satisfaction::of(asked.len() as i64, scores.len() as i64, scores.iter().sum())
        },
    }
}

fn level(clocks: impl Iterator<Item = ServiceClock>) -> LevelFigures {
    let all: Vec<ServiceStatus> = clocks.map(|clock| clock.status).collect();
    let count = |status| all.iter().filter(|one| **one == status).count() as i64;
    LevelFigures { met: count(ServiceStatus::Met), breached: count(ServiceStatus::Breached) }
}

/// The date of a moment where days begin so many hours after those of UTC.
fn date(moment: Timestamp, hours: i64) -> String {
    Timestamp::from_millis(moment.as_millis() - hours * 60 * 60 * 1_000).to_iso()[..10].to_owned()
}

/// The groups of these tickets: the largest first, then by key, none last.
fn expected(tickets: &[&Ticket], by: TicketGrouping) -> Vec<ReportGroup> {
    let key = |ticket: &Ticket| match by {
        TicketGrouping::Queue => ticket.queue_id.as_ref().map(ToString::to_string),
        TicketGrouping::Agent => ticket.assigned_user_id.as_ref().map(ToString::to_string),
        TicketGrouping::Reason => ticket.close_reason.clone(),
        TicketGrouping::Day => panic!("days have an order of their own"),
    };
    let mut grouped: BTreeMap<Option<String>, Vec<&Ticket>> = BTreeMap::new();
    for ticket in tickets {
        grouped.entry(key(ticket)).or_default().push(ticket);
    }
    let name = |key: &str| match key {
        "q1" | "q2" => Some(key.to_owned()),
        "eva" | "ivo" => Some(key.to_uppercase()),
        _ => None,
    };
    let group = |(key, tickets): (Option<String>, Vec<&Ticket>)| ReportGroup {
        name: key.as_deref().and_then(name),
        key,
        figures: figures(&tickets),
    };
    let mut groups: Vec<ReportGroup> = grouped.into_iter().map(group).collect();
    groups.sort_by(|one, other| {
        let order = |group: &ReportGroup| (-group.figures.opened, group.key.is_none(), group.key.clone());
        order(one).cmp(&order(other))
    });
    groups
}

async fn figures_are_those_of_a_plain_computation(store: SqlStore) {
    let scene = Scene::new(store).await;
    let mut runner = TestRunner::deterministic();
    let drawn = prop::collection::vec(drawn(), 300).new_tree(&mut runner).expect("tickets").current();
    let chats = scene.chats(drawn.iter().map(|one| one.of.0)).await;
    let tickets: Vec<Ticket> = (0..)
        .zip(chats.iter().zip(&drawn))
        .map(|(number, (chat, drawn))| ticket(number, chat, drawn))
        .collect();
    scene.insert(&tickets).await;
    let moment = |millis: i64| Timestamp::from_millis(FIRST + millis);
    let first = tickets.iter().map(|ticket| ticket.created_at).min().expect("tickets");
    for (from, to) in [
        (moment(0), moment(5 * DAY)),
        (moment(DAY / 2), moment(3 * DAY)),
        // The first moment counts, the last does not.
        (first, first + Duration::from_millis(1)),
        (first - Duration::from_millis(1), first),
    ] {
        for (reach, router, of, hours) in scene.scopes() {
            let counts = |ticket: &&Ticket| {
                ticket.kind == TicketKind::Human
                    && of.contains(&ticket.router_id)
                    && (from..to).contains(&ticket.created_at)
            };
            let chosen: Vec<&Ticket> = tickets.iter().filter(counts).collect();
            for by in TicketGrouping::ALL {
                let filter = filter(router.clone(), from, to);
                let report = scene.reports.tickets(reach, &filter, by).await.expect("a report");
                assert_eq!(report.total, figures(&chosen), "{by:?} {from} {to} {of:?}");
                if by != TicketGrouping::Day {
                    assert_eq!(report.groups, expected(&chosen, by), "{by:?} {from} {to} {of:?}");
                    continue;
                }
                assert_eq!(report.time_zone, if hours == 0 { "UTC" } else { "America/Sao_Paulo" });
                let mut dates = Vec::new();
                let mut at = from;
                while at < to {
                    dates.push(date(at, hours));
                    at = at + Duration::from_secs(60 * 60);
                }
                dates.push(date(to - Duration::from_millis(1), hours));
                dates.dedup();
                assert_eq!(report.groups.len(), dates.len());
                for (group, day) in report.groups.into_iter().zip(dates) {
                    let of_day: Vec<&Ticket> = chosen
                        .iter()
                        .copied()
                        .filter(|ticket| date(ticket.created_at, hours) == day)
                        .collect();
                    assert_eq!((group.key, group.name), (Some(day), None));
                    assert_eq!(group.figures, figures(&of_day), "{from} {to} {of:?}");
                }
            }
        }
    }
}

async fn tickets_are_read_page_by_page(store: SqlStore) {
    let scene = Scene::new(store).await;
    let tag = Tag {
        id: "tag1".parse().expect("an id"),
        router_id: scene.routers[0].clone(),
        name: "Reembolso".to_owned(),
        color: None,
        created_at: Timestamp::from_millis(NOW),
        updated_at: Timestamp::from_millis(NOW),
    };
    let mut tx = scene.desk.world.store.begin().await.expect("begin");
    HasRecords::<Tag>::records(&mut tx).insert(&tag).await.expect("a tag");
    tx.commit().await.expect("commit");
    let chats = scene.chats([0, 1].into_iter()).await;
    // Seven at a time are opened in one moment; one of eleven is none of people.
    let drawn = |number: usize| Drawn {
        created: number as i64 / 7,
        waited: Some(1),
        answered: None,
        served: Some(2),
        kind: if number.is_multiple_of(11) { TicketKind::Ai } else { TicketKind::Human },
        close_kind: CloseKind::Resolved,
        of: (number % 2, number % 3, number % 3, 1),
        levels: (None, None),
        survey: None,
    };
    let mut tickets: Vec<Ticket> =
        (0..2_400).rev().map(|number| ticket(number, &chats[number % 2], &drawn(number))).collect();
    for ticket in tickets.iter_mut().filter(|ticket| ticket.router_id == tag.router_id) {
        ticket.tag_ids = vec![tag.id.clone(), "gone".parse().expect("an id")];
    }
    scene.insert(&tickets).await;
    tickets.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
    let (from, to) = (Timestamp::from_millis(FIRST), Timestamp::from_millis(FIRST + 341));
    for (reach, router, of, _) in scene.scopes() {
        let counts = |ticket: &&Ticket| {
            ticket.kind == TicketKind::Human
                && of.contains(&ticket.router_id)
                && (from..to).contains(&ticket.created_at)
        };
        let chosen: Vec<Ticket> = tickets.iter().filter(counts).cloned().collect();
        let mut rows = scene.reports.rows(reach, &filter(router, from, to)).expect("a period");
        let (mut read, mut sizes) = (Vec::new(), Vec::new());
        loop {
            let page = rows.next_page().await.expect("a page");
            if page.is_empty() {
                break;
            }
            sizes.push(page.len());
            read.extend(page);
        }
        assert_eq!(sizes, chosen.chunks(1_000).map(<[Ticket]>::len).collect::<Vec<_>>());
        for row in &read {
            named(row, &tag);
        }
        let read: Vec<Ticket> = read.into_iter().map(|row| row.ticket).collect();
        assert!(read == chosen, "{} of {} tickets of {of:?}", read.len(), chosen.len());
    }
}

/// Names are those of what is there.
fn named(row: &TicketRow, tag: &Tag) {
    let ticket = &row.ticket;
    let queue = ticket.queue_id.as_ref().map(ToString::to_string).filter(|queue| queue != "q3");
    let user = ticket.assigned_user_id.as_ref().map(|user| user.as_str().to_uppercase());
    assert_eq!(row.queue_name, queue);
    assert_eq!(row.assigned_user_name, user.filter(|user| user != "GONE"));
    let is_first = ticket.router_id == tag.router_id;
    assert_eq!(row.contact_name.as_deref(), Some(if is_first { "Visita 0" } else { "Visita 1" }));
    let tags: &[&str] = if is_first { &["Reembolso"] } else { &[] };
    assert_eq!(row.tags, tags);
    let times = (row.waiting_ms(), row.first_response_ms(), row.service_ms());
    assert_eq!(times, (Some(1_000), None, Some(2_000)));
}
