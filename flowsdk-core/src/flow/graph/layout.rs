//! Where nodes stand: in layers from the start, each as near to its predecessors as it gets.

use std::collections::VecDeque;

use super::{Graph, NodeKind};

/// A node's layer, and its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) layer: usize,
    pub(super) column: usize,
}

pub(super) fn places(graph: &Graph) -> Vec<Place> {
    let layers = layers(graph);
    let deepest = layers.iter().copied().max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); deepest + 1];
    for (node, layer) in layers.iter().enumerate() {
        rows[*layer].push(node);
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        before[edge.to].push(edge.from);
    }
    let mut column = vec![0usize; graph.nodes.len()];
    for row in &mut rows {
        // By the mean place of their predecessors; nodes without any stay in their order.
        row.sort_by_key(|node| {
            let above: Vec<usize> = before[*node]
                .iter()
                .filter(|from| layers[**from] < layers[*node])
                .map(|from| column[*from])
                .collect();
            (above.iter().sum::<usize>() * 16).checked_div(above.len()).unwrap_or(usize::MAX)
        });
        for (at, node) in row.iter().enumerate() {
            column[*node] = at;
        }
    }
    layers.into_iter().zip(column).map(|(layer, column)| Place { layer, column }).collect()
}

/// Returns the number of steps of each node from the start, or from the beginning of errors; unreached nodes stand
/// below everything else.
fn layers(graph: &Graph) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        after[edge.from].push(edge.to);
    }
    let mut layers: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    let begins = |node: &usize| matches!(graph.nodes[*node].kind, NodeKind::Start | NodeKind::Error);
    let mut open: VecDeque<usize> = (0..graph.nodes.len()).filter(begins).collect();
    let mut others = 0..graph.nodes.len();
    let mut below = 0;
    if open.is_empty() {
        open.extend(others.next());
    }
    while !open.is_empty() {
        for root in &open {
            layers[*root] = Some(below);
        }
        while let Some(node) = open.pop_front() {
            let layer = layers[node].unwrap_or(0) + 1;
            for next in &after[node] {
                if layers[*next].is_none() {
                    layers[*next] = Some(layer);
                    open.push_back(*next);
                }
            }
        }
        below = layers.iter().flatten().copied().max().unwrap_or(0) + 1;
        open.extend(others.find(|node| layers[*node].is_none()));
    }
    layers.into_iter().map(|layer| layer.unwrap_or(0)).collect()
}
