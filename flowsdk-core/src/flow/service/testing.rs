//! Test versions: only the test channel of the router runs them (spec B 4.1, 4.4).

use super::{draft_of, lock};
use crate::change::Change;
use crate::context::OpContext;
use crate::flow::{Flow, FlowError, FlowKind, FlowVersion, check};
use crate::id::{FlowId, FlowVersionId};
use crate::router::Reach;
use crate::store::BuilderTx;

/// A flow that got a test version.
#[derive(Debug, Clone, PartialEq)]
pub struct Tested {
    /// The flow.
    pub flow: Flow,
    /// The version.
    pub version_id: FlowVersionId,
    /// The revision of the draft that it was made of.
    pub revision: i64,
    /// To be noted after the commit.
    pub change: Change,
}

/// Makes the draft of a flow the version that new sessions of the test channel run, in a transaction that the
/// caller commits: he knows the channel. Older test versions that no session stands in go.
///
/// # Errors
/// [`FlowError::NotFound`], [`FlowError::Tool`], [`FlowError::Invalid`], [`FlowError::Storage`].
pub async fn publish_test<X: BuilderTx>(
    tx: &mut X,
    cx: &OpContext,
    reach: Reach<'_>,
    id: &FlowId,
) -> Result<Tested, FlowError> {
    let before = lock(tx, reach, id).await?;
    if before.kind == FlowKind::Tool {
        return Err(FlowError::Tool);
    }
    let draft = draft_of(tx, &before).await?;
    check::publishable(before.kind, &draft.definition).map_err(FlowError::Invalid)?;
    let version = FlowVersion {
        id: FlowVersionId::generate(cx.ids()),
        flow_id: before.id.clone(),
        router_id: before.router_id.clone(),
        flow_name: before.name.clone(),
        number: tx.flow_catalog().last_numbers(id).await?.test - 1,
        definition: draft.definition,
        created_at: cx.now(),
    };
    tx.flow_catalog().insert_version(&version).await?;
    let flow =
        Flow { test_version_id: Some(version.id.clone()), updated_at: version.created_at, ..before.clone() };
    tx.flow_catalog().save(&flow).await?;
    // The one before stays until the next time: a session may be beginning with it now.
    tx.flow_catalog().purge_test_versions(id, version.number + 1).await?;
    let change = Change::updated(&before, &flow);
    Ok(Tested { flow, version_id: version.id, revision: draft.revision, change })
}
