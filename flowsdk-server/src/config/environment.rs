//! Reads values by name and gathers their problems.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use secrecy::SecretString;

/// Everything that is wrong with the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// One line a problem: the name, and the rule that its value breaks.
    pub problems: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the configuration has {} problem(s):", self.problems.len())?;
        for problem in &self.problems {
            writeln!(f, "  - {problem}")?;
        }
        Ok(())
    }
}

/// Finds a value by its name.
type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Values by name, and the problems found so far.
pub struct Environment<'a> {
    lookup: Box<Lookup<'a>>,
    problems: Vec<String>,
}

impl<'a> Environment<'a> {
    /// Values that `lookup` finds. An empty value counts as absent.
    pub fn new(lookup: impl Fn(&str) -> Option<String> + 'a) -> Self {
        Self { lookup: Box::new(lookup), problems: Vec::new() }
    }

    /// The values of the process.
    pub fn process() -> Environment<'static> {
        Environment::new(|name| std::env::var(name).ok())
    }

    /// Returns the raw value; an empty one counts as absent.
    pub fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }

    /// Notes a problem of the value `name`.
    pub fn problem(&mut self, name: &str, must: impl fmt::Display) {
        self.problems.push(format!("{name} {must}"));
    }

    /// A value that parses, or `None` when it is absent or wrong.
    pub fn parsed<T: FromStr>(&mut self, name: &str) -> Option<T>
    where
        T::Err: fmt::Display,
    {
        let text = self.text(name)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.problem(name, error);
                None
            }
        }
    }

    /// A whole number within `range`, or `default`.
    pub fn number(&mut self, name: &str, default: u32, range: std::ops::RangeInclusive<u32>) -> u32 {
        let Some(text) = self.text(name) else {
            return default;
        };
        match text.parse() {
            Ok(value) if range.contains(&value) => value,
            _ => {
                self.problem(
                    name,
                    format_args!("must be a whole number from {} to {}", range.start(), range.end()),
                );
                default
            }
        }
    }

    /// A length of time such as `30s`, `15m`, `12h`, `7d`, or `default`.
    pub fn duration(&mut self, name: &str, default: Duration) -> Duration {
        let Some(text) = self.text(name) else {
            return default;
        };
        parse_duration(&text).unwrap_or_else(|| {
            self.problem(name, "must be a length of time such as 30s, 15m, 12h or 7d");
            default
        })
    }

    /// A secret that must be there.
    pub fn secret(&mut self, name: &str) -> SecretString {
        let value = self.text(name);
        if value.is_none() {
            self.problem(name, "is missing");
        }
        SecretString::from(value.unwrap_or_default())
    }

    /// Ends with every problem, if there is one.
    pub fn finish(self) -> Result<(), ConfigError> {
        if self.problems.is_empty() { Ok(()) } else { Err(ConfigError { problems: self.problems }) }
    }
}

/// Seconds when there is no unit.
fn parse_duration(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..split].parse().ok()?;
    let seconds = match &text[split..] {
        "ms" => return (number > 0).then(|| Duration::from_millis(number)),
        "" | "s" => number,
        "m" => number.checked_mul(60)?,
        "h" => number.checked_mul(60 * 60)?,
        "d" => number.checked_mul(24 * 60 * 60)?,
        _ => return None,
    };
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        for (text, seconds) in
            [("90", Some(90)), ("30s", Some(30)), ("15m", Some(900)), ("7d", Some(604_800))]
        {
            assert_eq!(parse_duration(text).map(|d| d.as_secs()), seconds, "{text}");
        }
        assert_eq!(parse_duration("1200ms"), Some(Duration::from_millis(1_200)));
        for bad in ["", "d", "ms", "0ms", "0", "0s", "1w", "-1s", "1.5h", "99999999999999999999d"] {
            assert_eq!(parse_duration(bad), None, "{bad:?}");
        }
    }
}
