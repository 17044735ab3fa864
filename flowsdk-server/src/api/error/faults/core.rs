//! Errors of core.

use std::sync::Arc;

use flowsdk_core::admin::chat::ChatError;
use flowsdk_core::admin::contact::{ContactError, ImportReport, OptInError, RefusedRow};
use flowsdk_core::admin::flow::FlowError;
use flowsdk_core::admin::router::RouterError;
use flowsdk_core::admin::session::SessionError;
use flowsdk_core::admin::variable::VariableError;
use flowsdk_core::credential::LlmCredentialError;
use flowsdk_core::crypto::CipherError;
use flowsdk_core::event_definition::EventDefinitionError;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{Problem, Severity};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::integration::IntegrationError;
use flowsdk_core::observability::ObservabilityError;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::saved_filter::SavedFilterError;
use flowsdk_core::session::VariablesTooLarge;
use flowsdk_core::stream::dead_letter::DeadLetterError;
use flowsdk_core::text::Text;
use flowsdk_core::transfer::TransferError;
use flowsdk_core::transfer::draft::ImportDraftError;

use super::{Table, dependants, details, storage};

/// Adds them to the table.
pub(super) fn add(table: &mut Table) {
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
