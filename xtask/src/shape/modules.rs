//! Which top modules of a crate use which, read off their `crate::` paths.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::Source;

/// Each module with the modules it uses.
pub(super) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graph of the top modules of a crate. `prelude` uses all of them on purpose and is left out.
pub(super) fn graph(sources: &[Source], package: &str) -> Graph {
    let folder = format!("{package}/src/");
    let own = sources.iter().filter_map(|source| {
        let path = source.path.strip_prefix(&folder)?;
        let module = path.split('/').next()?.trim_end_matches(".rs");
        (!source.production.is_empty() && !matches!(module, "lib" | "prelude" | "main" | "bin"))
            .then_some((module, source))
    });
    let mut graph = Graph::new();
    for (module, source) in own {
        let uses = graph.entry(module.to_owned()).or_default();
        let code = source.production.iter().filter(|line| !line.trim_start().starts_with("//"));
        uses.extend(code.flat_map(|line| used(line)).filter(|used| used != module));
    }
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    for uses in graph.values_mut() {
        uses.retain(|used| modules.contains(used));
    }
    graph
}

/// The modules after each `crate::` of a line.
fn used(line: &str) -> Vec<String> {
    line.match_indices("crate::")
        .filter(|(at, _)| !line[..*at].ends_with(|c: char| c == '$' || c == '_' || c.is_alphanumeric()))
        .flat_map(|(at, found)| {
            let rest = &line[at + found.len()..];
            let list = rest.strip_prefix('{').and_then(|list| list.split('}').next()).unwrap_or(rest);
            let names = if list.len() < rest.len() { list.split(',').collect() } else { vec![rest] };
            names.into_iter().map(first_name).collect::<Vec<_>>()
        })
        .collect()
}

fn first_name(path: &str) -> String {
    path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The groups of more than one module that all use each other, directly or not, in the order of the alphabet.
pub(super) fn knots(graph: &Graph) -> Vec<Vec<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (module.as_str(), reachable(graph, module))).collect();
    let mut knots: BTreeSet<Vec<String>> = BTreeSet::new();
    for module in graph.keys() {
        let both = |other: &&str| reach[other].contains(module.as_str());
        let knot: Vec<String> =
            reach[module.as_str()].iter().copied().filter(both).map(str::to_owned).collect();
        if knot.len() > 1 {
            knots.insert(knot);
        }
    }
    knots.into_iter().collect()
}

/// The modules that `from` uses, directly or not.
fn reachable<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = graph[from].iter().map(String::as_str).collect();
    while let Some(module) = open.pop() {
        if found.insert(module) {
            open.extend(graph[module].iter().map(String::as_str));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::sources::parse;

    #[test]
    fn modules_that_use_each_other_are_a_knot() {
        let sources = [
            parse("c/src/a.rs", "use crate::b::B;\n// crate::d\n"),
            parse("c/src/b/mod.rs", "use crate::{c, e::E};\n"),
            parse("c/src/c.rs", "fn f(a: crate::a::A) {}\n"),
            parse("c/src/d.rs", "use crate::a;\nuse $crate::a;\n"),
            parse("c/src/e.rs", "use other::a;\n"),
            parse("c/src/lib.rs", "use crate::d;\n"),
        ];
        let graph = graph(&sources, "c");
        assert_eq!(graph.len(), 5);
        assert_eq!(graph["b"].iter().collect::<Vec<_>>(), ["c", "e"]);
        assert_eq!(knots(&graph), [["a", "b", "c"]]);
    }
}
