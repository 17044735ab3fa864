//! Errors of the helpdesk.

use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;
use flowsdk_helpdesk::agent::AgentError;
use flowsdk_helpdesk::agent_group::AgentGroupError;
use flowsdk_helpdesk::board::BoardError;
use flowsdk_helpdesk::close_reason::CloseReasonError;
use flowsdk_helpdesk::queue::QueueError;
use flowsdk_helpdesk::quick_reply::QuickReplyError;
use flowsdk_helpdesk::report::ReportError;
use flowsdk_helpdesk::rule::RuleError;
use flowsdk_helpdesk::tag::TagError;
use flowsdk_helpdesk::ticket::TicketError;

use super::{Table, dependants, details, storage};

/// Adds them to the table.
pub(super) fn add(table: &mut Table) {
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
        CloseReasonError::NotFound,
        CloseReasonError::RouterUnknown(RouterUnknown),
        CloseReasonError::KeyTaken,
        CloseReasonError::Idempotency(IdempotencyConflict),
        CloseReasonError::Storage(storage()),
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
        TicketError::WithAgents,
        TicketError::HandedOver,
        TicketError::NotOffered,
        TicketError::MovedOn,
        TicketError::WindowClosed,
        TicketError::MessagesUnseen,
        TicketError::MessageUnknown,
        TicketError::LimitReached,
        TicketError::QueueUnknown,
        TicketError::AgentUnknown,
        TicketError::AgentNotInQueue,
        TicketError::TargetUnclear,
        TicketError::BlockNotFound,
        TicketError::TooLong { most: 1_000 },
        TicketError::TagUnknown,
        TicketError::CloseReasonUnknown,
        TicketError::MentionUnknown,
        TicketError::ContentUnclear,
        TicketError::ContentUnsupported,
        TicketError::ContentFlawed(details()),
        TicketError::MediaUnknown,
        TicketError::Idempotency(IdempotencyConflict),
        TicketError::Storage(storage()),
    ]);
}
