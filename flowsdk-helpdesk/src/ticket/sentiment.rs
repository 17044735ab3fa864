//! How a contact feels, as tickets show it.

use flowsdk_core::event::{Sentiment, SentimentResult};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::SentimentItem;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

/// A contact's sentiment, as an AI agent judged it.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TicketSentiment)]
pub struct SentimentView {
    /// The number of the turn in the session.
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
    /// The number of the turn in the session.
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
