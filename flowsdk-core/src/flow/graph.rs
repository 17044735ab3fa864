//! A flow as a graph, and as a picture: Mermaid text, or SVG with a layout of its own.

mod layout;
mod mermaid;
mod svg;

use std::collections::HashMap;

use super::FlowDefinition;
use super::definition::{Block, Target};
use crate::id::BlockId;

/// Blocks and how they lead to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The blocks, in the order of the definition; after them their targets outside, and the beginning of errors.
    pub nodes: Vec<Node>,
    /// The ways between nodes, which are named by index.
    pub edges: Vec<Edge>,
}

/// A block, another flow, the end, or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The text that people see.
    pub label: String,
    /// The kind of the node.
    pub kind: NodeKind,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The block at which a session begins.
    Start,
    /// A block that goes on at once.
    Passed,
    /// A block that waits for input.
    Input,
    /// A block that hands over to an AI agent.
    Agent,
    /// A block that hands over to a human.
    Human,
    /// A block that runs another flow.
    SubFlow,
    /// A flow outside of the picture.
    OtherFlow,
    /// The end of the session.
    End,
    /// An error while the flow runs, at whichever block.
    Error,
}

/// A way from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Index of the node it begins at.
    pub from: usize,
    /// Index of the node it leads to.
    pub to: usize,
    /// When it is taken; empty for the default output.
    pub label: String,
}

impl Graph {
    /// Creates the graph of a definition. Targets that are not there are left out.
    pub fn new(definition: &FlowDefinition) -> Self {
        let nodes = definition.blocks.iter().map(|block| Node {
            label: block.name().to_owned(),
            kind: if block.id == definition.start_block_id { NodeKind::Start } else { kind(block) },
        });
        let mut graph = Self { nodes: nodes.collect(), edges: Vec::new() };
        let mut outside = HashMap::new();
        let index: HashMap<&BlockId, usize> =
            definition.blocks.iter().enumerate().map(|(at, block)| (&block.id, at)).collect();
        for (from, block) in definition.blocks.iter().enumerate() {
            for (target, pointer) in block.targets() {
                let Some(to) = graph.node_of(target, &index, &mut outside) else { continue };
                graph.edges.push(Edge { from, to, label: label(block, &pointer) });
            }
            if let super::definition::BlockKind::Flow { flow_id, .. } = &block.kind {
                let to = graph.outside(&mut outside, flow_id.to_string(), NodeKind::OtherFlow);
                graph.edges.push(Edge { from, to, label: "calls".to_owned() });
            }
        }
        let error_target = definition.settings.error_target.as_ref();
        if let Some(to) = error_target.and_then(|target| graph.node_of(target, &index, &mut outside)) {
            graph.nodes.push(Node { label: "error".to_owned(), kind: NodeKind::Error });
            graph.edges.push(Edge { from: graph.nodes.len() - 1, to, label: String::new() });
        }
        graph
    }

    /// Returns the node that a target leads to, if it is there.
    fn node_of(
        &mut self,
        target: &Target,
        blocks: &HashMap<&BlockId, usize>,
        outside: &mut HashMap<(NodeKind, String), usize>,
    ) -> Option<usize> {
        Some(match target {
            Target::Block(id) => *blocks.get(id)?,
            Target::End => self.outside(outside, "End".to_owned(), NodeKind::End),
            Target::Flow { flow_id, block_id } => {
                let label = match block_id {
                    Some(block) => format!("{flow_id} / {block}"),
                    None => flow_id.to_string(),
                };
                self.outside(outside, label, NodeKind::OtherFlow)
            }
        })
    }

    /// Returns the node outside the flow with this label, new if need be.
    fn outside(
        &mut self,
        known: &mut HashMap<(NodeKind, String), usize>,
        label: String,
        kind: NodeKind,
    ) -> usize {
        *known.entry((kind, label)).or_insert_with_key(|(kind, label)| {
            self.nodes.push(Node { label: label.clone(), kind: *kind });
            self.nodes.len() - 1
        })
    }

    /// As a Mermaid flowchart.
    pub fn to_mermaid(&self) -> String {
        mermaid::write(self)
    }

    /// Draws the graph as an SVG picture.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }
}

fn kind(block: &Block) -> NodeKind {
    match block.kind.name() {
        "agent" => NodeKind::Agent,
        "human" => NodeKind::Human,
        "flow" => NodeKind::SubFlow,
        _ if block.input().is_some() => NodeKind::Input,
        _ => NodeKind::Passed,
    }
}

/// When the target at `pointer` of `block` is taken.
fn label(block: &Block, pointer: &str) -> String {
    let output = pointer
        .strip_prefix("/outputConditions/")
        .and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
    match (output, pointer) {
        (Some(at), _) => {
            let output = block.output_conditions.get(at);
            let name = output.and_then(|output| output.title.clone().or_else(|| output.id.clone()));
            name.unwrap_or_else(|| format!("output {}", at + 1))
        }
        (None, "/input/timeoutTarget") => "timeout".to_owned(),
        (None, "/input/validation/failTarget") => "wrong answers".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo() -> Graph {
        let json = include_str!("../../tests/fixtures/demo_flow.json");
        let json: serde_json::Value = serde_json::from_str(json).expect("is JSON");
        Graph::new(&FlowDefinition::parse(&json).expect("parses"))
    }

    #[test]
    fn every_block_and_target_is_in_the_graph() {
        let graph = demo();
        assert_eq!(graph.nodes[0].kind, NodeKind::Start);
        assert!(graph.edges.iter().any(|edge| edge.label == "timeout"));
        assert!(graph.edges.iter().all(|edge| edge.from < graph.nodes.len() && edge.to < graph.nodes.len()));
        let mermaid = graph.to_mermaid();
        assert!(mermaid.starts_with("flowchart TD\n"), "{mermaid}");
        assert_eq!(mermaid.matches("-->").count(), graph.edges.len());
        let svg = graph.to_svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<rect ").count(), graph.nodes.len());
    }

    #[test]
    fn where_an_error_leads_is_drawn() {
        for (target, to) in [
            (serde_json::json!({ "blockId": "sorry" }), "sorry"),
            (serde_json::json!({ "flowId": "rescue" }), "rescue"),
            (serde_json::json!({ "end": true }), "End"),
        ] {
            let flow = serde_json::json!({ "schemaVersion": 1, "startBlockId": "a", "settings": { "errorTarget": target },
                "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } },
                    { "id": "sorry", "type": "content", "defaultOutput": { "end": true } }] });
            let graph = Graph::new(&FlowDefinition::parse(&flow).expect("parses"));
            let error = graph.nodes.iter().position(|node| node.kind == NodeKind::Error).expect("a node");
            let edges: Vec<_> = graph.edges.iter().filter(|edge| edge.from == error).collect();
            assert_eq!(edges.len(), 1, "{to}");
            assert_eq!(graph.nodes[edges[0].to].label, to);
            let mermaid = graph.to_mermaid();
            assert!(mermaid.contains(&format!("n{error} --> n{}", edges[0].to)), "{mermaid}");
            assert!(graph.to_svg().contains(">error</text>"));
        }
        let gone = serde_json::json!({ "schemaVersion": 1, "startBlockId": "a",
            "settings": { "errorTarget": { "blockId": "gone" } },
            "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] });
        let graph = Graph::new(&FlowDefinition::parse(&gone).expect("parses"));
        assert!(graph.nodes.iter().all(|node| node.kind != NodeKind::Error), "a target that is not there");
    }

    #[test]
    fn what_authors_write_is_text_and_nothing_else() {
        let hostile = serde_json::json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "title": "</text><script>alert(1)</script>\"]; click a \n b & \u{0}\u{fffe}", "defaultOutput": { "end": true } }] });
        let graph = Graph::new(&FlowDefinition::parse(&hostile).expect("parses"));
        let svg = graph.to_svg();
        assert!(!svg.contains("<script") && !svg.contains(['\u{0}', '\u{fffe}']), "{svg}");
        let mermaid = graph.to_mermaid();
        assert!(!mermaid.contains("<script") && !mermaid.contains("\"]; click"), "{mermaid}");
        assert_eq!(mermaid.lines().count(), 4, "{mermaid}");
    }

    #[test]
    fn a_flow_of_thousands_of_blocks_is_drawn() {
        let blocks: Vec<_> = (0..5_000)
            .map(|at| {
                serde_json::json!({ "id": format!("b{at}"), "type": "content", "input": {},
                    "outputConditions": [{ "conditions": [], "target": { "blockId": format!("b{}", at * 7 % 5_000) } }],
                    "defaultOutput": { "flowId": format!("f{at}") } })
            })
            .collect();
        let flow = serde_json::json!({ "schemaVersion": 1, "startBlockId": "b0", "blocks": blocks });
        let began = std::time::Instant::now();
        let svg = Graph::new(&FlowDefinition::parse(&flow).expect("parses")).to_svg();
        assert!(svg.len() > 5_000 && began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }
}
