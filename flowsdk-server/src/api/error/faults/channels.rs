//! Errors of the channels.

use flowsdk_channels::ProviderFault;
use flowsdk_channels::channel_number::{ChannelNumberError, RegistrationError};
use flowsdk_channels::form::FormError;
use flowsdk_channels::phone::dispatch::{DispatchError, InvalidParameters};
use flowsdk_channels::phone::webhook::DeliveryError;
use flowsdk_channels::phone::{IntakeError, Unsigned};
use flowsdk_channels::template::{SyncError, TemplateError};
use flowsdk_channels::type_mapping::ChannelTypeMappingError;
use flowsdk_channels::webchat::channels::WebchatChannelError;
use flowsdk_channels::webchat::inbound::InboundError;
use flowsdk_channels::webchat::{AuthError, IngressError, TestChatError, UploadError};
use flowsdk_core::admin::flow::FlowError;
use flowsdk_core::channel::SendError;
use flowsdk_core::crypto::CipherError;
use flowsdk_core::fault::StorageError;
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::media::{MediaError, MediaKind};
use flowsdk_core::message::StatusError;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::stream::broker::BrokerError;
use flowsdk_crypto::FormKeyError;

use super::{Table, dependants, details, storage};

/// Adds them to the table.
pub(super) fn add(table: &mut Table) {
    table.add([FormKeyError::Busy, FormKeyError::Failed]);
    table.add([
        ChannelNumberError::NotFound,
        ChannelNumberError::NoKeys,
        ChannelNumberError::RouterUnknown(RouterUnknown),
        ChannelNumberError::Taken,
        ChannelNumberError::InUse(dependants()),
        ChannelNumberError::Keys(FormKeyError::Busy),
        ChannelNumberError::Keys(FormKeyError::Failed),
        ChannelNumberError::Sealed(CipherError),
        ChannelNumberError::Idempotency(IdempotencyConflict),
        ChannelNumberError::Storage(storage()),
    ]);
    table.add([
        TemplateError::NotFound,
        TemplateError::RouterUnknown(RouterUnknown),
        TemplateError::NameTaken,
        TemplateError::Invalid(details()),
        TemplateError::Idempotency(IdempotencyConflict),
        TemplateError::Storage(storage()),
    ]);
    let unsent = || SendError::Unanswered("no answer".into());
    let refused = StatusError { code: 190, title: Some("Invalid OAuth access token".to_owned()) };
    table.add([
        SyncError::RouterUnknown(RouterUnknown),
        SyncError::NoToken,
        SyncError::AlreadySubmitted,
        SyncError::Provider(ProviderFault::Unreached(unsent())),
        SyncError::Template(TemplateError::NotFound),
        SyncError::Storage(storage()),
    ]);
    table.add([
        ProviderFault::Refused(refused),
        ProviderFault::Unreached(unsent()),
        ProviderFault::Unanswered(unsent()),
    ]);
    table.add([
        RegistrationError::NoToken,
        RegistrationError::Provider(ProviderFault::Unreached(unsent())),
        RegistrationError::Number(ChannelNumberError::NoKeys),
    ]);
    table.add([
        MediaError::NotFound,
        MediaError::RouterUnknown(RouterUnknown),
        MediaError::Link,
        MediaError::Empty,
        MediaError::TooLarge { most: 7 },
        MediaError::Executable,
        MediaError::Mismatch { claimed: "image/png".to_owned(), found: "application/pdf".to_owned() },
        MediaError::Kind { kind: MediaKind::Image, mime_type: "application/pdf".to_owned() },
        MediaError::Incomplete("it breaks off".into()),
        MediaError::Blobs("away".into()),
        MediaError::Storage(storage()),
    ]);
    table.add([
        ChannelTypeMappingError::NotFound,
        ChannelTypeMappingError::RouterUnknown(RouterUnknown),
        ChannelTypeMappingError::Taken,
        ChannelTypeMappingError::Idempotency(IdempotencyConflict),
        ChannelTypeMappingError::Storage(storage()),
    ]);
    table.add([
        FormError::NotFound,
        FormError::RouterUnknown(RouterUnknown),
        FormError::NumberUnknown,
        FormError::FlowUnknown,
        FormError::NotATool,
        FormError::NameTaken,
        FormError::Status,
        FormError::StaleRevision { current: 7 },
        FormError::Empty,
        FormError::Invalid(details()),
        FormError::Idempotency(IdempotencyConflict),
        FormError::Storage(storage()),
    ]);
    let corrupt = || StorageError::Corrupt { entity: "visitor", reason: "why".to_owned() };
    table.add([
        AuthError::ChannelUnknown,
        AuthError::IdentityInvalid,
        AuthError::TokenInvalid("why"),
        AuthError::TokenExpired,
        AuthError::OriginRefused,
        AuthError::RateLimited,
        AuthError::Storage(storage()),
        AuthError::Storage(corrupt()),
    ]);
    table.add([UploadError::Disabled, UploadError::TooMany]);
    table.add([
        DispatchError::NotFound,
        DispatchError::OutOfScope,
        DispatchError::NotAllowed,
        DispatchError::OptInNotYours,
        DispatchError::NoOptIn,
        DispatchError::Incomplete("targetBlockId", "targetFlowId"),
        DispatchError::FlowUnknown,
        DispatchError::FlowIsTool,
        DispatchError::BlockNotFound,
        DispatchError::QueueUnknown,
        DispatchError::AgentUnknown,
        DispatchError::TemplateUnknown,
        DispatchError::NotApproved,
        DispatchError::OtherAccount,
        DispatchError::Parameters(InvalidParameters::of(details())),
        DispatchError::NumberUnknown,
        DispatchError::NumberInactive,
        DispatchError::NumberWithoutToken,
        DispatchError::NumberPaused,
        DispatchError::Idempotency(IdempotencyConflict),
        DispatchError::Storage(storage()),
    ]);
    table.add([
        IntakeError::Malformed(DeliveryError::Object),
        IntakeError::Unsigned(Unsigned::OtherSecret),
        IntakeError::Unverified,
        IntakeError::TooMany,
        IntakeError::Storage(storage()),
        IntakeError::Storage(corrupt()),
        IntakeError::Broker(BrokerError::Unavailable("away".into())),
    ]);
    table.add([
        TestChatError::Auth(AuthError::ChannelUnknown),
        TestChatError::Auth(AuthError::NotForTests),
        TestChatError::Inbound(InboundError::PayloadInvalid),
        TestChatError::Inbound(InboundError::TextEmpty),
        TestChatError::Inbound(InboundError::TextTooLong),
        TestChatError::Inbound(InboundError::ClientMessageIdInvalid),
        TestChatError::Inbound(InboundError::CaptionTooLong),
        TestChatError::Inbound(InboundError::MediaUnknown),
        TestChatError::RateLimited,
        TestChatError::Ingress(IngressError::Dropped),
        TestChatError::Storage(corrupt()),
    ]);
    table.add([
        WebchatChannelError::NotFound,
        WebchatChannelError::RouterNotFound,
        WebchatChannelError::RouterUnknown(RouterUnknown),
        WebchatChannelError::FlowUnknown,
        WebchatChannelError::FlowIsTool,
        WebchatChannelError::TestChannelUnknown,
        WebchatChannelError::TestChannel,
        WebchatChannelError::InUse(dependants()),
        WebchatChannelError::Flow(FlowError::InUse(dependants())),
        WebchatChannelError::Flow(FlowError::RouterUnknown(RouterUnknown)),
        WebchatChannelError::Idempotency(IdempotencyConflict),
        WebchatChannelError::Storage(storage()),
    ]);
}
