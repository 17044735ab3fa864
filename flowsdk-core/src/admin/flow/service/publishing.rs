//! Publishing, unpublishing and rolling back.

use serde_json::json;

use super::{Flows, draft_of, lock, must_stand_still, problems_around, publishable, published, within};
use crate::admin::flow::{FlowError, FlowsTx};
use crate::change::{Author, Change, Recorded as _};
use crate::flow::{Flow, FlowVersion, HasFlowCatalog as _, HasFlows as _, Problem, Written};
use crate::id::FlowId;
use crate::router::Reach;
use crate::store::{Retries, Store, Transaction as _};

impl<S: Store> Flows<S>
where
    S::Tx: FlowsTx,
{
    /// Makes the draft a version that new sessions run, those of the test channel too; running sessions stay on
    /// theirs. `revision`, if it is given, must be the draft's; otherwise it is stale only if others write it all
    /// the time. A draft that is published already makes no other version. Returns the version and the warnings for
    /// its author.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::StaleRevision`], [`FlowError::Invalid`], [`FlowError::Storage`].
    pub async fn publish(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FlowId,
        revision: Option<i64>,
    ) -> Result<(FlowVersion, Vec<Problem>), FlowError> {
        let mut retries = Retries::default();
        loop {
            match self.try_publish(author, reach, id, revision).await {
                // A definition that somebody wrote meanwhile is not checked yet.
                Err(FlowError::StaleRevision { .. }) if revision.is_none() && retries.again() => {}
                Err(FlowError::Storage(error)) if error.is_lost_race() && retries.again() => {}
                result => return result,
            }
        }
    }

    async fn try_publish(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FlowId,
        revision: Option<i64>,
    ) -> Result<(FlowVersion, Vec<Problem>), FlowError> {
        let mut tx = self.store.read().await?;
        let flow = within(tx.flow_catalog().find(id).await?, reach)?.flow;
        let mut checked = draft_of(&mut tx, &flow).await?;
        let before = flow.published_version_id.clone();
        let current = match &before {
            Some(id) => tx.flows().find_versions(std::slice::from_ref(id)).await?.pop(),
            None => None,
        };
        let around = problems_around(&mut tx, &flow, &checked.definition).await?;
        drop(tx);
        if revision.is_some_and(|expected| expected != checked.revision) {
            return Err(FlowError::StaleRevision { current: checked.revision });
        }
        // While no writer waits for it.
        let problems;
        (checked.definition, problems) =
            publishable(&self.checker, flow.kind, checked.definition, around).await?;
        let same = current.filter(|current| current.definition == checked.definition);

        let mut tx = self.store.begin().await?;
        let flow = lock(&mut tx, reach, id).await?;
        must_stand_still(&mut tx, &flow, checked.revision, before.as_ref()).await?;
        // The name of the flow travels with its version.
        let version = match same.filter(|version| version.flow_name == flow.name) {
            Some(version) => version,
            None => self.next_version(&mut tx, &flow, checked.definition).await?,
        };
        let flow = self.store_published(tx, flow, &version).await?;
        let what = json!({ "number": version.number, "versionId": version.id,
                "revision": checked.revision });
        self.changes.note(author, flow.entity(), Change::Published(what));
        Ok((version, problems))
    }

    /// Publishes the definition of an older version as a new version. The draft stays.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::VersionNotFound`], [`FlowError::Invalid`] when this version of the
    /// server cannot run it any more, [`FlowError::Storage`].
    pub async fn roll_back(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FlowId,
        number: i64,
    ) -> Result<FlowVersion, FlowError> {
        let mut tx = self.store.read().await?;
        let kind = within(tx.flow_catalog().find(id).await?, reach)?.flow.kind;
        let old = published(&mut tx, id, number).await?;
        drop(tx);
        let check = self.checker.publishable(kind, old.definition);
        let (definition, _warnings) = check.await?.map_err(FlowError::Invalid)?;
        let mut tx = self.store.begin().await?;
        let flow = lock(&mut tx, reach, id).await?;
        let version = self.next_version(&mut tx, &flow, definition).await?;
        let flow = self.store_published(tx, flow, &version).await?;
        let what = json!({ "number": version.number, "versionId": version.id, "rolledBackTo": number });
        self.changes.note(author, flow.entity(), Change::Published(what));
        Ok(version)
    }

    /// Takes the published version away: nothing begins with the flow any more. Running sessions stay.
    ///
    /// # Errors
    /// [`FlowError::NotFound`], [`FlowError::NotPublished`], [`FlowError::Storage`].
    pub async fn unpublish(&self, author: &Author, reach: Reach<'_>, id: &FlowId) -> Result<(), FlowError> {
        let mut tx = self.store.begin().await?;
        let mut flow = lock(&mut tx, reach, id).await?;
        let was = flow.published_version_id.take().ok_or(FlowError::NotPublished)?;
        flow.updated_at = self.cx.now();
        tx.flow_catalog().save(&flow).await?;
        tx.commit().await?;
        self.changes.note(author, flow.entity(), Change::Unpublished(json!({ "versionId": was })));
        Ok(())
    }

    async fn next_version(
        &self,
        tx: &mut S::Tx,
        flow: &Flow,
        definition: Written,
    ) -> Result<FlowVersion, FlowError> {
        let number = tx.flow_catalog().last_numbers(&flow.id).await?.published + 1;
        Ok(FlowVersion::of(flow, number, definition, self.cx.ids(), self.cx.now()))
    }

    /// A test version is a version of the next publication, so it ends here.
    async fn store_published(
        &self,
        mut tx: S::Tx,
        mut flow: Flow,
        version: &FlowVersion,
    ) -> Result<Flow, FlowError> {
        let is_new = flow.published_version_id.as_ref() != Some(&version.id);
        if is_new {
            tx.flows().publish(version).await?;
            flow.published_version_id = Some(version.id.clone());
        }
        if flow.test_version_id.take().is_some() || is_new {
            flow.updated_at = self.cx.now();
            tx.flow_catalog().save(&flow).await?;
        }
        tx.commit().await?;
        Ok(flow)
    }
}
