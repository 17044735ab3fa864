//! Creating, changing and deleting.

use serde::Deserialize;
use serde_json::json;

use super::{FlowDetails, Flows, draft_of, empty_definition, lock};
use crate::admin::flow::{FlowError, FlowsTx};
use crate::change::{Author, Change, Recorded as _};
use crate::flow::{Flow, FlowDraft, FlowKind, HasFlowCatalog as _, HasFlows as _, ListedFlow, Written};
use crate::id::{FlowId, RouterId};
use crate::idempotency::{Once, Outcome, perform_once};
use crate::in_use::{Dependants, Referred};
use crate::name::Name;
use crate::router::{Admitted, HasRouters as _, Reach, Reachable, RouterUnknown, router_gone};
use crate::schema::SchemaAttributes;
use crate::session::{HasLiveSessions as _, SessionsOf};
use crate::store::{Store, Transaction as _};

/// A new flow.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateFlow)]
pub struct NewFlow {
    /// The router of the flow.
    pub router_id: RouterId,
    /// The name that authors see.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Welcome")]
    pub name: Name,
    /// The purpose of the flow.
    #[serde(default)]
    #[schema(required = false)]
    pub kind: FlowKind,
    /// The draft (docs/flows.md). It may have any error; only a published definition may not.
    #[schema(value_type = crate::schema::FlowDraft, required = false)]
    pub definition: Option<Written>,
}

impl Reachable for NewFlow {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// The changes to make; an absent field stays.
#[derive(Debug, Clone, Default)]
pub struct FlowChange {
    /// Its name.
    pub name: Option<Name>,
    /// Its draft, and the revision that it is a change of.
    pub definition: Option<(Written, i64)>,
}

impl<S: Store> Flows<S>
where
    S::Tx: FlowsTx,
{
    /// Creates a flow, once for each idempotency key.
    ///
    /// # Errors
    /// [`FlowError::RouterUnknown`], [`FlowError::Idempotency`], [`FlowError::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewFlow>,
        once: Option<Once<FlowDetails>>,
    ) -> Result<Outcome<FlowDetails>, FlowError> {
        let new = new.into_inner();
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<FlowDetails, FlowError> {
                tx.routers().find(&new.router_id).await?.ok_or(RouterUnknown)?;
                let now = self.cx.now();
                let id = FlowId::generate(self.cx.ids());
                let flow = Flow { kind: new.kind, ..Flow::new(id, new.router_id, new.name, now) };
                let definition = new.definition.unwrap_or_else(|| empty_definition(flow.kind).into());
                let draft = FlowDraft { revision: 1, definition, updated_at: now };
                tx.flows().insert(&flow).await.map_err(router_gone::<FlowError>)?;
                tx.flow_catalog().put_draft(&flow.id, &draft).await?;
                let listed = ListedFlow { flow, revision: draft.revision, published_number: None };
                Ok(FlowDetails { listed, definition: draft.definition })
            })
            .await?;
        Ok(outcome.inspect(|created| self.changes.created(author, &created.listed.flow)))
    }

    /// Changes name and draft. Sessions see nothing of it before the next publication.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::StaleRevision`], [`FlowError::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FlowId,
        change: FlowChange,
    ) -> Result<FlowDetails, FlowError> {
        let mut tx = self.store.begin().await?;
        let before = lock(&mut tx, reach, id).await?;
        let mut after = before.clone();
        after.name = change.name.map_or(after.name, String::from);
        after.updated_at = self.cx.now();
        let draft = draft_of(&mut tx, &before).await?;
        let revision = draft.revision;
        if let Some((definition, expected)) = change.definition {
            if expected != revision {
                return Err(FlowError::StaleRevision { current: revision });
            }
            let draft = FlowDraft { revision: revision + 1, definition, updated_at: after.updated_at };
            tx.flow_catalog().put_draft(id, &draft).await?;
        }
        tx.flow_catalog().save(&after).await?;
        let listed = tx.flow_catalog().find(id).await?.ok_or(FlowError::NotFound)?;
        let definition = draft_of(&mut tx, &after).await?.definition;
        tx.commit().await?;
        // Of the draft only the revision: definitions are large, and their history is that of the versions.
        let shown = |flow: &Flow, revision: i64| {
            let mut shown = flow.to_json();
            shown["revision"] = json!(revision);
            shown
        };
        let (before, shown) = (shown(&before, revision), shown(&after, listed.revision));
        let change = Change::Updated { before, after: shown, hidden: Vec::new() };
        self.changes.note(author, after.entity(), change);
        Ok(FlowDetails { listed, definition })
    }

    /// Deletes a flow with its draft, versions and variables. Sessions that stand in it or come back to it from a
    /// sub-flow, the router or channels that begin with it and published flows that lead to it stand in the way;
    /// with `force` the sessions end and router and channels begin with none. A published version never changes, so
    /// a flow that leads here then leads nowhere, which is an error of its turn (rulings S13).
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::InUse`], [`FlowError::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FlowId,
        force: bool,
    ) -> Result<(), FlowError> {
        let mut tx = self.store.begin().await?;
        let before = lock(&mut tx, reach, id).await?;
        let of = SessionsOf::Flow(&before.router_id, id);
        if force {
            tx.live_sessions().end(of).await?;
        } else {
            dependants(&mut tx, &before).await?.must_be_none().map_err(FlowError::InUse)?;
        }
        tx.flow_catalog().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

async fn dependants<X: FlowsTx>(tx: &mut X, flow: &Flow) -> Result<Dependants, FlowError> {
    let mut found = Dependants::default();
    found.sessions(tx.live_sessions().count(SessionsOf::Flow(&flow.router_id, &flow.id)).await?);
    found.references(&tx.references().referrers(Referred::Flow(&flow.id)).await?);
    let naming = tx.references().published_flows_naming(&flow.router_id, flow.id.as_str()).await?;
    found.published_flows(&naming);
    Ok(found)
}
