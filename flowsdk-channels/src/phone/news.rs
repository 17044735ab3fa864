//! The consumer of `stream:provider-news`: what the provider tells of contacts and templates of an account.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::contact::{HasContacts, HasOptIns, ToldOptIn, find_by_either_form, follow_provider};
use flowsdk_core::context::OpContext;
use flowsdk_core::event::ProviderNews;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::broker::Entry;
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Timestamp;

use super::webhook::{AccountNews, Preference};
use crate::channel_number::ProviderId;
use crate::template::{HasProviderTemplates, TemplateNews, follow};

/// The consumer group on `stream:provider-news`.
pub const NEWS_GROUP: &str = "phone-news";

/// Applies the news of a batch in one transaction. News that come again change nothing.
#[derive(Debug)]
pub struct NewsFollower<S> {
    store: Arc<S>,
    cx: OpContext,
}

/// A contact prefers something of these routers, since a time.
type Preferred<'a> = (&'a [RouterId], Preference, Timestamp);

impl<S: Store> NewsFollower<S>
where
    S::Tx: HasContacts + HasOptIns + HasProviderTemplates,
{
    /// Creates a follower that writes to `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    async fn apply(&self, batch: &[&ProviderNews]) -> Result<(), StorageError> {
        let mut preferred: Vec<Preferred<'_>> = Vec::new();
        let mut templates: HashMap<(&str, &[RouterId]), Vec<TemplateNews>> = HashMap::new();
        for told in batch {
            for news in AccountNews::read(&told.field, &told.value) {
                match news {
                    AccountNews::Preference(preference) => {
                        preferred.push((&told.router_ids, preference, told.timestamp));
                    }
                    AccountNews::Template(news) => {
                        templates.entry((&told.account_id, &told.router_ids)).or_default().push(news);
                    }
                }
            }
        }
        let mut tx = self.store.begin().await?;
        self.prefer(&mut tx, &preferred).await?;
        for ((account, routers), news) in templates {
            let Ok(account) = ProviderId::parse(account) else { continue };
            follow(&mut tx, (routers, &account), &news, self.cx.now()).await?;
        }
        tx.commit().await
    }

    /// Notes what contacts want of routers. Whoever is not known has said nothing.
    async fn prefer(&self, tx: &mut S::Tx, preferred: &[Preferred<'_>]) -> Result<(), StorageError> {
        let from: Vec<String> = preferred.iter().map(|(_, preference, _)| preference.from.clone()).collect();
        let known = find_by_either_form(tx, &from).await?;
        let mut told = Vec::new();
        for (routers, preference, came_at) in preferred {
            let Some(contact) = known.get(&preference.from) else { continue };
            told.extend(routers.iter().map(|router| ToldOptIn {
                contact_id: contact.id.clone(),
                router_id: router.clone(),
                chat_id: None,
                status: preference.status,
                at: preference.at.map_or(*came_at, |at| at.min(*came_at)),
            }));
        }
        follow_provider(tx, &self.cx, &told).await
    }
}

#[async_trait]
impl<S: Store> BatchHandler for NewsFollower<S>
where
    S::Tx: HasContacts + HasOptIns + HasProviderTemplates,
{
    type Event = ProviderNews;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<ProviderNews, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<ProviderNews, ()>]) -> Vec<Verdict<()>> {
        let news: Vec<&ProviderNews> = batch.iter().map(|work| work.event()).collect();
        Verdict::of_write(batch.len(), &self.apply(&news).await)
    }
}
