//! What a picture says of blocks, in few words.

use crate::flow::definition::{Block, BlockKind};
use crate::flow::words::short;

/// Most characters of an excerpt.
const EXCERPT: usize = 64;

/// Returns the `type` of a block, and what is special about it.
pub(super) fn detail(block: &Block) -> String {
    match &block.kind {
        BlockKind::Content { input: Some(_), .. } => "content, waits for an answer".to_owned(),
        BlockKind::Content { input: None, .. } => "content".to_owned(),
        BlockKind::Agent { agent_id, .. } => format!("agent {agent_id}"),
        BlockKind::Human { .. } => "human".to_owned(),
        BlockKind::Flow { returns: true, .. } => "flow".to_owned(),
        BlockKind::Flow { returns: false, .. } => "flow, does not come back".to_owned(),
    }
}

/// Returns the first words of the first message of a block, or the type of one without words.
pub(super) fn excerpt(block: &Block) -> String {
    let BlockKind::Content { contents, .. } = &block.kind else { return String::new() };
    let body = contents.iter().filter_map(|content| content.body()).find(|body| !body.trim().is_empty());
    match (body, contents.first()) {
        (Some(body), _) => short(body, EXCERPT),
        (None, Some(first)) => format!("<{}>", first.kind()),
        (None, None) => String::new(),
    }
}

/// Returns how often a wrong answer is asked again for.
pub(super) fn retry(most: Option<u32>) -> String {
    match most {
        Some(1) => "wrong answer, once".to_owned(),
        Some(most) => format!("wrong answer, up to {most} times"),
        None => "wrong answer".to_owned(),
    }
}

/// Returns when the wait for an answer is over.
pub(super) fn timeout(millis: Option<u64>) -> String {
    match millis {
        None => "timeout".to_owned(),
        Some(millis) if millis % 60_000 == 0 => format!("timeout, {} min", millis / 60_000),
        Some(millis) if millis % 1_000 == 0 => format!("timeout, {} s", millis / 1_000),
        Some(millis) => format!("timeout, {millis} ms"),
    }
}
