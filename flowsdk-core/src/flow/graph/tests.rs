use serde_json::{Value, json};

use super::drawing::{Drawing, Frame, WIDTH, drawing};
use super::*;

fn graph(json: &Value) -> Graph {
    Graph::new(&FlowDefinition::parse(json).expect("parses"))
}

fn demo() -> Graph {
    let json = include_str!("../../../tests/fixtures/demo_flow.json");
    graph(&serde_json::from_str(json).expect("is JSON"))
}

fn edges(graph: &Graph, kind: EdgeKind) -> Vec<(&str, &str, &str)> {
    let edges = graph.edges.iter().filter(|edge| edge.kind == kind);
    let label = |node: usize| graph.nodes[node].label.as_str();
    edges.map(|edge| (label(edge.from), label(edge.to), edge.label.as_str())).collect()
}

#[test]
fn every_block_and_target_is_in_the_graph() {
    let graph = demo();
    assert_eq!(graph.nodes[0].kind, NodeKind::Start);
    assert_eq!(graph.nodes[0].detail, "content, waits for an answer");
    assert_eq!(graph.nodes[0].excerpt, "Hi {{ contact.name }}, you wrote \"{{input}}\".");
    assert_eq!(edges(&graph, EdgeKind::Timeout), [("Welcome", "bye", "timeout, 10 min")]);
    assert_eq!(
        edges(&graph, EdgeKind::Retry),
        [
            ("Welcome", "Welcome", "wrong answer, up to 2 times"),
            ("Sales", "Sales", "wrong answer"),
            ("support", "support", "wrong answer")
        ]
    );
    assert_eq!(edges(&graph, EdgeKind::Fail), [("Welcome", "sorry", "too many wrong answers")]);
    assert_eq!(
        edges(&graph, EdgeKind::Condition),
        [("Welcome", "Sales", "Sales"), ("Sales", "bye", "seats > 100")]
    );
    let mermaid = graph.to_mermaid();
    assert!(mermaid.starts_with("flowchart TD\n"), "{mermaid}");
    assert_eq!(mermaid.matches("-->").count() + mermaid.matches("-.->").count(), graph.edges.len());
    let svg = graph.to_svg();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<rect ").count(), graph.nodes.len());
    assert!(svg.contains(">seats &gt; 100</text>"), "{svg}");
}

#[test]
fn an_answer_too_many_leads_where_the_engine_goes() {
    let block = |validation: Value| {
        graph(&json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "content",
            "input": { "validation": validation }, "defaultOutput": { "end": true } }] }))
    };
    let once = block(json!({ "kind": "text", "maxRetries": 0 }));
    assert_eq!(edges(&once, EdgeKind::Fail), [("a", "End", "too many wrong answers")], "the default output");
    assert!(edges(&once, EdgeKind::Retry).is_empty());
    let ever = block(json!({ "kind": "text" }));
    assert!(edges(&ever, EdgeKind::Fail).is_empty());
}

#[test]
fn conditions_in_short_words() {
    let words = |conditions: Value| {
        let flow = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "content",
            "outputConditions": [{ "id": "c", "conditions": conditions, "target": { "end": true } }],
            "defaultOutput": { "end": true } }] });
        graph(&flow).edges[0].label.clone()
    };
    for (conditions, expected) in [
        (json!([]), "always"),
        (
            json!([{ "source": { "type": "input" }, "comparator": "in", "values": ["a", "b"] }]),
            "answer in a or b",
        ),
        (
            json!([{ "source": { "type": "context", "key": "order.id" }, "comparator": "notExists" }]),
            "order.id is empty",
        ),
        (
            json!([{ "source": { "type": "contact", "key": "vip" }, "comparator": "equals", "values": [true] },
                { "source": { "type": "system", "key": "time" }, "comparator": "lessThan", "values": ["18:00"] }]),
            "contact.vip = true and time < 18:00",
        ),
        (
            json!([{ "source": { "type": "static", "value": "x ".repeat(100) }, "comparator": "equals", "values": [""] }]),
            "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x…",
        ),
    ] {
        assert_eq!(words(conditions), expected);
    }
}

#[test]
fn where_an_error_leads_is_drawn() {
    for (target, to) in [
        (json!({ "blockId": "sorry" }), "sorry"),
        (json!({ "flowId": "rescue" }), "rescue"),
        (json!({ "end": true }), "End"),
    ] {
        let graph =
            graph(&json!({ "schemaVersion": 1, "startBlockId": "a", "settings": { "errorTarget": target },
            "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } },
                { "id": "sorry", "type": "content", "defaultOutput": { "end": true } }] }));
        assert_eq!(edges(&graph, EdgeKind::Error), [("error", to, "at any block")]);
        assert!(graph.to_svg().contains(">error</text>"));
    }
    let graph = graph(&json!({ "schemaVersion": 1, "startBlockId": "a",
        "settings": { "errorTarget": { "blockId": "gone" } },
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] }));
    assert!(graph.nodes.iter().all(|node| node.kind != NodeKind::Error), "a target that is not there");
}

#[test]
fn the_legend_explains_what_the_picture_has() {
    let svg = demo().to_svg();
    assert!(svg.contains(">timeout</text>") && !svg.contains(">runs the flow</text>"), "{svg}");
    let straight = graph(&json!({ "schemaVersion": 1, "startBlockId": "a",
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] }));
    let svg = straight.to_svg();
    assert!(svg.contains(">default output</text>") && !svg.contains(">timeout</text>"), "{svg}");
}

#[test]
fn what_authors_write_is_text_and_nothing_else() {
    let evil = "</text><script>alert(1)</script>\"]; click a \n b & \u{0}\u{fffe}";
    let graph = graph(&json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "content", "title": evil, "contents": [{ "type": "text", "text": { "body": evil } }],
          "outputConditions": [{ "title": evil, "conditions": [], "target": { "blockId": "a" } }],
          "defaultOutput": { "end": true } }] }));
    let svg = graph.to_svg();
    assert!(!svg.contains("<script") && !svg.contains(['\u{0}', '\u{fffe}']), "{svg}");
    let mermaid = graph.to_mermaid();
    assert!(!mermaid.contains("<script") && !mermaid.contains("\"]; click"), "{mermaid}");
    assert_eq!(mermaid.lines().count(), 5, "{mermaid}");
}

/// Whether the straight line between two corners runs through the inside of a box.
fn crosses(frame: &Frame, (x1, y1): (usize, usize), (x2, y2): (usize, usize)) -> bool {
    let inside = |from: usize, to: usize, start: usize, size: usize| {
        from.max(to) > start && from.min(to) < start + size
    };
    inside(x1, x2, frame.x, WIDTH) && inside(y1, y2, frame.y, frame.height)
}

fn check(graph: &Graph) {
    let Drawing { width, height, boxes, edges } = drawing(graph);
    for (at, frame) in boxes.iter().enumerate() {
        assert!(frame.x + WIDTH <= width && frame.y + frame.height <= height);
        for other in &boxes[..at] {
            assert!(!crosses(frame, (other.x, other.y), (other.x + WIDTH, other.y + other.height)));
        }
    }
    for (edge, corners) in graph.edges.iter().zip(&edges) {
        let (to, from) = (&boxes[edge.to], &boxes[edge.from]);
        assert_eq!(corners[0].1, to.y, "comes in from above");
        let last = corners[corners.len() - 1];
        assert!(last.0 == from.x + WIDTH || last.1 == from.y + from.height, "leaves its box");
        for line in corners.windows(2) {
            assert!(line[0].0 == line[1].0 || line[0].1 == line[1].1, "straight");
            assert!(line[0].0 < width && line[0].1 < height, "in the picture");
            assert!(!boxes.iter().any(|frame| crosses(frame, line[0], line[1])), "{corners:?}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_edge_runs_behind_a_box(
        blocks in proptest::collection::vec(proptest::collection::vec(0usize..12, 1..5), 1..12),
        error in 0usize..12,
    ) {
        let id = |at: usize| format!("b{}", at % blocks.len());
        let definition: Vec<Value> = blocks.iter().enumerate().map(|(at, targets)| {
            let target = |to: &usize| if *to == 11 { json!({ "end": true }) } else { json!({ "blockId": id(*to) }) };
            let outputs: Vec<Value> = targets[1..].iter()
                .map(|to| json!({ "conditions": [], "target": target(to) })).collect();
            json!({ "id": id(at), "type": "content", "outputConditions": outputs,
                "input": { "timeoutTarget": target(&targets[0]), "validation": { "kind": "text", "maxRetries": 1 } },
                "defaultOutput": target(&(at + 1)) })
        }).collect();
        check(&graph(&json!({ "schemaVersion": 1, "startBlockId": "b0",
            "settings": { "errorTarget": { "blockId": id(error) } }, "blocks": definition })));
    }
}

#[test]
fn edges_of_a_picture_do_not_share_lines_unless_they_lead_to_the_same_place() {
    let graph = demo();
    let Drawing { edges, .. } = drawing(&graph);
    for (at, (edge, corners)) in graph.edges.iter().zip(&edges).enumerate() {
        for (other, others) in graph.edges.iter().zip(&edges).take(at) {
            if (edge.to, edge.kind) == (other.to, other.kind) {
                continue;
            }
            for a in corners.windows(2) {
                for b in others.windows(2) {
                    let along = |at: fn(&(usize, usize)) -> usize, across: fn(&(usize, usize)) -> usize| {
                        let on_one_line =
                            [a[1], b[0], b[1]].iter().all(|point| across(point) == across(&a[0]));
                        let (from, to) = (at(&a[0]).min(at(&a[1])), at(&a[0]).max(at(&a[1])));
                        on_one_line && at(&b[0]).max(at(&b[1])) > from && at(&b[0]).min(at(&b[1])) < to
                    };
                    let shared =
                        along(|point| point.0, |point| point.1) || along(|point| point.1, |point| point.0);
                    assert!(!shared, "{edge:?} {corners:?} {other:?} {others:?}");
                }
            }
        }
    }
}

/// A picture costs about as much as its edges, whatever they look like.
#[test]
fn a_flow_of_thousands_of_blocks_is_drawn() {
    let chain = |at: usize| json!({ "blockId": format!("b{}", (at + 1) % 5_000) });
    let shuffled = |at: usize| json!({ "blockId": format!("b{}", at * 7 % 5_000) });
    let other_flow = |at: usize| json!({ "flowId": format!("f{at}") });
    let start = |_: usize| json!({ "blockId": "b0" });
    let end = |_: usize| json!({ "end": true });
    type Target = fn(usize) -> Value;
    let shapes: [[Target; 2]; 4] = [[shuffled, other_flow], [start, chain], [end, chain], [chain, shuffled]];
    for [output, default] in shapes {
        let blocks: Vec<_> = (0..5_000)
            .map(|at| {
                json!({ "id": format!("b{at}"), "type": "content", "input": {},
                    "outputConditions": [{ "conditions": [], "target": output(at) }], "defaultOutput": default(at) })
            })
            .collect();
        let flow = graph(&json!({ "schemaVersion": 1, "startBlockId": "b0", "blocks": blocks }));
        let began = std::time::Instant::now();
        let svg = flow.to_svg();
        assert!(svg.len() > 5_000 && began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }
}
