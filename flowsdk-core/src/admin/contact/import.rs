//! Rows of an import of opt-ins: read one by one, so that a bad one spoils no other.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::contact::{
    HasContactCatalog, HasContacts, MAX_NAME, OptInStatus, clean_name, find_by_either_form, phone_digits,
};
use crate::fault::StorageError;
use crate::id::ContactId;
use crate::router::Reach;
use crate::text::Text;
use crate::time::Timestamp;

/// Rows to import.
#[derive(Debug, Clone)]
pub struct Import {
    /// The rows, in order: of several of one contact and moment the last counts.
    pub rows: Vec<SentRow>,
    /// Whether one bad row refuses all.
    pub strict: bool,
}

/// A row as it was sent: texts, blank where there was nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentRow {
    /// The contact's id; else its number counts.
    pub contact_id: String,
    /// A phone number, as people write it.
    pub phone_number: String,
    /// The name of a contact that is not known yet.
    pub name: String,
    /// The consent: `accepted` or `revoked`.
    pub status: String,
    /// ISO 8601, a day alone means its beginning in UTC; blank means now.
    pub recorded_at: String,
    /// The line of the file on which it begins, from 1; of a table only.
    pub line: Option<usize>,
    /// Whether a table has more cells here than its head has names: a separator in a text that is not quoted.
    pub has_more_cells: bool,
}

/// Whose opt-in a row is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    Contact(ContactId),
    /// The digits of a phone number.
    Phone(String),
}

impl Whose {
    /// Returns the contact, if the row names it by its id.
    pub(super) fn contact(&self) -> Option<&ContactId> {
        match self {
            Self::Contact(id) => Some(id),
            Self::Phone(_) => None,
        }
    }

    /// Returns the digits of the phone number, if the row names the contact by it.
    pub(super) fn phone(&self) -> Option<&String> {
        match self {
            Self::Contact(_) => None,
            Self::Phone(phone) => Some(phone),
        }
    }
}

/// A row that makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRow {
    pub(super) whose: Whose,
    pub(super) name: Option<String>,
    pub(super) status: OptInStatus,
    pub(super) recorded_at: Timestamp,
}

/// A row that is not imported, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRow {
    /// Its place among the rows, from 0; the head of a table does not count.
    pub row: usize,
    /// The line of the file on which it begins, from 1; of a table only.
    pub line: Option<usize>,
    /// The field at fault.
    pub field: &'static str,
    /// Why it is refused, for people.
    pub reason: Text,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Rows that were sent.
    pub total: usize,
    /// Records that were appended.
    pub imported: usize,
    /// Contacts that were created for them.
    pub created_contacts: usize,
    /// The rows that were left out, in order.
    pub refused: Vec<RefusedRow>,
}

impl ImportReport {
    /// Returns field and reason of each row that was left out.
    pub(super) fn details(&self) -> Vec<(String, Text)> {
        self.refused.iter().map(RefusedRow::detail).collect()
    }
}

impl RefusedRow {
    fn detail(&self) -> (String, Text) {
        let reason = match self.line {
            // Whoever sent a table looks for the row by its line.
            Some(line) => Text::of(
                format!("{} (linha {line} do arquivo)", self.reason.portuguese()),
                format!("{} (line {line} of the file)", self.reason.english()),
            ),
            None => self.reason.clone(),
        };
        (format!("rows[{}].{}", self.row, self.field), reason)
    }
}

impl ImportRow {
    /// Reads and checks the cells of a row.
    pub(super) fn read(sent: &SentRow, now: Timestamp) -> Result<Self, (&'static str, Text)> {
        if sent.has_more_cells {
            let more = Text::new("Tem mais células que o cabeçalho", "Has more cells than the head");
            return Err(("row", more));
        }
        let whose = match (sent.contact_id.trim(), sent.phone_number.trim()) {
            ("", "") => return Err(("phoneNumber", Text::new("Campo obrigatório", "Required field"))),
            ("", phone) => Whose::Phone(phone_digits(phone).ok_or((
                "phoneNumber",
                Text::new(
                    "Deve ser um número E.164: 8 a 15 dígitos",
                    "Must be a number of E.164: 8 to 15 digits",
                ),
            ))?),
            (id, _) => {
                let id = ContactId::parse(id);
                Whose::Contact(id.map_err(|_| ("contactId", Text::new("Id inválido", "Invalid id")))?)
            }
        };
        let status = match sent.status.trim().to_ascii_lowercase().as_str() {
            "accepted" => OptInStatus::Accepted,
            "revoked" => OptInStatus::Revoked,
            // Consent is never presumed.
            "" => return Err(("status", Text::new("Campo obrigatório", "Required field"))),
            _ => {
                return Err((
                    "status",
                    Text::new("Deve ser um de: accepted, revoked", "Must be one of: accepted, revoked"),
                ));
            }
        };
        let name = name(&sent.name)?;
        let recorded_at = match sent.recorded_at.trim() {
            "" => now,
            text => moment(text, now)?,
        };
        Ok(Self { whose, name: (!name.is_empty()).then_some(name), status, recorded_at })
    }
}

/// Reads a name. Line breaks, which come out of spreadsheets, become blanks.
fn name(text: &str) -> Result<String, (&'static str, Text)> {
    let name = text.replace("\r\n", " ").replace(['\r', '\n', '\t'], " ");
    if name.contains(char::is_control) {
        let may_not =
            Text::new("Não pode conter caracteres de controle", "May not contain control characters");
        return Err(("name", may_not));
    }
    let name = clean_name(&name);
    if name.chars().count() > MAX_NAME {
        return Err((
            "name",
            Text::new("Pode ter no máximo 200 caracteres", "May have at most 200 characters"),
        ));
    }
    Ok(name)
}

/// Returns the beginning of a day in UTC, so that a consent never counts later than it was given there.
fn midnight(day: &str) -> Option<jiff::Timestamp> {
    let is_day = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let day: jiff::civil::Date = is_day.then(|| day.parse().ok())??;
    day.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|day| day.timestamp())
}

/// Reads a moment in the past: a future one would outweigh the contact's own answers until then.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, (&'static str, Text)> {
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| midnight(text)).ok_or_else(|| {
        let must =
            Text::new("Deve ser data ou data e hora ISO 8601", "Must be an ISO 8601 date, or date and time");
        ("recordedAt", must)
    })?;
    let at = Timestamp::from_millis(at.as_millisecond());
    if at > now {
        return Err(("recordedAt", Text::new("Não pode estar no futuro", "May not be in the future")));
    }
    Ok(at)
}

/// The rows of an import, as they are read.
#[derive(Debug)]
pub(super) struct Rows {
    /// With the place of each among all rows, from 0.
    pub(super) good: Vec<(usize, ImportRow)>,
    pub(super) refused: Vec<RefusedRow>,
    /// Whether a row names a contact out of reach.
    pub(super) reach_beyond: bool,
}

impl Rows {
    /// Reads the rows one by one: a bad one is refused, and the others stay.
    pub(super) fn read(import: &Import, now: Timestamp) -> Self {
        let mut rows =
            Self { good: Vec::with_capacity(import.rows.len()), refused: Vec::new(), reach_beyond: false };
        for (index, sent) in import.rows.iter().enumerate() {
            match ImportRow::read(sent, now) {
                Ok(row) => rows.good.push((index, row)),
                Err((field, reason)) => {
                    rows.refused.push(RefusedRow { row: index, line: sent.line, field, reason });
                }
            }
        }
        rows
    }

    /// Refuses the rows of contacts that are out of reach, or not there. Returns the contacts of the other rows' numbers,
    /// as far as there are any. Whoever makes one of them later is not among them, so nothing is done to it unseen.
    pub(super) async fn refuse_out_of_reach<T: HasContacts + HasContactCatalog>(
        &mut self,
        tx: &mut T,
        reach: Reach<'_>,
        import: &Import,
    ) -> Result<HashMap<String, ContactId>, StorageError> {
        let found = find_by_either_form(tx, &self.phones()).await?;
        let mut of_phones: HashMap<String, ContactId> =
            found.into_iter().map(|(phone, contact)| (phone, contact.id)).collect();
        let named = self.good.iter().filter_map(|(_, row)| row.whose.contact());
        let seen = seen(tx, reach, named, of_phones.values()).await?;
        let Self { good, refused, reach_beyond } = self;
        good.retain(|(index, row)| {
            let (field, reason) = match &row.whose {
                Whose::Contact(id) if !seen.contains(id) => {
                    ("contactId", Text::new("Contato não encontrado", "Contact not found"))
                }
                // It says nothing of the contact's routers.
                Whose::Phone(phone) if of_phones.get(phone).is_some_and(|id| !seen.contains(id)) => (
                    "phoneNumber",
                    Text::new("O contato não pode ser importado", "The contact cannot be imported"),
                ),
                _ => return true,
            };
            *reach_beyond = true;
            refused.push(RefusedRow { row: *index, line: import.rows[*index].line, field, reason });
            false
        });
        refused.sort_by_key(|row| row.row);
        of_phones.retain(|_, id| seen.contains(id));
        Ok(of_phones)
    }

    /// Returns the numbers of the rows, each once and in one order everywhere, so that two imports do not wait for each
    /// other.
    fn phones(&self) -> Vec<String> {
        let phones = self.good.iter().filter_map(|(_, row)| row.whose.phone());
        phones.collect::<BTreeSet<_>>().into_iter().cloned().collect()
    }
}

/// Returns the contacts within reach: of those that rows name by id, which may not be there, and of those that were found.
async fn seen<T: HasContactCatalog>(
    tx: &mut T,
    reach: Reach<'_>,
    named: impl Iterator<Item = &ContactId>,
    found: impl Iterator<Item = &ContactId>,
) -> Result<HashSet<ContactId>, StorageError> {
    let mut asked: BTreeSet<ContactId> = named.cloned().collect();
    let mut seen = HashSet::new();
    if reach.is_all() {
        seen.extend(found.cloned());
    } else {
        asked.extend(found.cloned());
    }
    if !asked.is_empty() {
        let asked: Vec<ContactId> = asked.into_iter().collect();
        let within = tx.contact_catalog().find(&asked, reach.routers()).await?;
        seen.extend(within.into_iter().map(|details| details.contact.id));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);

    fn row(phone: &str, status: &str, at: &str) -> SentRow {
        SentRow {
            phone_number: phone.into(),
            status: status.into(),
            recorded_at: at.into(),
            ..SentRow::default()
        }
    }

    #[test]
    fn rows_that_make_sense() {
        let read = ImportRow::read(&row(" +55 (11) 98765-4321 ", "accepted", ""), NOW).expect("a row");
        assert_eq!(read.whose, Whose::Phone("5511987654321".to_owned()));
        assert_eq!((read.status, read.recorded_at, read.name), (OptInStatus::Accepted, NOW, None));
        let read = ImportRow::read(&row("5511987654321", "Revoked", "2026-01-02T03:04:05-03:00"), NOW)
            .expect("a row");
        assert_eq!(read.status, OptInStatus::Revoked);
        assert_eq!(read.recorded_at.to_iso(), "2026-01-02T06:04:05.000Z");
        let read = ImportRow::read(&row("5511987654321", "accepted", "2026-01-02"), NOW).expect("a row");
        assert_eq!(read.recorded_at.to_iso(), "2026-01-02T00:00:00.000Z", "a day without a time");
        let broken = SentRow { name: " Ana\r\nSouza".into(), ..row("5511987654321", "accepted", "") };
        let read = ImportRow::read(&broken, NOW).expect("a row");
        assert_eq!(read.name.as_deref(), Some("Ana Souza"));
        let formula = SentRow { name: "=cmd|' /C calc'!A0".into(), ..row("5511987654321", "accepted", "") };
        let read = ImportRow::read(&formula, NOW).expect("a row");
        assert_eq!(read.name.as_deref(), Some("=cmd|' /C calc'!A0"), "a text like any other");
    }

    #[test]
    fn rows_that_do_not() {
        let field = |sent: &SentRow| ImportRow::read(sent, NOW).map_err(|(field, _)| field);
        for phone in ["abc", "123", "55119876543210000", "=1+1", "0011987654321", "٥٥١١٩٨٧٦٥٤٣"] {
            assert_eq!(field(&row(phone, "accepted", "")), Err("phoneNumber"), "{phone}");
        }
        assert_eq!(field(&SentRow::default()), Err("phoneNumber"));
        for status in ["yes", "", " "] {
            assert_eq!(field(&row("5511987654321", status, "")), Err("status"), "{status:?}");
        }
        for at in ["ontem", "02/01/2026", "2026-02-30", "2999-01-01", "2999-01-01T00:00:00Z"] {
            assert_eq!(field(&row("5511987654321", "accepted", at)), Err("recordedAt"), "{at}");
        }
        let more = SentRow { has_more_cells: true, ..row("5511987654321", "accepted", "") };
        assert_eq!(field(&more), Err("row"));
        let id = SentRow { contact_id: "a b".into(), ..SentRow::default() };
        assert_eq!(field(&id), Err("contactId"));
        for name in ["a".repeat(201), "a\u{7}b".to_owned()] {
            let name = SentRow { name, ..row("5511987654321", "accepted", "") };
            assert_eq!(field(&name), Err("name"));
        }
    }
}
