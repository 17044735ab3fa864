//! The column in which each node stands: as near to its neighbours as its row allows.

use std::collections::{BTreeMap, BTreeSet};

use super::Graph;

/// How often the rows are walked down and up. Each walk straightens edges; more than a few change little.
const WALKS: usize = 4;
/// Parts of a column, so that means are whole numbers.
const PARTS: i64 = 64;

/// Returns the column of each node; no two nodes of a layer have the same.
pub(super) fn columns(graph: &Graph, layers: &[usize]) -> Vec<usize> {
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layers.iter().max().map_or(0, |most| most + 1)];
    for (node, layer) in layers.iter().enumerate() {
        rows[*layer].push(node);
    }
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut below = above.clone();
    for edge in graph.edges.iter().filter(|edge| layers[edge.from] < layers[edge.to]) {
        above[edge.to].push(edge.from);
        below[edge.from].push(edge.to);
    }
    let mut column = vec![0; graph.nodes.len()];
    for row in &rows {
        for (at, node) in (0..).zip(row) {
            column[*node] = at;
        }
    }
    for walk in 0..WALKS {
        for row in &mut rows {
            settle(row, &above, &mut column);
        }
        // The last walk is downwards, as people read.
        if walk + 1 < WALKS {
            for row in rows.iter_mut().rev() {
                settle(row, &below, &mut column);
            }
        }
    }
    close_up(&column)
}

/// Puts the nodes of a row as near to the mean of their neighbours as they get, each to the right of the one before.
fn settle(row: &mut [usize], neighbours: &[Vec<usize>], column: &mut [i64]) {
    let wish = |node: usize, column: &[i64]| {
        let near = &neighbours[node];
        let sum: i64 = near.iter().map(|other| column[*other] * PARTS).sum();
        let count = i64::try_from(near.len()).unwrap_or(i64::MAX);
        sum.checked_div(count).unwrap_or(column[node] * PARTS)
    };
    row.sort_by_cached_key(|node| wish(*node, column));
    // Nodes that would crowd each other share the mean of their wishes: isotonic regression.
    let mut crowds: Vec<(i64, i64)> = Vec::new();
    for (at, node) in (0..).zip(row.iter()) {
        crowds.push((wish(*node, column) - at * PARTS, 1));
        while let [.., (sum, count), (next_sum, next_count)] = crowds[..]
            && next_sum * count < sum * next_count
        {
            crowds.pop();
            crowds.pop();
            crowds.push((sum + next_sum, count + next_count));
        }
    }
    let places = crowds.iter().flat_map(|(sum, count)| {
        let place = (sum.div_euclid(*count) + PARTS / 2).div_euclid(PARTS);
        (0..*count).map(move |_| place)
    });
    for ((at, node), place) in (0..).zip(row.iter()).zip(places) {
        column[*node] = place + at;
    }
}

/// Returns the columns from 0 without the empty ones.
fn close_up(column: &[i64]) -> Vec<usize> {
    let used: BTreeSet<i64> = column.iter().copied().collect();
    let place: BTreeMap<i64, usize> = used.into_iter().zip(0..).collect();
    column.iter().map(|at| place[at]).collect()
}
