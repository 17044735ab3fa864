//! Who races when.

use anyhow::{Result, bail};

/// Gives everybody in `field` a turn in every round, the order turned round in every other: A B B A.
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
