//! Test channels of a router (spec B 4.1, 4.4).

use flowsdk_core::admin::flow::{FlowError, check_test, publish_test};
use flowsdk_core::change::{Author, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::flow::{HasFlowCatalog, HasFlows, Problem};
use flowsdk_core::id::{ChannelId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::idempotency::HasIdempotency;
use flowsdk_core::in_use::HasReferences;
use flowsdk_core::media::HasMedia;
use flowsdk_core::router::{AdmittedRouter, HasRouters, Reach};
use flowsdk_core::session::HasLiveSessions;
use flowsdk_core::store::{Retries, Store, Transaction as _};
use flowsdk_core::variable::HasVariables;

use super::service::{ShownChannel, shown};
use super::{HasWebchatCatalog, WebchatChannelError as Error, WebchatChannels};
use crate::webchat::{Purpose, WebchatChannel};

/// The name of every router's own test channel (spec B 4.4).
const NAME: &str = "Teste";

/// A flow that can be tested.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedTest {
    /// The flow that was published.
    pub flow_id: FlowId,
    /// The version that new test sessions run.
    pub version_id: FlowVersionId,
    /// The revision of the draft that it was made of.
    pub revision: i64,
    /// Where it is tested.
    pub channel: WebchatChannel,
    /// Problems that do not prevent a publication.
    pub warnings: Vec<Problem>,
}

impl<S: Store> WebchatChannels<S>
where
    S::Tx: HasRouters
        + HasWebchatCatalog
        + HasVariables
        + HasLiveSessions
        + HasReferences
        + HasIdempotency
        + HasFlows
        + HasFlowCatalog
        + HasMedia,
{
    /// The router's own test channel, made if there is none.
    ///
    /// # Errors
    /// [`Error::RouterNotFound`], [`Error::Storage`].
    pub async fn test_channel(
        &self,
        author: &Author,
        router: &AdmittedRouter,
    ) -> Result<ShownChannel, Error> {
        let mut tx = self.store.begin().await?;
        tx.routers().find(router).await?.ok_or(Error::RouterNotFound)?;
        let wanted = fresh(&self.cx, router);
        let channel = tx.webchat_catalog().test_channel_or_insert(&wanted).await?;
        let shown = shown(&mut tx, channel).await?;
        tx.commit().await?;
        self.note_if_new(author, &wanted, &shown.channel);
        Ok(shown)
    }

    /// Makes the draft of a flow the version that new sessions of test channels run, and lets the test channel `channel`
    /// begin with this flow; the router's own, if none is given. Other channels see nothing of it. The draft is a stale
    /// one only if others write it all the time.
    ///
    /// # Errors
    /// [`Error::Flow`], [`Error::TestChannelUnknown`], [`Error::Storage`].
    pub async fn publish_test(
        &self,
        author: &Author,
        reach: Reach<'_>,
        flow: &FlowId,
        channel: Option<&ChannelId>,
    ) -> Result<PublishedTest, Error> {
        let mut retries = Retries::default();
        loop {
            match self.try_publish_test(author, reach, flow, channel).await {
                // A draft that somebody wrote meanwhile is not checked yet.
                Err(Error::Flow(FlowError::StaleRevision { .. })) if retries.again() => {}
                Err(Error::Flow(FlowError::Storage(error))) if error.is_lost_race() && retries.again() => {}
                result => return result,
            }
        }
    }

    async fn try_publish_test(
        &self,
        author: &Author,
        reach: Reach<'_>,
        flow: &FlowId,
        channel: Option<&ChannelId>,
    ) -> Result<PublishedTest, Error> {
        let (checked, warnings) = check_test(self.store.read().await?, &self.checker, reach, flow).await?;
        let mut tx = self.store.begin().await?;
        let tested = publish_test(&mut tx, &self.cx, reach, checked).await?;
        let router = &tested.flow.router_id;
        let wanted = fresh(&self.cx, router);
        let before = match channel {
            None => tx.webchat_catalog().test_channel_or_insert(&wanted).await?,
            Some(id) => {
                let found = tx.webchat_catalog().find_channel_for_update(id).await?;
                let is_fit = |found: &WebchatChannel| found.router_id == *router && found.purpose.is_test();
                found.filter(is_fit).ok_or(Error::TestChannelUnknown)?
            }
        };
        let channel = WebchatChannel { initial_flow_id: Some(flow.clone()), ..before.clone() };
        if channel != before {
            tx.webchat_catalog().save_channel(&channel).await?;
        }
        tx.commit().await?;
        self.note_if_new(author, &wanted, &before);
        if channel != before {
            self.changes.updated(author, &before, &channel);
        }
        self.changes.note(author, tested.flow.entity(), tested.change);
        let revision = tested.revision;
        Ok(PublishedTest {
            flow_id: flow.clone(),
            version_id: tested.version_id,
            revision,
            channel,
            warnings,
        })
    }

    fn note_if_new(&self, author: &Author, wanted: &WebchatChannel, found: &WebchatChannel) {
        if wanted.id == found.id {
            self.changes.created(author, found);
        }
    }
}

fn fresh(cx: &OpContext, router: &RouterId) -> WebchatChannel {
    WebchatChannel {
        purpose: Purpose::RouterTest,
        ..WebchatChannel::new(ChannelId::generate(cx.ids()), router.clone(), NAME, cx.now())
    }
}
