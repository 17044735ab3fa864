//! Test versions: only test channels of the router run them (spec B 4.1, 4.4).

use super::{draft_of, lock, must_stand_still, problems_around, publishable, within};
use crate::admin::flow::{FlowError, FlowsTx};
use crate::change::Change;
use crate::context::OpContext;
use crate::flow::{Flow, FlowChecker, FlowDraft, FlowKind, FlowVersion, Problem};
use crate::id::{FlowId, FlowVersionId};
use crate::router::Reach;

/// A flow that got a test version.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Tested {
    pub flow: Flow,
    /// The id of the flow version.
    pub version_id: FlowVersionId,
    /// The revision of the draft that it was made of.
    pub revision: i64,
    /// To be noted after the commit.
    pub change: Change,
}

/// A draft that can be tested, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedTest {
    flow: Flow,
    draft: FlowDraft,
}

/// Reads and checks the draft of a flow, for [`publish_test`]. Returns it with the problems that do not prevent a
/// publication. The transaction, which only reads, ends before the check: nobody waits for it.
///
/// # Errors
/// [`FlowError::NotFound`], [`FlowError::Tool`], [`FlowError::Invalid`], [`FlowError::Storage`].
pub async fn check_test<X: FlowsTx>(
    mut tx: X,
    checker: &FlowChecker,
    reach: Reach<'_>,
    id: &FlowId,
) -> Result<(CheckedTest, Vec<Problem>), FlowError> {
    let flow = within(tx.flow_catalog().find(id).await?, reach)?.flow;
    if flow.kind == FlowKind::Tool {
        return Err(FlowError::Tool);
    }
    let mut draft = draft_of(&mut tx, &flow).await?;
    let around = problems_around(&mut tx, &flow, &draft.definition).await?;
    drop(tx);
    let problems;
    (draft.definition, problems) = publishable(checker, flow.kind, draft.definition, around).await?;
    Ok((CheckedTest { flow, draft }, problems))
}

/// Makes the draft of a flow the version that new sessions of test channels run. The caller, who knows the
/// channel, commits the transaction. Older test versions in which no session stands are deleted.
///
/// # Errors
/// [`FlowError::NotFound`]; [`FlowError::StaleRevision`] or [`StorageError::Stale`](crate::fault::StorageError::Stale)
/// when the draft is another one than was checked; [`FlowError::Storage`].
pub async fn publish_test<X: FlowsTx>(
    tx: &mut X,
    cx: &OpContext,
    reach: Reach<'_>,
    checked: CheckedTest,
) -> Result<Tested, FlowError> {
    let CheckedTest { flow, draft } = checked;
    let id = &flow.id;
    let before = lock(tx, reach, id).await?;
    must_stand_still(tx, &before, draft.revision, flow.published_version_id.as_ref()).await?;
    let number = tx.flow_catalog().last_numbers(id).await?.test - 1;
    let version = FlowVersion::of(&before, number, draft.definition, cx.ids(), cx.now());
    tx.flow_catalog().insert_version(&version).await?;
    let flow =
        Flow { test_version_id: Some(version.id.clone()), updated_at: version.created_at, ..before.clone() };
    tx.flow_catalog().save(&flow).await?;
    // The one before stays until the next time: a session may be beginning with it now.
    tx.flow_catalog().purge_test_versions(id, version.number + 1).await?;
    let change = Change::updated(&before, &flow);
    Ok(Tested { flow, version_id: version.id, revision: draft.revision, change })
}
