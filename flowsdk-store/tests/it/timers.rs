//! Many sessions whose time is over, after an outage.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::conversation::InputTimers;
use flowsdk_core::id::{ChannelId, ChatId, ContactId, RouterId, VisitorId};
use flowsdk_core::session::{HasSessions as _, Session, SessionId, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::SqlStore;

use crate::support::databases::on_every_database;

on_every_database! {
    late_timers_ring_in_thousands_and_hold_up_nobody,
}

const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);
const SECOND: Duration = Duration::from_secs(1);
const LATE: usize = 10_000;

fn session(n: usize, wake_at: Timestamp) -> Session {
    let channel = ChannelId::parse("cmwox0000000000000000chan").expect("an id");
    let visitor = VisitorId::parse(format!("v{n}")).expect("a visitor");
    let id = SessionId::webchat(&channel, &visitor, None).expect("an id");
    let router = RouterId::parse("cmwox000000000000000route").expect("an id");
    let contact = ContactId::parse("cmwox000000000000000conta").expect("an id");
    let chat = ChatId::parse("cmwox00000000000000000chat").expect("an id");
    Session { wake_at: Some(wake_at), ..Session::begin(id, router, contact, chat, NOW) }
}

fn was_late(id: &SessionId) -> bool {
    id.party().trim_start_matches('v').parse::<usize>().expect("a number") < LATE
}

async fn save(store: &SqlStore, sessions: &[Session]) {
    let mut tx = store.begin().await.expect("begin");
    let writes: Vec<_> = sessions.iter().map(|session| SessionWrite { session, expected: None }).collect();
    tx.sessions().save_many(&writes).await.expect("saved");
    tx.commit().await.expect("commit");
}

/// Counted in rounds, of which there is one a second. Nobody handles those that ring, so that they are due for ever.
async fn late_timers_ring_in_thousands_and_hold_up_nobody(store: SqlStore) {
    let late: Vec<_> = (0..LATE).map(|n| session(n, Timestamp::from_millis(1_000 + n as i64 / 7))).collect();
    save(&store, &late).await;
    let timers = InputTimers::new(Arc::new(store.clone()));
    assert!(timers.any(NOW).await.expect("looked"));
    let mut rung = HashSet::new();
    let mut now = NOW;
    for round in 0..3 {
        let due = timers.due(now, true).await.expect("due");
        assert!(due.len() >= 1_800, "{}", due.len());
        for id in due {
            let first = rung.insert(id.to_string());
            // A new one is late in the round after its first.
            assert!(first || !was_late(&id), "{id} rings again before others ring at all");
        }
        // Whoever becomes due meanwhile rings in the next round, in front of all that are late.
        let new = session(LATE + round, now + SECOND);
        save(&store, std::slice::from_ref(&new)).await;
        now = now + SECOND;
        assert!(timers.any(now).await.expect("looked"));
        if round == 2 {
            assert_eq!(rung.len(), LATE + 2);
            let due = timers.due(now, false).await.expect("due");
            assert_eq!(due, [new.id], "those that are late wait for room");
        }
    }
    // The end was reached: those that got lost on their way ring again.
    let again = timers.due(now + SECOND, true).await.expect("due");
    assert!(again.len() > 4_000 && rung.contains(&again[0].to_string()), "{}", again.len());
}
