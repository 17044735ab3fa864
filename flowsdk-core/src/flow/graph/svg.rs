//! A picture, without scripts and outside references.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::drawing::{Drawing, Frame, LINE, MARGIN, PADDING, Point, WIDTH, drawing};
use super::{EdgeKind, Graph, Node, NodeKind};
use crate::flow::words::short;

/// Most characters of a name, which is bold; the whole of it is in the title.
const NAME: usize = 30;
/// Most characters of the other lines.
const TEXT: usize = 38;
/// How round the corners of edges are.
const ROUND: usize = 5;

pub(super) fn write(graph: &Graph) -> String {
    let drawing = drawing(graph);
    let kinds: BTreeSet<EdgeKind> = graph.edges.iter().map(|edge| edge.kind).collect();
    let width = drawing.width.max(MARGIN + WIDTH + MARGIN);
    let height = drawing.height + LINE * kinds.len() + if kinds.is_empty() { 0 } else { MARGIN };
    let mut out = String::new();
    // A formatter into a String does not fail.
    _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1f2430\">\n\
         <path d=\"M0 0H{width}V{height}H0z\" fill=\"#fff\"/>"
    );
    edges(&mut out, graph, &drawing);
    for (node, frame) in graph.nodes.iter().zip(&drawing.boxes) {
        block(&mut out, graph, node, frame);
    }
    legend(&mut out, &kinds, drawing.height);
    out.push_str("</svg>\n");
    out
}

/// Draws edges, those of a kind within one group, and an arrow where they come in.
fn edges(out: &mut String, graph: &Graph, drawing: &Drawing) {
    for kind in EdgeKind::ALL {
        let edges = graph.edges.iter().zip(&drawing.edges).filter(|(edge, _)| edge.kind == kind);
        let paths: BTreeSet<&Vec<Point>> = edges.map(|(_, corners)| corners).collect();
        if paths.is_empty() {
            continue;
        }
        let (colour, dash) = stroke(kind);
        _ = writeln!(
            out,
            "<g fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\">"
        );
        for corners in &paths {
            _ = writeln!(out, "<path d=\"{}\"/>", rounded(corners));
        }
        let ends: BTreeSet<Point> = paths.iter().map(|corners| corners[0]).collect();
        for (x, y) in ends {
            _ = writeln!(out, "<path d=\"M{x} {y}l-4-8h8z\" fill=\"{colour}\" stroke=\"none\"/>");
        }
        out.push_str("</g>\n");
    }
}

/// A path with round corners.
fn rounded(corners: &[Point]) -> String {
    let mut path = String::new();
    for (at, (x, y)) in corners.iter().enumerate() {
        let near = |other: usize| corners.get(other).map(|point| towards((*x, *y), *point));
        match (at.checked_sub(1).and_then(near), near(at + 1)) {
            (None, _) => _ = write!(path, "M{x} {y}"),
            (_, None) => _ = write!(path, "L{x} {y}"),
            (Some(before), Some(after)) => {
                _ = write!(path, "L{} {}Q{x} {y} {} {}", before.0, before.1, after.0, after.1);
            }
        }
    }
    path
}

/// The point a little way from `from` to `to`, which lies straight beside it or above or below it.
fn towards(from: Point, to: Point) -> Point {
    let step = |from: usize, to: usize| {
        let far = (from.abs_diff(to) / 2).min(ROUND);
        if to > from { from + far } else { from - far }
    };
    (step(from.0, to.0), step(from.1, to.1))
}

/// Draws a box. Its contents are clipped at its border, however broad the letters are.
fn block(out: &mut String, graph: &Graph, node: &Node, frame: &Frame) {
    let (fill, stroke) = colours(node.kind);
    let Frame { x, y, height, .. } = *frame;
    _ = writeln!(
        out,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{height}\"><title>{}</title>\
         <rect x=\".75\" y=\".75\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{fill}\" stroke=\"{stroke}\" \
         stroke-width=\"1.5\"/>",
        escaped(&node.label),
        as_pixels(WIDTH),
        as_pixels(height),
    );
    let mut line = PADDING;
    let mut text = |attributes: &str, text: &str| {
        _ = writeln!(out, "<text y=\"{}\" {attributes}>{}</text>", line + 12, escaped(text));
        line += LINE;
    };
    text("x=\"10\" font-weight=\"bold\"", &short(&node.label, NAME));
    if !node.detail.is_empty() {
        text("x=\"10\" font-size=\"11\" fill=\"#5b6472\"", &short(&node.detail, TEXT));
    }
    for words in &frame.excerpt {
        text("x=\"10\" font-style=\"italic\"", &short(words, TEXT));
    }
    for at in &frame.exits {
        let edge = &graph.edges[*at];
        let words = if edge.label.is_empty() { edge.kind.name() } else { &edge.label };
        let attributes = format!(
            "x=\"{}\" text-anchor=\"end\" font-size=\"11\" fill=\"{}\"",
            WIDTH - 10,
            self::stroke(edge.kind).0
        );
        text(&attributes, &short(words, TEXT));
    }
    out.push_str("</svg>\n");
}

/// The size of a border around so many pixels.
fn as_pixels(size: usize) -> String {
    format!("{}.5", size - 2)
}

/// Explains the kinds of edges that the picture has.
fn legend(out: &mut String, kinds: &BTreeSet<EdgeKind>, top: usize) {
    for (at, kind) in kinds.iter().enumerate() {
        let (colour, dash) = stroke(*kind);
        let y = top + LINE * at + LINE / 2;
        _ = writeln!(
            out,
            "<path d=\"M{MARGIN} {y}h36\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"11\">{}</text>",
            MARGIN + 44,
            y + 4,
            kind.name(),
        );
    }
}

/// Colour and dash of an edge.
const fn stroke(kind: EdgeKind) -> (&'static str, &'static str) {
    match kind {
        EdgeKind::Default => ("#4b5563", "none"),
        EdgeKind::Condition => ("#1d4ed8", "none"),
        EdgeKind::Call => ("#4b5563", "1 3"),
        EdgeKind::Retry => ("#0f766e", "8 3 2 3"),
        EdgeKind::Fail => ("#b45309", "8 4"),
        EdgeKind::Timeout => ("#7e22ce", "3 3"),
        EdgeKind::Error => ("#b91c1c", "5 3"),
    }
}

const fn colours(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Start => ("#d7f0dc", "#2a8a43"),
        NodeKind::Passed => ("#ffffff", "#888888"),
        NodeKind::Input => ("#e6eeff", "#2f62c9"),
        NodeKind::Agent => ("#f0e1ff", "#7d3cc2"),
        NodeKind::Human => ("#ffead1", "#c9772f"),
        NodeKind::SubFlow | NodeKind::OtherFlow => ("#eeeeee", "#555555"),
        NodeKind::End => ("#f7d9d9", "#b03030"),
        NodeKind::Error => ("#ffffff", "#b03030"),
    }
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
