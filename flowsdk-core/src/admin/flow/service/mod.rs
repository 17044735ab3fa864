//! The use cases of flows (spec A 4.3).

mod changes;
mod picture;
mod publishing;
mod testing;

pub use changes::{FlowChange, NewFlow};
pub use picture::WhichDefinition;
pub use testing::{CheckedTest, Tested, check_test, publish_test};

use crate::admin::flow::FlowsTx;
use crate::flow::HasFlowCatalog as _;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::admin::flow::FlowError;
use crate::admin::flow::Surroundings;
use crate::aside::aside;
use crate::change::ChangeLog;
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::flow::definition::SCHEMA_VERSION;
use crate::flow::diff::{FlowDiff, diff};
use crate::flow::{
    Flow, FlowChecker, FlowDefinition, FlowDraft, FlowFilter, FlowKind, FlowVersion, FlowVersionHead,
    ListedFlow, Problem, Written,
};
use crate::id::{FlowId, FlowVersionId};
use crate::page::{NameSearch, Page, PageRequest};
use crate::router::{Admitted, Reach};
use crate::store::Store;
use crate::words::NameQuery;

/// A flow with its draft.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct FlowDetails {
    pub listed: ListedFlow,
    /// The draft, which authors edit.
    pub definition: Written,
}

/// Creates, shows, changes, publishes and deletes flows. A flow whose router is out of the caller's reach is as
/// good as none.
#[derive(Debug)]
pub struct Flows<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
    checker: FlowChecker,
}

impl<S: Store> Flows<S>
where
    S::Tx: FlowsTx,
{
    /// Creates a service over `store`, which parses no scripts.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes, checker: FlowChecker::default() }
    }

    /// Checks definitions with `checker`.
    #[must_use]
    pub fn checked_by(self, checker: FlowChecker) -> Self {
        Self { checker, ..self }
    }

    /// Returns a page of flows within reach whose names fit `query`, newest first.
    ///
    /// # Errors
    /// [`FlowError::Storage`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<FlowFilter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<ListedFlow>, FlowError> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.flow_catalog().list(filter, reach.routers(), &request).await?);
        }
        Ok(search.into_page())
    }

    /// Returns a flow with its draft.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &FlowId) -> Result<FlowDetails, FlowError> {
        let mut tx = self.store.read().await?;
        let listed = within(tx.flow_catalog().find(id).await?, reach)?;
        let definition = draft_of(&mut tx, &listed.flow).await?.definition;
        Ok(FlowDetails { listed, definition })
    }

    /// Everything that is wrong with the draft, and its revision.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::Storage`].
    pub async fn validate(&self, reach: Reach<'_>, id: &FlowId) -> Result<(i64, Vec<Problem>), FlowError> {
        let mut tx = self.store.read().await?;
        let listed = within(tx.flow_catalog().find(id).await?, reach)?;
        let definition = draft_of(&mut tx, &listed.flow).await?.definition;
        let around = problems_around(&mut tx, &listed.flow, &definition).await?;
        drop(tx);
        let kind = listed.flow.kind;
        let (_, mut problems) = self.checker.problems(kind, definition).await?;
        problems.extend(around);
        Ok((listed.revision, problems))
    }

    /// Returns a page of the published versions, newest first, and which of them new sessions run.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::Storage`].
    pub async fn versions(
        &self,
        reach: Reach<'_>,
        id: &FlowId,
        page: &PageRequest,
    ) -> Result<(Page<FlowVersionHead>, Option<FlowVersionId>), FlowError> {
        let mut tx = self.store.read().await?;
        let flow = within(tx.flow_catalog().find(id).await?, reach)?.flow;
        Ok((tx.flow_catalog().versions(id, page).await?, flow.published_version_id))
    }

    /// Returns a published version, and whether it is the one that new sessions run.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::VersionNotFound`], [`FlowError::Storage`].
    pub async fn version(
        &self,
        reach: Reach<'_>,
        id: &FlowId,
        number: i64,
    ) -> Result<(FlowVersion, bool), FlowError> {
        let mut tx = self.store.read().await?;
        let flow = within(tx.flow_catalog().find(id).await?, reach)?.flow;
        let version = published(&mut tx, id, number).await?;
        let is_current = flow.published_version_id.as_ref() == Some(&version.id);
        Ok((version, is_current))
    }

    /// Returns the changes from one published version to another; `None` is the draft.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::VersionNotFound`], [`FlowError::Storage`].
    pub async fn diff(
        &self,
        reach: Reach<'_>,
        id: &FlowId,
        from: Option<i64>,
        to: Option<i64>,
    ) -> Result<FlowDiff, FlowError> {
        let mut tx = self.store.read().await?;
        let flow = within(tx.flow_catalog().find(id).await?, reach)?.flow;
        let mut sides = Vec::with_capacity(2);
        for number in [from, to] {
            sides.push(match number {
                Some(number) => published(&mut tx, id, number).await?.definition,
                None => draft_of(&mut tx, &flow).await?.definition,
            });
        }
        drop(tx);
        Ok(aside(move || diff(&sides[0], &sides[1])).await?)
    }
}

fn within(found: Option<ListedFlow>, reach: Reach<'_>) -> Result<ListedFlow, FlowError> {
    found.filter(|listed| reach.contains(&listed.flow.router_id)).ok_or(FlowError::NotFound)
}

/// Returns the flow, locked.
async fn lock<X: FlowsTx>(tx: &mut X, reach: Reach<'_>, id: &FlowId) -> Result<Flow, FlowError> {
    let found = tx.flow_catalog().find_for_update(id).await?;
    found.filter(|flow| reach.contains(&flow.router_id)).ok_or(FlowError::NotFound)
}

/// Requires that a locked flow has the draft of this revision still, and this published version, which a draft of
/// revision 0 is and which another publication of the same draft makes.
async fn must_stand_still<X: FlowsTx>(
    tx: &mut X,
    flow: &Flow,
    revision: i64,
    published: Option<&FlowVersionId>,
) -> Result<(), FlowError> {
    let current = tx.flow_catalog().find(&flow.id).await?.ok_or(FlowError::NotFound)?.revision;
    if current != revision {
        return Err(FlowError::StaleRevision { current });
    }
    if flow.published_version_id.as_ref() != published {
        return Err(StorageError::Stale { entity: "flow" }.into());
    }
    Ok(())
}

/// Test versions have numbers too, but are nobody's business.
async fn published<X: FlowsTx>(tx: &mut X, id: &FlowId, number: i64) -> Result<FlowVersion, FlowError> {
    let found = if number > 0 { tx.flow_catalog().find_version(id, number).await? } else { None };
    found.ok_or(FlowError::VersionNotFound)
}

/// Returns a definition that can be published with the warnings for its author, those of its surroundings too.
async fn publishable(
    checker: &FlowChecker,
    kind: FlowKind,
    definition: Written,
    around: Vec<Problem>,
) -> Result<(Written, Vec<Problem>), FlowError> {
    let (definition, mut problems) = checker.problems(kind, definition).await?;
    problems.extend(around);
    if problems.iter().any(Problem::is_error) {
        return Err(FlowError::Invalid(problems));
    }
    Ok((definition, problems))
}

/// Returns the conflicts of a readable definition with its surroundings.
async fn problems_around<X: FlowsTx>(
    tx: &mut X,
    flow: &Flow,
    definition: &Value,
) -> Result<Vec<Problem>, StorageError> {
    match FlowDefinition::parse(definition) {
        Ok(definition) => Ok(Surroundings::of(tx, flow, &definition).await?.problems(&definition)),
        Err(_problems) => Ok(Vec::new()),
    }
}

/// Returns the draft of a flow; of one that never had any, revision 0: the published definition, or an empty one.
async fn draft_of<X: FlowsTx>(tx: &mut X, flow: &Flow) -> Result<FlowDraft, StorageError> {
    if let Some(draft) = tx.flow_catalog().draft(&flow.id).await? {
        return Ok(draft);
    }
    let published = match &flow.published_version_id {
        Some(id) => tx.flows().find_versions(std::slice::from_ref(id)).await?.pop(),
        None => None,
    };
    let definition =
        published.map_or_else(|| empty_definition(flow.kind).into(), |version| version.definition);
    Ok(FlowDraft { revision: 0, definition, updated_at: flow.updated_at })
}

/// Returns the first definition of a flow of this kind.
pub(crate) fn empty_definition(kind: FlowKind) -> Value {
    let mut empty = json!({ "schemaVersion": SCHEMA_VERSION, "startBlockId": "start", "blocks": [] });
    if kind == FlowKind::Tool {
        empty["kind"] = json!(kind.name());
    }
    empty
}
