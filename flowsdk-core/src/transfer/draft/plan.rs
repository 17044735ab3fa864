//! Decides what an import would do to a router: nothing is read or written here.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::{DraftCheck, DraftFinding, PlannedChange, PlannedKind, PlannedOutcome, PlannedTarget};
use crate::admin::flow::empty_definition;
use crate::flow::{Flow, FlowKind, WholeFlow};
use crate::text::Text;
use crate::time::Timestamp;
use crate::transfer::export::Names;
use crate::transfer::plan::{OnConflict, Place, places};
use crate::transfer::references::rename_flows;
use crate::transfer::{TransferError, TransferFile, TransferredFlow, TransferredVariable};
use crate::variable::{Variable, VariableValue};

/// Most warnings of a check, and most differences of a stale one.
const MOST: usize = 100;

/// The variables of an owner, by their keys.
pub(super) type Variables = HashMap<String, Variable>;

/// A router as far as an import touches it.
pub(super) struct Target {
    /// The flows, oldest first, with their definitions and variables.
    pub(super) flows: Vec<(WholeFlow, Variables)>,
    /// The variables of the router.
    pub(super) variables: Variables,
}

/// Returns the plan of an import whose file was looked through already.
pub(super) fn plan(file: &TransferFile, target: &Target, on_conflict: OnConflict) -> DraftCheck {
    let existing: Vec<Flow> = target.flows.iter().map(|(whole, _)| whole.flow.clone()).collect();
    let mut errors = taken(&file.variables, &target.variables, on_conflict);
    let places = match places(&file.flows, &existing, on_conflict) {
        Ok(places) => places,
        Err(error) => {
            errors.extend(findings(error));
            Vec::new()
        }
    };
    if !errors.is_empty() {
        errors.truncate(MOST);
        return DraftCheck { errors, ..DraftCheck::default() };
    }
    let mut changes: Vec<_> = file
        .variables
        .iter()
        .map(|sent| variable(sent, target.variables.get(&sent.key), on_conflict))
        .collect();
    let (flows, mut warnings) = flows(file, &places, target, &existing);
    changes.extend(flows);
    changes.extend(not_in_file(file, &places, target));
    warnings.truncate(MOST);
    DraftCheck { errors, warnings, changes }
}

/// Returns the planned changes of what the import touches. What the router has besides may change meanwhile.
pub(super) fn touched(check: &DraftCheck) -> Vec<&PlannedChange> {
    check.changes.iter().filter(|change| change.outcome != PlannedOutcome::NotInFile).collect()
}

/// Returns each difference of two plans in what the import touches: the name, and the outcomes before and after.
pub(super) fn differences(before: &DraftCheck, after: &DraftCheck) -> Vec<(String, Text)> {
    let by_name = |check: &DraftCheck| -> BTreeMap<(&'static str, String), PlannedChange> {
        let keyed = touched(check).into_iter().map(|one| ((one.kind.name(), one.name.clone()), one.clone()));
        keyed.collect()
    };
    let mut found: Vec<_> =
        after.errors.iter().map(|finding| (finding.place.clone(), finding.text())).collect();
    if found.is_empty() {
        let (before, after) = (by_name(before), by_name(after));
        let keys: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        for key in keys {
            let (was, is) = (before.get(key), after.get(key));
            if was != is {
                let word = |one: Option<&PlannedChange>| one.map_or("-", |one| one.outcome.name());
                let (was, is) = (word(was), word(is));
                found.push((
                    format!("{}.{}", key.0, key.1),
                    Text::of(format!("era {was}, agora {is}"), format!("was {was}, now {is}")),
                ));
            }
        }
    }
    found.truncate(MOST);
    found
}

/// Returns the findings of a file or of names that cannot be imported.
pub(super) fn findings(error: TransferError) -> Vec<DraftFinding> {
    match error {
        TransferError::Invalid(found) => found.into_iter().map(DraftFinding::new).collect(),
        TransferError::NameTaken(found) => {
            let said = |(place, name): (String, Text)| {
                let name = name.portuguese();
                let text =
                    Text::of(format!("Nome já existe: {name}"), format!("Name already exists: {name}"));
                DraftFinding::new((place, text))
            };
            found.into_iter().map(said).collect()
        }
        _ => Vec::new(),
    }
}

fn taken(sent: &[TransferredVariable], stored: &Variables, on_conflict: OnConflict) -> Vec<DraftFinding> {
    let conflicts = sent
        .iter()
        .enumerate()
        .filter(|(_, sent)| on_conflict == OnConflict::Refuse && stored.contains_key(&sent.key));
    let named = conflicts.map(|(index, sent)| {
        (format!("variables[{index}].key"), Text::of(sent.key.clone(), sent.key.clone()))
    });
    findings(TransferError::NameTaken(named.take(MOST).collect()))
}

fn variable(sent: &TransferredVariable, known: Option<&Variable>, on_conflict: OnConflict) -> PlannedChange {
    let outcome = match known {
        None => PlannedOutcome::Created,
        Some(known) if is_replaced(sent, known, on_conflict) => {
            if is_equal(sent, known) {
                PlannedOutcome::Unchanged
            } else {
                PlannedOutcome::Updated
            }
        }
        Some(_) => PlannedOutcome::Kept,
    };
    let target = known.map(|known| target(known.id.as_str(), known.updated_at));
    PlannedChange { kind: PlannedKind::Variable, name: sent.key.clone(), outcome, target }
}

/// A secret that is there always stays, and no variable that is there becomes one.
fn is_replaced(sent: &TransferredVariable, known: &Variable, on_conflict: OnConflict) -> bool {
    on_conflict == OnConflict::Replace && !known.value.is_secret() && !sent.is_secret
}

fn is_equal(sent: &TransferredVariable, known: &Variable) -> bool {
    matches!(&known.value, VariableValue::Clear(value) if Some(value) == sent.value.as_ref())
}

fn target(id: &str, changed_at: Timestamp) -> PlannedTarget {
    PlannedTarget { id: id.to_owned(), changed_at: changed_at.as_millis() }
}

fn flows(
    file: &TransferFile,
    places: &[Place],
    target_router: &Target,
    existing: &[Flow],
) -> (Vec<PlannedChange>, Vec<DraftFinding>) {
    let by_id: HashMap<_, _> = target_router.flows.iter().map(|one| (&one.0.flow.id, one)).collect();
    // A flow that is new has no id yet. Its name in the file cannot be one that the router has.
    let mut here: HashMap<&str, String> = HashMap::new();
    let names = Names::of(existing);
    here.extend(names.0.iter().map(|(id, slug)| (slug.as_str(), id.to_string())));
    for (sent, place) in file.flows.iter().zip(places) {
        let id = match place {
            Place::Existing(flow) => flow.id.to_string(),
            Place::New(_) => format!("new:{}", sent.slug),
        };
        here.insert(sent.slug.as_str(), id);
    }
    let (mut changes, mut warnings) = (Vec::new(), left_out(file));
    for (index, (sent, place)) in file.flows.iter().zip(places).enumerate() {
        let mut unknown = Vec::new();
        let mut settled = |definition: &Value| {
            let mut definition = definition.clone();
            unknown.extend(rename_flows(&mut definition, &here));
            definition
        };
        let (draft, published) = (settled(&sent.draft), sent.published.as_ref().map(&mut settled));
        unknown.sort();
        unknown.dedup();
        for name in unknown {
            let text = Text::of(format!("Flow não encontrado: {name}"), format!("No such flow: {name}"));
            warnings.push(DraftFinding::new((format!("flows[{index}]"), text)));
        }
        changes.push(match place {
            Place::New(name) => {
                let is_renamed = *name != sent.name;
                let outcome = if is_renamed { PlannedOutcome::Renamed } else { PlannedOutcome::Created };
                PlannedChange { kind: PlannedKind::Flow, name: name.clone(), outcome, target: None }
            }
            Place::Existing(flow) => {
                let known = by_id.get(&flow.id).copied();
                let same = known.is_some_and(|known| is_same(sent, &draft, published.as_ref(), known));
                let outcome = if same { PlannedOutcome::Unchanged } else { PlannedOutcome::Updated };
                let changed_at = known.map_or(flow.updated_at, changed_at);
                let target = Some(target(flow.id.as_str(), changed_at));
                PlannedChange { kind: PlannedKind::Flow, name: flow.name.clone(), outcome, target }
            }
        });
    }
    (changes, warnings)
}

/// A change of a variable does not touch its flow.
fn changed_at((whole, variables): &(WholeFlow, Variables)) -> Timestamp {
    let last = variables.values().map(|variable| variable.updated_at).max();
    last.map_or(whole.flow.updated_at, |last| last.max(whole.flow.updated_at))
}

fn is_same(
    sent: &TransferredFlow,
    draft: &Value,
    published: Option<&Value>,
    (whole, variables): &(WholeFlow, Variables),
) -> bool {
    let stored = whole.draft.clone().or_else(|| whole.published.clone());
    let stored = stored.unwrap_or_else(|| empty_definition(FlowKind::parse(&sent.kind).unwrap_or_default()));
    let equal = |sent: &TransferredVariable| {
        variables
            .get(&sent.key)
            .is_some_and(|known| is_equal(sent, known) || !is_replaced(sent, known, OnConflict::Replace))
    };
    *draft == stored
        && published.is_none_or(|published| whole.published.as_ref() == Some(published))
        && sent.variables.iter().all(equal)
}

/// Returns the parts of a file that an import into a router leaves out.
fn left_out(file: &TransferFile) -> Vec<DraftFinding> {
    let parts = [("router", file.router.is_some()), ("channels", !file.channels.is_empty())];
    let text = || Text::new("Fica no arquivo", "It stays in the file");
    let there = parts.into_iter().filter(|(_, there)| *there);
    there.map(|(place, _)| DraftFinding::new((place.to_owned(), text()))).collect()
}

fn not_in_file(file: &TransferFile, places: &[Place], target: &Target) -> Vec<PlannedChange> {
    let replaced: HashSet<_> = places
        .iter()
        .filter_map(|place| match place {
            Place::Existing(flow) => Some(&flow.id),
            Place::New(_) => None,
        })
        .collect();
    let sent: HashSet<_> = file.variables.iter().map(|variable| variable.key.as_str()).collect();
    let stays = |kind, name: &str| PlannedChange {
        kind,
        name: name.to_owned(),
        outcome: PlannedOutcome::NotInFile,
        target: None,
    };
    let mut keys: Vec<_> = target.variables.keys().filter(|key| !sent.contains(key.as_str())).collect();
    keys.sort_unstable();
    let variables = keys.into_iter().map(|key| stays(PlannedKind::Variable, key));
    let flows = target.flows.iter().filter(|(whole, _)| !replaced.contains(&whole.flow.id));
    variables.chain(flows.map(|(whole, _)| stays(PlannedKind::Flow, &whole.flow.name))).collect()
}
