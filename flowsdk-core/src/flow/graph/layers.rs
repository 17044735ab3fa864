//! The row in which each node stands.

use super::{Graph, NodeKind};

/// Returns the layer of each node: below everything that leads to it, except by edges that lead back. Blocks that nothing
/// reaches stand below all others.
pub(super) fn layers(graph: &Graph) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        after[edge.from].push(edge.to);
    }
    let begins = |node: &usize| matches!(graph.nodes[*node].kind, NodeKind::Start | NodeKind::Error);
    let (begun, others): (Vec<_>, Vec<_>) = (0..graph.nodes.len()).partition(begins);
    let mut layers = vec![0; graph.nodes.len()];
    let mut seen = vec![false; graph.nodes.len()];
    let mut position = vec![usize::MAX; graph.nodes.len()];
    let (mut floor, mut placed) = (0, 0);
    for roots in [begun, others] {
        let order = topological(&roots, &after, &mut seen);
        for node in &order {
            position[*node] = placed;
            placed += 1;
            layers[*node] = floor;
        }
        for node in &order {
            for next in after[*node].iter().filter(|next| position[**next] > position[*node]) {
                layers[*next] = layers[*next].max(layers[*node] + 1);
            }
        }
        floor = order.iter().map(|node| layers[*node] + 1).max().unwrap_or(floor);
    }
    layers
}

/// Returns what is reached from `roots` and was not seen before, each before everything it leads to; an edge to an
/// earlier one leads back. It walks without recursion: a flow may be thousands of blocks deep.
fn topological(roots: &[usize], after: &[Vec<usize>], seen: &mut [bool]) -> Vec<usize> {
    let mut done = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for root in roots {
        if !std::mem::replace(&mut seen[*root], true) {
            open.push((*root, 0));
        }
        while let Some((node, at)) = open.last_mut() {
            match after[*node].get(*at) {
                Some(next) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[*next], true) {
                        open.push((*next, 0));
                    }
                }
                None => {
                    done.push(*node);
                    open.pop();
                }
            }
        }
    }
    done.reverse();
    done
}
