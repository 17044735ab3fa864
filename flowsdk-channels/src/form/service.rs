//! The use cases of forms.

use std::sync::Arc;

use flowsdk_core::change::{Author, Change, ChangeLog, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelNumberId, RouterId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::{Admitted, AdmittedRouter, HasRouters, Reach, RouterUnknown};
use flowsdk_core::store::{Store, Transaction as _};

use super::change::definition_findings;
use super::{
    FormChange, FormCommand, FormError as Error, FormId, FormStatus, HasForms, InteractiveForm, NewForm,
    WholeForm,
};
use crate::channel_number::HasChannelNumbers;

/// Creates, shows, changes, publishes, deprecates and deletes forms. A form whose router is out of the caller's reach
/// is not found. Nothing here talks to the provider.
#[derive(Debug)]
pub struct Forms<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Forms<S>
where
    S::Tx: HasForms + HasChannelNumbers + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// Returns a page of forms within reach, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        page: &PageRequest,
    ) -> Result<Page<InteractiveForm>, StorageError> {
        let router = router.map(AdmittedRouter::id);
        self.store.read().await?.forms().list(router, reach.routers(), page).await
    }

    /// Returns a form with its definition.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &FormId) -> Result<WholeForm, Error> {
        let mut tx = self.store.read().await?;
        let form = within(tx.forms().find(id).await?, reach)?;
        let definition = tx.forms().definition(id).await?;
        Ok(WholeForm { form, definition })
    }

    /// Creates a draft, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RouterUnknown`], [`Error::NumberUnknown`], [`Error::NameTaken`],
    /// [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewForm>,
        once: Option<Once<WholeForm>>,
    ) -> Result<Outcome<WholeForm>, Error> {
        let new = new.into_inner();
        refuse(definition_findings(&new.definition))?;
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<WholeForm, Error> {
                tx.routers().find(&new.router_id).await?.ok_or(RouterUnknown)?;
                must_have(tx, &new.router_id, new.channel_number_id.as_ref()).await?;
                let now = self.cx.now();
                let form = InteractiveForm {
                    id: FormId::generate(self.cx.ids()),
                    router_id: new.router_id,
                    name: new.name.into(),
                    description: new.description,
                    status: FormStatus::Draft,
                    revision: 1,
                    provider_form_id: new.provider_form_id,
                    channel_number_id: new.channel_number_id,
                    created_at: now,
                    updated_at: now,
                };
                let has_number = form.channel_number_id.is_some();
                let inserted = tx.forms().insert(&form).await;
                inserted.map_err(|error| Error::not_stored(error, has_number))?;
                tx.forms().put_definition(&form.id, &new.definition).await?;
                Ok(WholeForm { form, definition: new.definition })
            })
            .await?;
        Ok(outcome.inspect(|made| self.changes.created(author, &made.form)))
    }

    /// Changes a form; its definition only while it is a draft.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::NotFound`], [`Error::Status`], [`Error::StaleRevision`], [`Error::NumberUnknown`],
    /// [`Error::NameTaken`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FormId,
        change: FormChange,
    ) -> Result<WholeForm, Error> {
        refuse(change.findings())?;
        let mut tx = self.store.begin().await?;
        let before = within(tx.forms().find_for_update(id).await?, reach)?;
        if change.definition.is_some() {
            FormCommand::Redefine.leads_from(before.status).ok_or(Error::Status)?;
        }
        if change.revision.is_some_and(|revision| revision != before.revision) {
            return Err(Error::StaleRevision { current: before.revision });
        }
        must_have(&mut tx, &before.router_id, change.channel_number_id.as_ref().and_then(Option::as_ref))
            .await?;
        let (after, definition) = change.apply(before.clone());
        let after = InteractiveForm { updated_at: self.cx.now(), ..after };
        let has_number = after.channel_number_id.is_some();
        tx.forms().save(&after).await.map_err(|error| Error::not_stored(error, has_number))?;
        let definition = match definition {
            Some(new) => {
                tx.forms().put_definition(id, &new).await?;
                new
            }
            None => tx.forms().definition(id).await?,
        };
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(WholeForm { form: after, definition })
    }

    /// Publishes a draft: its definition is fixed from now on.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Status`], [`Error::Empty`], [`Error::Storage`].
    pub async fn publish(&self, author: &Author, reach: Reach<'_>, id: &FormId) -> Result<WholeForm, Error> {
        let (_, after) = self.command(reach, id, FormCommand::Publish).await?;
        self.changes.note(author, after.form.entity(), Change::Published(after.form.to_json()));
        Ok(after)
    }

    /// Takes a published form out of use.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Status`], [`Error::Storage`].
    pub async fn deprecate(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FormId,
    ) -> Result<WholeForm, Error> {
        let (before, after) = self.command(reach, id, FormCommand::Deprecate).await?;
        self.changes.updated(author, &before, &after.form);
        Ok(after)
    }

    /// Moves a form to the state that the command leads to, and returns it as it was and is.
    async fn command(
        &self,
        reach: Reach<'_>,
        id: &FormId,
        command: FormCommand,
    ) -> Result<(InteractiveForm, WholeForm), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.forms().find_for_update(id).await?, reach)?;
        let status = command.leads_from(before.status).ok_or(Error::Status)?;
        let form = InteractiveForm { status, updated_at: self.cx.now(), ..before.clone() };
        let after = WholeForm { form, definition: tx.forms().definition(id).await? };
        if command == FormCommand::Publish && !after.has_screens() {
            return Err(Error::Empty);
        }
        tx.forms().save(&after.form).await?;
        tx.commit().await?;
        Ok((before, after))
    }

    /// Deletes a draft.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Status`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &FormId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.forms().find_for_update(id).await?, reach)?;
        FormCommand::Delete.leads_from(before.status).ok_or(Error::Status)?;
        tx.forms().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

fn refuse(findings: Vec<(String, flowsdk_core::text::Text)>) -> Result<(), Error> {
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}

fn within(found: Option<InteractiveForm>, reach: Reach<'_>) -> Result<InteractiveForm, Error> {
    found.filter(|form| reach.contains(&form.router_id)).ok_or(Error::NotFound)
}

/// A form names numbers of its own router only.
async fn must_have<X: HasChannelNumbers>(
    tx: &mut X,
    router: &RouterId,
    number: Option<&ChannelNumberId>,
) -> Result<(), Error> {
    let Some(number) = number else { return Ok(()) };
    let found = tx.channel_numbers().find(number).await?;
    found.filter(|number| number.router_id == *router).map(drop).ok_or(Error::NumberUnknown)
}
