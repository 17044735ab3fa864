//! Resources and actions as types, for [`Can`](super::Can).

use flowsdk_auth::permission::{Action, Resource};

/// A type that stands for a resource.
pub trait ResourceMark: Send + 'static {
    /// The resource that the mark names.
    const RESOURCE: Resource;
}

/// A type that stands for an action.
pub trait ActionMark: Send + 'static {
    /// The action that the mark names.
    const ACTION: Action;
}

macro_rules! marks {
    ($trait:ident, $constant:ident: $kind:ident { $($name:ident),* $(,)? }) => {$(
        #[doc = concat!("[`", stringify!($kind), "::", stringify!($name), "`].")]
        #[derive(Debug)]
        pub enum $name {}

        impl $trait for $name {
            const $constant: $kind = $kind::$name;
        }
    )*};
}

marks!(ResourceMark, RESOURCE: Resource {
    Flows, Routers, Contacts, ChannelNumbers, ChannelBusinessProfile, Queues, Users, Reports, Settings, Helpdesk,
    Campaigns, Sessions, Chats, AuditLogs,
});

marks!(ActionMark, ACTION: Action { Read, Write, Admin });
