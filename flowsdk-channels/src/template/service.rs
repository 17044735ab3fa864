//! The use cases of templates.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::TemplateId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::{Admitted, HasRouters, Reach, RouterUnknown, router_gone};
use flowsdk_core::store::{Store, Transaction as _};

use super::{
    Component, HasTemplates, NewTemplate, Template, TemplateChange, TemplateError as Error, TemplateFilter,
    validate,
};

/// Creates, shows, changes and deletes templates. A template whose router is out of the caller's reach is as good
/// as none. Nothing here talks to the provider.
#[derive(Debug)]
pub struct Templates<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Templates<S>
where
    S::Tx: HasTemplates + HasRouters + HasIdempotency,
{
    /// A service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// A page of templates within reach, newest first.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<TemplateFilter>,
        page: &PageRequest,
    ) -> Result<Page<Template>, Error> {
        Ok(self.store.read().await?.templates().list(filter, reach.routers(), page).await?)
    }

    /// Returns a template within the caller's reach.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &TemplateId) -> Result<Template, Error> {
        within(self.store.read().await?.templates().find(id).await?, reach)
    }

    /// Creates a template, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RouterUnknown`], [`Error::NameTaken`], [`Error::Idempotency`],
    /// [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewTemplate>,
        once: Option<Once<Template>>,
    ) -> Result<Outcome<Template>, Error> {
        let new = new.into_inner();
        check(&new.components)?;
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<Template, Error> {
                tx.routers().find(&new.router_id).await?.ok_or(RouterUnknown)?;
                let template = Template {
                    id: TemplateId::generate(self.cx.ids()),
                    router_id: new.router_id,
                    business_account_id: new.business_account_id,
                    name: new.name,
                    language: new.language,
                    category: new.category,
                    status: new.status,
                    components: new.components,
                    created_at: self.cx.now(),
                    updated_at: self.cx.now(),
                };
                let inserted = tx.templates().insert_if_absent(&template).await;
                if !inserted.map_err(router_gone::<Error>)? {
                    return Err(Error::NameTaken);
                }
                Ok(template)
            })
            .await?;
        Ok(outcome.inspect(|template| self.changes.created(author, template)))
    }

    /// Changes category, status and components of a template.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::NotFound`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &TemplateId,
        change: TemplateChange,
    ) -> Result<Template, Error> {
        if let Some(components) = &change.components {
            check(components)?;
        }
        let mut tx = self.store.begin().await?;
        let before = within(tx.templates().find_for_update(id).await?, reach)?;
        let after = Template { updated_at: self.cx.now(), ..change.apply(before.clone()) };
        tx.templates().save(&after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a template; the provider's copy stays.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &TemplateId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.templates().find_for_update(id).await?, reach)?;
        tx.templates().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

fn within(found: Option<Template>, reach: Reach<'_>) -> Result<Template, Error> {
    found.filter(|template| reach.contains(&template.router_id)).ok_or(Error::NotFound)
}

fn check(components: &[Component]) -> Result<(), Error> {
    let findings = validate(components);
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}
