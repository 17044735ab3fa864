//! The rank test of Mann and Whitney: tells whether two samples differ, whatever their distribution.

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MannWhitney {
    /// How often a value of the first is greater than one of the second, ties half; 0.5 means neither.
    pub(crate) superiority: f64,
    /// Standard deviations from 0.5.
    pub(crate) z: f64,
}

/// Compares two samples with at least one value each, in the normal approximation. Ties are counted half and
/// the deviation is not corrected for them, so with many ties `z` is a little too small.
pub(crate) fn mann_whitney(first: &[f64], second: &[f64]) -> MannWhitney {
    let (m, n) = (first.len() as f64, second.len() as f64);
    let mut all: Vec<(f64, bool)> = first.iter().map(|&value| (value, true)).collect();
    all.extend(second.iter().map(|&value| (value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = 0.0;
    let mut rest = all.as_slice();
    let mut before = 0.0;
    while let Some(&(value, _)) = rest.first() {
        let ties = rest.iter().take_while(|(other, _)| *other == value).count();
        let (tied, after) = rest.split_at(ties);
        let mean_rank = before + (ties as f64 + 1.0) / 2.0;
        ranks += mean_rank * tied.iter().filter(|(_, of_first)| *of_first).count() as f64;
        before += ties as f64;
        rest = after;
    }
    let u = ranks - m * (m + 1.0) / 2.0;
    let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
    MannWhitney { superiority: u / (m * n), z: (u - m * n / 2.0) / deviation }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_values_do_not_differ() {
        let same = mann_whitney(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]);
        assert_eq!(same, MannWhitney { superiority: 0.5, z: 0.0 });
    }

    /// 22 of the 25 pairs: z = (22 - 12.5) / sqrt(25 * 11 / 12).
    #[test]
    fn a_sample_with_greater_values_is_found() {
        let result = mann_whitney(&[19.0, 22.0, 16.0, 29.0, 24.0], &[20.0, 11.0, 17.0, 12.0, 10.0]);
        assert_eq!(result.superiority, 22.0 / 25.0);
        assert!((result.z - 9.5 / (25.0_f64 * 11.0 / 12.0).sqrt()).abs() < 1e-12);
    }
}
