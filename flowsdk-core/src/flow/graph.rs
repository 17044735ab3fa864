//! A flow as a graph, and as a picture: Mermaid text, or SVG whose edges run around the boxes.
//!
//! The layout is our own, because its cost must be bounded: a tenant may draw any definition. Nodes stand on a grid, and
//! edges run in the channels between its rows and columns, so the work is that of sorting the edges.

mod columns;
mod drawing;
mod layers;
mod mermaid;
mod routes;
mod svg;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

use super::FlowDefinition;
use super::definition::{Block, BlockKind, Input, Target};
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
    /// The name that people see.
    pub label: String,
    /// The kind of the node.
    pub kind: NodeKind,
    /// The `type` of the block, and whether it waits; empty for everything that is not a block.
    pub detail: String,
    /// The first words of its first message; empty if it sends none.
    pub excerpt: String,
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
    /// Why it is taken.
    pub kind: EdgeKind,
    /// When it is taken, in short words; empty for the default output.
    pub label: String,
}

/// Why an edge is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The default output: no condition holds.
    Default,
    /// The conditions of an output hold.
    Condition,
    /// The block runs another flow.
    Call,
    /// An answer is wrong, and the block asks again.
    Retry,
    /// One answer too many is wrong.
    Fail,
    /// Nobody answers in time.
    Timeout,
    /// An error while the flow runs.
    Error,
}

impl EdgeKind {
    /// Every kind, in the order of a legend.
    pub const ALL: [Self; 7] =
        [Self::Default, Self::Condition, Self::Call, Self::Retry, Self::Fail, Self::Timeout, Self::Error];

    /// Returns the name that people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default output",
            Self::Condition => "condition",
            Self::Call => "runs the flow",
            Self::Retry => "wrong answer, asks again",
            Self::Fail => "too many wrong answers",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }
}

impl Graph {
    /// Creates the graph of a definition. Targets that are not there are left out.
    pub fn new(definition: &FlowDefinition) -> Self {
        let mut builder = Builder::new(definition);
        for (from, block) in definition.blocks.iter().enumerate() {
            builder.outputs(from, block);
            if let Some(input) = block.input() {
                builder.waits(from, block, input);
            }
            if let BlockKind::Flow { flow_id, block_id, .. } = &block.kind {
                let target = Target::Flow { flow_id: flow_id.clone(), block_id: block_id.clone() };
                builder.edge(from, &target, EdgeKind::Call, String::new());
            }
        }
        builder.errors(definition.settings.error_target.as_ref());
        builder.graph
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

/// A graph under construction.
struct Builder<'a> {
    graph: Graph,
    blocks: HashMap<&'a BlockId, usize>,
    /// The nodes that are not blocks, by what they show.
    outside: HashMap<(NodeKind, String), usize>,
}

impl<'a> Builder<'a> {
    fn new(definition: &'a FlowDefinition) -> Self {
        let nodes = definition.blocks.iter().map(|block| Node {
            label: block.name().to_owned(),
            kind: if block.id == definition.start_block_id { NodeKind::Start } else { kind(block) },
            detail: words::detail(block),
            excerpt: words::excerpt(block),
        });
        let blocks = definition.blocks.iter().enumerate().map(|(at, block)| (&block.id, at));
        Self {
            graph: Graph { nodes: nodes.collect(), edges: Vec::new() },
            blocks: blocks.collect(),
            outside: HashMap::new(),
        }
    }

    /// Adds the outputs of a block.
    fn outputs(&mut self, from: usize, block: &Block) {
        for output in &block.output_conditions {
            self.edge(from, &output.target, EdgeKind::Condition, super::words::output(output));
        }
        self.edge(from, &block.default_output, EdgeKind::Default, String::new());
    }

    /// Adds where the wait for an answer leads besides the outputs.
    fn waits(&mut self, from: usize, block: &Block, input: &Input) {
        if let Some(validation) = &input.validation {
            if validation.max_retries != Some(0) {
                let label = words::retry(validation.max_retries);
                self.graph.edges.push(Edge { from, to: from, kind: EdgeKind::Retry, label });
            }
            if validation.max_retries.is_some() {
                let target = validation.fail_target.as_ref().unwrap_or(&block.default_output);
                self.edge(from, target, EdgeKind::Fail, EdgeKind::Fail.name().to_owned());
            }
        }
        if let Some(target) = &input.timeout_target {
            self.edge(from, target, EdgeKind::Timeout, words::timeout(input.timeout_ms));
        }
    }

    /// Adds where errors lead.
    fn errors(&mut self, target: Option<&Target>) {
        if let Some(to) = target.and_then(|target| self.node_of(target)) {
            let from = self.add("error".to_owned(), NodeKind::Error);
            self.graph.edges.push(Edge { from, to, kind: EdgeKind::Error, label: "at any block".to_owned() });
        }
    }

    fn edge(&mut self, from: usize, target: &Target, kind: EdgeKind, label: String) {
        if let Some(to) = self.node_of(target) {
            self.graph.edges.push(Edge { from, to, kind, label });
        }
    }

    /// Returns the node that a target leads to, if it is there.
    fn node_of(&mut self, target: &Target) -> Option<usize> {
        Some(match target {
            Target::Block(id) => *self.blocks.get(id)?,
            Target::End => self.outside("End".to_owned(), NodeKind::End),
            Target::Flow { flow_id, block_id } => {
                let label = match block_id {
                    Some(block) => format!("{flow_id} / {block}"),
                    None => flow_id.to_string(),
                };
                self.outside(label, NodeKind::OtherFlow)
            }
        })
    }

    /// Returns the node outside the flow with this label, new if need be.
    fn outside(&mut self, label: String, kind: NodeKind) -> usize {
        if let Some(known) = self.outside.get(&(kind, label.clone())) {
            return *known;
        }
        let at = self.add(label.clone(), kind);
        self.outside.insert((kind, label), at);
        at
    }

    fn add(&mut self, label: String, kind: NodeKind) -> usize {
        self.graph.nodes.push(Node { label, kind, detail: String::new(), excerpt: String::new() });
        self.graph.nodes.len() - 1
    }
}

fn kind(block: &Block) -> NodeKind {
    match &block.kind {
        BlockKind::Agent { .. } => NodeKind::Agent,
        BlockKind::Human { .. } => NodeKind::Human,
        BlockKind::Flow { .. } => NodeKind::SubFlow,
        BlockKind::Content { input: Some(_), .. } => NodeKind::Input,
        BlockKind::Content { input: None, .. } => NodeKind::Passed,
    }
}
