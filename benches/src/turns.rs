//! The order of the contenders.

use anyhow::{Result, bail};

/// Runs every contender in `field` once in every round, the order reversed in every other: A B B A.
pub(crate) fn in_turns<C: Copy>(
    field: &[C],
    rounds: u32,
    mut turn: impl FnMut(C, u32) -> Result<()>,
) -> Result<()> {
    if field.is_empty() {
        bail!("nobody can run");
    }
    for round in 0..rounds {
        let mut order = field.to_vec();
        if round % 2 == 1 {
            order.reverse();
        }
        for who in order {
            turn(who, round)?;
        }
    }
    Ok(())
}
