//! Surveys: contacts are asked when their ticket is resolved, and their flow goes on when they have answered.

use std::time::Duration;

use flowsdk_core::id::UserId;
use flowsdk_core::session::{HasSessions as _, Mode, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_helpdesk::desk::{CloseTicket, GoOnAt, TransferTicket};
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::queue::Survey;
use flowsdk_helpdesk::ticket::{SurveyStatus, Ticket};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::desk::Helpdesk;
use crate::conversations::world::{MINUTE, body};
use crate::support::databases::on_every_database;

on_every_database! {
    a_contact_is_asked_and_the_flow_goes_on_with_the_answer,
    an_answer_that_is_none_is_asked_for_once_more,
    a_contact_who_is_silent_holds_nothing_up,
    what_comes_again_or_came_before_is_no_answer,
    nobody_is_asked_whose_conversation_goes_elsewhere,
    the_flow_goes_on_where_the_agent_said,
    an_answer_and_the_end_of_the_time_are_one_end,
}

impl Helpdesk {
    /// A desk with a survey, and an agent.
    pub(crate) async fn asking(store: SqlStore, comment_question: Option<&str>) -> (Self, UserId) {
        let desk = Self::new(store).await;
        desk.add_queue("q1", ManualPickup).await;
        let survey = Survey {
            question: "1 to 5?".to_owned(),
            comment_question: comment_question.map(str::to_owned),
            thanks: Some("Thanks".to_owned()),
            within_minutes: 30,
        };
        desk.change_queue("q1", |queue| queue.survey = Some(survey)).await;
        let eva = desk.add_agent("eva", &["q1"]).await;
        (desk, eva)
    }

    /// An agent resolves a ticket of a visitor.
    pub(crate) async fn resolve(&self, visitor: &str, user: &UserId, close: CloseTicket) -> Ticket {
        self.hand_over(visitor, "bill").await.expect("a ticket");
        self.desk.pick_up(self.by(user), user).await.expect("picked up");
        let ticket = self.open_ticket(visitor).await.expect("a ticket");
        self.heard_by_contacts();
        self.desk.close(self.by(user), &ticket.id, close).await.expect("closed")
    }

    /// The visitor writes, and the helpdesk takes it. Returns what they are told.
    async fn answer(&self, visitor: &str, text: &str) -> Vec<String> {
        self.world.clock.advance(Duration::from_secs(1));
        let id = format!("{visitor}-{}", self.world.cx.now());
        self.world.say(visitor, &id, text).await;
        self.take().await;
        self.heard_by_contacts()
    }

    /// The session of a visitor gets another owner.
    async fn moves_on(&self, visitor: &str) {
        let mut session = self.session(visitor).await;
        let expected = Some(session.version);
        session.version += 1;
        session.epoch += 1;
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.sessions().save_many(&[SessionWrite { session: &session, expected }]).await.expect("saved");
        tx.commit().await.expect("commit");
    }

    fn heard_by_contacts(&self) -> Vec<String> {
        self.world.sink.0.lock().expect("the sink").drain(..).map(|event| body(&event)).collect()
    }

    /// The hand-backs since the last look: how each ticket ended.
    async fn handed_back(&self) -> Vec<Value> {
        let events = self.world.published(TopicName::Flow).await;
        events.into_iter().map(|event| event["ticket"]["exit"].clone()).collect()
    }
}

async fn a_contact_is_asked_and_the_flow_goes_on_with_the_answer(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, Some("Why?")).await;
    let close = CloseTicket { reason: Some("paid".to_owned()), ..CloseTicket::default() };
    let closed = desk.resolve("ana", &eva, close).await;
    assert_eq!(desk.heard_by_contacts(), ["1 to 5?"]);
    assert_eq!(closed.survey.as_ref().map(|asked| asked.status), Some(SurveyStatus::Asked));
    assert_eq!((desk.handed_back().await, desk.session("ana").await.mode), (vec![], Mode::Human));
    assert_eq!(desk.answer("ana", "4").await, ["Why?"]);
    assert_eq!(desk.handed_back().await, [] as [Value; 0]);
    assert_eq!(desk.answer("ana", "slow").await, ["Thanks"]);
    let exit = json!({ "key": "paid", "survey": { "score": 4, "comment": "slow" } });
    assert_eq!(desk.handed_back().await, [exit]);
    let after = desk.ticket(&closed).await;
    let asked = after.survey.as_ref().expect("a survey");
    assert_eq!(
        (asked.status, asked.score, asked.comment.as_deref()),
        (SurveyStatus::Answered, Some(4), Some("slow"))
    );
    // It is over, and not ended again.
    desk.world.clock.advance(MINUTE * 60);
    assert_eq!(desk.sweep.end_surveys().await.expect("swept"), 0);
}

async fn an_answer_that_is_none_is_asked_for_once_more(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, None).await;
    desk.resolve("ana", &eva, CloseTicket::default()).await;
    desk.heard_by_contacts();
    assert_eq!(desk.answer("ana", "one more thing").await, ["1 to 5?"]);
    assert_eq!(desk.answer("ana", "hello?").await, [] as [&str; 0]);
    assert_eq!(desk.handed_back().await, [json!({ "key": "resolved", "survey": null })]);
    desk.resolve("bia", &eva, CloseTicket::default()).await;
    desk.heard_by_contacts();
    desk.answer("bia", "what?").await;
    assert_eq!(desk.answer("bia", "5!").await, ["Thanks"]);
    let survey = json!({ "score": 5, "comment": null });
    assert_eq!(desk.handed_back().await, [json!({ "key": "resolved", "survey": survey })]);
}

async fn a_contact_who_is_silent_holds_nothing_up(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, Some("Why?")).await;
    let first = desk.resolve("ana", &eva, CloseTicket::default()).await;
    let second = desk.resolve("bia", &eva, CloseTicket::default()).await;
    desk.world.clock.advance(MINUTE * 20);
    desk.answer("bia", "3").await;
    desk.world.clock.advance(MINUTE * 10);
    // They have no other ticket meanwhile.
    assert_eq!(desk.intake.take_forgotten(10).await.expect("taken"), 0);
    assert_eq!(desk.sweep.end_surveys().await.expect("swept"), 1);
    assert_eq!(desk.handed_back().await, [json!({ "key": "resolved", "survey": null })]);
    desk.world.clock.advance(MINUTE * 30);
    assert_eq!(desk.sweep.end_surveys().await.expect("swept"), 1);
    let survey = json!({ "score": 3, "comment": null });
    assert_eq!(desk.handed_back().await, [json!({ "key": "resolved", "survey": survey })]);
    let mut statuses = Vec::new();
    for ticket in [&first, &second] {
        statuses.extend(desk.ticket(ticket).await.survey.map(|asked| asked.status));
    }
    assert_eq!(statuses, [SurveyStatus::Unanswered, SurveyStatus::Answered]);
}

async fn what_comes_again_or_came_before_is_no_answer(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, Some("Why?")).await;
    desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let ticket = desk.open_ticket("ana").await.expect("a ticket");
    // The helpdesk takes it after the ticket was closed.
    desk.world.say("ana", "early", "2").await;
    desk.world.clock.advance(Duration::from_secs(1));
    desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    desk.heard_by_contacts();
    desk.take().await;
    assert_eq!(desk.heard_by_contacts(), [] as [&str; 0]);
    desk.world.clock.advance(Duration::from_secs(1));
    desk.world.say("ana", "number", "4").await;
    let events = desk.events().await;
    for _ in 0..2 {
        desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    }
    assert_eq!(desk.heard_by_contacts(), ["Why?"], "it is read once");
    let asked = desk.ticket(&ticket).await.survey.expect("a survey");
    assert_eq!((asked.status, asked.score, asked.comment), (SurveyStatus::Commenting, Some(4), None));
}

async fn nobody_is_asked_whose_conversation_goes_elsewhere(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, None).await;
    let ivo = desk.add_agent("ivo", &["q1"]).await;
    desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let ticket = desk.open_ticket("ana").await.expect("a ticket");
    desk.heard_by_contacts();
    let to = TransferTicket { to_user_id: Some(ivo.clone()), to_queue_id: None };
    let next = desk.desk.transfer(desk.by(&eva), &ticket.id, to).await.expect("transferred");
    assert_eq!(desk.heard_by_contacts(), [] as [&str; 0], "a transfer asks nothing");
    // The session has moved on meanwhile.
    desk.moves_on("ana").await;
    let closed = desk.desk.close(desk.by(&ivo), &next.id, CloseTicket::default()).await.expect("closed");
    assert_eq!((closed.survey, desk.heard_by_contacts()), (None, vec![]));
    // A survey that is asked when the session goes elsewhere reads nothing more, and ends by its time.
    let asked = desk.resolve("bia", &eva, CloseTicket::default()).await;
    desk.heard_by_contacts();
    desk.moves_on("bia").await;
    assert_eq!(desk.answer("bia", "5").await, [] as [&str; 0]);
    desk.world.clock.advance(MINUTE * 31);
    assert_eq!(desk.sweep.end_surveys().await.expect("swept"), 1);
    assert_eq!(desk.ticket(&asked).await.survey.and_then(|asked| asked.score), None);
}

async fn the_flow_goes_on_where_the_agent_said(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, None).await;
    let go_on =
        GoOnAt { flow_id: "attended".parse().expect("an id"), block_id: "elsewhere".parse().expect("an id") };
    let close = CloseTicket { jump_target: Some(go_on), ..CloseTicket::default() };
    desk.resolve("ana", &eva, close).await;
    desk.answer("ana", "5").await;
    assert_eq!(desk.go_on().await, ["Elsewhere", "Ask"]);
}

async fn an_answer_and_the_end_of_the_time_are_one_end(store: SqlStore) {
    let (desk, eva) = Helpdesk::asking(store, None).await;
    for visitor in ["v1", "v2", "v3", "v4"] {
        desk.resolve(visitor, &eva, CloseTicket::default()).await;
        desk.world.clock.advance(Duration::from_secs(1));
        desk.world.say(visitor, &format!("{visitor}-number"), "5").await;
    }
    let events = desk.events().await;
    desk.world.clock.advance(MINUTE * 60);
    let events: Vec<_> = events.iter().collect();
    let (taken, swept) = tokio::join!(desk.intake.take(&events), desk.sweep.end_surveys());
    // Whoever loses a race tries again.
    if let Err(error) = taken {
        assert!(error.is_lost_race(), "{error}");
        desk.intake.take(&events).await.expect("taken");
    }
    if let Err(error) = swept {
        assert!(error.is_lost_race(), "{error}");
        desk.sweep.end_surveys().await.expect("swept");
    }
    assert_eq!(desk.handed_back().await.len(), 4);
}
