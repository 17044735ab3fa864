//! Where outputs lead: targets that are missing, blocks that nothing leads to, cycles without input.

use std::collections::HashMap;

use super::Findings;
use crate::flow::definition::{FlowDefinition, Target, no_block};
use crate::id::BlockId;
use crate::text::Text;

pub(super) fn check(definition: &FlowDefinition, findings: &mut Findings) {
    let graph = Graph::new(definition);
    graph.missing_targets(findings);
    let Some(start) = graph.find(&definition.start_block_id) else {
        return findings.error("start_not_found", "/startBlockId", no_block(&definition.start_block_id));
    };
    graph.unreachable(start, findings);
    graph.cycles(findings);
}

struct Graph<'a> {
    definition: &'a FlowDefinition,
    index: HashMap<&'a BlockId, usize>,
}

impl<'a> Graph<'a> {
    fn new(definition: &'a FlowDefinition) -> Self {
        let ids = definition.blocks.iter().map(|block| &block.id);
        Self { definition, index: ids.enumerate().map(|(at, id)| (id, at)).collect() }
    }

    fn find(&self, block: &BlockId) -> Option<usize> {
        self.index.get(block).copied()
    }

    /// Returns the block of this flow that `target` names.
    fn inside(&self, target: &Target) -> Option<usize> {
        match target {
            Target::Block(block) => self.find(block),
            Target::Flow { .. } | Target::End => None,
        }
    }

    fn missing_targets(&self, findings: &mut Findings) {
        let mut check = |block: Option<&BlockId>, target: &Target, pointer: String| {
            if let Target::Block(id) = target
                && !self.index.contains_key(id)
            {
                findings.block = block.cloned();
                findings.error("target_not_found", format!("{pointer}/blockId"), no_block(id));
            }
        };
        if let Some(target) = &self.definition.settings.error_target {
            check(None, target, "/settings/errorTarget".into());
        }
        for (at, block) in self.definition.blocks.iter().enumerate() {
            for (target, pointer) in block.targets() {
                check(Some(&block.id), target, format!("/blocks/{at}{pointer}"));
            }
        }
        findings.block = None;
    }

    // Only a warning: redirects, dispatches and other flows may lead to a block too.
    fn unreachable(&self, start: usize, findings: &mut Findings) {
        let blocks = &self.definition.blocks;
        let mut seen = vec![false; blocks.len()];
        let error_target = self.definition.settings.error_target.as_ref();
        let mut open: Vec<usize> =
            std::iter::once(start).chain(error_target.and_then(|target| self.inside(target))).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(blocks[at].targets().into_iter().filter_map(|(target, _)| self.inside(target)));
            }
        }
        for (at, block) in blocks.iter().enumerate().filter(|(at, _)| !seen[*at]) {
            findings.block = Some(block.id.clone());
            let message = Text::new("nada leva a este bloco", "nothing leads to this block");
            findings.warn("unreachable_block", format!("/blocks/{at}"), message);
        }
        findings.block = None;
    }

    /// Depth first without recursion, since a flow may be a chain of thousands of blocks.
    fn cycles(&self, findings: &mut Findings) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let blocks = &self.definition.blocks;
        let mut marks = vec![Mark::New; blocks.len()];
        for root in 0..blocks.len() {
            if marks[root] != Mark::New {
                continue;
            }
            marks[root] = Mark::Open;
            let mut path = vec![(root, self.onward(root))];
            while let Some((at, onward)) = path.last_mut() {
                let at = *at;
                match onward.pop() {
                    None => {
                        marks[at] = Mark::Done;
                        path.pop();
                    }
                    Some(next) if marks[next] == Mark::New => {
                        marks[next] = Mark::Open;
                        path.push((next, self.onward(next)));
                    }
                    Some(next) if marks[next] == Mark::Open => {
                        findings.block = Some(blocks[at].id.clone());
                        let next = &blocks[next].id;
                        let message = Text::of(
                            format!("volta a `{next}` sem esperar entrada"),
                            format!("leads back to `{next}` without waiting for input"),
                        );
                        findings.error("cycle_without_input", format!("/blocks/{at}"), message);
                    }
                    Some(_) => {}
                }
            }
        }
        findings.block = None;
    }

    /// Where the block leads in the same turn: nowhere when it waits or hands the session over.
    fn onward(&self, at: usize) -> Vec<usize> {
        let block = &self.definition.blocks[at];
        if !block.is_passed() {
            return Vec::new();
        }
        block.targets().into_iter().filter_map(|(target, _)| self.inside(target)).collect()
    }
}
