//! The use cases of numbers.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::id::ChannelNumberId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{NameSearch, Page, PageRequest};
use flowsdk_core::router::{Admitted, AdmittedRouter, HasRouters, Reach, RouterUnknown, router_gone};
use flowsdk_core::session::{HasLiveSessions, SessionsOf};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::words::NameQuery;
use flowsdk_crypto::FormKeyMaker;

use crate::phone::sending::HasOutbound;

use super::{
    ChannelNumber, ChannelNumberChange, ChannelNumberError as Error, HasChannelNumbers, NewChannelNumber,
};

/// Creates, shows, changes and deletes numbers of the phone channel. A number whose router is out of the caller's
/// reach is as good as none.
#[derive(Debug)]
pub struct ChannelNumbers<S> {
    pub(super) store: Arc<S>,
    pub(super) cx: OpContext,
    pub(super) master_key: Arc<MasterKey>,
    pub(super) maker: FormKeyMaker,
    pub(super) changes: Arc<dyn ChangeLog>,
}

impl<S: Store> ChannelNumbers<S>
where
    S::Tx: HasChannelNumbers + HasOutbound + HasRouters + HasLiveSessions + HasIdempotency,
{
    /// A service over `store`; `maker` makes the keys of forms.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        maker: FormKeyMaker,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, cx, master_key, maker, changes }
    }

    /// A page of numbers within reach whose names or digits fit `query`, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<ChannelNumber>, Error> {
        let (mut tx, router) = (self.store.read().await?, router.map(AdmittedRouter::id));
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.channel_numbers().list(router, reach.routers(), &request).await?);
        }
        Ok(search.into_page())
    }

    /// Returns a number within the caller's reach.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &ChannelNumberId) -> Result<ChannelNumber, Error> {
        within(self.store.read().await?.channel_numbers().find(id).await?, reach)
    }

    /// Creates a number, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::Taken`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewChannelNumber>,
        once: Option<Once<ChannelNumber>>,
    ) -> Result<Outcome<ChannelNumber>, Error> {
        let new = new.into_inner();
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<ChannelNumber, Error> {
                tx.routers().find(&new.router_id).await?.ok_or(RouterUnknown)?;
                let number = ChannelNumber {
                    id: ChannelNumberId::generate(self.cx.ids()),
                    router_id: new.router_id,
                    name: new.name,
                    phone_number_id: new.phone_number_id,
                    phone_number: new.phone_number,
                    business_account_id: new.business_account_id,
                    access_token: None,
                    keys: None,
                    active: new.active,
                    created_at: self.cx.now(),
                    updated_at: self.cx.now(),
                };
                let token =
                    ChannelNumberChange { access_token: Some(new.access_token), ..Default::default() };
                let number = token.apply(number, &self.master_key);
                let inserted = tx.channel_numbers().insert_if_absent(&number).await;
                if !inserted.map_err(router_gone::<Error>)? {
                    return Err(Error::Taken);
                }
                Ok(number)
            })
            .await?;
        Ok(outcome.inspect(|number| self.changes.created(author, number)))
    }

    /// Changes a number.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelNumberId,
        change: ChannelNumberChange,
    ) -> Result<ChannelNumber, Error> {
        self.rewrite(author, reach, id, |number| change.apply(number, &self.master_key)).await
    }

    /// Deletes a number with its keys; its chats stay. Open sessions stand in the way; with `force` they end
    /// (rulings S13).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InUse`], [`Error::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelNumberId,
        force: bool,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.channel_numbers().find_for_update(id).await?, reach)?;
        let sessions = SessionsOf::PhoneNumber(before.phone_number_id.as_str());
        let dependants = tx.live_sessions().make_way(sessions, force).await?;
        dependants.must_be_none().map_err(Error::InUse)?;
        tx.channel_numbers().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }

    pub(super) async fn rewrite(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelNumberId,
        change: impl FnOnce(ChannelNumber) -> ChannelNumber + Send,
    ) -> Result<ChannelNumber, Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.channel_numbers().find_for_update(id).await?, reach)?;
        let after = ChannelNumber { updated_at: self.cx.now(), ..change(before.clone()) };
        tx.channel_numbers().save(&after).await?;
        // A new token may be let in: whoever sends finds out.
        if after.access_token != before.access_token {
            tx.outbound().resume(&[after.phone_number_id.as_str().to_owned()]).await?;
        }
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }
}

pub(super) fn within(found: Option<ChannelNumber>, reach: Reach<'_>) -> Result<ChannelNumber, Error> {
    found.filter(|number| reach.contains(&number.router_id)).ok_or(Error::NotFound)
}
