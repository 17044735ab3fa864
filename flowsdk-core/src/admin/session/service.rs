//! The use cases of those who administer sessions (spec A 4.5).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Named, RedirectTo, Redirected, SessionError, SessionState};
use crate::admin::session::names::Names;
use crate::admin::session::redirect::{self, Target};
use crate::change::{Author, Change, ChangeLog, Entity, EntityKind, Hidden};
use crate::context::OpContext;
use crate::conversation::{Handover, publish_ahead};
use crate::event::{ExternalJump, FlowEvent, Notice, NoticeKind, Resume};
use crate::fault::StorageError;
use crate::flow::{Flow, FlowKind, FlowVersion, HasFlows};
use crate::id::RouterId;
use crate::page::{Page, PageRequest};
use crate::router::{Admitted, AdmittedRouter, Reach};
use crate::session::{
    Channel, Frost, FrozenItem, HasSessionCatalog, HasSessions, HasTraces, HistoryKind, HistoryPlace,
    LatestEntries, MAX_SESSION_VARIABLES, SentVariables, Session, SessionFilter, SessionId, SessionTrace,
    SessionWrite, merge_variables,
};
use crate::store::{Retries, Store, Transaction as _};
use crate::stream::broker::NewEntry;
use crate::stream::outbox::HasOutbox;
use crate::stream::topic;
use crate::time::Timestamp;

/// The decision on a frozen session (rulings S5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfreeze {
    /// It and everything kept for it is thrown away.
    Delete,
    /// The failed entry is retried, then the kept entries.
    Resume,
}

/// A page of a session's traces, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct TracePage {
    /// The traces, newest first.
    pub items: Vec<SessionTrace>,
    /// The version before which the next page begins; `None` on the last one.
    pub next: Option<i64>,
}

/// An entry of a session's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryItem {
    /// The list that it is of.
    pub kind: HistoryKind,
    /// Its number among those that are known, from 0.
    pub number: i64,
    /// The flow of the stop, or the one to which the redirect led.
    pub flow: Named,
    /// The block in it.
    pub block: Named,
}

/// A page of a session's history, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPage {
    /// The entries, newest first.
    pub items: Vec<HistoryItem>,
    /// The place behind the last one; `None` on the last page.
    pub next: Option<HistoryPlace>,
}

/// Shows sessions and changes them from outside.
#[derive(Debug)]
pub struct Sessions<S> {
    pub(super) store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
    handover: Handover,
}

impl<S: Store> Sessions<S>
where
    S::Tx: HasSessionCatalog + HasFlows + HasSessions + HasOutbox + HasTraces,
{
    /// Creates a service over `store`. The sockets of web chat sessions hear of their end through `handover`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>, handover: Handover) -> Self {
        Self { store, cx, changes, handover }
    }

    /// Returns a session with the names of its flows and blocks, and whether it is frozen.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], also for one out of reach (spec A 4.5 rule 1).
    pub async fn get(
        &self,
        reach: Reach<'_>,
        id: &SessionId,
    ) -> Result<(SessionState, Option<Frost>), SessionError> {
        let mut tx = self.store.read().await?;
        let session = find(&mut tx, reach, id).await?;
        let frost = tx.session_catalog().frosts(&[id]).await?.pop().map(|(_, frost)| frost);
        let flows = session.history.iter().map(|stop| stop.flow_id.clone()).collect();
        let names = Names::of(&mut tx, session.position.as_ref(), flows).await?;
        Ok((names.state(session), frost))
    }

    /// Returns a page of live sessions, newest first, and which of them are frozen.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<SessionFilter>,
        page: &PageRequest,
    ) -> Result<Page<(Session, Option<Frost>)>, StorageError> {
        let mut tx = self.store.read().await?;
        let page = tx.session_catalog().list(filter, reach.routers(), page).await?;
        let ids: Vec<&SessionId> = page.items.iter().map(|session| &session.id).collect();
        let mut frosts: HashMap<_, _> = tx.session_catalog().frosts(&ids).await?.into_iter().collect();
        Ok(page.map(|session| {
            let frost = frosts.remove(&session.id);
            (session, frost)
        }))
    }

    /// Returns a page of the stops or redirects of a session, newest first, those behind `after` (the newest without it).
    ///
    /// # Errors
    /// [`SessionError::NotFound`], also for one out of reach, and if another session has begun since the page before.
    pub async fn history(
        &self,
        reach: Reach<'_>,
        id: &SessionId,
        kind: HistoryKind,
        after: Option<HistoryPlace>,
        limit: u32,
    ) -> Result<HistoryPage, SessionError> {
        let mut tx = self.store.read().await?;
        let session = find(&mut tx, reach, id).await?;
        if after.is_some_and(|place| place.started_at != session.started_at) {
            return Err(SessionError::NotFound);
        }
        let until = after.map(|place| place.number);
        let latest = LatestEntries::of(&session, kind);
        let chunks = match latest.wanted(until, limit) {
            Some(wanted) => tx.session_catalog().archived(id, kind, wanted).await?,
            None => Vec::new(),
        };
        let (entries, more) = latest.page(chunks, until, limit);
        let next = entries.last().filter(|_| more);
        let next = next.map(|(number, _)| HistoryPlace { started_at: session.started_at, number: *number });
        let flows = entries.iter().map(|(_, stop)| stop.flow_id.clone()).collect();
        let names = Names::of(&mut tx, session.position.as_ref(), flows).await?;
        let item = |(number, stop): (i64, _)| {
            let (flow, block) = names.stop(&stop);
            HistoryItem { kind, number, flow, block }
        };
        Ok(HistoryPage { items: entries.into_iter().map(item).collect(), next })
    }

    /// Merges variables into those of a session; returns all of them (spec A 4.5 rule 2). A turn that runs at the same
    /// time loses nothing, and neither does this (rulings S6).
    ///
    /// # Errors
    /// Any [`SessionError`].
    pub async fn merge_variables(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &SessionId,
        sent: &SentVariables,
    ) -> Result<Map<String, Value>, SessionError> {
        let mut retries = Retries::default();
        loop {
            match self.try_merge(author, reach, id, sent).await {
                Err(SessionError::Storage(error)) if error.is_lost_race() && retries.again() => {}
                result => return result,
            }
        }
    }

    async fn try_merge(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &SessionId,
        sent: &SentVariables,
    ) -> Result<Map<String, Value>, SessionError> {
        let mut tx = self.store.begin().await?;
        let stored = tx.sessions().find_many_for_update(std::slice::from_ref(id)).await?.pop();
        let session =
            stored.map(|stored| stored.session).filter(|session| reach.contains(&session.router_id));
        let mut session = session.ok_or(SessionError::NotFound)?;
        let before = session.variables.clone();
        merge_variables(&mut session.variables, sent, MAX_SESSION_VARIABLES)?;
        let read = session.version;
        session.version += 1;
        tx.sessions().save_many(&[SessionWrite { session: &session, expected: Some(read) }]).await?;
        tx.commit().await?;
        // Of variables a log keeps the keys only.
        let hidden = Hidden::entries("variables", &before, &session.variables);
        let change = Change::Updated { before: Value::Null, after: Value::Null, hidden };
        self.note(author, id, Some(&session.router_id), change);
        Ok(session.variables)
    }

    fn note(&self, author: &Author, id: &SessionId, router_id: Option<&RouterId>, change: Change) {
        let id = id.to_string();
        self.changes.note(author, Entity { kind: EntityKind::Session, id: &id, router_id }, change);
    }

    /// Publishes a redirect; the engine follows it later (spec A 4.5 rule 3), before every message that comes after the
    /// answer (rulings S21).
    ///
    /// # Errors
    /// Any [`SessionError`], in the order of spec A 4.5 rule 4.
    pub async fn redirect(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &SessionId,
        redirect: RedirectTo,
    ) -> Result<Redirected, SessionError> {
        let mut tx = self.store.begin().await?;
        let session = find(&mut tx, reach, id).await?;
        let flow = published(&mut tx, &redirect).await?;
        redirect::admit(
            &session,
            flow.as_ref().map(|(flow, has_block)| Target { flow, has_block: *has_block }),
        )?;
        let stream_entry_id = self.cx.ids().next_id();
        let jump = FlowEvent::ExternalJump(ExternalJump {
            session_id: id.clone(),
            flow_id: redirect.flow_id.clone(),
            block_id: redirect.block_id.clone(),
            execute_on_entry: redirect.execute_on_entry,
            redirect_id: Some(stream_entry_id.clone()),
            ahead: false,
        });
        publish_ahead(&mut tx, jump).await?;
        tx.commit().await?;
        let from = session.position.as_ref();
        let from = from.map(|at| json!({ "flowId": at.flow_id, "blockId": at.block_id }));
        let to = json!({ "flowId": redirect.flow_id, "blockId": redirect.block_id,
            "executeOnEntry": redirect.execute_on_entry, "redirectId": stream_entry_id });
        let (before, after) = (json!({ "redirect": from }), json!({ "redirect": to }));
        let change = Change::Updated { before, after, hidden: Vec::new() };
        self.note(author, id, Some(&session.router_id), change);
        Ok(Redirected { redirect, stream_entry_id, session_started_at: session.started_at })
    }

    /// Returns a page of frozen sessions, those that froze last first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn frozen(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        page: &PageRequest,
    ) -> Result<Page<FrozenItem>, StorageError> {
        let only = reach.narrowed(router).routers();
        self.store.read().await?.session_catalog().list_frozen(only, page).await
    }

    /// Ends the frost of a session (rulings S5). Of a resumption the replay is published; the engine does it later,
    /// before anything new of the session.
    ///
    /// Returns when a session that is resumed froze.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], [`SessionError::NotFrozen`].
    pub async fn unfreeze(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &SessionId,
        action: Unfreeze,
    ) -> Result<Option<Timestamp>, SessionError> {
        let mut tx = self.store.begin().await?;
        let Some(item) = tx.session_catalog().find_frozen(id).await? else {
            find(&mut tx, reach, id).await?;
            return Err(SessionError::NotFrozen);
        };
        if !reach.contains_record(item.router_id.as_ref()) {
            return Err(SessionError::NotFound);
        }
        let is_over = action == Unfreeze::Delete && id.channel() == Channel::Webchat;
        let end = is_over.then(|| Notice {
            session_id: id.clone(),
            timestamp: self.cx.now(),
            kind: NoticeKind::Session { mode: None },
        });
        let resumed = match action {
            Unfreeze::Delete => {
                // In this order: first the cause of the freeze, then the session, as a replay does.
                tx.sessions().take_frozen(id).await?;
                tx.sessions().find_many_for_update(std::slice::from_ref(id)).await?;
                tx.sessions().delete_many(&[id]).await?;
                tx.session_catalog().forget_kept(id).await?;
                let told = end.as_ref().and_then(|end| self.handover.entry(end));
                if let Some(entry) = told {
                    tx.outbox().push_many(&[entry]).await?;
                }
                None
            }
            Unfreeze::Resume => {
                let resume = Resume { session_id: id.clone(), frozen_at: item.frozen.frozen_at };
                tx.outbox().push_many(&[NewEntry::of::<topic::Flow>(&FlowEvent::Resume(resume))]).await?;
                Some(item.frozen.frozen_at)
            }
        };
        tx.commit().await?;
        if let Some(end) = end {
            self.handover.pass_on(end);
        }
        let FrozenItem { frozen, router_id, mode, .. } = item;
        let frost = json!({ "code": frozen.error.code, "frozenAt": frozen.frozen_at.to_iso() });
        let change = match action {
            Unfreeze::Delete => Change::Deleted(json!({ "sessionId": id, "mode": mode, "frozen": frost })),
            Unfreeze::Resume => Change::Updated {
                before: json!({ "frozen": frost }),
                after: json!({ "frozen": null }),
                hidden: Vec::new(),
            },
        };
        self.note(author, id, router_id.as_ref(), change);
        Ok(resumed)
    }

    /// Returns a page of the traces of a session, newest first, before the one at version `before`. They outlive
    /// the session: operators look for the cause of an end after it.
    ///
    /// # Errors
    /// [`SessionError::NoTrace`].
    pub async fn trace(
        &self,
        reach: Reach<'_>,
        id: &SessionId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<TracePage, SessionError> {
        let mut tx = self.store.read().await?;
        let stored = tx.session_catalog().find(id).await?;
        let router = stored.map(|stored| stored.session.router_id);
        if router.as_ref().is_some_and(|router| !reach.contains(router)) {
            return Err(SessionError::NoTrace);
        }
        let mut items = tx.traces().trace(id, before, limit + 1).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| last.version);
        // A number may have moved here from another router, so each trace counts for itself.
        items.retain(|trace| {
            let of = trace.router_id.as_ref().or(router.as_ref());
            reach.contains_record(of)
        });
        if router.is_none() && items.is_empty() {
            return Err(SessionError::NoTrace);
        }
        Ok(TracePage { items, next })
    }
}

/// Returns the session, if it is within reach.
async fn find<T: HasSessionCatalog>(
    tx: &mut T,
    reach: Reach<'_>,
    id: &SessionId,
) -> Result<Session, SessionError> {
    let session = tx.session_catalog().find(id).await?.map(|stored| stored.session);
    session.filter(|session| reach.contains(&session.router_id)).ok_or(SessionError::NotFound)
}

/// Returns the flow of a redirect, if it is published, and whether its published version has the block. No session can
/// stand in a tool, so it is as good as none.
async fn published<T: HasFlows>(
    tx: &mut T,
    redirect: &RedirectTo,
) -> Result<Option<(Flow, bool)>, StorageError> {
    let flow = tx.flows().find(&redirect.flow_id).await?;
    let Some((flow, version)) = flow.and_then(|flow| flow.published_version_id.clone().map(|v| (flow, v)))
    else {
        return Ok(None);
    };
    let version = tx.flows().find_versions(&[version]).await?.pop();
    // Also one that was published before the two had to be of one kind.
    let is_tool = |version: &FlowVersion| {
        flow.kind == FlowKind::Tool || version.definition["kind"] == FlowKind::Tool.name()
    };
    Ok(version.filter(|version| !is_tool(version)).map(|version| {
        let blocks = version.definition["blocks"].as_array().into_iter().flatten();
        let has_block = blocks.map(|block| &block["id"]).any(|id| *id == redirect.block_id.as_str());
        (flow, has_block)
    }))
}
