//! Sizes and places of boxes and edges, in pixels.

use super::routes::{Routes, Way, routes};
use super::{Graph, Node};

/// Width of a box.
pub(super) const WIDTH: usize = 240;
/// Height of a line of text in a box.
pub(super) const LINE: usize = 17;
/// Space within a box, above the first line and below the last one.
pub(super) const PADDING: usize = 7;
/// Space around the picture.
pub(super) const MARGIN: usize = 24;
/// Characters of a line of an excerpt.
const EXCERPT_LINE: usize = 36;
/// Space between a box and the first lane or track beside it.
const PAD: usize = 16;
/// Space between lanes, and between tracks.
const STEP: usize = 9;
/// Widest part of the top of a box that has ports.
const PORTS: usize = 130;
/// Widest space between ports.
const PORT: usize = 16;
/// How far from the middle of its box an edge leaves below that goes aside.
const ASIDE: usize = 85;

/// A point; `y` grows downwards.
pub(super) type Point = (usize, usize);

/// A graph with sizes and places.
pub(super) struct Drawing {
    pub(super) width: usize,
    pub(super) height: usize,
    /// The boxes of the nodes.
    pub(super) boxes: Vec<Frame>,
    /// The corners of each edge, from its target back to its origin.
    pub(super) edges: Vec<Vec<Point>>,
}

/// The box of a node.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) height: usize,
    /// The lines of the excerpt.
    pub(super) excerpt: Vec<String>,
    /// The edges that leave at the right side, each beside a line of its own at the end.
    pub(super) exits: Vec<usize>,
}

impl Frame {
    fn new(node: &Node) -> Self {
        Self { x: 0, y: 0, height: 0, excerpt: wrapped(&node.excerpt), exits: Vec::new() }
    }

    /// The middle of the line of the exit at `at`.
    pub(super) fn exit(&self, at: usize) -> usize {
        self.y + self.height - PADDING - LINE * (self.exits.len() - at) + LINE / 2
    }
}

pub(super) fn drawing(graph: &Graph) -> Drawing {
    let routes = routes(graph);
    let mut boxes: Vec<Frame> = graph.nodes.iter().map(Frame::new).collect();
    for (at, (edge, way)) in graph.edges.iter().zip(&routes.ways).enumerate() {
        if way.lane.is_some() {
            boxes[edge.from].exits.push(at);
        }
    }
    for (frame, node) in boxes.iter_mut().zip(&graph.nodes) {
        let lines = 1 + usize::from(!node.detail.is_empty()) + frame.excerpt.len() + frame.exits.len();
        frame.height = 2 * PADDING + LINE * lines;
    }
    let mut heights = vec![0; routes.tracks.len()];
    for (frame, layer) in boxes.iter().zip(&routes.layer) {
        heights[*layer] = heights[*layer].max(frame.height);
    }
    let (columns, right) = starts(MARGIN, routes.lanes.iter().map(|lanes| (0, WIDTH, *lanes)));
    let (rows, bottom) =
        starts(MARGIN, routes.tracks.iter().zip(heights).map(|(tracks, height)| (*tracks, height, 0)));
    for (at, frame) in boxes.iter_mut().enumerate() {
        (frame.x, frame.y) = (columns[routes.column[at]], rows[routes.layer[at]]);
    }
    let edges = corners(graph, &routes, &boxes);
    Drawing { width: right + MARGIN, height: bottom + MARGIN, boxes, edges }
}

/// Returns where each row or column of boxes begins, and where the last one ends; each with the tracks before it, its
/// size, and the lanes after it.
fn starts(margin: usize, parts: impl Iterator<Item = (usize, usize, usize)>) -> (Vec<usize>, usize) {
    let (mut starts, mut end) = (Vec::new(), margin);
    for (at, (before, size, after)) in parts.enumerate() {
        let between = if at == 0 { 0 } else { PAD };
        let start = end + channel(before).max(between);
        starts.push(start);
        end = start + size + channel(after);
    }
    (starts, end)
}

/// The breadth of a channel with so many tracks or lanes.
fn channel(count: usize) -> usize {
    if count == 0 { 0 } else { 2 * PAD + (count - 1) * STEP }
}

fn corners(graph: &Graph, routes: &Routes, boxes: &[Frame]) -> Vec<Vec<Point>> {
    let mut exits = vec![0; boxes.len()];
    let edges = graph.edges.iter().zip(&routes.ways).map(|(edge, way)| {
        let (from, to) = (&boxes[edge.from], &boxes[edge.to]);
        let port = port(to, *way, routes.ports[edge.to]);
        let tracks = routes.tracks[routes.layer[edge.to]];
        let row = row_of(to, tracks, *way);
        let mut corners = vec![(port, to.y), (port, row)];
        match way.lane {
            Some(lane) => {
                let lane = from.x + WIDTH + PAD + lane * STEP;
                let exit = from.exit(exits[edge.from]);
                exits[edge.from] += 1;
                corners.extend([(lane, row), (lane, exit), (from.x + WIDTH, exit)]);
            }
            None => {
                let x = match from.x.cmp(&to.x) {
                    std::cmp::Ordering::Equal => port,
                    std::cmp::Ordering::Less => from.x + WIDTH / 2 + ASIDE,
                    std::cmp::Ordering::Greater => from.x + WIDTH / 2 - ASIDE,
                };
                corners.extend([(x, row), (x, from.y + from.height)]);
            }
        }
        corners
    });
    edges.collect()
}

/// The track of a way above the box of its target.
fn row_of(to: &Frame, tracks: usize, way: Way) -> usize {
    to.y - PAD - (tracks - 1 - way.track) * STEP
}

/// The port of a way on top of the box of its target, one of `count`.
fn port(to: &Frame, way: Way, count: usize) -> usize {
    let breadth = PORTS.min((count - 1) * PORT);
    let offset = (way.port * breadth).checked_div(count - 1).unwrap_or(0);
    to.x + WIDTH / 2 - breadth / 2 + offset
}

/// Returns a text in at most two lines.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let full = lines.len() == 2;
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= EXCERPT_LINE => {
                line.push(' ');
                line.push_str(word);
            }
            Some(line) if full => {
                line.push('…');
                break;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
