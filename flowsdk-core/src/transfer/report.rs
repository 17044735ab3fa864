//! The results of an import, and the work left to do by hand.

use serde::{Deserialize, Serialize};

use crate::cell::Named;
use crate::id::{ChannelId, FlowId, RouterId};

/// The outcome for one entity of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "ImportLanded")]
pub enum Landed {
    /// It is new.
    Created,
    /// It is new, under another name than in the file.
    Renamed,
    /// It replaced the entity of the same name.
    Replaced,
    /// The existing entity of the same name stays as it is.
    Kept,
}

/// A flow of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFlow {
    /// The name of the flow in the file.
    pub slug: String,
    /// Its id here.
    pub id: FlowId,
    /// Its name here.
    pub name: String,
    /// The outcome of the import.
    pub landed: Landed,
    /// The version that was published, if the file had one.
    pub published_version: Option<i64>,
}

/// A variable of the router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedVariable {
    /// The key of the variable.
    pub key: String,
    /// The outcome of the import.
    pub landed: Landed,
}

/// A channel of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedChannel {
    /// Its id here.
    pub id: ChannelId,
    /// Its name.
    pub name: String,
}

/// Something that did not travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The kind of the missing value: `channelAppSecret`, `channelVerifyToken`, `embedSecret`, `secretVariable`,
    /// `flowId`, `agentId`, `queueId`, `userId`.
    pub kind: &'static str,
    /// Where: the path in the file, such as `flows[0]`.
    pub place: String,
    /// The key, or the name in the file that this server does not know.
    pub name: Option<String>,
    /// The id here of the record that lacks the value: the router, the channel, the variable, or the flow whose
    /// definition names it.
    pub id: String,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// The id of the router.
    pub router_id: RouterId,
    /// Its name.
    pub router_name: String,
    /// The flows of the file.
    pub flows: Vec<ImportedFlow>,
    /// The variables of its router.
    pub variables: Vec<ImportedVariable>,
    /// Its channels.
    pub channels: Vec<ImportedChannel>,
    /// The values that an operator must fill in.
    pub missing: Vec<Missing>,
}
