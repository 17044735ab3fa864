//! Every error that the services return, as a client sees it: a table that changes only with the API.

use std::any::type_name;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::access::AuthenticateError;
use flowsdk_auth::api_client::ApiClientError;
use flowsdk_auth::device::UserDeviceError;
use flowsdk_auth::group::GroupError;
use flowsdk_auth::login::{LoginError, RefreshError};
use flowsdk_auth::permission::Denied;
use flowsdk_auth::recovery::RecoveryError;
use flowsdk_auth::token::TokenError;
use flowsdk_auth::user::{PasswordRule, UserError};
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
use flowsdk_core::admin::chat::ChatError;
use flowsdk_core::admin::contact::{ContactError, ImportReport, OptInError, RefusedRow};
use flowsdk_core::admin::flow::FlowError;
use flowsdk_core::admin::router::RouterError;
use flowsdk_core::admin::session::SessionError;
use flowsdk_core::admin::variable::VariableError;
use flowsdk_core::channel::SendError;
use flowsdk_core::credential::LlmCredentialError;
use flowsdk_core::crypto::CipherError;
use flowsdk_core::event_definition::EventDefinitionError;
use flowsdk_core::fault::{Fault, RateLimit, StorageError};
use flowsdk_core::flow::{Problem, Severity};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::Dependants;
use flowsdk_core::integration::IntegrationError;
use flowsdk_core::kv::KeyValueError;
use flowsdk_core::media::{MediaError, MediaKind};
use flowsdk_core::message::StatusError;
use flowsdk_core::observability::ObservabilityError;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::saved_filter::SavedFilterError;
use flowsdk_core::session::VariablesTooLarge;
use flowsdk_core::stream::broker::BrokerError;
use flowsdk_core::stream::dead_letter::DeadLetterError;
use flowsdk_core::text::Text;
use flowsdk_core::transfer::TransferError;
use flowsdk_core::transfer::draft::ImportDraftError;
use flowsdk_crypto::{FormKeyError, JwtError};
use flowsdk_helpdesk::agent::AgentError;
use flowsdk_helpdesk::agent_group::AgentGroupError;
use flowsdk_helpdesk::board::BoardError;
use flowsdk_helpdesk::queue::QueueError;
use flowsdk_helpdesk::quick_reply::QuickReplyError;
use flowsdk_helpdesk::report::ReportError;
use flowsdk_helpdesk::rule::RuleError;
use flowsdk_helpdesk::tag::TagError;
use flowsdk_helpdesk::ticket::TicketError;
use flowsdk_webhooks::webhook::WebhookError;

use super::ApiError;
use crate::api::tests::sources;

#[derive(Default)]
struct Table(String);

impl Table {
    /// Adds a row for each error: its type and variant, kind, code, texts, and its other properties.
    fn add<F: Fault + 'static>(&mut self, faults: impl IntoIterator<Item = F>) {
        let name = type_name::<F>().rsplit("::").next().unwrap_or_default();
        for fault in faults {
            // It holds that the code is in the catalogue.
            let error = ApiError::of(&fault);
            assert_eq!(error.code(), fault.code());
            let variant = format!("{fault:?}");
            let variant = variant.split(['(', ' ']).next().unwrap_or_default();
            let (kind, code, text) = (fault.kind(), fault.code(), fault.text());
            let (portuguese, english) = (text.portuguese(), text.english());
            write!(self.0, "{name}::{variant}\n  {kind:?} {code} {portuguese:?} {english:?}")
                .expect("a string");
            if let Some(field) = fault.field() {
                write!(self.0, " field={field}").expect("a string");
            }
            for (field, text) in fault.details() {
                write!(self.0, "\n    {field}: {:?} {:?}", text.portuguese(), text.english())
                    .expect("a string");
            }
            if let Some(limit) = fault.rate_limit() {
                write!(self.0, "\n    {limit:?}").expect("a string");
            }
            self.0.push('\n');
        }
    }
}

fn storage() -> StorageError {
    StorageError::Unavailable("gone".into())
}

fn dependants() -> Dependants {
    let mut dependants = Dependants::default();
    dependants.sessions(2);
    dependants.reference("router.initialFlowId", "r1");
    dependants
}

fn details() -> Vec<(String, Text)> {
    vec![("body".to_owned(), Text::new("Vazio", "Empty"))]
}

fn limit() -> RateLimit {
    RateLimit { limit: 5, retry_after: Duration::from_millis(1_500) }
}

fn flows() -> [FlowError; 10] {
    let problem = |severity, pointer: &str| Problem {
        severity,
        code: "target_not_found",
        block_id: None,
        pointer: pointer.to_owned(),
        message: Text::new("Sem destino", "No target"),
    };
    [
        FlowError::NotFound,
        FlowError::VersionNotFound,
        FlowError::RouterUnknown(RouterUnknown),
        FlowError::StaleRevision { current: 7 },
        FlowError::Invalid(vec![problem(Severity::Error, "/blocks/0"), problem(Severity::Warning, "")]),
        FlowError::NotPublished,
        FlowError::Tool,
        FlowError::InUse(dependants()),
        FlowError::Idempotency(IdempotencyConflict),
        FlowError::Storage(storage()),
    ]
}

fn contacts() -> [ContactError; 15] {
    [
        ContactError::NotFound,
        ContactError::NothingThere,
        ContactError::Taken,
        ContactError::AliasTaken,
        ContactError::ChannelUnknown { field: "phoneNumber" },
        ContactError::NameBlank,
        ContactError::OtherUnknown,
        ContactError::Itself,
        ContactError::BothLive,
        ContactError::OutOfScope,
        ContactError::InUse(dependants()),
        ContactError::RouterUnknown(RouterUnknown),
        ContactError::VariablesTooLarge(VariablesTooLarge),
        ContactError::Idempotency(IdempotencyConflict),
        ContactError::Storage(storage()),
    ]
}

fn refused() -> ImportReport {
    let row = |line| RefusedRow { row: 3, line, field: "status", reason: Text::new("Errado", "Wrong") };
    ImportReport { total: 2, imported: 0, created_contacts: 0, refused: vec![row(None), row(Some(4))] }
}

fn core(table: &mut Table) {
    table.add([
        StorageError::Unique { constraint: "u".to_owned() },
        StorageError::Orphan { constraint: "o".to_owned() },
        StorageError::Stale { entity: "session" },
        StorageError::Contention("busy".into()),
        storage(),
        StorageError::Damaged("a page".into()),
        StorageError::Corrupt { entity: "session", reason: "why".to_owned() },
        StorageError::Other("other".into()),
    ]);
    table.add([IdempotencyConflict]);
    table.add([VariablesTooLarge]);
    table.add(flows());
    table.add([
        ChatError::NotFound,
        ChatError::MessageNotFound,
        ChatError::Cursor,
        ChatError::Storage(storage()),
    ]);
    table.add([
        RouterError::NotFound,
        RouterError::FlowUnknown,
        RouterError::FlowIsTool,
        RouterError::CredentialUnknown,
        RouterError::InUse(dependants()),
        RouterError::Idempotency(IdempotencyConflict),
        RouterError::Storage(Arc::new(storage())),
    ]);
    table.add([
        SessionError::NotFound,
        SessionError::FlowNotPublished,
        SessionError::InHumanAttendance,
        SessionError::CrossRouter,
        SessionError::BlockNotFound,
        SessionError::NotFrozen,
        SessionError::VariablesTooLarge(VariablesTooLarge),
        SessionError::Storage(storage()),
    ]);
    table.add([RouterUnknown]);
    table.add([dependants()]);
    table.add(contacts());
    table.add([
        OptInError::RouterNotFound,
        OptInError::Refused(refused()),
        OptInError::Idempotency(IdempotencyConflict),
        OptInError::Storage(storage()),
    ]);
    table.add([
        VariableError::RouterNotFound,
        VariableError::FlowNotFound,
        VariableError::NotFound,
        VariableError::KeyTaken,
        VariableError::Idempotency(IdempotencyConflict),
        VariableError::Storage(storage()),
    ]);
    table.add([
        SavedFilterError::NotFound,
        SavedFilterError::RouterUnknown(RouterUnknown),
        SavedFilterError::Idempotency(IdempotencyConflict),
        SavedFilterError::Storage(storage()),
    ]);
    table.add([
        EventDefinitionError::NotFound,
        EventDefinitionError::RouterUnknown(RouterUnknown),
        EventDefinitionError::NameTaken,
        EventDefinitionError::Invalid(details()),
        EventDefinitionError::Idempotency(IdempotencyConflict),
        EventDefinitionError::Storage(storage()),
    ]);
    table.add([ObservabilityError::Address, ObservabilityError::Storage(storage())]);
    table.add([
        IntegrationError::NotFound,
        IntegrationError::RouterUnknown(RouterUnknown),
        IntegrationError::HeaderName,
        IntegrationError::NoColon,
        IntegrationError::Path,
        IntegrationError::Refused,
        IntegrationError::Unreachable,
        IntegrationError::TimedOut,
        IntegrationError::TooLarge,
        IntegrationError::Sealed(CipherError),
        IntegrationError::Idempotency(IdempotencyConflict),
        IntegrationError::Storage(storage()),
    ]);
    table.add([
        LlmCredentialError::NotFound,
        LlmCredentialError::Address,
        LlmCredentialError::InUse(dependants()),
        LlmCredentialError::Idempotency(IdempotencyConflict),
        LlmCredentialError::Storage(storage()),
    ]);
    table.add([DeadLetterError::NotFound, DeadLetterError::NotRead, DeadLetterError::Storage(storage())]);
    table.add([
        TransferError::RouterNotFound,
        TransferError::FlowNotFound,
        TransferError::Invalid(details()),
        TransferError::NameTaken(details()),
        TransferError::Idempotency(IdempotencyConflict),
        TransferError::Storage(storage()),
    ]);
    table.add([
        ImportDraftError::NotFound,
        ImportDraftError::RouterUnknown(RouterUnknown),
        ImportDraftError::TooMany,
        ImportDraftError::Applied,
        ImportDraftError::Invalid(details()),
        ImportDraftError::Stale(details()),
        ImportDraftError::Transfer(TransferError::RouterNotFound),
        ImportDraftError::Idempotency(IdempotencyConflict),
        ImportDraftError::Storage(storage()),
    ]);
}

fn auth(table: &mut Table) {
    table.add([PasswordRule::TooShort, PasswordRule::TooLong]);
    table.add([
        UserError::NotFound,
        UserError::EmailTaken,
        UserError::GroupUnknown,
        UserError::LastAdministrator,
        UserError::Password(PasswordRule::TooShort),
        UserError::Idempotency(IdempotencyConflict),
        UserError::Busy,
        UserError::Storage(storage()),
    ]);
    table.add([
        GroupError::NotFound,
        GroupError::Idempotency(IdempotencyConflict),
        GroupError::Storage(storage()),
    ]);
    table.add([ApiClientError::NotFound, ApiClientError::Storage(storage())]);
    table.add([
        TokenError::Jwt(JwtError::Malformed),
        TokenError::Subject,
        TokenError::ApiClient,
        TokenError::Unnamed,
    ]);
    table.add([
        AuthenticateError::Missing,
        AuthenticateError::ApiTokenInvalid,
        AuthenticateError::ApiTokenExpired,
        AuthenticateError::JwtInvalid(TokenError::Subject),
        AuthenticateError::SessionEnded,
        AuthenticateError::PrincipalUnknown,
        AuthenticateError::Storage(Arc::new(storage())),
    ]);
    table.add([
        Denied::NoGroup,
        Denied::Permission,
        Denied::Admin,
        Denied::Global,
        Denied::Router,
        Denied::UserOnly,
    ]);
    table.add([
        LoginError::Credentials,
        LoginError::ScheduleBlocked,
        LoginError::RateLimited(limit()),
        LoginError::Busy,
        LoginError::Storage(storage()),
    ]);
    table.add([
        RefreshError::Missing,
        RefreshError::Invalid(TokenError::Subject),
        RefreshError::SessionEnded,
        RefreshError::RateLimited(limit()),
        RefreshError::PrincipalUnknown,
        RefreshError::Unavailable(KeyValueError::Unavailable("gone".into())),
        RefreshError::Storage(storage()),
    ]);
    table.add([UserDeviceError::NotFound, UserDeviceError::TokenTaken, UserDeviceError::Storage(storage())]);
    table.add([
        RecoveryError::CodeInvalid,
        RecoveryError::Password(PasswordRule::TooLong),
        RecoveryError::RateLimited(limit()),
        RecoveryError::Busy,
        RecoveryError::Storage(storage()),
    ]);
}

fn helpdesk(table: &mut Table) {
    table.add([
        AgentError::NotFound,
        AgentError::RouterUnknown(RouterUnknown),
        AgentError::UserUnknown,
        AgentError::GroupUnknown,
        AgentError::Taken,
        AgentError::Idempotency(IdempotencyConflict),
        AgentError::Storage(storage()),
    ]);
    table.add([
        AgentGroupError::NotFound,
        AgentGroupError::RouterUnknown(RouterUnknown),
        AgentGroupError::NameTaken,
        AgentGroupError::Idempotency(IdempotencyConflict),
        AgentGroupError::Storage(storage()),
    ]);
    table.add([
        TagError::NotFound,
        TagError::RouterUnknown(RouterUnknown),
        TagError::NameTaken,
        TagError::Idempotency(IdempotencyConflict),
        TagError::Storage(storage()),
    ]);
    table.add([
        QuickReplyError::NotFound,
        QuickReplyError::RouterUnknown(RouterUnknown),
        QuickReplyError::ShortcutTaken,
        QuickReplyError::QueueUnknown,
        QuickReplyError::Idempotency(IdempotencyConflict),
        QuickReplyError::Storage(storage()),
    ]);
    table.add([
        QueueError::NotFound,
        QueueError::RouterUnknown(RouterUnknown),
        QueueError::NameTaken,
        QueueError::AgentUnknown,
        QueueError::Invalid(details()),
        QueueError::InUse(dependants()),
        QueueError::Idempotency(IdempotencyConflict),
        QueueError::Storage(storage()),
    ]);
    table.add([
        RuleError::NotFound,
        RuleError::RouterUnknown(RouterUnknown),
        RuleError::QueueUnknown,
        RuleError::FlowUnknown,
        RuleError::Invalid(details()),
        RuleError::Idempotency(IdempotencyConflict),
        RuleError::Storage(storage()),
    ]);
    table.add([BoardError::RouterUnknown(RouterUnknown), BoardError::Storage(storage())]);
    table.add([ReportError::Backwards, ReportError::TooLong { most: 366 }, ReportError::Storage(storage())]);
    table.add([
        TicketError::NotFound,
        TicketError::Closed,
        TicketError::Waiting,
        TicketError::AssignedToAnother,
        TicketError::MovedOn,
        TicketError::WindowClosed,
        TicketError::LimitReached,
        TicketError::QueueUnknown,
        TicketError::AgentUnknown,
        TicketError::AgentNotInQueue,
        TicketError::TargetUnclear,
        TicketError::BlockNotFound,
        TicketError::TooLong { most: 1_000 },
        TicketError::TagUnknown,
        TicketError::MentionUnknown,
        TicketError::ContentUnclear,
        TicketError::ContentUnsupported,
        TicketError::ContentFlawed(details()),
        TicketError::MediaUnknown,
        TicketError::Idempotency(IdempotencyConflict),
        TicketError::Storage(storage()),
    ]);
}

fn channels(table: &mut Table) {
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

fn webhooks(table: &mut Table) {
    table.add([
        WebhookError::NotFound,
        WebhookError::DeliveryNotFound,
        WebhookError::RouterUnknown(RouterUnknown),
        WebhookError::RangeEmpty,
        WebhookError::Idempotency(IdempotencyConflict),
        WebhookError::Storage(storage()),
    ]);
}

/// `WRITE_FAULTS=1` writes the table anew.
#[test]
fn every_error_looks_as_it_always_did() {
    let mut table = Table::default();
    core(&mut table);
    auth(&mut table);
    channels(&mut table);
    helpdesk(&mut table);
    webhooks(&mut table);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/error/faults.txt");
    if std::env::var_os("WRITE_FAULTS").is_some() {
        std::fs::write(path, &table.0).expect("written");
    }
    let known = std::fs::read_to_string(path).expect("the table is there");
    for (now, before) in table.0.lines().zip(known.lines()) {
        assert_eq!(now, before);
    }
    assert_eq!(table.0.lines().count(), known.lines().count());
}

/// A type that derives `Fault` and is not in the table could change without a sign.
#[test]
fn the_table_has_every_error() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let known = include_str!("faults.txt");
    let mut missing = Vec::new();
    for crate_name in ["core", "auth", "channels", "crypto", "helpdesk", "outside", "server", "webhooks"] {
        for (path, text) in sources(&root.join(format!("flowsdk-{crate_name}/src"))) {
            let derived = text.split("\n#[derive(").skip(1).filter_map(|rest| rest.split_once(")]"));
            let faults = derived.filter(|(derives, _)| derives.split(", ").any(|one| one.trim() == "Fault"));
            for (_, item) in faults {
                let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
                let name = words.find(|word| matches!(*word, "enum" | "struct")).and_then(|_| words.next());
                let name = name.expect("a derive stands on a type");
                if !known.lines().any(|row| row.split("::").next() == Some(name)) {
                    missing.push(format!("{name} of {path}"));
                }
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
