//! Invariants of the processes: memory, files, threads, logs.

use std::collections::HashMap;

use super::Verdict;
use crate::soak::record::{Processes, Sample};

/// The age at which a process has warmed up, in milliseconds; its use of resources then is the measure of the end.
const WARM: std::ops::Range<i64> = 5_000..30_000;
const MEBIBYTE: u64 = 1 << 20;
/// The write-ahead log may grow to this.
const WAL_LIMIT: u64 = 64 * MEBIBYTE;
/// The logs of all processes may have as many bytes, and as many more for each fault.
const LOG_LIMIT: u64 = MEBIBYTE;
const LOG_LIMIT_PER_FAULT: u64 = MEBIBYTE / 4;

/// Compares each process at the end with the most of any process of its name that had just warmed up.
fn grew(
    mut verdict: Verdict,
    processes: &Processes,
    amount: fn(&Sample) -> u64,
    limit: fn(u64) -> u64,
) -> Verdict {
    let mut warm: HashMap<&str, u64> = HashMap::new();
    for sample in processes.samples.iter().filter(|sample| WARM.contains(&sample.age)) {
        let most = warm.entry(&sample.server).or_default();
        *most = (*most).max(amount(sample));
    }
    for sample in &processes.at_the_end {
        let Some(&before) = warm.get(sample.server.as_str()) else { continue };
        verdict
            .unless(amount(sample) <= limit(before), || format!("{before} after warm-up, then {sample:?}"));
    }
    verdict
}

pub(super) fn memory_is_bounded(processes: &Processes) -> Verdict {
    let verdict = Verdict::new("memory at the end is within twice that after warm-up");
    grew(verdict, processes, |sample| sample.rss_kib, |before| 2 * before)
}

/// Visitors have left, so there are fewer open files than before.
pub(super) fn files_are_closed(processes: &Processes) -> Verdict {
    grew(
        Verdict::new("no more open files at the end than after warm-up"),
        processes,
        |sample| sample.files,
        |before| before + 8,
    )
}

pub(super) fn threads_are_bounded(processes: &Processes) -> Verdict {
    grew(
        Verdict::new("threads at the end are within half more than after warm-up"),
        processes,
        |sample| sample.threads,
        |before| before + before / 2,
    )
}

pub(super) fn wal_is_bounded(processes: &Processes) -> Verdict {
    let mut verdict = Verdict::new("the write-ahead log of SQLite stays within 64 MiB");
    let peak = processes.wal_peak_bytes;
    verdict.unless(peak <= WAL_LIMIT, || format!("it had {peak} bytes"));
    verdict
}

pub(super) fn log_is_bounded(processes: &Processes) -> Verdict {
    let mut verdict = Verdict::new("logs stay within 1 MiB, and 256 KiB a fault");
    let limit = LOG_LIMIT + LOG_LIMIT_PER_FAULT * processes.windows.len() as u64;
    verdict.unless(processes.log_bytes <= limit, || {
        format!("{} bytes after {} faults", processes.log_bytes, processes.windows.len())
    });
    verdict
}

/// Lines at level ERROR only while a fault and its consequences last; panics never.
pub(super) fn no_errors_outside_of_faults(processes: &Processes) -> Verdict {
    let mut verdict = Verdict::new("no error is logged outside of a fault, and nothing panics");
    verdict.checked = processes.log_lines;
    for line in &processes.log {
        let is_allowed = match line.at {
            None => false,
            Some(at) => {
                line.level != "ERROR"
                    || processes.windows.iter().any(|window| (window.begin..=window.end).contains(&at))
            }
        };
        if !is_allowed {
            verdict.wrong(line.line.clone());
        }
    }
    verdict
}

pub(super) fn ends_were_in_order(processes: &Processes) -> Verdict {
    let mut verdict = Verdict::new("processes end only when they are told to, and then well");
    verdict.checked = processes.windows.len() as u64;
    for end in &processes.ends {
        verdict.wrong(end.clone());
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::record::{LogLine, Window};

    type Check = fn(&Processes) -> Verdict;

    fn sample(age: i64, amount: u64) -> Sample {
        Sample { server: "a".to_owned(), age, rss_kib: amount, files: amount, threads: amount }
    }

    #[test]
    fn growth_since_the_warm_up_is_found() {
        let at_the_end = |amount| Processes {
            samples: vec![sample(0, 10), sample(10_000, 100), sample(600_000, 900)],
            at_the_end: vec![sample(700_000, amount)],
            ..Processes::default()
        };
        let checks: [(Check, u64); 3] =
            [(memory_is_bounded, 200), (files_are_closed, 108), (threads_are_bounded, 150)];
        for (check, limit) in checks {
            assert_eq!(check(&at_the_end(limit)).violations, 0);
            assert_eq!(check(&at_the_end(limit + 1)).violations, 1);
        }
    }

    #[test]
    fn files_that_grow_are_found() {
        let window = || Window { fault: "kill".to_owned(), begin: 0, end: 1 };
        let grown = |wal_peak_bytes, log_bytes, faults| Processes {
            wal_peak_bytes,
            log_bytes,
            windows: (0..faults).map(|_| window()).collect(),
            ..Processes::default()
        };
        assert_eq!(wal_is_bounded(&grown(WAL_LIMIT, 0, 0)).violations, 0);
        assert_eq!(wal_is_bounded(&grown(WAL_LIMIT + 1, 0, 0)).violations, 1);
        assert_eq!(log_is_bounded(&grown(0, LOG_LIMIT + 1, 1)).violations, 0);
        assert_eq!(log_is_bounded(&grown(0, LOG_LIMIT + 1, 0)).violations, 1);
    }

    #[test]
    fn errors_count_outside_of_windows_and_panics_always() {
        let line = |at, level: &str| LogLine { at, level: level.to_owned(), line: "text".to_owned() };
        let logged = |line| Processes {
            windows: vec![Window { fault: "kill".to_owned(), begin: 100, end: 200 }],
            log: vec![line],
            ..Processes::default()
        };
        let violations = |line| no_errors_outside_of_faults(&logged(line)).violations;
        assert_eq!(violations(line(Some(150), "ERROR")), 0);
        assert_eq!(violations(line(Some(201), "ERROR")), 1);
        assert_eq!(violations(line(Some(201), "WARN")), 0);
        assert_eq!(violations(line(None, "")), 1);
    }

    #[test]
    fn an_end_that_nobody_ordered_is_found() {
        let processes = Processes { ends: vec!["exit status 1".to_owned()], ..Processes::default() };
        assert_eq!(ends_were_in_order(&processes).violations, 1);
    }
}
