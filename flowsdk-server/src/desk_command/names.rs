//! Short numbers for tickets, in place of their ids.

/// The tickets that the desk has shown, in the order in which they came. The first is number 1.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// Returns the number of a ticket, which it keeps while the desk runs.
    pub(super) fn of(&mut self, id: &str) -> usize {
        let at = self.0.iter().position(|known| known == id).unwrap_or_else(|| {
            self.0.push(id.to_owned());
            self.0.len() - 1
        });
        at + 1
    }

    /// Returns the id of the ticket that is meant by `1`, `#1` or its id. `None` where it is neither a known number nor
    /// can be an id.
    pub(super) fn meant(&self, name: &str) -> Option<String> {
        let name = name.strip_prefix('#').unwrap_or(name);
        if let Ok(number) = name.parse::<usize>() {
            return self.0.get(number.checked_sub(1)?).cloned();
        }
        // Anything else would lead to another path of the API.
        let is_id = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_id.then(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_ids_are_taken_too() {
        let mut names = Names::default();
        assert_eq!([names.of("cone"), names.of("ctwo"), names.of("cone")], [1, 2, 1]);
        for (name, expected) in [
            ("1", Some("cone")),
            ("#2", Some("ctwo")),
            ("cthree", Some("cthree")),
            ("3", None),
            ("0", None),
            ("-1", None),
            ("c/../x", None),
            ("", None),
            ("#", None),
        ] {
            assert_eq!(names.meant(name).as_deref(), expected, "{name}");
        }
    }
}
