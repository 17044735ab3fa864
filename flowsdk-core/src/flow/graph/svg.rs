//! A picture, without scripts and outside references.

use std::fmt::Write as _;

use super::layout::{Place, places};
use super::{Graph, NodeKind};

const WIDTH: usize = 180;
const HEIGHT: usize = 44;
const GAP_X: usize = 60;
const GAP_Y: usize = 70;
const MARGIN: usize = 30;
/// Most characters of a label; the whole of it is in the title.
const LABEL: usize = 24;

pub(super) fn write(graph: &Graph) -> String {
    let places = places(graph);
    let columns = places.iter().map(|place| place.column + 1).max().unwrap_or(1);
    let layers = places.iter().map(|place| place.layer + 1).max().unwrap_or(1);
    let (width, height) =
        (2 * MARGIN + columns * (WIDTH + GAP_X), 2 * MARGIN + layers * (HEIGHT + GAP_Y) - GAP_Y);
    let mut out = String::new();
    // A formatter into a String does not fail.
    _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
    );
    out.push_str(
        "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#666\"/></marker></defs>\n",
    );
    for edge in &graph.edges {
        line(&mut out, places[edge.from], places[edge.to], &edge.label);
    }
    for (node, place) in graph.nodes.iter().zip(&places) {
        let (x, y) = corner(*place);
        let (fill, stroke) = colours(node.kind);
        _ = writeln!(
            out,
            "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" \
             fill=\"{fill}\" stroke=\"{stroke}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
            escaped(&node.label),
            x + WIDTH / 2,
            y + HEIGHT / 2 + 4,
            escaped(&short(&node.label)),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn corner(place: Place) -> (usize, usize) {
    (MARGIN + place.column * (WIDTH + GAP_X), MARGIN + place.layer * (HEIGHT + GAP_Y))
}

fn line(out: &mut String, from: Place, to: Place, label: &str) {
    let ((x1, y1), (x2, y2)) = (corner(from), corner(to));
    let (start_x, start_y, end_x, end_y) = (x1 + WIDTH / 2, y1 + HEIGHT, x2 + WIDTH / 2, y2);
    let path = if to.layer > from.layer {
        let middle = usize::midpoint(start_y, end_y);
        format!("M{start_x} {start_y}C{start_x} {middle} {end_x} {middle} {end_x} {end_y}")
    } else {
        // Upwards and sideways it goes around the right side.
        let (start_x, start_y) = (x1 + WIDTH, y1 + HEIGHT / 2);
        let (end_x, end_y) = (x2 + WIDTH, y2 + HEIGHT / 2);
        let side = start_x.max(end_x) + GAP_X / 2;
        format!("M{start_x} {start_y}C{side} {start_y} {side} {end_y} {end_x} {end_y}")
    };
    _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#666\" marker-end=\"url(#a)\"/>");
    if !label.is_empty() {
        let (x, y) = (usize::midpoint(start_x, end_x), usize::midpoint(start_y, end_y));
        _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" fill=\"#333\" stroke=\"#fff\" stroke-width=\"3\" \
             paint-order=\"stroke\">{}</text>",
            escaped(&short(label))
        );
    }
}

fn colours(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Start => ("#d7f0dc", "#2a8a43"),
        NodeKind::Passed => ("#ffffff", "#888888"),
        NodeKind::Input => ("#dfeaff", "#2f62c9"),
        NodeKind::Agent => ("#f0e1ff", "#7d3cc2"),
        NodeKind::Human => ("#ffead1", "#c9772f"),
        NodeKind::SubFlow | NodeKind::OtherFlow => ("#eeeeee", "#555555"),
        NodeKind::End => ("#f7d9d9", "#b03030"),
        NodeKind::Error => ("#ffffff", "#b03030"),
    }
}

fn short(text: &str) -> String {
    if text.chars().count() <= LABEL {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(LABEL - 1).collect();
    short.push('…');
    short
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A parser of XML refuses the last two.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
