//! Channels of every kind, as turns look for them. Each kind has a table of its own beside this one, and writes both by
//! the functions of this file, in the transaction of the caller.

use constcat::concat;
use flowsdk_channels::channel_number::ChannelNumber;
use flowsdk_channels::webchat::WebchatChannel;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, ChannelNumberId, FlowId, RouterId};
use flowsdk_core::router::{FallbackTexts, Route, Wording};
use flowsdk_core::session::Channel;
use serde_json::Value;

use super::executor::Conn;
use super::record::record;
use super::row::{Cells, Row};
use super::statement::{RowsSql, Sql, sql, sql_list};

/// A row of `channel`. Only the initial flow ever changes.
#[derive(Debug)]
pub(super) struct ChannelRow {
    /// The id that incoming events name: `wc-<channelId>`, or the provider's id of a number.
    id: String,
    router_id: RouterId,
    kind: Channel,
    is_test: bool,
    initial_flow_id: Option<FlowId>,
}

record! {
    ChannelRow in "channel" { id, router_id, kind, is_test, initial_flow_id }
}

/// A row of [`WORDINGS`].
#[derive(Debug)]
struct WordingRow(Wording);

impl Row for WordingRow {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        let phone_number_id = cells.of("channel", "id")?;
        let channel: Option<FallbackTexts> = cells.json_or_null("webchat_channel", "fallback_texts")?;
        let router: Option<FallbackTexts> = cells.json_or_null("router", "fallback_texts")?;
        let appearance: Option<Value> = cells.json_or_null("webchat_channel", "appearance")?;
        let language = appearance.as_ref().and_then(|appearance| appearance["language"].as_str());
        Ok(Self(Wording {
            phone_number_id,
            channel: channel.unwrap_or_default(),
            router: router.unwrap_or_default(),
            language: language.map(str::to_owned),
        }))
    }
}

fn webchat(id: &ChannelId) -> String {
    format!("wc-{id}")
}

impl From<&WebchatChannel> for ChannelRow {
    fn from(channel: &WebchatChannel) -> Self {
        Self {
            id: webchat(&channel.id),
            router_id: channel.router_id.clone(),
            kind: Channel::Webchat,
            is_test: channel.purpose.is_test(),
            initial_flow_id: channel.initial_flow_id.clone(),
        }
    }
}

impl From<&ChannelNumber> for ChannelRow {
    fn from(number: &ChannelNumber) -> Self {
        Self {
            id: number.phone_number_id.to_string(),
            router_id: number.router_id.clone(),
            kind: Channel::Phone,
            is_test: false,
            initial_flow_id: None,
        }
    }
}

static INSERT: RowsSql = RowsSql::insert::<ChannelRow>("");

/// Makes the row, too, if a process of a version without this table made the channel.
static SAVE: RowsSql = RowsSql::insert::<ChannelRow>(
    "ON CONFLICT (id) DO UPDATE SET initial_flow_id = excluded.initial_flow_id",
);

const DELETE_WEBCHAT: Sql = sql("DELETE FROM channel WHERE id = $1");

const DELETE_NUMBER: Sql =
    sql("DELETE FROM channel WHERE id = (SELECT phone_number_id FROM channel_number WHERE id = $1)");

/// One look-up of a turn: by the primary keys of the channel and of its router.
pub(super) const FIND_ROUTES: Sql = sql_list!(
    concat!(
        "SELECT channel.id, channel.router_id, COALESCE(channel.initial_flow_id, router.initial_flow_id), ",
        "channel.is_test FROM channel JOIN router ON router.id = channel.router_id WHERE channel.id "
    ),
    "$1",
    ""
);

/// What contacts of channels are told where nothing else answers them.
const WORDINGS: Sql = sql_list!(
    "SELECT channel.id, webchat_channel.fallback_texts, router.fallback_texts, webchat_channel.appearance
     FROM channel JOIN router ON router.id = channel.router_id
     LEFT JOIN webchat_channel ON channel.kind = 'webchat' AND webchat_channel.id = substr(channel.id, 4)
     WHERE channel.id ",
    "$1",
    ""
);

super::statement::statements! { DELETE_WEBCHAT, DELETE_NUMBER, FIND_ROUTES, WORDINGS; INSERT, SAVE }

impl Conn {
    pub(super) async fn insert_channels(&mut self, channels: &[ChannelRow]) -> Result<(), StorageError> {
        self.insert_rows(&INSERT, channels).await.map(drop)
    }

    pub(super) async fn save_channel(&mut self, channel: &ChannelRow) -> Result<(), StorageError> {
        self.insert_rows(&SAVE, std::slice::from_ref(channel)).await.map(drop)
    }

    pub(super) async fn delete_webchat_channel(&mut self, id: &ChannelId) -> Result<(), StorageError> {
        self.execute(DELETE_WEBCHAT, (&webchat(id),)).await.map(drop)
    }

    /// Deletes the channel of a number, whose own row is still there.
    pub(super) async fn delete_channel_of_number(
        &mut self,
        id: &ChannelNumberId,
    ) -> Result<(), StorageError> {
        self.execute(DELETE_NUMBER, (id,)).await.map(drop)
    }

    pub(super) async fn routes(&mut self, ids: &[String]) -> Result<Vec<Route>, StorageError> {
        type Row = (String, RouterId, Option<FlowId>, bool);
        let rows = self.fetch_all::<Row>(FIND_ROUTES, (Json(ids),)).await?;
        let route = |(phone_number_id, router_id, initial_flow_id, is_test)| Route {
            phone_number_id,
            router_id,
            initial_flow_id,
            is_test,
        };
        Ok(rows.into_iter().map(route).collect())
    }

    pub(super) async fn wordings(&mut self, ids: &[String]) -> Result<Vec<Wording>, StorageError> {
        let rows = self.fetch_all::<WordingRow>(WORDINGS, (Json(ids),)).await?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }
}
