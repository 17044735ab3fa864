//! Every error that the services return, as a client sees it: a table that changes only with the API.

mod agent;
mod auth;
mod channels;
mod core;
mod helpdesk;
mod webhooks;

use std::any::type_name;
use std::fmt::Write as _;
use std::time::Duration;

use flowsdk_core::fault::{Fault, RateLimit, StorageError};
use flowsdk_core::in_use::Dependants;
use flowsdk_core::text::Text;

use super::ApiError;
use crate::api::tests::sources;

#[derive(Default)]
struct Table(String);

impl Table {
    /// Adds a row for each error: its type and variant, kind, code, texts, and its other properties.
    fn add<F: Fault + 'static>(&mut self, faults: impl IntoIterator<Item = F>) {
        let name = type_name::<F>().rsplit("::").next().unwrap_or_default();
        for fault in faults {
            // It holds that the code is in the catalogue.
            let error = ApiError::of(&fault);
            assert_eq!(error.code(), fault.code());
            let variant = format!("{fault:?}");
            let variant = variant.split(['(', ' ']).next().unwrap_or_default();
            let (kind, code, text) = (fault.kind(), fault.code(), fault.text());
            let (portuguese, english) = (text.portuguese(), text.english());
            write!(self.0, "{name}::{variant}\n  {kind:?} {code} {portuguese:?} {english:?}")
                .expect("a string");
            if let Some(field) = fault.field() {
                write!(self.0, " field={field}").expect("a string");
            }
            for (field, text) in fault.details() {
                write!(self.0, "\n    {field}: {:?} {:?}", text.portuguese(), text.english())
                    .expect("a string");
            }
            if let Some(limit) = fault.rate_limit() {
                write!(self.0, "\n    {limit:?}").expect("a string");
            }
            self.0.push('\n');
        }
    }
}

fn storage() -> StorageError {
    StorageError::Unavailable("gone".into())
}

fn dependants() -> Dependants {
    let mut dependants = Dependants::default();
    dependants.sessions(2);
    dependants.reference("router.initialFlowId", "r1");
    dependants
}

fn details() -> Vec<(String, Text)> {
    vec![("body".to_owned(), Text::new("Vazio", "Empty"))]
}

fn limit() -> RateLimit {
    RateLimit { limit: 5, retry_after: Duration::from_millis(1_500) }
}

/// `WRITE_FAULTS=1` writes the table anew.
#[test]
fn every_error_looks_as_it_always_did() {
    let mut table = Table::default();
    core::add(&mut table);
    auth::add(&mut table);
    channels::add(&mut table);
    helpdesk::add(&mut table);
    webhooks::add(&mut table);
    agent::add(&mut table);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/error/faults.txt");
    if std::env::var_os("WRITE_FAULTS").is_some() {
        std::fs::write(path, &table.0).expect("written");
    }
    let known = std::fs::read_to_string(path).expect("the table is there");
    for (now, before) in table.0.lines().zip(known.lines()) {
        assert_eq!(now, before);
    }
    assert_eq!(table.0.lines().count(), known.lines().count());
}

/// A type that derives `Fault` and is not in the table could change without a sign.
#[test]
fn the_table_has_every_error() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let known = include_str!("../faults.txt");
    let mut missing = Vec::new();
    for crate_name in
        ["agent", "core", "auth", "channels", "crypto", "helpdesk", "outside", "server", "webhooks"]
    {
        for (path, text) in sources(&root.join(format!("flowsdk-{crate_name}/src"))) {
            let derived = text.split("\n#[derive(").skip(1).filter_map(|rest| rest.split_once(")]"));
            let faults = derived.filter(|(derives, _)| derives.split(", ").any(|one| one.trim() == "Fault"));
            for (_, item) in faults {
                let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
                let name = words.find(|word| matches!(*word, "enum" | "struct")).and_then(|_| words.next());
                let name = name.expect("a derive stands on a type");
                if !known.lines().any(|row| row.split("::").next() == Some(name)) {
                    missing.push(format!("{name} of {path}"));
                }
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
