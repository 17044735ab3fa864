//! `GET` and `POST /tickets/{id}/notes`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::id::TicketId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::note::{NewNote, NoteView};
use http::StatusCode;

use super::by;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored_as};
use crate::api::path::PathId;
use crate::api::query::{PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::Notes;

/// List the notes of a ticket
///
/// Those on its conversation, whichever ticket of the chain they were written on, newest first.
#[utoipa::path(
    get, path = "/tickets/{id}/notes", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket"), PageParams),
    responses((status = 200, description = "A page of notes", body = PageView<NoteView>))
)]
pub(super) async fn list_ticket_notes(
    can: Can<marks::Helpdesk, marks::Read>,
    State(notes): State<Arc<Notes>>,
    PathId(id): PathId<TicketId>,
    Query(page): Query<PageRequest>,
) -> Result<Reply<PageView<NoteView>>, ApiError> {
    let page = notes.list(can.reach(), &id, &page).await?;
    Ok(Reply(PageView::of(page, NoteView::from)))
}

/// Write a note on a ticket
///
/// Contacts never see notes. Whoever has the ticket and whoever is mentioned is told at their desk.
#[utoipa::path(
    post, path = "/tickets/{id}/notes", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket"), IdempotencyParams),
    request_body = NewNote,
    responses(
        (status = 200, description = "The note", body = NoteView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`agent_unknown`: somebody who is mentioned is no agent of the router"),
    )
)]
pub(super) async fn create_ticket_note(
    can: Can<marks::Helpdesk, marks::Write>,
    State(notes): State<Arc<Notes>>,
    PathId(id): PathId<TicketId>,
    body: Idempotent<NewNote>,
) -> Result<Response, ApiError> {
    can.caller.authenticated().require_user()?;
    let (new, request) = body.of(&can.caller);
    let once =
        request.map(|request| Once { request, answer: |note: &NoteView| stored_as(StatusCode::OK, note) });
    let author = can.caller.author();
    Ok(match notes.create(by(&can, &author), &id, new, once).await? {
        Outcome::Done(note) => Reply(note).into_response(),
        Outcome::Replayed(answer) => Replayed { answer, collection: "" }.into_response(),
    })
}
