//! Which elements of two lists are the same element.

use serde_json::Value;

/// Most pairs of elements that are looked at; longer lists are compared by their indices.
const MOST_PAIRS: usize = 250_000;

/// An element of the earlier list, of the later one, or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aligned {
    /// Its index in the earlier list.
    Removed(usize),
    /// Its index in the later list.
    Added(usize),
    /// Its indices in the earlier and in the later list.
    Both(usize, usize),
}

/// Aligns two lists: elements that are equal or bear the same id are the same one, as many of them as keep their order.
/// Between two such elements those without an id are paired in order, and the rest is removed or added.
pub(super) fn align(before: &[Value], after: &[Value]) -> Vec<Aligned> {
    let mut aligned = Vec::with_capacity(before.len().max(after.len()));
    let (mut from, mut to) = (0, 0);
    let kept = kept(before, after).into_iter();
    for (kept_from, kept_to) in kept.chain([(before.len(), after.len())]) {
        gap(before, after, (from..kept_from, to..kept_to), &mut aligned);
        if kept_from < before.len() {
            aligned.push(Aligned::Both(kept_from, kept_to));
        }
        (from, to) = (kept_from + 1, kept_to + 1);
    }
    aligned
}

/// Aligns what stands between two elements that were kept.
fn gap(
    before: &[Value],
    after: &[Value],
    (mut from, mut to): (std::ops::Range<usize>, std::ops::Range<usize>),
    aligned: &mut Vec<Aligned>,
) {
    while !from.is_empty() || !to.is_empty() {
        let (first, second) = (from.start, to.start);
        let is_named = |list: &[Value], at: usize| identity(&list[at]).is_some();
        let pair = !from.is_empty() && !to.is_empty();
        if pair && !is_named(before, first) && !is_named(after, second) {
            aligned.push(Aligned::Both(first, second));
            (from.start, to.start) = (first + 1, second + 1);
        } else if !from.is_empty() && (to.is_empty() || is_named(before, first)) {
            aligned.push(Aligned::Removed(first));
            from.start = first + 1;
        } else {
            aligned.push(Aligned::Added(second));
            to.start = second + 1;
        }
    }
}

/// Returns the longest sequence of elements that both lists have in this order, by their indices.
fn kept(before: &[Value], after: &[Value]) -> Vec<(usize, usize)> {
    let (rows, columns) = (before.len(), after.len());
    if rows.saturating_mul(columns) > MOST_PAIRS {
        return (0..rows.min(columns)).map(|at| (at, at)).collect();
    }
    // The length of the longest sequence in what begins at a row and a column.
    let width = columns + 1;
    let mut longest = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let at = row * width + column;
            longest[at] = if is_same(&before[row], &after[column]) {
                longest[at + width + 1] + 1
            } else {
                longest[at + width].max(longest[at + 1])
            };
        }
    }
    let (mut row, mut column, mut kept) = (0, 0, Vec::new());
    while row < rows && column < columns {
        let at = row * width + column;
        if is_same(&before[row], &after[column]) {
            kept.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if longest[at + width] >= longest[at + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    kept
}

fn is_same(before: &Value, after: &Value) -> bool {
    match (identity(before), identity(after)) {
        (None, None) => before == after,
        (before, after) => before == after,
    }
}

/// Returns the id of an output, a row or a reply button.
fn identity(element: &Value) -> Option<&str> {
    element["id"].as_str().or_else(|| element["reply"]["id"].as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_are_found_again_wherever_they_stand() {
        use Aligned::{Added, Both, Removed};
        let id = |id: &str, text: &str| json!({ "id": id, "text": text });
        let button =
            |id: &str, title: &str| json!({ "type": "reply", "reply": { "id": id, "title": title } });
        for (before, after, expected) in [
            (json!([]), json!([]), vec![]),
            (json!([1, 2]), json!([0, 1, 2]), vec![Added(0), Both(0, 1), Both(1, 2)]),
            (json!([0, 1, 2]), json!([1, 2]), vec![Removed(0), Both(1, 0), Both(2, 1)]),
            (json!([1, 2, 3]), json!([1, 9, 3]), vec![Both(0, 0), Both(1, 1), Both(2, 2)]),
            (json!([1, 2]), json!([9]), vec![Both(0, 0), Removed(1)]),
            (json!([id("a", "x")]), json!([id("b", "y"), id("a", "z")]), vec![Added(0), Both(0, 1)]),
            (json!([id("a", "x")]), json!([id("b", "x")]), vec![Removed(0), Added(0)]),
            (
                json!([id("a", ""), id("b", "")]),
                json!([id("b", ""), id("a", "")]),
                vec![Removed(0), Both(1, 0), Added(1)],
            ),
            (
                json!([button("1", "A")]),
                json!([button("0", "N"), button("1", "B")]),
                vec![Added(0), Both(0, 1)],
            ),
            (json!([1]), json!([id("a", "")]), vec![Removed(0), Added(0)]),
        ] {
            let lists = (before.as_array().expect("a list"), after.as_array().expect("a list"));
            let aligned = align(lists.0, lists.1);
            let has = |wanted: &Aligned| aligned.contains(wanted);
            assert!(
                aligned.len() == expected.len() && expected.iter().all(has),
                "{before} {after}: {aligned:?}"
            );
        }
    }

    #[test]
    fn long_lists_are_compared_by_their_indices() {
        let list = |first: usize| (first..first + 600).map(Value::from).collect::<Vec<_>>();
        let aligned = align(&list(0), &list(1));
        assert_eq!(aligned, (0..600).map(|at| Aligned::Both(at, at)).collect::<Vec<_>>());
    }
}
