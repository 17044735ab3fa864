//! The ways of edges through the channels of the grid.
//!
//! Above each row of boxes runs a channel, and right of each column. An edge leaves its box below, if its target stands in
//! the next row, or else at the right side; it takes a lane of the channel beside its column, a track of the channel above
//! its target, and comes in from above. So no edge runs behind a box. Edges of one kind with the same target share both.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::columns::columns;
use super::layers::layers;
use super::{EdgeKind, Graph};

/// Where boxes stand and which way edges take, before sizes are known.
pub(super) struct Routes {
    pub(super) layer: Vec<usize>,
    pub(super) column: Vec<usize>,
    /// The way of each edge.
    pub(super) ways: Vec<Way>,
    /// How many tracks run above each row.
    pub(super) tracks: Vec<usize>,
    /// How many lanes run right of each column.
    pub(super) lanes: Vec<usize>,
    /// How many ports each node has on top.
    pub(super) ports: Vec<usize>,
}

/// The way of an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// The lane right of the column of its origin; `None` if it leaves below.
    pub(super) lane: Option<usize>,
    /// The track above the row of its target.
    pub(super) track: usize,
    /// The port on top of its target.
    pub(super) port: usize,
}

/// From and to, both included, along a channel. Columns and rows have even numbers or odd ones, and the channels between
/// them the others.
type Span = (usize, usize);

pub(super) fn routes(graph: &Graph) -> Routes {
    let layer = layers(graph);
    let column = columns(graph, &layer);
    let mut groups: BTreeMap<(usize, EdgeKind), Vec<usize>> = BTreeMap::new();
    for (at, edge) in graph.edges.iter().enumerate() {
        groups.entry((edge.to, edge.kind)).or_default().push(at);
    }
    let mut routes = Routes {
        ways: vec![Way { lane: None, track: 0, port: 0 }; graph.edges.len()],
        tracks: vec![0; layer.iter().max().map_or(0, |most| most + 1)],
        lanes: vec![0; column.iter().max().map_or(0, |most| most + 1)],
        ports: vec![0; graph.nodes.len()],
        layer,
        column,
    };
    let groups: Vec<((usize, EdgeKind), Vec<usize>)> = groups.into_iter().collect();
    routes.take_ports(graph, &groups);
    routes.take_tracks(graph, &groups);
    routes.take_lanes(graph, &groups);
    routes
}

type Groups = [((usize, EdgeKind), Vec<usize>)];

impl Routes {
    /// Whether an edge leaves its box below, into the channel in which it comes in.
    fn leaves_below(&self, graph: &Graph, edge: usize) -> bool {
        let edge = &graph.edges[edge];
        matches!(edge.kind, EdgeKind::Default | EdgeKind::Error)
            && self.layer[edge.from] + 1 == self.layer[edge.to]
    }

    /// Where an edge comes into the channel above its target: at its column, or right of it.
    fn joins(&self, graph: &Graph, edge: usize) -> usize {
        2 * self.column[graph.edges[edge].from] + usize::from(!self.leaves_below(graph, edge))
    }

    /// Ports from left to right, as the edges come.
    fn take_ports(&mut self, graph: &Graph, groups: &Groups) {
        let mut of: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, ((to, _), edges)) in groups.iter().enumerate() {
            let sum: usize = edges.iter().map(|edge| self.joins(graph, *edge)).sum();
            of.entry(*to).or_default().push((sum * 16 / edges.len(), at));
        }
        for (to, mut comers) in of {
            comers.sort_unstable();
            self.ports[to] = comers.len();
            for (port, (_, group)) in comers.into_iter().enumerate() {
                for edge in &groups[group].1 {
                    self.ways[*edge].port = port;
                }
            }
        }
    }

    fn take_tracks(&mut self, graph: &Graph, groups: &Groups) {
        let mut channels: Vec<Vec<(Span, usize)>> = vec![Vec::new(); self.tracks.len()];
        for (at, ((to, _), edges)) in groups.iter().enumerate() {
            let own = 2 * self.column[*to];
            let span = span(own, edges.iter().map(|edge| self.joins(graph, *edge)));
            channels[self.layer[*to]].push((span, at));
        }
        for (channel, spans) in channels.iter_mut().enumerate() {
            self.tracks[channel] = share(spans, |group, track| {
                for edge in &groups[group].1 {
                    self.ways[*edge].track = track;
                }
            });
        }
    }

    fn take_lanes(&mut self, graph: &Graph, groups: &Groups) {
        // Of each channel beside a column, the edges of each group.
        let mut parts: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, (_, edges)) in groups.iter().enumerate() {
            for edge in edges.iter().filter(|edge| !self.leaves_below(graph, **edge)) {
                parts.entry((self.column[graph.edges[*edge].from], at)).or_default().push(*edge);
            }
        }
        let parts: Vec<_> = parts.into_iter().collect();
        let mut channels: Vec<Vec<(Span, usize)>> = vec![Vec::new(); self.lanes.len()];
        for (at, ((column, group), edges)) in parts.iter().enumerate() {
            let own = 2 * self.layer[groups[*group].0.0];
            let rows = edges.iter().map(|edge| 2 * self.layer[graph.edges[*edge].from] + 1);
            channels[*column].push((span(own, rows), at));
        }
        for (channel, spans) in channels.iter_mut().enumerate() {
            self.lanes[channel] = share(spans, |part, lane| {
                for edge in &parts[part].1 {
                    self.ways[*edge].lane = Some(lane);
                }
            });
        }
    }
}

fn span(own: usize, others: impl Iterator<Item = usize>) -> Span {
    others.fold((own, own), |(from, to), at| (from.min(at), to.max(at)))
}

/// Gives each span a number that no span has which it touches, the fewest there can be; returns how many.
fn share(spans: &mut [(Span, usize)], mut take: impl FnMut(usize, usize)) -> usize {
    spans.sort_unstable();
    let mut taken: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    let mut count = 0;
    for ((from, to), of) in spans.iter() {
        let free = taken.peek().filter(|Reverse((end, _))| end < from).map(|Reverse((_, number))| *number);
        let number = match free {
            Some(number) => {
                taken.pop();
                number
            }
            None => {
                count += 1;
                count - 1
            }
        };
        taken.push(Reverse((*to, number)));
        take(*of, number);
    }
    count
}
