//! The use cases of forms.

use flowsdk_core::words::NameQuery;
use std::sync::Arc;

use flowsdk_core::change::{Author, Change, ChangeLog, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{FlowKind, HasFlows};
use flowsdk_core::id::{ChannelNumberId, FlowId, RouterId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::{Store, Transaction as _};
use serde_json::{Map, Value};

use super::change::definition_findings;
use super::{
    FormChange, FormCommand, FormError as Error, FormId, HasFormDefinitions, InteractiveForm, NewForm,
    WholeForm,
};
use crate::channel_number::HasChannelNumbers;

/// Creates, shows, changes, publishes, deprecates and deletes forms. A form whose router is out of the caller's reach
/// is not found. Nothing here talks to the provider.
#[derive(Debug)]
pub struct Forms<S> {
    records: RouterRecords<S, InteractiveForm>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Forms<S>
where
    S::Tx: HasRecords<InteractiveForm>
        + HasFormDefinitions
        + HasChannelNumbers
        + HasFlows
        + HasRouters
        + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the forms within reach whose names fit `query`, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<InteractiveForm>, StorageError> {
        self.records.list(reach, router, query, page).await
    }

    /// Returns a form with its definition.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &FormId) -> Result<WholeForm, Error> {
        let mut tx = self.store.read().await?;
        let form = steps::find(&mut tx, reach, id).await?;
        let definition = tx.form_definitions().find(id).await?;
        Ok(WholeForm { form, definition })
    }

    /// Creates a draft, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RouterUnknown`], [`Error::NumberUnknown`], [`Error::FlowUnknown`],
    /// [`Error::NotATool`], [`Error::NameTaken`], [`Error::Idempotency`], [`Error::Storage`].
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
                let made = new.into_draft(self.cx.ids(), self.cx.now());
                let form = &made.form;
                steps::check_router(tx, form).await?;
                must_have(tx, &form.router_id, form.channel_number_id.as_ref()).await?;
                must_be_tool(tx, &form.router_id, form.flow_id.as_ref()).await?;
                steps::insert(tx, form).await?;
                tx.form_definitions().put(&form.id, &made.definition).await?;
                Ok(made)
            })
            .await?;
        Ok(outcome.inspect(|made| self.changes.created(author, &made.form)))
    }

    /// Changes a form; its definition only while it is a draft.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::NotFound`], [`Error::Status`], [`Error::StaleRevision`], [`Error::NumberUnknown`],
    /// [`Error::FlowUnknown`], [`Error::NotATool`], [`Error::NameTaken`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &FormId,
        change: FormChange,
    ) -> Result<WholeForm, Error> {
        refuse(change.findings())?;
        let mut tx = self.store.begin().await?;
        let before: InteractiveForm = steps::find_for_update(&mut tx, reach, id).await?;
        let (number, flow) = (change.channel_number_id.clone().flatten(), change.flow_id.clone().flatten());
        let (after, definition) = change.apply(before.clone())?;
        must_have(&mut tx, &before.router_id, number.as_ref()).await?;
        must_be_tool(&mut tx, &before.router_id, flow.as_ref()).await?;
        let after = steps::save(&mut tx, after, self.cx.now()).await?;
        let definition = match definition {
            Some(new) => {
                tx.form_definitions().put(id, &new).await?;
                new
            }
            None => tx.form_definitions().find(id).await?,
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
        let before: InteractiveForm = steps::find_for_update(&mut tx, reach, id).await?;
        let status = command.leads_from(before.status).ok_or(Error::Status)?;
        let definition = tx.form_definitions().find(id).await?;
        if command == FormCommand::Publish && !has_screens(&definition) {
            return Err(Error::Empty);
        }
        let form = InteractiveForm { status, ..before.clone() };
        let form = steps::save(&mut tx, form, self.cx.now()).await?;
        tx.commit().await?;
        Ok((before, WholeForm { form, definition }))
    }

    /// Deletes a draft.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Status`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &FormId) -> Result<(), Error> {
        self.records.delete(author, reach, id).await
    }
}

fn refuse(findings: Vec<(String, flowsdk_core::text::Text)>) -> Result<(), Error> {
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
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

/// A form names tools of its own router only.
async fn must_be_tool<X: HasFlows>(
    tx: &mut X,
    router: &RouterId,
    flow: Option<&FlowId>,
) -> Result<(), Error> {
    let Some(flow) = flow else { return Ok(()) };
    let found = tx.flows().find_many(std::slice::from_ref(flow)).await?.pop();
    let flow = found.filter(|flow| flow.router_id == *router).ok_or(Error::FlowUnknown)?;
    if flow.kind == FlowKind::Tool { Ok(()) } else { Err(Error::NotATool) }
}

/// Returns whether there is a screen that could be shown.
fn has_screens(definition: &Map<String, Value>) -> bool {
    definition.get("screens").and_then(Value::as_array).is_some_and(|screens| !screens.is_empty())
}
