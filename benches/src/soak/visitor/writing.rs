//! The messages of a visitor: new ones, those that had no ack, and some once more.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Open, Visitor};
use crate::soak::packet;
use crate::soak::record::Said;
use crate::soak::script::{self, Kind};

/// How long to wait for the ack before a message is sent again.
pub(super) const ACK: Duration = Duration::from_secs(10);

impl Visitor {
    /// Sends messages without an ack again, otherwise a new one.
    pub(super) async fn act(&mut self, open: &mut Open) {
        open.waiting.retain(|_, (_, sent)| sent.elapsed() < ACK);
        let under_way: HashSet<usize> = open.waiting.values().map(|(said, _)| *said).collect();
        let count = self.record().said.len();
        if self.settled_before < count {
            for said in self.settled_before..count {
                if !self.settled.contains(&said) && !under_way.contains(&said) {
                    self.send(open, said).await;
                }
            }
            return;
        }
        if count > 0 && self.random.chance(3) {
            // The same once more, as a client would that has missed the ack.
            let back = self.random.between(1, 5.min(count as u64)) as usize;
            self.send(open, count - back).await;
            return;
        }
        // Another message would stop the timer.
        let waits_for_timer = self.owed.iter().any(|answer| answer.starts_with("rang "));
        if waits_for_timer || !self.scene.writing.load(Ordering::SeqCst) {
            return;
        }
        let kind = match self.random.between(0, 99) {
            0..65 => Kind::Say,
            65..80 => Kind::Twice,
            80..92 => Kind::Ask,
            92..96 => Kind::Wait,
            _ => Kind::End,
        };
        self.say(open, kind).await;
        // Some do not wait for the ack.
        if matches!(kind, Kind::Say | Kind::Twice) && self.random.chance(10) {
            for _ in 0..self.random.between(1, 3) {
                self.say(open, Kind::Say).await;
            }
        }
    }

    async fn say(&mut self, open: &mut Open, kind: Kind) {
        let number = self.record().said.len();
        let text = script::text(kind, &self.name, number);
        self.owed.extend(script::answers(&text));
        self.record().said.push(Said {
            text,
            client_message_id: format!("m{number}"),
            acks: Vec::new(),
            settled_before: self.settled_before,
        });
        self.scene.said.fetch_add(1, Ordering::Relaxed);
        self.send(open, number).await;
    }

    async fn send(&self, open: &mut Open, said: usize) {
        let payload = {
            let record = self.record();
            let message = &record.said[said];
            json!({ "text": message.text, "clientMessageId": message.client_message_id })
        };
        let number = open.next_number;
        open.next_number += 1;
        open.waiting.insert(number, (said, Instant::now()));
        open.connection.send(packet::event(number, "message", &payload)).await;
    }

    /// Notes the answer to a message that was sent. Returns whether to connect again.
    pub(super) fn settle(&mut self, said: usize, answer: &Value) -> bool {
        if answer["ok"] == true {
            let id = answer["messageId"].as_str().unwrap_or_default().to_owned();
            self.record().said[said].acks.push(id);
            if said >= self.settled_before && self.settled.insert(said) {
                self.scene.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            while self.settled.remove(&self.settled_before) {
                self.settled_before += 1;
            }
            return false;
        }
        match answer["code"].as_str() {
            Some("unavailable" | "rate_limited" | "internal_error") => false,
            Some("closed") => true,
            _ => {
                let text = self.record().said[said].text.clone();
                self.surprise(format!("{text:?} was answered {answer}"));
                false
            }
        }
    }
}
