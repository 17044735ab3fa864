//! Exporting.

use std::collections::HashMap;

use super::references::{rename_flows, slugs};
use super::{
    FORMAT, FORMAT_VERSION, HasChannelTransfer as _, PortableChannel, TransferError, TransferFile,
    TransferTx, TransferredChannel, TransferredFlow, TransferredRouter, TransferredVariable, Transfers,
};
use crate::admin::flow::empty_definition;
use crate::fault::StorageError;
use crate::flow::{Flow, FlowFilter, HasFlowCatalog as _, HasFlows as _, WholeFlow};
use crate::id::{FlowId, RouterId};
use crate::page::{MAX_PAGE, PageRequest};
use crate::router::{AdmittedRouter, HasRouters as _, Reach, Router, StaticVariable, VariableOwner};
use crate::store::Store;

impl<S: Store> Transfers<S>
where
    S::Tx: TransferTx,
{
    /// A whole router: settings, variables, flows with their drafts and published definitions, channels.
    ///
    /// # Errors
    /// [`TransferError::RouterNotFound`], [`TransferError::Storage`].
    pub async fn export_router(&self, id: &AdmittedRouter) -> Result<TransferFile, TransferError> {
        let mut tx = self.store.read().await?;
        let router = tx.routers().find(id).await?;
        let router = router.ok_or(TransferError::RouterNotFound)?;
        let names = Names::of(&flows_of(&mut tx, id).await?);
        let flows = tx.flow_catalog().whole(id, None).await?;
        let owners = flows.iter().map(|whole| VariableOwner::Flow(whole.flow.id.clone()));
        let owners: Vec<_> = owners.chain([VariableOwner::Router(id.id().clone())]).collect();
        let mut variables = Variables::of(tx.routers().static_variables(&owners).await?);
        let channels = tx.channel_transfer().channels_of(id).await?;
        drop(tx);
        Ok(TransferFile {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            router: Some(settings(&router, &names)),
            variables: variables.take(&VariableOwner::Router(id.id().clone())),
            flows: flows.into_iter().map(|whole| flow(whole, &names, &mut variables)).collect(),
            channels: channels.into_iter().map(|one| channel(one, &names)).collect(),
        })
    }

    /// One flow. Flows that it leads to are named, and do not travel with it.
    ///
    /// # Errors
    /// [`TransferError::FlowNotFound`], [`TransferError::Storage`].
    pub async fn export_flow(&self, reach: Reach<'_>, id: &FlowId) -> Result<TransferFile, TransferError> {
        let mut tx = self.store.read().await?;
        let found = tx.flows().find(id).await?;
        let found =
            found.filter(|flow| reach.contains(&flow.router_id)).ok_or(TransferError::FlowNotFound)?;
        let names = Names::of(&flows_of(&mut tx, &found.router_id).await?);
        let flows = tx.flow_catalog().whole(&found.router_id, Some(id)).await?;
        let owner = VariableOwner::Flow(id.clone());
        let mut variables = Variables::of(tx.routers().static_variables(&[owner]).await?);
        drop(tx);
        Ok(TransferFile {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            router: None,
            variables: Vec::new(),
            flows: flows.into_iter().map(|whole| flow(whole, &names, &mut variables)).collect(),
            channels: Vec::new(),
        })
    }
}

/// The flows of a router, oldest first, so that a new one changes no other's slug.
pub(super) async fn flows_of<X: TransferTx>(
    tx: &mut X,
    router: &RouterId,
) -> Result<Vec<Flow>, StorageError> {
    let filter = FlowFilter { router_id: Some(router.clone()), kind: None };
    let mut request = PageRequest { limit: MAX_PAGE, after: None };
    let mut found = Vec::new();
    loop {
        let page = tx.flow_catalog().list(&filter, None, &request).await?;
        found.extend(page.items.into_iter().map(|listed| listed.flow));
        match page.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    found.reverse();
    Ok(found)
}

/// The names of the flows of a router in a file.
pub(super) struct Names(pub(super) HashMap<FlowId, String>);

impl Names {
    pub(super) fn of(flows: &[Flow]) -> Self {
        let slugs = slugs(flows.iter().map(|flow| flow.name.as_str()));
        Self(flows.iter().map(|flow| flow.id.clone()).zip(slugs).collect())
    }

    fn get(&self, id: Option<&FlowId>) -> Option<String> {
        self.0.get(id?).cloned()
    }
}

/// Variables by their owners.
struct Variables(HashMap<VariableOwner, Vec<TransferredVariable>>);

impl Variables {
    fn of(stored: Vec<StaticVariable>) -> Self {
        let mut by_owner: HashMap<_, Vec<_>> = HashMap::new();
        for StaticVariable { owner, key, value, encrypted } in stored {
            let variable = TransferredVariable { key, value, is_secret: encrypted.is_some() };
            by_owner.entry(owner).or_default().push(variable);
        }
        by_owner.values_mut().for_each(|variables| variables.sort_unstable_by(|a, b| a.key.cmp(&b.key)));
        Self(by_owner)
    }

    fn take(&mut self, owner: &VariableOwner) -> Vec<TransferredVariable> {
        self.0.remove(owner).unwrap_or_default()
    }
}

fn settings(router: &Router, names: &Names) -> TransferredRouter {
    TransferredRouter {
        name: router.name.clone(),
        tz: router.tz.clone(),
        initial_flow: names.get(router.initial_flow_id.as_ref()),
        has_channel_app_secret: router.channel_app_secret.is_some(),
        has_channel_verify_token: router.channel_verify_token.is_some(),
        logo_url: router.logo_url.clone(),
        sentiment_config: router.sentiment_config.clone(),
        copilot_config: router.copilot_config.clone(),
        helpdesk_agent_prefix_enabled: router.helpdesk_agent_prefix_enabled,
        helpdesk_agent_prefix_template: router.helpdesk_agent_prefix_template.clone(),
        fallback_texts: router.fallback_texts.clone(),
        phone: router.phone.clone(),
    }
}

fn flow(whole: WholeFlow, names: &Names, variables: &mut Variables) -> TransferredFlow {
    let WholeFlow { flow, draft, published } = whole;
    let to_slugs: HashMap<&str, String> =
        names.0.iter().map(|(id, slug)| (id.as_str(), slug.clone())).collect();
    let renamed = |mut definition| {
        rename_flows(&mut definition, &to_slugs);
        definition
    };
    let draft = draft.or_else(|| published.clone()).unwrap_or_else(|| empty_definition(flow.kind));
    TransferredFlow {
        slug: names.get(Some(&flow.id)).unwrap_or_else(|| flow.id.to_string()),
        name: flow.name,
        kind: flow.kind.name().to_owned(),
        draft: renamed(draft),
        published: published.map(renamed),
        variables: variables.take(&VariableOwner::Flow(flow.id)),
    }
}

fn channel(channel: PortableChannel, names: &Names) -> TransferredChannel {
    TransferredChannel {
        kind: "webchat".to_owned(),
        initial_flow: names.get(channel.initial_flow_id.as_ref()),
        name: channel.name,
        appearance: channel.appearance,
        allowed_origins: channel.allowed_origins,
        start_on: channel.start_on,
        fallback_texts: channel.fallback_texts,
        attachments: channel.attachments,
        is_closed: channel.is_closed,
    }
}
