//! Flows as pictures.

use super::{Flows, draft_of, published, within};
use crate::admin::flow::{FlowError, FlowsTx};
use crate::aside::aside;
use crate::flow::graph::Graph;
use crate::flow::{FlowDefinition, HasFlowCatalog as _, HasFlows as _};
use crate::id::FlowId;
use crate::router::Reach;
use crate::store::Store;

/// One of the definitions of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhichDefinition {
    /// The draft, which authors edit.
    #[default]
    Draft,
    /// The published version, which new sessions run.
    Published,
    /// The published version of this number.
    Version(i64),
}

impl<S: Store> Flows<S>
where
    S::Tx: FlowsTx,
{
    /// Draws the graph of a definition of a flow with `draw`. A draft may be wrong, but must be readable.
    ///
    /// # Errors
    /// [`FlowError::NotFound`]; [`FlowError::VersionNotFound`], also of a flow that is not published;
    /// [`FlowError::Invalid`] when it cannot be read; [`FlowError::Storage`].
    pub async fn graph(
        &self,
        reach: Reach<'_>,
        id: &FlowId,
        which: WhichDefinition,
        draw: fn(&Graph) -> String,
    ) -> Result<String, FlowError> {
        let mut tx = self.store.read().await?;
        let flow = within(tx.flow_catalog().find(id).await?, reach)?.flow;
        let definition = match which {
            WhichDefinition::Draft => draft_of(&mut tx, &flow).await?.definition,
            WhichDefinition::Version(number) => published(&mut tx, id, number).await?.definition,
            WhichDefinition::Published => {
                let version = flow.published_version_id.ok_or(FlowError::VersionNotFound)?;
                let found = tx.flows().find_versions(std::slice::from_ref(&version)).await?.pop();
                found.ok_or(FlowError::VersionNotFound)?.definition
            }
        };
        drop(tx);
        let picture = aside(move || FlowDefinition::parse(&definition).map(|flow| draw(&Graph::new(&flow))));
        picture.await?.map_err(FlowError::Invalid)
    }
}
