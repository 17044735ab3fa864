//! The use cases of channels.

use std::sync::Arc;

use flowsdk_core::admin::flow::{NoOpening, no_opening, require_initial};
use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{FlowChecker, HasFlows};
use flowsdk_core::id::{ChannelId, FlowId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{NameSearch, Page, PageRequest};
use flowsdk_core::router::{Admitted, AdmittedRouter, HasRouters, Reach, RouterUnknown, router_gone};
use flowsdk_core::session::{HasLiveSessions, SessionsOf};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::words::NameQuery;
use secrecy::{ExposeSecret as _, SecretString};

use super::{HasWebchatCatalog, NewWebchatChannel, WebchatChannelChange, WebchatChannelError as Error};
use crate::webchat::{HasWebchat, Purpose, WebchatChannel};

/// A channel, and what its visitors lack.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownChannel {
    /// The channel.
    pub channel: WebchatChannel,
    /// Why no flow answers its visitors; `None` where one does.
    pub no_opening: Option<NoOpening>,
}

/// Creates, shows, changes and deletes channels of the web chat. A channel whose router is out of the caller's
/// reach is as good as none.
#[derive(Debug)]
pub struct WebchatChannels<S> {
    pub(super) store: Arc<S>,
    pub(super) cx: OpContext,
    master_key: Arc<MasterKey>,
    pub(super) changes: Arc<dyn ChangeLog>,
    pub(super) checker: FlowChecker,
}

impl<S: Store> WebchatChannels<S>
where
    S::Tx: HasWebchatCatalog + HasWebchat + HasRouters + HasLiveSessions + HasFlows + HasIdempotency,
{
    /// A service over `store`, which parses no scripts of flows.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, cx, master_key, changes, checker: FlowChecker::default() }
    }

    /// Checks the flows that are to be tested with `checker`.
    #[must_use]
    pub fn checked_by(self, checker: FlowChecker) -> Self {
        Self { checker, ..self }
    }

    /// A page of channels within reach whose names fit `query`, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<WebchatChannel>, Error> {
        let (mut tx, router) = (self.store.read().await?, router.map(AdmittedRouter::id));
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.webchat_catalog().list_channels(router, reach.routers(), &request).await?);
        }
        Ok(search.into_page())
    }

    /// Returns a channel within the caller's reach.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &ChannelId) -> Result<ShownChannel, Error> {
        let mut tx = self.store.read().await?;
        let channel = within(tx.webchat().find_channel(id).await?, reach)?;
        Ok(shown(&mut tx, channel).await?)
    }

    /// Creates a channel, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::FlowUnknown`], [`Error::FlowIsTool`], [`Error::Idempotency`],
    /// [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewWebchatChannel>,
        once: Option<Once<ShownChannel>>,
    ) -> Result<Outcome<ShownChannel>, Error> {
        let new = new.into_inner();
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<ShownChannel, Error> {
                tx.routers().find(&new.router_id).await?.ok_or(RouterUnknown)?;
                if let Some(flow) = &new.initial_flow_id {
                    require_initial(tx, &new.router_id, flow).await?;
                }
                let id = ChannelId::generate(self.cx.ids());
                let channel = WebchatChannel {
                    purpose: if new.is_test_channel { Purpose::Test } else { Purpose::Visitors },
                    appearance: new.appearance.map(|appearance| appearance.to_json()),
                    initial_flow_id: new.initial_flow_id,
                    start_on: new.start_on,
                    fallback_texts: new.fallback_texts.unwrap_or_default(),
                    attachments: new.attachments,
                    allowed_origins: new.allowed_origins,
                    ..WebchatChannel::new(id, new.router_id, new.name, self.cx.now())
                };
                match tx.webchat().insert_channel(&channel).await {
                    // The flow, or the router, went after it was looked for.
                    Err(StorageError::Orphan { constraint }) if constraint.contains("flow") => {
                        return Err(Error::FlowUnknown);
                    }
                    inserted => inserted.map_err(router_gone::<Error>)?,
                }
                Ok(shown(tx, channel).await?)
            })
            .await?;
        Ok(outcome.inspect(|shown| self.changes.created(author, &shown.channel)))
    }

    /// Changes settings of a channel. Its initial flow must be of its router.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::FlowUnknown`], [`Error::FlowIsTool`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelId,
        change: WebchatChannelChange,
    ) -> Result<ShownChannel, Error> {
        let mut tx = self.store.begin().await?;
        if let Some(Some(flow)) = &change.initial_flow_id {
            let channel = within(tx.webchat().find_channel(id).await?, reach)?;
            require_initial(&mut tx, &channel.router_id, flow).await?;
        }
        let (before, after) = rewrite(&mut tx, reach, id, |channel| change.apply(channel)).await?;
        let shown = shown(&mut tx, after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &shown.channel);
        Ok(shown)
    }

    /// Closes a channel, or sets another secret of a closed one; this is the only time that it is shown
    /// (spec B 4.1). Tokens under an older secret are refused from now on.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn set_embed_secret(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelId,
    ) -> Result<SecretString, Error> {
        let secret = SecretString::from(self.cx.ids().secret(2));
        let sealed = self.master_key.encrypt(secret.expose_secret());
        let close = |channel| WebchatChannel { embed_secret: Some(sealed), ..channel };
        self.change_door(author, reach, id, close).await?;
        Ok(secret)
    }

    /// Opens a channel to anybody.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn remove_embed_secret(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelId,
    ) -> Result<(), Error> {
        self.change_door(author, reach, id, |channel| WebchatChannel { embed_secret: None, ..channel }).await
    }

    /// Lets the sessions of a channel begin with a flow of its router, or with the router's own.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::FlowUnknown`], [`Error::FlowIsTool`], [`Error::Storage`].
    pub async fn set_initial_flow(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelId,
        flow: Option<FlowId>,
    ) -> Result<ShownChannel, Error> {
        let change = WebchatChannelChange { initial_flow_id: Some(flow), ..WebchatChannelChange::default() };
        self.change(author, reach, id, change).await
    }

    /// Deletes a channel; its visitors' chats stay. Open sessions stand in the way; with `force` they end
    /// (rulings S13).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::TestChannel`], [`Error::InUse`], [`Error::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelId,
        force: bool,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.webchat_catalog().find_channel_for_update(id).await?, reach)?;
        if before.purpose == Purpose::RouterTest {
            return Err(Error::TestChannel);
        }
        let sessions = SessionsOf::WebchatChannel(id);
        let dependants = tx.live_sessions().make_way(sessions, force).await?;
        dependants.must_be_none().map_err(Error::InUse)?;
        tx.webchat_catalog().delete_channel(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }

    /// Changes who gets in.
    async fn change_door(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelId,
        change: impl FnOnce(WebchatChannel) -> WebchatChannel + Send,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let (before, after) = rewrite(&mut tx, reach, id, change).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(())
    }
}

/// Stores a channel as `change` makes it, and returns it as it was and as it is.
async fn rewrite<X: HasWebchatCatalog>(
    tx: &mut X,
    reach: Reach<'_>,
    id: &ChannelId,
    change: impl FnOnce(WebchatChannel) -> WebchatChannel + Send,
) -> Result<(WebchatChannel, WebchatChannel), Error> {
    let before = within(tx.webchat_catalog().find_channel_for_update(id).await?, reach)?;
    let after = change(before.clone());
    tx.webchat_catalog().save_channel(&after).await?;
    Ok((before, after))
}

/// Looks for the flow that conversations of a channel begin with: its own, or else the router's.
pub(super) async fn shown<X: HasRouters + HasFlows>(
    tx: &mut X,
    channel: WebchatChannel,
) -> Result<ShownChannel, StorageError> {
    let flow = match &channel.initial_flow_id {
        Some(flow) => Some(flow.clone()),
        None => tx.routers().find(&channel.router_id).await?.and_then(|router| router.initial_flow_id),
    };
    let no_opening = no_opening(tx, flow.as_ref(), channel.purpose.is_test()).await?;
    Ok(ShownChannel { channel, no_opening })
}

fn within(found: Option<WebchatChannel>, reach: Reach<'_>) -> Result<WebchatChannel, Error> {
    found.filter(|channel| reach.contains(&channel.router_id)).ok_or(Error::NotFound)
}
