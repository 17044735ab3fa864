//! What the provider tells of an account besides messages and statuses.

use super::loose::Fields;
use super::preference::Preference;
use super::template;
use crate::template::TemplateNews;

/// News of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountNews {
    /// A contact has stopped or resumed what businesses send them.
    Preference(Preference),
    /// A template of the account has another status, quality or category.
    Template(TemplateNews),
}

impl AccountNews {
    /// Returns whether changes of this field are read.
    pub(super) fn has_field(field: &str) -> bool {
        field == Preference::FIELD || template::FIELDS.contains(&field)
    }

    /// Reads the value of a change. What says nothing that counts here is left out.
    pub fn read(field: &str, value: &Fields) -> Vec<Self> {
        if field == Preference::FIELD {
            return Preference::read_all(value).into_iter().map(Self::Preference).collect();
        }
        template::read(field, value).map(Self::Template).into_iter().collect()
    }
}
