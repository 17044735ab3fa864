//! Decides whether a file can be imported, and where its parts go: nothing is read or written here.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::references::free_name;
use super::{FORMAT, FORMAT_VERSION, TransferError, TransferFile, TransferredFlow, TransferredVariable};
use crate::admin::flow::TOOL_BEGINS_NOTHING;
use crate::cell::Named;
use crate::flow::{Flow, FlowKind, Problem, check};
use crate::id::FlowId;
use crate::router::TimeZoneName;
use crate::text::Text;
use crate::variable::VariableKey;

/// Largest definition, as JSON, in bytes: the bound of the API for one flow.
const MAX_DEFINITION: usize = 1 << 20;
/// Most findings that one error names.
pub(super) const MOST: usize = 100;

/// The rule for a name that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "ImportOnConflict")]
pub enum OnConflict {
    /// Nothing of the file is imported.
    #[default]
    Refuse,
    /// The imported entity gets another name.
    Rename,
    /// The imported entity replaces the existing one.
    Replace,
}

/// Findings, each at its place in the file.
#[derive(Default)]
struct Findings(Vec<(String, Text)>);

impl Findings {
    fn add(&mut self, place: impl Into<String>, portuguese: &str, english: &str) {
        self.text(place, Text::of(portuguese.to_owned(), english.to_owned()));
    }

    fn text(&mut self, place: impl Into<String>, text: Text) {
        if self.0.len() < MOST {
            self.0.push((place.into(), text));
        }
    }

    fn problems(&mut self, place: &str, problems: &[Problem]) {
        for problem in problems.iter().filter(|problem| problem.is_error()) {
            let (place, text) = finding(place, problem);
            self.text(place, text);
        }
    }
}

/// Returns a problem of the definition that stands at `place`, as a finding.
pub(super) fn finding(place: &str, problem: &Problem) -> (String, Text) {
    let text = problem.message.map(|text| format!("{text} ({})", problem.code));
    (format!("{place}{}", problem.pointer), text)
}

/// Looks through a file, except for its scripts.
///
/// # Errors
/// [`TransferError::Invalid`] with everything that is wrong, up to a hundred findings.
pub(super) fn check_file(file: &TransferFile) -> Result<(), TransferError> {
    let mut findings = Findings::default();
    if file.format != FORMAT {
        let (portuguese, english) = (
            format!("Formato desconhecido: esperado {FORMAT}"),
            format!("Unknown format: expected {FORMAT}"),
        );
        findings.add("format", &portuguese, &english);
    }
    if file.format_version != FORMAT_VERSION {
        findings.add(
            "formatVersion",
            &format!("Versão não suportada: esta versão lê {FORMAT_VERSION}"),
            &format!("Unsupported version: this version reads {FORMAT_VERSION}"),
        );
    }
    let mut slugs = HashSet::new();
    for (index, flow) in file.flows.iter().enumerate() {
        let place = format!("flows[{index}]");
        if !slugs.insert(flow.slug.as_str()) {
            findings.add(format!("{place}.slug"), "Repetido", "Repeated");
        }
        check_flow(flow, &place, &mut findings);
    }
    check_variables(&file.variables, "variables", &mut findings);
    let tools: HashSet<_> =
        file.flows.iter().filter(|flow| flow.kind == FlowKind::Tool.name()).map(|flow| &flow.slug).collect();
    let mut refers = |slug: Option<&String>, place: String| match slug {
        Some(slug) if !slugs.contains(slug.as_str()) => {
            findings.add(place, "Não está no arquivo", "Not in the file");
        }
        Some(slug) if tools.contains(slug) => findings.text(place, TOOL_BEGINS_NOTHING),
        _ => {}
    };
    if let Some(router) = &file.router {
        refers(router.initial_flow.as_ref(), "router.initialFlow".to_owned());
    }
    for (index, channel) in file.channels.iter().enumerate() {
        refers(channel.initial_flow.as_ref(), format!("channels[{index}].initialFlow"));
    }
    for (index, channel) in file.channels.iter().enumerate() {
        if channel.kind != "webchat" {
            findings.add(format!("channels[{index}].type"), "Tipo desconhecido", "Unknown type");
        }
        check_name(&channel.name, format!("channels[{index}].name"), &mut findings);
    }
    if let Some(router) = &file.router {
        check_name(&router.name, "router.name".to_owned(), &mut findings);
        if TimeZoneName::parse(&router.tz).is_err() {
            findings.add("router.tz", "Deve ser um fuso horário IANA", "Must be an IANA time zone");
        }
    }
    if findings.0.is_empty() { Ok(()) } else { Err(TransferError::Invalid(findings.0)) }
}

fn check_name(name: &str, place: String, findings: &mut Findings) {
    if name.trim().is_empty() {
        findings.add(place, "Não pode ser vazio", "May not be empty");
    } else if name.chars().count() > 200 {
        findings.add(place, "Deve ter de 1 a 200 caracteres", "Must have 1 to 200 characters");
    }
}

fn check_flow(flow: &TransferredFlow, place: &str, findings: &mut Findings) {
    if FlowId::parse(flow.slug.clone()).is_err() {
        findings.add(
            format!("{place}.slug"),
            "Formato inválido: esperado um id",
            "Invalid format: expected an id",
        );
    }
    check_name(&flow.name, format!("{place}.name"), findings);
    let kind = FlowKind::parse(&flow.kind);
    if kind.is_none() {
        findings.add(format!("{place}.kind"), "Deve ser um de: flow, tool", "Must be one of: flow, tool");
    }
    for (field, definition) in [("draft", Some(&flow.draft)), ("published", flow.published.as_ref())] {
        let Some(definition) = definition else { continue };
        if !definition.is_object() {
            findings.add(format!("{place}.{field}"), "Deve ser um objeto", "Must be an object");
        } else if size(definition) > MAX_DEFINITION {
            findings.add(
                format!("{place}.{field}"),
                "Pode ter no máximo 1048576 bytes",
                "May have at most 1048576 bytes",
            );
        } else if field == "published"
            && let Err(problems) = check::publishable(kind.unwrap_or(FlowKind::Flow), definition)
        {
            findings.problems(&format!("{place}.published"), &problems);
        }
    }
    check_variables(&flow.variables, &format!("{place}.variables"), findings);
}

/// The bytes of a definition as JSON; more than enough of them is too many.
fn size(definition: &Value) -> usize {
    serde_json::to_vec(definition).map_or(usize::MAX, |bytes| bytes.len())
}

fn check_variables(variables: &[TransferredVariable], place: &str, findings: &mut Findings) {
    let mut keys = HashSet::new();
    for (index, variable) in variables.iter().enumerate() {
        let place = format!("{place}[{index}]");
        if VariableKey::parse(&variable.key).is_err() {
            findings.add(
                format!("{place}.key"),
                "Formato inválido: esperado letras, dígitos e sublinhados, sem dígito no início",
                "Invalid format: expected letters, digits and underscores, no digit in front",
            );
        }
        if !keys.insert(variable.key.as_str()) {
            findings.add(format!("{place}.key"), "Repetido", "Repeated");
        }
        match (&variable.value, variable.is_secret) {
            (Some(_), true) => {
                findings.add(format!("{place}.value"), "Um segredo não viaja", "A secret does not travel");
            }
            (None, false) => findings.add(format!("{place}.value"), "Campo obrigatório", "Required field"),
            _ => {}
        }
    }
}

/// Where a flow of the file goes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// A new flow of this name.
    New(String),
    /// The flow that has the place already.
    Existing(Box<Flow>),
}

/// Returns the places for the flows of the file in a router that has `existing`.
///
/// # Errors
/// [`TransferError::NameTaken`] with every name that is there already, unless that is not a conflict;
/// [`TransferError::Invalid`] with every name that does not say which flow is to be replaced, or by which.
pub(super) fn places(
    flows: &[TransferredFlow],
    existing: &[Flow],
    on_conflict: OnConflict,
) -> Result<Vec<Place>, TransferError> {
    if on_conflict == OnConflict::Replace {
        one_of_each_name(flows, existing)?;
    }
    let by_name: HashMap<&str, &Flow> = existing.iter().map(|flow| (flow.name.as_str(), flow)).collect();
    let mut taken: BTreeSet<String> = existing.iter().map(|flow| flow.name.clone()).collect();
    let (mut places, mut conflicts) = (Vec::with_capacity(flows.len()), Vec::new());
    for (index, flow) in flows.iter().enumerate() {
        let known = by_name.get(flow.name.as_str());
        places.push(match (known, on_conflict) {
            (Some(known), OnConflict::Replace) if known.kind.name() == flow.kind => {
                Place::Existing(Box::new((*known).clone()))
            }
            (Some(_), OnConflict::Refuse) => {
                let name = flow.name.clone();
                conflicts.push((format!("flows[{index}].name"), Text::of(name.clone(), name)));
                continue;
            }
            (Some(_), _) => {
                let free = free_name(&flow.name, &taken);
                taken.insert(free.clone());
                Place::New(free)
            }
            (None, _) => Place::New(flow.name.clone()),
        });
    }
    conflicts.truncate(MOST);
    if conflicts.is_empty() { Ok(places) } else { Err(TransferError::NameTaken(conflicts)) }
}

/// Names of flows are not unique. Where one is the key, it must be, or the wrong flow would be overwritten.
fn one_of_each_name(flows: &[TransferredFlow], existing: &[Flow]) -> Result<(), TransferError> {
    let here = counted(existing.iter().map(|flow| flow.name.as_str()));
    let sent = counted(flows.iter().map(|flow| flow.name.as_str()));
    let mut findings = Findings::default();
    for (index, flow) in flows.iter().enumerate() {
        let place = format!("flows[{index}].name");
        let name = &flow.name;
        if here.get(name.as_str()).is_some_and(|count| *count > 1) {
            findings.add(
                place,
                &format!("Vários flows do roteador se chamam {name}: nenhum pode ser substituído pelo nome"),
                &format!("Several flows of the router are called {name}: none can be replaced by its name"),
            );
        } else if sent.get(name.as_str()).is_some_and(|count| *count > 1) {
            findings.add(
                place,
                &format!("Vários flows do arquivo se chamam {name}: nenhum pode substituir outro pelo nome"),
                &format!("Several flows of the file are called {name}: none can replace another by its name"),
            );
        }
    }
    if findings.0.is_empty() { Ok(()) } else { Err(TransferError::Invalid(findings.0)) }
}

/// How often each name is there.
fn counted<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::time::Timestamp;

    fn file(change: impl FnOnce(&mut Value)) -> TransferFile {
        let flow = |slug: &str| {
            json!({ "slug": slug, "name": slug, "kind": "flow", "draft": {}, "published": {
                "schemaVersion": 1, "startBlockId": "a",
                "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] } })
        };
        let mut file = json!({ "format": "flowsdk", "formatVersion": 1,
            "router": { "name": "R", "tz": "America/Sao_Paulo", "initialFlow": "um" },
            "variables": [{ "key": "a", "value": "b", "isSecret": false }],
            "flows": [flow("um"), flow("dois")],
            "channels": [{ "type": "webchat", "name": "C", "initialFlow": "dois" }] });
        change(&mut file);
        serde_json::from_value(file).expect("a file")
    }

    fn tool(slug: &str) -> Value {
        json!({ "slug": slug, "name": slug, "kind": "tool", "draft": {} })
    }

    #[test]
    fn every_finding_has_its_place() {
        assert!(check_file(&file(|_| ())).is_ok());
        type Change = fn(&mut Value);
        let cases: [(Change, &str); 20] = [
            (|file| file["formatVersion"] = json!(2), "formatVersion"),
            (|file| file["format"] = json!("yaml"), "format"),
            (|file| file["flows"][0]["name"] = json!(" \t"), "flows[0].name"),
            (|file| file["router"]["tz"] = json!("Mars/Olympus"), "router.tz"),
            (|file| file["router"]["initialFlow"] = json!("três"), "router.initialFlow"),
            (|file| file["channels"][0]["initialFlow"] = json!("três"), "channels[0].initialFlow"),
            (|file| file["flows"][0] = tool("um"), "router.initialFlow"),
            (|file| file["flows"][1] = tool("dois"), "channels[0].initialFlow"),
            (|file| file["channels"][0]["type"] = json!("fax"), "channels[0].type"),
            (|file| file["channels"][0]["name"] = json!(""), "channels[0].name"),
            (|file| file["flows"][1]["slug"] = json!("um"), "flows[1].slug"),
            (|file| file["flows"][1]["name"] = json!("n".repeat(201)), "flows[1].name"),
            (|file| file["flows"][0]["kind"] = json!("agent"), "flows[0].kind"),
            (|file| file["flows"][0]["kind"] = json!("tool"), "flows[0].published/kind"),
            (|file| file["flows"][0]["published"]["kind"] = json!("tool"), "flows[0].published/kind"),
            (|file| file["flows"][0]["draft"] = json!([]), "flows[0].draft"),
            (|file| file["flows"][0]["draft"] = json!({ "x": "a".repeat(1 << 20) }), "flows[0].draft"),
            (|file| file["flows"][0]["published"]["blocks"] = json!([]), "flows[0].published/blocks"),
            (|file| file["variables"][0]["key"] = json!("1"), "variables[0].key"),
            (|file| file["variables"][0]["isSecret"] = json!(true), "variables[0].value"),
        ];
        for (change, place) in cases {
            match check_file(&file(change)) {
                Err(TransferError::Invalid(found)) => assert_eq!(found[0].0, place),
                other => panic!("{place}: {other:?}"),
            }
        }
        let many = file(|file| file["variables"] = json!(vec![file["variables"][0].clone(); 5_000]));
        assert!(matches!(check_file(&many), Err(TransferError::Invalid(found)) if found.len() == MOST));
    }

    #[test]
    fn names_that_are_there_already() {
        let flow = |id: &str, name: &str| {
            Flow::new(id.parse().expect("id"), "r".parse().expect("id"), name, Timestamp::from_millis(0))
        };
        let existing = [flow("f1", "um"), flow("f2", "um (2)")];
        let mut file = file(|_| ());
        let twice = file.flows[0].clone();
        file.flows.push(TransferredFlow { slug: "um-2".to_owned(), ..twice });
        let place = |name: &str| Place::New(name.to_owned());
        let of = |on_conflict| places(&file.flows, &existing, on_conflict);
        assert_eq!(
            of(OnConflict::Rename).expect("places"),
            [place("um (3)"), place("dois"), place("um (4)")]
        );
        match of(OnConflict::Refuse) {
            Err(TransferError::NameTaken(found)) => {
                let found: Vec<_> = found.iter().map(|(place, _)| place.as_str()).collect();
                assert_eq!(found, ["flows[0].name", "flows[2].name"]);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_a_name_of_one_flow_says_which_is_replaced() {
        let flow = |id: &str, name: &str| {
            Flow::new(id.parse().expect("id"), "r".parse().expect("id"), name, Timestamp::from_millis(0))
        };
        let mut file = file(|_| ());
        let of =
            |file: &TransferFile, existing: &[Flow]| match places(&file.flows, existing, OnConflict::Replace)
            {
                Err(TransferError::Invalid(found)) => {
                    Err(found.into_iter().map(|(place, _)| place).collect())
                }
                other => Ok::<_, Vec<String>>(other.expect("places")),
            };
        let one = [flow("f1", "um"), flow("f2", "um (2)"), flow("f3", "três"), flow("f4", "três")];
        let replaced = Place::Existing(Box::new(one[0].clone()));
        let places = [replaced, Place::New("dois".to_owned())];
        assert_eq!(
            of(&file, &one).expect("places"),
            places,
            "names that the file does not bring do not count"
        );
        // A tool of the same name is another flow, and not replaced.
        let tool = [Flow { kind: FlowKind::Tool, ..one[0].clone() }];
        assert_eq!(of(&file, &tool).expect("places")[0], Place::New("um (2)".to_owned()));
        let several = [flow("f1", "dois"), flow("f2", "dois"), flow("f3", "um")];
        assert_eq!(of(&file, &several), Err(vec!["flows[1].name".to_owned()]));
        let twice = file.flows[0].clone();
        file.flows.push(TransferredFlow { slug: "um-2".to_owned(), ..twice });
        let both = vec!["flows[0].name".to_owned(), "flows[2].name".to_owned()];
        for existing in [&one[..], &[]] {
            assert_eq!(of(&file, existing), Err(both.clone()));
        }
    }
}
