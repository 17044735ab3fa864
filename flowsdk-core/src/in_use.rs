//! What stands in the way of a deletion (rulings S13).

use crate::text::Text;

/// The dependants of a thing: what each is called on the wire, and what is to be said of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependants(Vec<(String, Text)>);

impl Dependants {
    /// Notes open sessions, if there are any.
    pub fn sessions(&mut self, count: i64) {
        let text = match count {
            ..=0 => return,
            1 => Text::new("1 sessão aberta", "1 open session"),
            _ => Text::of(format!("{count} sessões abertas"), format!("{count} open sessions")),
        };
        self.0.push(("sessions".to_owned(), text));
    }

    /// Notes something that refers to the thing: its field on the wire and its id.
    pub fn reference(&mut self, field: impl Into<String>, id: &str) {
        self.0.push((field.into(), Text::of(id.to_owned(), id.to_owned())));
    }

    /// Whether nothing stands in the way.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses with them, if there are any.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn must_be_none(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// Field and text of each.
    pub fn details(&self) -> Vec<(String, Text)> {
        self.0.clone()
    }
}

/// The code of the error.
pub const IN_USE: &str = "in_use";

/// Its text.
pub const IN_USE_TEXT: Text = Text::new("Registro em uso", "Record in use");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_counted_in_words_that_agree() {
        for (count, portuguese, english) in [
            (1, "1 sessão aberta", "1 open session"),
            (2, "2 sessões abertas", "2 open sessions"),
            (11, "11 sessões abertas", "11 open sessions"),
        ] {
            let mut dependants = Dependants::default();
            dependants.sessions(count);
            let details = dependants.details();
            let [(field, text)] = &details[..] else { panic!("{details:?}") };
            assert_eq!(field, "sessions");
            assert_eq!((text.portuguese(), text.english()), (portuguese, english));
        }
        let mut none = Dependants::default();
        none.sessions(0);
        assert!(none.is_empty());
    }
}
