//! The look of a desk at a ticket.

use std::time::Duration;

use flowsdk_core::id::{TicketId, UserId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::Timestamp;
use serde::Serialize;

/// How long a look is believed of a desk whose process does not renew it.
pub const VIEW_LIFETIME: Duration = Duration::from_secs(60);

/// How long somebody counts as typing who does not say it again.
pub const TYPING_LASTS: Duration = Duration::from_secs(6);

/// A desk that looks at a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Names the desk: one socket among those of all processes. It looks at one ticket at a time.
    pub desk: String,
    /// The ticket.
    pub ticket_id: TicketId,
    /// The user at the desk.
    pub user_id: UserId,
    /// Until when it holds.
    pub until: Timestamp,
    /// Until when they count as typing; `None` if they have not typed.
    pub typing_until: Option<Timestamp>,
}

/// A user who looks at a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Viewer {
    pub ticket_id: TicketId,
    pub user_id: UserId,
    pub name: String,
    pub typing_until: Option<Timestamp>,
}

/// A user who looks at a ticket, as desks show them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TicketViewer)]
pub struct ViewerView {
    /// The user.
    pub user_id: UserId,
    /// Their name.
    #[schema(example = "Ana")]
    pub name: String,
    /// Whether they write an answer.
    pub is_typing: bool,
}

/// Who else looks at the ticket of a desk: the payload of `ticket:viewing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketViewers {
    /// The ticket.
    pub ticket_id: TicketId,
    /// The others who look at it, by name. Nobody is an empty list.
    pub viewers: Vec<ViewerView>,
}

impl TicketViewers {
    /// Returns what a user is told of a ticket: everybody of `viewers` who looks at it, but themselves.
    pub fn for_user(user: &UserId, ticket: &TicketId, viewers: &[Viewer], now: Timestamp) -> Self {
        let others = viewers.iter().filter(|one| one.ticket_id == *ticket && one.user_id != *user);
        let view = |one: &Viewer| ViewerView {
            user_id: one.user_id.clone(),
            name: one.name.clone(),
            is_typing: one.typing_until.is_some_and(|until| until > now),
        };
        Self { ticket_id: ticket.clone(), viewers: others.map(view).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_else_is_told_with_what_they_do() {
        let now = Timestamp::from_millis(1_000);
        let id = |name: &str| name.parse::<UserId>().expect("an id");
        let ticket = |name: &str| name.parse::<TicketId>().expect("an id");
        let viewer = |of: &str, name: &str, typing: Option<i64>| Viewer {
            ticket_id: ticket(of),
            user_id: id(name),
            name: name.to_owned(),
            typing_until: typing.map(Timestamp::from_millis),
        };
        let all = [
            viewer("t1", "ana", Some(1_001)),
            viewer("t1", "bia", Some(1_000)),
            viewer("t1", "eva", None),
            viewer("t2", "leo", None),
        ];
        let told = |user: &str, of: &str| {
            let told = TicketViewers::for_user(&id(user), &ticket(of), &all, now);
            told.viewers.into_iter().map(|one| (one.name, one.is_typing)).collect::<Vec<_>>()
        };
        let seen = |name: &str, is_typing: bool| (name.to_owned(), is_typing);
        assert_eq!(told("eva", "t1"), [seen("ana", true), seen("bia", false)]);
        assert_eq!(told("ana", "t1"), [seen("bia", false), seen("eva", false)]);
        assert_eq!(told("ana", "t2"), [seen("leo", false)]);
        assert_eq!(told("leo", "t2"), []);
    }
}
