//! What an import did, and what is still to be done by hand.

use crate::id::{ChannelId, FlowId, RouterId};

/// What became of a thing of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landed {
    /// It is new.
    Created,
    /// It is new, under another name than in the file.
    Renamed,
    /// It took the place of what had its name.
    Replaced,
    /// What had its name stayed as it is.
    Kept,
}

impl Landed {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Created, Self::Renamed, Self::Replaced, Self::Kept];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Renamed => "renamed",
            Self::Replaced => "replaced",
            Self::Kept => "kept",
        }
    }
}

/// A flow of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFlow {
    /// What the file calls it.
    pub slug: String,
    /// Its id here.
    pub id: FlowId,
    /// Its name here.
    pub name: String,
    /// What became of it.
    pub landed: Landed,
    /// The version that was published, if the file had one.
    pub published_version: Option<i64>,
}

/// A variable of the router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedVariable {
    /// Its key.
    pub key: String,
    /// What became of it.
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
    /// What: `channelAppSecret`, `channelVerifyToken`, `embedSecret`, `secretVariable`, `flowId`, `agentId`,
    /// `queueId`, `userId`.
    pub kind: &'static str,
    /// Where: the path in the file, such as `flows[0]`.
    pub place: String,
    /// Which: a key, or what the file names and this server does not know.
    pub name: Option<String>,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// The router.
    pub router_id: RouterId,
    /// Its name.
    pub router_name: String,
    /// The flows of the file.
    pub flows: Vec<ImportedFlow>,
    /// The variables of its router.
    pub variables: Vec<ImportedVariable>,
    /// Its channels.
    pub channels: Vec<ImportedChannel>,
    /// What is to be filled in.
    pub missing: Vec<Missing>,
}
