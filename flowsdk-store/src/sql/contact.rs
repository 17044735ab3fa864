//! Contacts.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::contact::{
    Contact, ContactAlias, ContactCatalog as _, ContactRepository, HasContacts, forms_of, other_form,
    search_text, search_words,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ContactId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::bind::Binder;
use super::executor::text;
use super::record::{Record as _, record};
use super::row::With;
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

record! {
    Contact in "contact" {
        id, phone_number, name, name_locked, origin, variables = contact_variables: json_unless_empty, created_at
    }
}

/// Rows are locked in ascending id order, after those of the sessions.
const FIND: Sql = sql_list!(concat!(Contact::SELECT, " WHERE id "), "$1", " ORDER BY id");

const FIND_FOR_UPDATE: Sql = sql_list!(concat!(Contact::SELECT, " WHERE id "), "$1", " ORDER BY id", locking);

const FIND_BY_PHONE: Sql = sql_list!(concat!(Contact::SELECT, " WHERE phone_number "), "$1", "");

/// With the alias of each.
const FIND_BY_ALIAS: Sql = sql_list!(
    concat!(
        "SELECT ",
        Contact::COLUMNS,
        ", named.alias FROM (SELECT contact_id, alias FROM contact_alias WHERE alias "
    ),
    "$1",
    ") AS named JOIN contact ON contact.id = named.contact_id"
);

static UPDATE: RowsSql = RowsSql::typed(
    "WITH new (id, name, name_locked, variables) AS (VALUES ",
    &["text", "text", "bigint", "jsonb"],
    ") UPDATE contact SET name = new.name, name_locked = new.name_locked, contact_variables = new.variables
     FROM new WHERE contact.id = new.id",
)
.or_one_by_one("UPDATE contact SET name = ?2, name_locked = ?3, contact_variables = ?4 WHERE id = ?1");

const SEARCH: Sql = sql_list!("SELECT id, search FROM contact WHERE id ", "$1", "");

const UPDATE_SEARCH: Sql = sql("UPDATE contact SET search = $2 WHERE id = $1");

/// A contact that came by an alias has that for its identity (see `FIND_BY_ALIAS`), so its own is read here.
const IDENTITIES: Sql = sql("SELECT phone_number FROM contact WHERE id = $1
     UNION ALL SELECT alias FROM contact_alias WHERE contact_id = $1");

const FORGET_WORDS: Sql = sql("DELETE FROM contact_word WHERE contact_id = $1");

static INSERT_WORDS: RowsSql = RowsSql::new(
    "INSERT INTO contact_word (contact_id, word, created_at) VALUES ",
    3,
    " ON CONFLICT (contact_id, word) DO NOTHING",
);

/// From before there were words, up to a number.
const WITHOUT_WORDS: Sql = sql(concat!(Contact::SELECT, " WHERE search = '' LIMIT $1"));

/// `$1` lists the aliases as `[alias, contact, created at]`. Those that a contact has for its identity are left out.
const ADD_ALIASES: Sql = sql_per(
    "INSERT INTO contact_alias (alias, contact_id, created_at)
     SELECT new.value ->> 0, new.value ->> 1, new.value ->> 2 FROM json_each($1) AS new
     WHERE NOT EXISTS (SELECT 1 FROM contact WHERE phone_number = new.value ->> 0) ON CONFLICT (alias) DO NOTHING
     RETURNING contact_id",
    "INSERT INTO contact_alias (alias, contact_id, created_at)
     SELECT new.value ->> 0, new.value ->> 1, CAST(new.value ->> 2 AS bigint)
     FROM jsonb_array_elements($1) AS new (value)
     WHERE NOT EXISTS (SELECT 1 FROM contact WHERE phone_number = new.value ->> 0) ON CONFLICT (alias) DO NOTHING
     RETURNING contact_id",
);

/// Lets whoever makes a contact of one of these numbers wait for whoever makes one of its other form: no index of contacts
/// sees that they are the same. Returns how many were claimed: none on SQLite, which has one writer. Advisory locks would not
/// do: a server has room for some thousands, and an import has more numbers.
const CLAIM_NUMBERS: Sql = sql_per(
    "SELECT COUNT(*) FROM json_each($1) WHERE FALSE",
    "WITH claimed AS (
         INSERT INTO number_claim (number)
         SELECT value FROM jsonb_array_elements_text($1) AS given (value) ORDER BY value
         ON CONFLICT (number) DO UPDATE SET number = excluded.number RETURNING 1
     ) SELECT COUNT(*) FROM claimed",
);
/// Others wait for a claim until the end of its transaction, although no row stays.
const FORGET_CLAIMS: Sql = sql_per(
    "SELECT COUNT(*) FROM json_each($1) WHERE FALSE",
    "WITH gone AS (
         DELETE FROM number_claim WHERE number = ANY(ARRAY(SELECT jsonb_array_elements_text($1))) RETURNING 1
     ) SELECT COUNT(*) FROM gone",
);

const ALIAS_SINCE: Sql = sql("SELECT created_at FROM contact_alias WHERE contact_id = $1 AND alias = $2");
const FORGET_ALIAS: Sql = sql("DELETE FROM contact_alias WHERE contact_id = $1 AND alias = $2");
const RENUMBER: Sql = sql("UPDATE contact SET phone_number = $2 WHERE id = $1");

super::statement::statements! {
    ADD_ALIASES, CLAIM_NUMBERS, FORGET_CLAIMS, ALIAS_SINCE, FORGET_ALIAS, RENUMBER, FIND, FIND_FOR_UPDATE, FIND_BY_PHONE, FIND_BY_ALIAS, SEARCH, UPDATE_SEARCH, IDENTITIES, FORGET_WORDS, WITHOUT_WORDS;
    UPDATE, INSERT_WORDS
}

impl SqlTx {
    /// Returns those of these contacts whose number nobody has, be it in its other form or before in the list. Waits for
    /// whoever makes contacts of the same numbers. Identities of one form are not looked at.
    pub(super) async fn of_new_numbers<'a>(
        &mut self,
        contacts: &'a [Contact],
    ) -> Result<Cow<'a, [Contact]>, StorageError> {
        let numbers: BTreeSet<String> = contacts.iter().filter_map(both_forms).collect();
        if numbers.is_empty() {
            return Ok(Cow::Borrowed(contacts));
        }
        let claimed = self.conn.fetch_optional::<(i64,)>(CLAIM_NUMBERS, (Json(&numbers),)).await?;
        if claimed.is_some_and(|(count,)| count > 0) {
            self.conn.fetch_optional::<(i64,)>(FORGET_CLAIMS, (Json(&numbers),)).await?;
        }
        let others: Vec<String> =
            contacts.iter().filter_map(|contact| other_form(&contact.phone_number)).collect();
        let stored = by_identity(self.find_by_phone_numbers(&others).await?);
        Ok(Cow::Owned(unknown(contacts, &stored)))
    }

    /// Stores the words by which contacts without aliases are found.
    pub(super) async fn insert_words(&mut self, contacts: &[&Contact]) -> Result<(), StorageError> {
        let words: Vec<(&Contact, String)> = contacts
            .iter()
            .flat_map(|contact| search_words(contact, &[]).into_iter().map(|word| (*contact, word)))
            .collect();
        let bind = |to: &mut Binder<'_>, row: &(&Contact, String)| {
            to.bind(&row.0.id).bind(&row.1).bind(row.0.created_at);
        };
        self.conn.execute_rows(&INSERT_WORDS, &words, bind).await.map(drop)
    }

    /// Makes the words of a contact anew.
    pub(super) async fn renew_words(&mut self, contact: &Contact) -> Result<(), StorageError> {
        let identities: Vec<String> = self.conn.fetch_column(IDENTITIES, (&contact.id,)).await?;
        let words = search_words(contact, &identities);
        self.conn.execute(FORGET_WORDS, (&contact.id,)).await?;
        let words: Vec<String> = words.into_iter().collect();
        let bind = |to: &mut Binder<'_>, word: &String| {
            to.bind(&contact.id).bind(word).bind(contact.created_at);
        };
        self.conn.execute_rows(&INSERT_WORDS, &words, bind).await.map(drop)
    }

    /// Makes the words of up to `limit` contacts that have none, or those of an older version; whether there were any.
    pub(super) async fn add_missing_words(&mut self, limit: i64) -> Result<bool, StorageError> {
        let contacts = self.conn.fetch_all::<Contact>(WITHOUT_WORDS, (limit,)).await?;
        for contact in &contacts {
            self.renew_words(contact).await?;
            self.conn.execute(UPDATE_SEARCH, (&contact.id, &search_text(contact))).await?;
        }
        Ok(!contacts.is_empty())
    }
}

super::accessor::has!(HasContacts::contacts -> ContactRepository);

#[async_trait]
impl ContactRepository for SqlTx {
    async fn find_many(&mut self, ids: &[ContactId]) -> Result<Vec<Contact>, StorageError> {
        self.conn.fetch_all(FIND, (Json(ids),)).await
    }

    async fn find_many_for_update(&mut self, ids: &[ContactId]) -> Result<Vec<Contact>, StorageError> {
        self.conn.fetch_all(FIND_FOR_UPDATE, (Json(ids),)).await
    }

    async fn find_by_phone_numbers(
        &mut self,
        phone_numbers: &[String],
    ) -> Result<Vec<Contact>, StorageError> {
        let mut found = self.conn.fetch_all::<Contact>(FIND_BY_PHONE, (Json(phone_numbers),)).await?;
        if found.len() < phone_numbers.len() {
            let known: HashSet<_> = found.iter().map(|contact| contact.phone_number.as_str()).collect();
            let missing: Vec<&String> =
                phone_numbers.iter().filter(|identity| !known.contains(identity.as_str())).collect();
            let named = self.conn.fetch_all(FIND_BY_ALIAS, (Json(&missing),)).await?;
            // Under the alias, not under the identity of its own.
            found.extend(
                named.into_iter().map(|With(contact, (phone_number,))| Contact { phone_number, ..contact }),
            );
        }
        Ok(found)
    }

    async fn insert_or_get_many(&mut self, contacts: &[Contact]) -> Result<Vec<Contact>, StorageError> {
        let asked: Vec<String> =
            contacts.iter().flat_map(|contact| forms_of(&contact.phone_number)).collect();
        let mut stored = by_identity(self.find_by_phone_numbers(&asked).await?);
        let new = unknown(contacts, &stored);
        if !new.is_empty() {
            self.insert_new(&new).await?;
            let asked: Vec<String> = new.iter().flat_map(|contact| forms_of(&contact.phone_number)).collect();
            stored.extend(by_identity(self.find_by_phone_numbers(&asked).await?));
        }
        let found = contacts.iter().map(|contact| known_as(&contact.phone_number, &stored));
        // Removed by another between the two statements: the same work may succeed at once.
        found.map(|contact| contact.ok_or(StorageError::Stale { entity: "contact" })).collect()
    }

    async fn add_aliases(&mut self, aliases: &[ContactAlias]) -> Result<(), StorageError> {
        let rows: Vec<_> =
            aliases.iter().map(|a| (&a.alias, &a.contact_id, a.created_at.as_millis())).collect();
        let added: Vec<ContactId> = self.conn.fetch_column(ADD_ALIASES, (Json(&rows),)).await?;
        let added: BTreeSet<ContactId> = added.into_iter().collect();
        self.note_changed(&added);
        for contact in added {
            self.renew_words_of(&contact).await?;
        }
        Ok(())
    }

    async fn renumber(&mut self, from: &str, to: &str, at: Timestamp) -> Result<bool, StorageError> {
        let found = by_identity(self.find_by_phone_numbers(&[from.to_owned(), to.to_owned()]).await?);
        let Some(contact) = found.get(from) else { return Ok(false) };
        if found.get(to).is_some_and(|other| other.id != contact.id) {
            return Ok(false);
        }
        let locked = self.find_many_for_update(std::slice::from_ref(&contact.id)).await?;
        let Some(Contact { id, phone_number: former, .. }) = locked.into_iter().next() else {
            return Ok(false);
        };
        if former == to {
            return Ok(true);
        }
        // What is told late, or again, is not new: the contact had it once, and has another one since.
        let since = self.conn.fetch_optional::<(Timestamp,)>(ALIAS_SINCE, (&id, to)).await?;
        if since.is_some_and(|(since,)| since >= at) {
            return Ok(true);
        }
        self.conn.execute(FORGET_ALIAS, (&id, to)).await?;
        self.conn.execute(RENUMBER, (&id, to)).await?;
        self.note_changed([&id]);
        self.add_aliases(&[ContactAlias { contact_id: id, alias: former, created_at: at }]).await?;
        Ok(true)
    }

    async fn save_many(&mut self, contacts: &[&Contact]) -> Result<(), StorageError> {
        let bind = |to: &mut Binder<'_>, contact: &&Contact| {
            to.bind(&contact.id)
                .bind(&contact.name)
                .bind(&contact.name_locked)
                .bind(Json(&contact.variables));
        };
        self.conn.execute_rows(&UPDATE, contacts, bind).await?;
        let ids: Vec<&ContactId> = contacts.iter().map(|contact| &contact.id).collect();
        self.note_changed(ids.iter().copied());
        let rows = self.conn.fetch_all::<(ContactId, String)>(SEARCH, (Json(&ids),)).await?;
        let before: HashMap<ContactId, String> = rows.into_iter().collect();
        for contact in contacts {
            let search = search_text(contact);
            // Seldom: its words change with its name only.
            if before.get(&contact.id).is_some_and(|before| *before != text(&search)) {
                self.conn.execute(UPDATE_SEARCH, (&contact.id, &search)).await?;
                self.renew_words(contact).await?;
            }
        }
        Ok(())
    }
}

fn by_identity(contacts: Vec<Contact>) -> HashMap<String, Contact> {
    contacts.into_iter().map(|contact| (contact.phone_number.clone(), contact)).collect()
}

/// Returns the stored contact of an identity, or that of the number's other form, under this identity.
fn known_as(identity: &str, stored: &HashMap<String, Contact>) -> Option<Contact> {
    let contact = forms_of(identity).find_map(|form| stored.get(&*text(&form)))?;
    Some(Contact { phone_number: text(identity).into_owned(), ..contact.clone() })
}

/// Returns the contacts that are not stored; of two forms of a number the one that comes first.
fn unknown(contacts: &[Contact], stored: &HashMap<String, Contact>) -> Vec<Contact> {
    let (mut new, mut numbers) = (Vec::new(), HashSet::new());
    for contact in contacts {
        let identity = &contact.phone_number;
        let is_other = other_form(identity).is_some_and(|other| numbers.contains(&other));
        if !is_other && known_as(identity, stored).is_none() {
            numbers.insert(identity.clone());
            new.push(contact.clone());
        }
    }
    new
}

/// Returns one name for both forms of a contact's number; `None` of an identity without another form.
fn both_forms(contact: &Contact) -> Option<String> {
    let other = other_form(&contact.phone_number)?;
    Some(other.min(contact.phone_number.clone()))
}
