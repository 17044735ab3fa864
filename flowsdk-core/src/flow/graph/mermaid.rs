//! Mermaid text.

use std::fmt::Write as _;

use super::{EdgeKind, Graph, NodeKind};

pub(super) fn write(graph: &Graph) -> String {
    let mut out = String::from("flowchart TD\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        let (open, close) = match node.kind {
            NodeKind::Start => ("([", "])"),
            NodeKind::Passed => ("[", "]"),
            NodeKind::Input => ("[/", "/]"),
            NodeKind::Agent | NodeKind::Human => ("{{", "}}"),
            NodeKind::SubFlow | NodeKind::OtherFlow => ("[[", "]]"),
            NodeKind::End => ("((", "))"),
            NodeKind::Error => ("(", ")"),
        };
        // A formatter into a String does not fail.
        _ = writeln!(out, "  n{at}{open}\"{}\"{close}", escaped(&node.label));
    }
    for edge in &graph.edges {
        let arrow = match edge.kind {
            EdgeKind::Default | EdgeKind::Condition | EdgeKind::Call => "-->",
            EdgeKind::Retry | EdgeKind::Fail | EdgeKind::Timeout | EdgeKind::Error => "-.->",
        };
        let words = match edge.kind {
            EdgeKind::Call => EdgeKind::Call.name(),
            _ => &edge.label,
        };
        if words.is_empty() {
            _ = writeln!(out, "  n{} {arrow} n{}", edge.from, edge.to);
        } else {
            _ = writeln!(out, "  n{} {arrow}|\"{}\"| n{}", edge.from, escaped(words), edge.to);
        }
    }
    out
}

/// Everything that is more than text as an entity.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => out.push(' '),
            '"' | '<' | '>' | '&' | '#' | ';' | '|' | '`' | '[' | ']' | '{' | '}' | '(' | ')' => {
                _ = write!(out, "#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
