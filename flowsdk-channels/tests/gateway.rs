//! The gateway's promises towards a socket, with sockets that only note what they are given.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_channels::webchat::payload::{ServerMessage, ServerNotice};
use flowsdk_channels::webchat::{ChatEvent, Connection, Gateway, SendError, StatusQueue, StatusSink};
use flowsdk_core::context::OpContext;
use flowsdk_core::event::{DeliveryStatus, Notice, NoticeKind, OutgoingEvent, StatusEvent};
use flowsdk_core::id::{Cuids, MessageId};
use flowsdk_core::message::{ContentMessage, Sender, Source};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::{Clock as _, ManualClock};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

#[derive(Debug, Default)]
struct Socket {
    seen: Mutex<Vec<String>>,
    acknowledges: bool,
    /// Messages it still takes.
    room: AtomicUsize,
    gone: AtomicBool,
    asked: Notify,
}

impl Socket {
    fn new(acknowledges: bool) -> Arc<Self> {
        Arc::new(Self { acknowledges, room: AtomicUsize::new(1_000), ..Self::default() })
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("lock").clone()
    }

    fn note(&self, message: &ServerMessage, how: &str) -> Result<(), SendError> {
        let take = |room: usize| room.checked_sub(1);
        self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).map_err(|_| SendError)?;
        let body = message.content["text"]["body"].as_str().unwrap_or_default();
        self.seen.lock().expect("lock").push(format!("{how}{body}"));
        Ok(())
    }
}

impl Connection for Socket {
    fn send(&self, message: &ServerMessage) -> Result<(), SendError> {
        self.note(message, "")
    }

    fn send_acknowledged(&self, message: &ServerMessage) -> Result<BoxFuture<'static, bool>, SendError> {
        self.note(message, "?")?;
        self.asked.notify_one();
        let answer = self.acknowledges;
        Ok(async move { answer }.boxed())
    }

    fn notify(&self, notice: &ServerNotice) {
        self.seen.lock().expect("lock").push(notice.name().to_owned());
    }

    fn is_connected(&self) -> bool {
        !self.gone.load(Ordering::SeqCst)
    }

    fn close(&self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

fn message(event: OutgoingEvent) -> ChatEvent {
    ChatEvent::Message(Box::new(event))
}

#[derive(Debug, Default)]
struct Statuses(Mutex<Vec<StatusEvent>>);

#[async_trait]
impl StatusSink for Statuses {
    async fn pass(&self, events: &[StatusEvent]) -> Result<(), String> {
        self.0.lock().expect("lock").extend_from_slice(events);
        Ok(())
    }
}

struct Stage {
    gateway: Arc<Gateway>,
    statuses: Arc<Statuses>,
    clock: ManualClock,
    cx: OpContext,
    session: SessionId,
}

fn stage() -> Stage {
    let clock = ManualClock::at(1_800_000_000_000);
    let cx = OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock.clone())));
    let statuses = Arc::new(Statuses::default());
    let queue = Arc::new(StatusQueue::new(Arc::clone(&statuses) as _));
    let gateway = Gateway::new(cx.clone(), queue);
    Stage { gateway, statuses, clock, cx, session: SessionId::parse("wc-c-u").expect("id") }
}

impl Stage {
    fn event(&self, body: &str) -> OutgoingEvent {
        OutgoingEvent {
            seq: None,
            internal_id: MessageId::generate(self.cx.ids()),
            session_id: self.session.clone(),
            chat_id: None,
            phone_number_id: "wc-c".to_owned(),
            to: "u".to_owned(),
            source: Source::Flow,
            sender: Sender::FLOW,
            content: ContentMessage::text(body),
            epoch: 0,
            timestamp: self.clock.now(),
            typing_ms: None,
            ig_comment_target: None,
        }
    }

    async fn reported(&self) -> Vec<DeliveryStatus> {
        self.gateway.flush_statuses().await;
        self.statuses.0.lock().expect("lock").iter().map(|event| event.status).collect()
    }
}

#[tokio::test]
async fn what_arrives_during_a_replay_waits_and_nothing_is_shown_twice() {
    let stage = stage();
    let socket = Socket::new(true);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    let (missed, both, new) = (stage.event("missed"), stage.event("both"), stage.event("new"));
    stage.gateway.emit(message(both.clone()));
    stage.gateway.emit(message(new.clone()));
    assert!(socket.seen().is_empty(), "held while the replay runs");
    seat.go_live(&[], &[ServerMessage::from(&missed), ServerMessage::from(&both)]).await;
    stage.gateway.emit(message(new));
    stage.gateway.emit(message(stage.event("live")));
    let bodies: Vec<String> = socket.seen().iter().map(|body| body.replace('?', "")).collect();
    assert_eq!(bodies, ["missed", "both", "new", "live"]);
}

#[tokio::test]
async fn every_socket_of_a_session_is_told_and_nobody_else() {
    let stage = stage();
    let (one, two, other) = (Socket::new(true), Socket::new(true), Socket::new(true));
    let seats = [&one, &two].map(|socket| stage.gateway.join(stage.session.clone(), Arc::clone(socket) as _));
    let stranger = stage.gateway.join(SessionId::parse("wc-c-other").expect("id"), Arc::clone(&other) as _);
    for seat in seats.iter().chain([&stranger]) {
        seat.go_live(&[], &[]).await;
    }
    stage.gateway.emit(message(stage.event("hi")));
    assert_eq!((one.seen().len(), two.seen().len(), other.seen().len()), (1, 1, 0));
    drop(seats);
    stage.gateway.emit(message(stage.event("nobody")));
    assert_eq!((one.seen().len(), stage.gateway.sessions()), (1, 1));
}

#[tokio::test]
async fn nobody_there_is_not_delivered() {
    let stage = stage();
    stage.gateway.emit(message(stage.event("hi")));
    stage.clock.advance(Duration::from_secs(60));
    stage.gateway.settle_deliveries();
    assert_eq!(stage.reported().await, []);
}

#[tokio::test]
async fn an_acknowledgement_is_a_delivery() {
    let stage = stage();
    let socket = Socket::new(true);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    seat.go_live(&[], &[]).await;
    stage.gateway.emit(message(stage.event("hi")));
    stage.gateway.drain().await;
    assert_eq!(stage.reported().await, [DeliveryStatus::Delivered]);
}

#[tokio::test]
async fn a_client_that_never_acknowledges_counts_after_five_seconds_if_it_is_still_there() {
    let stage = stage();
    let socket = Socket::new(false);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    seat.go_live(&[], &[]).await;
    for body in ["first", "second", "third"] {
        stage.gateway.emit(message(stage.event(body)));
    }
    // Only one message finds out whether the client acknowledges.
    assert_eq!(socket.seen(), ["?first", "second", "third"]);
    stage.clock.advance(Duration::from_millis(4_999));
    stage.gateway.settle_deliveries();
    let early = stage.reported().await;
    assert_eq!(early.iter().filter(|status| **status == DeliveryStatus::Delivered).count(), 0);
    stage.clock.advance(Duration::from_millis(1));
    stage.gateway.settle_deliveries();
    let late = stage.reported().await;
    assert_eq!(late.iter().filter(|status| **status == DeliveryStatus::Delivered).count(), 2);
}

#[tokio::test]
async fn a_client_that_left_within_five_seconds_was_not_reached() {
    let stage = stage();
    let socket = Socket::new(false);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    seat.go_live(&[], &[]).await;
    stage.gateway.emit(message(stage.event("first")));
    stage.gateway.emit(message(stage.event("second")));
    socket.close();
    stage.clock.advance(Duration::from_secs(6));
    stage.gateway.settle_deliveries();
    stage.gateway.drain().await;
    assert_eq!(stage.reported().await, []);
}

#[tokio::test]
async fn a_socket_that_takes_no_more_is_closed_so_that_its_visitor_reads_the_gap() {
    let stage = stage();
    let socket = Socket::new(true);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    seat.go_live(&[], &[]).await;
    socket.room.store(0, Ordering::SeqCst);
    stage.gateway.emit(message(stage.event("hi")));
    assert!(!socket.is_connected());
}

#[tokio::test(start_paused = true)]
async fn a_long_replay_waits_for_a_slow_socket_and_loses_nothing() {
    let stage = stage();
    let socket = Socket::new(false);
    socket.room.store(100, Ordering::SeqCst);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    let missed: Vec<_> = (0..200).map(|n| ServerMessage::from(&stage.event(&n.to_string()))).collect();
    let reads = async {
        for _ in 0..30 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            socket.room.fetch_add(10, Ordering::SeqCst);
        }
    };
    tokio::join!(seat.go_live(&[], &missed), reads);
    let seen: Vec<String> = socket.seen().iter().map(|body| body.replace('?', "")).collect();
    assert_eq!(seen, (0..200).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_replay_waits_ten_seconds_in_all_and_not_for_each_message() {
    let stage = stage();
    let socket = Socket::new(false);
    socket.room.store(0, Ordering::SeqCst);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    stage.gateway.emit(message(stage.event("held")));
    let missed: Vec<_> = (0..10).map(|n| ServerMessage::from(&stage.event(&n.to_string()))).collect();
    let began = tokio::time::Instant::now();
    let trickles = async {
        loop {
            tokio::time::sleep(Duration::from_secs(4)).await;
            socket.room.fetch_add(1, Ordering::SeqCst);
        }
    };
    tokio::select! {
        () = seat.go_live(&[], &missed) => {}
        () = trickles => {}
    }
    assert_eq!(began.elapsed().as_secs(), 10);
    assert!(!socket.is_connected(), "closed after its patience");
    assert_eq!(socket.seen(), ["?0", "1"]);
}

#[tokio::test(start_paused = true)]
async fn a_socket_for_which_too_much_waits_is_broken_off() {
    let stage = stage();
    let (socket, patient) = (Socket::new(true), Socket::new(true));
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    let events: Vec<_> = (0..257).map(|n| stage.event(&n.to_string())).collect();
    stage.gateway.emit(message(events[0].clone()));
    let behind = stage.gateway.join(stage.session.clone(), Arc::clone(&patient) as _);
    for event in &events[1..256] {
        stage.gateway.emit(message(event.clone()));
    }
    assert!(socket.is_connected(), "as many as may wait");
    stage.gateway.emit(message(events[256].clone()));
    assert!(!socket.is_connected() && patient.is_connected());
    seat.go_live(&[], &[ServerMessage::from(&events[0])]).await;
    behind.go_live(&[], &[]).await;
    stage.gateway.emit(message(stage.event("later")));
    assert!(socket.seen().is_empty(), "its visitor reads the gap from the store");
    assert_eq!(patient.seen().len(), 257);
}

#[tokio::test(start_paused = true)]
async fn nothing_overtakes_a_message_that_did_not_get_through() {
    let stage = stage();
    let socket = Socket::new(false);
    socket.room.store(1, Ordering::SeqCst);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    let missed: Vec<_> = ["a", "b"].iter().map(|body| ServerMessage::from(&stage.event(body))).collect();
    seat.go_live(&[], &missed).await;
    assert!(!socket.is_connected(), "closed after its patience");
    socket.room.store(10, Ordering::SeqCst);
    stage.gateway.emit(message(stage.event("c")));
    assert_eq!(socket.seen(), ["?a"]);
}

#[tokio::test(start_paused = true)]
async fn typing_comes_first_and_keeps_the_order() {
    let stage = stage();
    let socket = Socket::new(true);
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&socket) as _);
    seat.go_live(&[], &[]).await;
    let slow = OutgoingEvent { typing_ms: Some(3_000), ..stage.event("slow") };
    stage.gateway.emit(message(slow));
    stage.gateway.emit(message(stage.event("after")));
    assert!(socket.seen().is_empty());
    socket.asked.notified().await;
    stage.gateway.drain().await;
    let bodies: Vec<String> = socket.seen().iter().map(|body| body.replace('?', "")).collect();
    assert_eq!(bodies, ["typing", "slow", "after"]);
    stage.gateway.emit(message(stage.event("at once")));
    assert_eq!(socket.seen().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_is_told_behind_its_last_message() {
    let stage = stage();
    let (live, entering) = (Socket::new(true), Socket::new(true));
    let seat = stage.gateway.join(stage.session.clone(), Arc::clone(&live) as _);
    seat.go_live(&[], &[]).await;
    let held = stage.gateway.join(stage.session.clone(), Arc::clone(&entering) as _);
    let slow = OutgoingEvent { typing_ms: Some(3_000), ..stage.event("bye") };
    stage.gateway.emit(message(slow));
    let kind = NoticeKind::Session { mode: None };
    let end = Notice { session_id: stage.session.clone(), timestamp: stage.clock.now(), kind };
    stage.gateway.emit(ChatEvent::Notice(end));
    stage.gateway.drain().await;
    assert_eq!(live.seen(), ["typing", "?bye", "session"]);
    held.go_live(&[], &[]).await;
    assert_eq!(entering.seen(), ["typing", "?bye", "session"]);
}
