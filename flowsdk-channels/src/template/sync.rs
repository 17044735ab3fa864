//! The use cases that ask the provider for templates, and what its webhooks tell of them (rulings O4).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, TemplateId};
use flowsdk_core::record::{HasRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach, Reachable, RouterUnknown};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::told::{self, Omission};
use super::{
    HasProviderTemplates, SyncError as Error, Template, TemplateAccount, TemplateNews, TemplateProvider,
    TemplateStatus, ToldTemplate, status_told,
};
use crate::channel_number::ProviderId;

/// Most pages that are read of an account. The provider lets it have a few hundred templates.
const MOST_PAGES: usize = 100;

/// The templates that are wanted: those of a business account, for a router.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SyncTemplates {
    /// The router that gets them. It has a number of the account with an access token.
    pub router_id: RouterId,
    /// The provider's business account that has them.
    pub business_account_id: ProviderId,
}

impl Reachable for SyncTemplates {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// A template of the provider that is not kept here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = OmittedTemplate)]
pub struct Omitted {
    name: String,
    language: String,
    reason: Omission,
}

/// What became of the templates of an account.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SyncedTemplates {
    /// How many are new here.
    pub created: u32,
    /// How many were changed here.
    pub updated: u32,
    /// How many are as they were.
    pub unchanged: u32,
    /// How many the provider has no more. They are `DISABLED` here.
    pub gone: u32,
    /// Those that cannot be kept here. One that was known is `DISABLED`, and counts as updated.
    pub omitted: Vec<Omitted>,
}

/// A transaction with all that the use cases read and write.
pub trait SyncTx: Transaction + HasRouters + HasRecords<Template> + HasProviderTemplates {}

impl<T: Transaction + HasRouters + HasRecords<Template> + HasProviderTemplates> SyncTx for T {}

/// Reads the templates of the provider, and submits new ones. No transaction is open while the provider is asked.
#[derive(Debug)]
pub struct TemplateSync<S> {
    store: Arc<S>,
    provider: Arc<dyn TemplateProvider>,
    key: Arc<MasterKey>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> TemplateSync<S>
where
    S::Tx: SyncTx,
{
    /// Creates a service over `store` that asks `provider`, and notes its changes in `changes`.
    pub fn new(
        store: Arc<S>,
        provider: Arc<dyn TemplateProvider>,
        key: Arc<MasterKey>,
        cx: OpContext,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, provider, key, cx, changes }
    }

    /// Makes the templates of a router those that the provider has: its word counts for all that it knows. Drafts that were
    /// not submitted stay.
    ///
    /// # Errors
    /// [`Error`]: nothing was changed.
    pub async fn sync(
        &self,
        author: &Author,
        wanted: Admitted<SyncTemplates>,
    ) -> Result<SyncedTemplates, Error> {
        let SyncTemplates { router_id, business_account_id } = wanted.into_inner();
        let account = self.account(&router_id, business_account_id).await?;
        let mut told = Vec::new();
        let mut after = None;
        for _ in 0..MOST_PAGES {
            let page = self.provider.list(&account, after.as_deref()).await?;
            told.extend(page.templates);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        // Of more nobody knows which of ours are gone.
        let is_whole = after.is_none();
        let mut tx = self.store.begin().await?;
        let known = tx.provider_templates().of_account(std::slice::from_ref(&router_id), &account.id).await?;
        let synced = self.compare(&told, known, (&router_id, &account.id), is_whole);
        let changed: Vec<Template> = synced.changes.iter().map(|(_, template)| template.clone()).collect();
        if !changed.is_empty() {
            tx.provider_templates().put_many(&changed).await?;
        }
        tx.commit().await?;
        for (before, after) in &synced.changes {
            match before {
                Some(before) => self.changes.updated(author, before, after),
                None => self.changes.created(author, after),
            }
        }
        Ok(synced.counts)
    }

    fn compare(
        &self,
        told: &[ToldTemplate],
        known: Vec<Template>,
        (router, account): (&RouterId, &ProviderId),
        is_whole: bool,
    ) -> Compared {
        let now = self.cx.now();
        let mut compared = Compared::default();
        let mut known: HashMap<(String, String), Template> = known
            .into_iter()
            .map(|one| ((one.name.as_str().to_owned(), one.language.as_str().to_owned()), one))
            .collect();
        let mut seen = HashSet::new();
        for told in told {
            let key = (told.name.clone(), told.language.clone());
            if !seen.insert(key.clone()) {
                continue;
            }
            let before = known.remove(&key);
            match told::read(told, before.as_ref(), (router, account), self.cx.ids(), now) {
                Ok(after) if before.as_ref() == Some(&after) => compared.counts.unchanged += 1,
                Ok(after) => compared.change(before, Template { updated_at: now, ..after }),
                Err(reason) => {
                    let omitted = Omitted { name: key.0, language: key.1, reason };
                    compared.counts.omitted.push(omitted);
                    // What is known of it may be something else by now.
                    let is_disabled = compared.disable(before, now);
                    compared.counts.updated += u32::from(is_disabled);
                }
            }
        }
        if is_whole {
            for gone in known.into_values().filter(|one| one.provider_id.is_some()) {
                compared.counts.gone += u32::from(compared.disable(Some(gone), now));
            }
        }
        compared
    }

    /// Submits a draft to the provider for its review. A template that the provider has by another way is found by
    /// [`Self::sync`].
    ///
    /// # Errors
    /// [`Error`]. After [`ProviderFault::Unanswered`](crate::ProviderFault::Unanswered) the provider may have it.
    pub async fn submit(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &TemplateId,
    ) -> Result<Template, Error> {
        let template: Template = steps::find(&mut self.store.read().await?, reach, id).await?;
        if template.provider_id.is_some() || template.status != TemplateStatus::Draft {
            return Err(Error::AlreadySubmitted);
        }
        let account = self.account(&template.router_id, template.business_account_id.clone()).await?;
        let submitted = self.provider.submit(&account, &template).await?;
        let mut tx = self.store.begin().await?;
        let before: Template = steps::find_for_update(&mut tx, reach, id).await?;
        let mut after = before.clone();
        after.provider_id = ProviderId::parse(&submitted.provider_id).ok();
        // The provider's webhook may have been faster.
        if before.status == TemplateStatus::Draft {
            after.status = status_told(&submitted.status).unwrap_or(TemplateStatus::Pending);
            after.category = submitted.category.unwrap_or(before.category);
        }
        let after = steps::save(&mut tx, after, self.cx.now()).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    async fn account(&self, router: &RouterId, id: ProviderId) -> Result<TemplateAccount, Error> {
        let mut tx = self.store.read().await?;
        tx.routers().find(router).await?.ok_or(RouterUnknown)?;
        let token = tx.provider_templates().token(router, &id).await?.ok_or(Error::NoToken)?;
        Ok(TemplateAccount { id, access_token: self.key.decrypt(&token)? })
    }
}

/// What a comparison has found.
#[derive(Default)]
struct Compared {
    counts: SyncedTemplates,
    /// Templates as they were, and as they are.
    changes: Vec<(Option<Template>, Template)>,
}

impl Compared {
    fn change(&mut self, before: Option<Template>, after: Template) {
        let count = if before.is_some() { &mut self.counts.updated } else { &mut self.counts.created };
        *count += 1;
        self.changes.push((before, after));
    }

    /// Disables a template, and returns whether it was not before.
    fn disable(&mut self, before: Option<Template>, now: Timestamp) -> bool {
        let Some(before) = before.filter(|one| one.status != TemplateStatus::Disabled) else { return false };
        let after = Template { status: TemplateStatus::Disabled, updated_at: now, ..before.clone() };
        self.changes.push((Some(before), after));
        true
    }
}

/// Applies what the provider tells of templates of an account to those of these routers. News that change nothing, or are
/// about templates that nobody has here, are left out.
///
/// # Errors
/// The database fails.
pub async fn follow<T: HasProviderTemplates + ?Sized>(
    tx: &mut T,
    (routers, account): (&[RouterId], &ProviderId),
    news: &[TemplateNews],
    now: Timestamp,
) -> Result<(), StorageError> {
    let mut templates = tx.provider_templates().of_account(routers, account).await?;
    let mut changed = HashSet::new();
    for news in news {
        for template in templates.iter_mut().filter(|template| news.is_about(template)) {
            let after = template.told(&news.change);
            if after != *template {
                *template = Template { updated_at: now, ..after };
                changed.insert(template.id.clone());
            }
        }
    }
    templates.retain(|template| changed.contains(&template.id));
    if templates.is_empty() { Ok(()) } else { tx.provider_templates().put_many(&templates).await }
}
