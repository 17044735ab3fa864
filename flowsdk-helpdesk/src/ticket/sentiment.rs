//! How a contact feels, as tickets show it.

use flowsdk_core::event::{Sentiment, SentimentResult};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::SentimentItem;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::Serialize;

use super::{NotOpen, Ticket};

/// Most sentiments that a ticket has; the oldest ones go.
const MOST: usize = 100;

impl Ticket {
    /// Notes how the contact feels, as somebody had it judged at `now`. It counts as a turn of its own.
    ///
    /// # Errors
    /// [`NotOpen`].
    pub fn note_sentiment(&mut self, judged: SentimentResult, now: Timestamp) -> Result<(), NotOpen> {
        if !self.is_open() {
            return Err(NotOpen);
        }
        let turn = self.sentiment_history.last().map_or(1, |last| last.turn.saturating_add(1));
        let item = SentimentItem { turn, updated_at: now, ..judged.item };
        self.sentiment_history.push(item.clone());
        self.forget_old_sentiments();
        self.sentiment_result = Some(SentimentResult { item, ..judged });
        self.updated_at = self.updated_at.max(now);
        Ok(())
    }

    /// Takes what AI agents have noted of the contact, beside what people had judged. The newest sentiment is the last one.
    pub fn learn_sentiments(&mut self, last: Option<&SentimentResult>, history: &[SentimentItem]) {
        if let Some(last) = last
            && self.sentiment_result.as_ref().is_none_or(|own| own.item.updated_at <= last.item.updated_at)
        {
            self.sentiment_result = Some(last.clone());
        }
        let learned: Vec<SentimentItem> =
            history.iter().filter(|item| !self.sentiment_history.contains(item)).cloned().collect();
        self.sentiment_history.extend(learned);
        self.sentiment_history.sort_by_key(|item| item.updated_at);
        self.forget_old_sentiments();
    }

    fn forget_old_sentiments(&mut self) {
        let old = self.sentiment_history.len().saturating_sub(MOST);
        self.sentiment_history.drain(..old);
    }
}

/// A contact's sentiment, as an AI agent judged it, or a model that somebody asked.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TicketSentiment)]
pub struct SentimentView {
    /// The number of the turn in the session. A judgement that somebody asked for has the number after the last one.
    #[schema(example = 3)]
    pub turn: u32,
    /// The category.
    pub sentiment: Sentiment,
    /// How strong it is, from 0 to 10.
    #[schema(example = 7.5)]
    pub score: f64,
    /// The words of the contact that show it.
    pub signals: Vec<String>,
    /// Whether a human should look soon.
    pub escalation_risk: bool,
    /// Anything else that the agent has noticed.
    #[schema(required = true)]
    pub note: Option<String>,
    /// When it was judged.
    pub updated_at: IsoTime,
}

impl From<SentimentResult> for SentimentView {
    fn from(result: SentimentResult) -> Self {
        let SentimentItem { turn, sentiment, score, updated_at } = result.item;
        Self {
            turn,
            sentiment,
            score,
            signals: result.signals,
            escalation_risk: result.escalation_risk,
            note: result.note,
            updated_at: IsoTime(updated_at),
        }
    }
}

/// A contact's sentiment in one turn.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TicketSentimentItem)]
pub struct SentimentItemView {
    /// The number of the turn in the session. A judgement that somebody asked for has the number after the last one.
    #[schema(example = 3)]
    pub turn: u32,
    /// The category.
    pub sentiment: Sentiment,
    /// How strong it is, from 0 to 10.
    #[schema(example = 7.5)]
    pub score: f64,
    /// When it was judged.
    pub updated_at: IsoTime,
}

impl From<SentimentItem> for SentimentItemView {
    fn from(item: SentimentItem) -> Self {
        let SentimentItem { turn, sentiment, score, updated_at } = item;
        Self { turn, sentiment, score, updated_at: IsoTime(updated_at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn judged(millis: i64, turn: u32) -> SentimentResult {
        let item = SentimentItem { turn, sentiment: Sentiment::Angry, score: 8.0, updated_at: at(millis) };
        SentimentResult { item, signals: Vec::new(), escalation_risk: true, note: None }
    }

    fn ticket() -> Ticket {
        let id = |text: &str| text.parse().expect("an id");
        let of = ("chat".parse().expect("an id"), "contact".parse().expect("an id"));
        Ticket::of_no_queue(id("t"), "r".parse().expect("an id"), of, at(0))
    }

    #[test]
    fn judgements_are_numbered_and_the_oldest_ones_go() {
        let mut ticket = ticket();
        for millis in 1..=105 {
            ticket.note_sentiment(judged(0, 0), at(millis)).expect("open");
        }
        let turns: Vec<u32> = ticket.sentiment_history.iter().map(|item| item.turn).collect();
        assert_eq!(turns, (6..=105).collect::<Vec<_>>());
        assert_eq!(ticket.sentiment_result, Some(judged(105, 105)));
        let closing = super::super::Closing::by_system(super::super::CloseKind::System);
        ticket.close(&closing, at(200)).expect("open");
        assert!(ticket.note_sentiment(judged(0, 0), at(201)).is_err());
    }

    #[test]
    fn what_agents_noted_stands_beside_what_people_asked_for() {
        let mut ticket = ticket();
        ticket.note_sentiment(judged(0, 0), at(5)).expect("open");
        let noted = [judged(3, 1).item, judged(4, 2).item];
        for _ in 0..2 {
            ticket.learn_sentiments(Some(&judged(4, 2)), &noted);
        }
        let known: Vec<(i64, u32)> =
            ticket.sentiment_history.iter().map(|item| (item.updated_at.as_millis(), item.turn)).collect();
        assert_eq!(known, [(3, 1), (4, 2), (5, 1)]);
        assert_eq!(ticket.sentiment_result, Some(judged(5, 1)), "the newest one");
        ticket.learn_sentiments(Some(&judged(9, 3)), &[]);
        assert_eq!(ticket.sentiment_result, Some(judged(9, 3)));
    }
}
