//! The flows of a file.

use std::collections::{BTreeSet, HashMap};

use serde_json::json;

use super::Import;
use crate::change::{Change, Recorded as _};
use crate::flow::{Flow, FlowDraft, FlowKind, FlowVersion, HasFlowCatalog as _, HasFlows as _};
use crate::id::FlowId;
use crate::router::VariableOwner;
use crate::store::Store;
use crate::transfer::export::Names;
use crate::transfer::plan::{OnConflict, Place, places};
use crate::transfer::references::{elsewhere, rename_flows};
use crate::transfer::{
    ImportedFlow, Landed, Missing, TransferError, TransferFile, TransferTx, TransferredFlow, Transfers,
};

impl<S: Store> Transfers<S>
where
    S::Tx: TransferTx,
{
    /// Imports the flows, and returns their ids by their names in the file.
    pub(super) async fn flows(
        &self,
        import: &mut Import<'_, S::Tx>,
        file: &TransferFile,
        existing: &[Flow],
        on_conflict: OnConflict,
    ) -> Result<HashMap<String, FlowId>, TransferError> {
        let places = places(&file.flows, existing, on_conflict)?;
        // A file of one flow may name others, which may be there.
        let mut ids: HashMap<String, FlowId> =
            Names::of(existing).0.into_iter().map(|(id, slug)| (slug, id)).collect();
        let mut landing = Vec::with_capacity(file.flows.len());
        for (flow, place) in file.flows.iter().zip(places) {
            let flow_here = match place {
                Place::Existing(known) => *known,
                Place::New(name) => {
                    let id = FlowId::generate(self.cx.ids());
                    let kind = FlowKind::parse(&flow.kind).unwrap_or(FlowKind::Flow);
                    Flow { kind, ..Flow::new(id, import.router.clone(), name, import.now) }
                }
            };
            ids.insert(flow.slug.clone(), flow_here.id.clone());
            landing.push(flow_here);
        }
        let here: HashMap<&str, String> =
            ids.iter().map(|(slug, id)| (slug.as_str(), id.to_string())).collect();
        for (index, (sent, flow)) in file.flows.iter().zip(landing).enumerate() {
            let known = existing.iter().any(|known| known.id == flow.id);
            self.flow(import, sent, flow, known, &here, &format!("flows[{index}]")).await?;
        }
        Ok(ids)
    }

    async fn flow(
        &self,
        import: &mut Import<'_, S::Tx>,
        sent: &TransferredFlow,
        mut flow: Flow,
        known: bool,
        here: &HashMap<&str, String>,
        place: &str,
    ) -> Result<(), TransferError> {
        let before = flow.clone();
        if !known {
            import.tx.flows().insert(&flow).await?;
            import.note(flow.kind.into(), flow.id.to_string(), Change::Created(flow.to_json()));
        }
        let mut missing = BTreeSet::new();
        let mut settled = |definition: &serde_json::Value| {
            let mut definition = definition.clone();
            let unknown = rename_flows(&mut definition, here);
            missing.extend(unknown.into_iter().map(|name| ("flowId", name)));
            missing.extend(elsewhere(&definition));
            definition
        };
        let (draft, published) = (settled(&sent.draft), sent.published.as_ref().map(&mut settled));
        let revision = match import.tx.flow_catalog().draft(&flow.id).await? {
            Some(draft) => draft.revision + 1,
            None => 1,
        };
        let draft = FlowDraft { revision, definition: draft.into(), updated_at: import.now };
        import.tx.flow_catalog().put_draft(&flow.id, &draft).await?;
        let mut published_version = None;
        if let Some(definition) = published {
            let number = import.tx.flow_catalog().last_numbers(&flow.id).await?.published + 1;
            let version = FlowVersion::of(&flow, number, definition.into(), self.cx.ids(), import.now);
            import.tx.flows().publish(&version).await?;
            flow.published_version_id = Some(version.id.clone());
            flow.test_version_id = None;
            published_version = Some(number);
            let what = json!({ "number": number, "versionId": version.id, "imported": true });
            import.note(flow.kind.into(), flow.id.to_string(), Change::Published(what));
        }
        if known {
            flow.updated_at = import.now;
            // Of the draft only the revision, as where it is edited.
            let shown = |flow: &Flow, revision: i64| {
                let mut shown = flow.to_json();
                shown["revision"] = json!(revision);
                shown
            };
            let (before, after) = (shown(&before, revision - 1), shown(&flow, revision));
            let change = Change::Updated { before, after, hidden: Vec::new() };
            import.note(flow.kind.into(), flow.id.to_string(), change);
        }
        import.tx.flow_catalog().save(&flow).await?;
        let owner = VariableOwner::Flow(flow.id.clone());
        self.variables(import, &owner, &sent.variables, OnConflict::Replace, place).await?;
        for (kind, name) in missing {
            let (place, id) = (place.to_owned(), flow.id.to_string());
            import.report.missing.push(Missing { kind, place, name: Some(name), id });
        }
        let landed = match (known, flow.name == sent.name) {
            (true, _) => Landed::Replaced,
            (false, true) => Landed::Created,
            (false, false) => Landed::Renamed,
        };
        let (slug, id, name) = (sent.slug.clone(), flow.id, flow.name);
        import.report.flows.push(ImportedFlow { slug, id, name, landed, published_version });
        Ok(())
    }
}
