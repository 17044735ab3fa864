//! Schemas of types that belong to other crates.

use flowsdk_auth::audit::{AuditAction, AuditEntityType, AuditStatus};
use flowsdk_auth::permission::{Action, Resource};
use flowsdk_auth::user::UserRole;
use flowsdk_core::chat::ChatStatus;
use flowsdk_core::contact::{OptInSource, OptInStatus};
use flowsdk_core::flow::FlowKind;
use flowsdk_core::message::{Direction, MessageStatus};
use flowsdk_core::session::{Channel, Mode};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Timestamp;
use flowsdk_core::variable::MAX_KEY_LEN;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A schema of a name and a builder.
macro_rules! schemas {
    ($($(#[$doc:meta])* $name:ident: $build:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $build.build().into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

mod connections;

pub use connections::*;

schemas! {
    /// An id.
    Id: text()
        .pattern(Some("^[A-Za-z0-9_.@|:+-]+$"))
        .min_length(Some(1))
        .max_length(Some(128))
        .examples(["cmi7w0q2p00000qx1b3k9z5ra"]);
    /// The id of a session: `wa-<phoneNumberId>-<phoneNumber>`, `wc-<channelId>-<userId>` or `ig-<igUserId>-<fromId>`.
    SessionIdText: text()
        .pattern(Some("^(wa|wc|ig)-[!-~]+$"))
        .max_length(Some(320))
        .examples(["wc-cmi7w0q2p00000qx1b3k9z5ra-cmi7w0q2p00000qx1b3k9z5rb"]);
    /// A stream.
    StreamName: text().enum_values(Some(TopicName::ALL.map(TopicName::as_str)));
    /// Who owns a conversation.
    ModeName: text().enum_values(Some([Mode::Flow, Mode::Human, Mode::Agent].map(Mode::name)));
    /// A channel.
    ChannelName: text()
        .enum_values(Some([Channel::Phone, Channel::Webchat, Channel::Social].map(Channel::name)));
    /// Whether a chat takes messages.
    ChatStatusName: text().enum_values(Some([ChatStatus::Open, ChatStatus::Closed].map(ChatStatus::name)));
    /// Which way a message went.
    DirectionName: text().enum_values(Some([Direction::In, Direction::Out].map(Direction::name)));
    /// How far a message came.
    MessageStatusName: text().enum_values(Some(MessageStatus::ALL.map(MessageStatus::name)));
    /// What a contact said to being written to.
    OptInStatusName: text().enum_values(Some([OptInStatus::Accepted, OptInStatus::Revoked].map(OptInStatus::name)));
    /// How an opt-in came to be known.
    OptInSourceName: text().enum_values(Some([OptInSource::Flow, OptInSource::Import].map(OptInSource::name)));
    /// An e-mail address.
    EmailAddress: text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Email)))
        .max_length(Some(254))
        .examples(["ana@example.com"]);
    /// A phone number; blanks, dots, hyphens and brackets are dropped.
    PhoneNumber: text()
        .pattern(Some(r"^\s*\+?[0-9 ().-]{8,32}$"))
        .description(Some("With country code: 8 to 15 digits; blanks, dots, hyphens and brackets are dropped."))
        .examples(["+5511987654321"]);
    /// A time zone.
    TimeZoneName: text()
        .format(Some(SchemaFormat::Custom("time-zone".to_owned())))
        .max_length(Some(64))
        .description(Some("IANA time zone."))
        .examples(["America/Sao_Paulo"]);
    /// An address of the web.
    WebAddress: text()
        .pattern(Some("^https?://[^\\s]+$"))
        .max_length(Some(2_048))
        .examples(["https://example.com/logo.png"]);
    /// The key of a static variable.
    VariableKeyName: text()
        .pattern(Some("^[a-zA-Z_][a-zA-Z0-9_]*$"))
        .max_length(Some(MAX_KEY_LEN))
        .examples(["apiBase"]);
    /// What a flow is for.
    FlowKindName: text()
        .enum_values(Some(FlowKind::ALL.map(FlowKind::name)))
        .description(Some("Conversations run a `flow`; AI agents call a `tool`."));
    /// A resource that permissions name.
    ResourceName: text().enum_values(Some(Resource::ALL.map(Resource::name)));
    /// What may be done with a resource.
    ActionName: text()
        .enum_values(Some(Action::ALL.map(Action::name)))
        .description(Some("None includes another."));
    /// A role of users.
    UserRoleName: text()
        .enum_values(Some([UserRole::Member, UserRole::Admin].map(UserRole::name)))
        .description(Some("An `admin` may do everything; a `member` what his group allows."));
    /// What the audit log records.
    AuditActionName: text().enum_values(Some(AuditAction::ALL.iter().map(|one| one.name())));
    /// What kind of entity it was done to.
    AuditEntityTypeName: text().enum_values(Some(AuditEntityType::ALL.iter().map(|one| one.name())));
    /// How it went.
    AuditStatusName: text().enum_values(Some(AuditStatus::ALL.iter().map(|one| one.name())));
}

/// What may be done with one resource.
#[derive(Debug, ToSchema)]
#[schema(as = Permission)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the document is made of it")]
pub struct PermissionEntry {
    resource: ResourceName,
    #[schema(max_items = 16)]
    actions: Vec<ActionName>,
}

/// A moment on the wire: ISO 8601, written in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsoTime(pub Timestamp);

impl From<Timestamp> for IsoTime {
    fn from(moment: Timestamp) -> Self {
        Self(moment)
    }
}

impl Serialize for IsoTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_iso())
    }
}

impl<'de> Deserialize<'de> for IsoTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let moment = jiff::Timestamp::deserialize(deserializer)?;
        Ok(Self(Timestamp::from_millis(moment.as_millisecond())))
    }
}

impl PartialSchema for IsoTime {
    fn schema() -> RefOr<Schema> {
        text()
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples(["2026-11-20T10:57:00.000Z"])
            .build()
            .into()
    }
}

impl ToSchema for IsoTime {}
