//! Reads the logs of servers.

use serde_json::Value;

use super::record::LogLine;

/// Reads the lines that an invariant looks at: warnings and errors, and those that are no log lines. The clock of
/// the process was ahead by `ahead` seconds.
pub(super) fn read(log: &str, ahead: i64) -> Vec<LogLine> {
    log.lines().filter(|line| !line.trim().is_empty()).filter_map(|line| parse(line, ahead)).collect()
}

fn parse(line: &str, ahead: i64) -> Option<LogLine> {
    let logged: Value = serde_json::from_str(line).unwrap_or_default();
    let text = |name: &str| logged.get(name).and_then(Value::as_str);
    let at = text("timestamp").and_then(millis).map(|at| at - ahead * 1_000);
    let level = text("level").unwrap_or_default().to_owned();
    (at.is_none() || !matches!(&*level, "INFO" | "DEBUG" | "TRACE")).then(|| LogLine {
        at,
        level,
        line: line.to_owned(),
    })
}

/// Returns the milliseconds since 1970 of `2026-11-22T23:59:01.123456Z`.
fn millis(time: &str) -> Option<i64> {
    let (date, clock) = time.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut clock = clock.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    // Years begin in March, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 719_469;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + (fraction * 1_000.0) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(millis("2000-03-01T00:00:00.5Z"), Some(951_868_800_500));
        assert_eq!(millis("2026-11-22T23:59:01.123456Z"), Some(1_795_391_941_123));
        assert_eq!(millis("yesterday"), None);
    }

    #[test]
    fn warnings_errors_and_foreign_lines_are_read_at_their_true_time() {
        let line =
            |level: &str| format!(r#"{{"timestamp":"1970-01-01T00:00:07.000000Z","level":"{level}"}}"#);
        let log = format!("{}\n{}\n\nthread 'x' panicked\n", line("INFO"), line("ERROR"));
        let lines = read(&log, 5);
        let found: Vec<_> = lines.iter().map(|line| (line.at, line.level.as_str())).collect();
        assert_eq!(found, [(Some(2_000), "ERROR"), (None, "")]);
    }
}
