//! The search for contacts, by the beginnings of words.

use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::contact::{Contact, SearchTerm};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::session::Channel;

use super::SqlTx;
use super::list::Place;
use super::record::Record as _;
use super::statement::{Sql, sql, sql_per};

/// The condition of both searches on a contact `w`: terms `$7`, routers `$4`, origin `$8`. The first argument is
/// the rows of a JSON list as `term (value)`, the second the texts of one, the third is a bind that may be null.
macro_rules! having {
    ($head:literal, $rows:literal, $texts:literal, $routers:literal, $tail:literal) => {
        concat!(
            Contact::SELECT,
            $head,
            " NOT EXISTS (SELECT 1 FROM ",
            $rows,
            " WHERE NOT EXISTS (SELECT 1 FROM contact_word AS o
                WHERE o.contact_id = w.contact_id AND o.word >= term.value ->> 0 AND o.word < term.value ->> 1))
              AND (CAST(",
            $routers,
            " AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM contact_router
                WHERE contact_router.contact_id = w.contact_id AND router_id IN (",
            $texts,
            ")))
              AND (CAST($8 AS TEXT) IS NULL OR (SELECT c.origin FROM contact AS c WHERE c.id = w.contact_id) = $8)
            ORDER BY w.created_at DESC, w.contact_id DESC LIMIT $3",
            $tail
        )
    };
    (sqlite, $head:literal, $tail:literal) => {
        having!($head, "json_each($7) AS term", "SELECT value FROM json_each($4)", "$4", $tail)
    };
    (postgres, $head:literal, $tail:literal) => {
        having!(
            $head,
            "jsonb_array_elements($7) AS term (value)",
            "SELECT jsonb_array_elements_text($4::jsonb)",
            "$4::jsonb",
            $tail
        )
    };
}

/// Of the words that begin with the first term, those of contacts that have the others too: as long as that term is rare.
/// `$1`, `$2` the place, `$3` how many, `$4` routers, `$5`, `$6` the first term, `$7` the others, `$8` the origin.
const SEARCH: Sql = sql_per(
    having!(
        sqlite,
        " WHERE id IN (
            SELECT contact_id FROM (SELECT DISTINCT w.created_at, w.contact_id FROM contact_word AS w
            WHERE w.word >= $5 AND w.word < $6 AND (w.created_at, w.contact_id) < ($1, $2) AND",
        ") AS found) ORDER BY created_at DESC, id DESC"
    ),
    having!(
        postgres,
        " WHERE id IN (
            SELECT contact_id FROM (SELECT DISTINCT w.created_at, w.contact_id FROM contact_word AS w
            WHERE w.word >= $5 AND w.word < $6 AND (w.created_at, w.contact_id) < ($1, $2) AND",
        ") AS found) ORDER BY created_at DESC, id DESC"
    ),
);

/// The newest contacts, some of which have all terms: where every term is frequent, enough of them do. `$5` is how many
/// are looked at, `$7` all terms; the other binds are those of [`SEARCH`].
const SEARCH_NEWEST: Sql = sql_per(
    having!(
        sqlite,
        " WHERE id IN (
            SELECT contact_id FROM (SELECT w.created_at, w.contact_id FROM (
                SELECT created_at, id AS contact_id FROM contact WHERE (created_at, id) < ($1, $2)
                ORDER BY created_at DESC, id DESC LIMIT $5) AS w
            WHERE CAST($6 AS TEXT) IS NULL AND",
        ") AS found) ORDER BY created_at DESC, id DESC"
    ),
    having!(
        postgres,
        " WHERE id IN (
            SELECT contact_id FROM (SELECT w.created_at, w.contact_id FROM (
                SELECT created_at, id AS contact_id FROM contact WHERE (created_at, id) < ($1, $2)
                ORDER BY created_at DESC, id DESC LIMIT $5) AS w
            WHERE CAST($6 AS TEXT) IS NULL AND",
        ") AS found) ORDER BY created_at DESC, id DESC"
    ),
);

/// The newest contacts of each of a few words, merged: each word is walked in its order, and no further than a page
/// needs, so that it costs no more when a word has a million contacts. `$5` lists the words, `$6` is null; the other
/// binds are those of [`SEARCH`].
pub(super) const SEARCH_WORDS: Sql = sql_per(
    having!(
        sqlite,
        " WHERE id IN (
            SELECT id FROM (SELECT DISTINCT found.value ->> 0 AS moment, found.value ->> 1 AS id
            FROM json_each($5) AS first, json_each((SELECT json_group_array(json_array(created_at, contact_id)) FROM (
                SELECT w.created_at, w.contact_id FROM contact_word AS w
                WHERE w.word = first.value AND (w.created_at, w.contact_id) < ($1, $2)
                  AND CAST($6 AS TEXT) IS NULL AND",
        "))) AS found) ORDER BY moment DESC, id DESC LIMIT $3) ORDER BY created_at DESC, id DESC"
    ),
    having!(
        postgres,
        " WHERE id IN (
            SELECT id FROM (SELECT DISTINCT found.created_at AS moment, found.contact_id AS id
            FROM jsonb_array_elements_text($5) AS first (value) CROSS JOIN LATERAL (
                SELECT w.created_at, w.contact_id FROM contact_word AS w
                WHERE w.word = first.value AND (w.created_at, w.contact_id) < ($1, $2)
                  AND CAST($6 AS TEXT) IS NULL AND",
        ") AS found) AS merged ORDER BY moment DESC, id DESC LIMIT $3) ORDER BY created_at DESC, id DESC"
    ),
);

/// The stored words that begin with a term `$1`, `$2`, up to `$3` of them: one step in the index for each, however many
/// contacts have it.
pub(super) const WORDS: Sql = sql("WITH RECURSIVE known (word) AS (
        SELECT MIN(word) FROM contact_word WHERE word >= $1 AND word < $2
        UNION ALL SELECT (SELECT MIN(w.word) FROM contact_word AS w WHERE w.word > known.word AND w.word < $2)
        FROM known WHERE known.word IS NOT NULL)
     SELECT word FROM known WHERE word IS NOT NULL LIMIT $3");

/// How many words begin with each term, counted up to a number.
const FREQUENCIES: Sql = sql_per(
    "SELECT CAST(term.key AS INTEGER), (SELECT COUNT(*) FROM (
        SELECT 1 FROM contact_word AS w WHERE w.word >= term.value ->> 0 AND w.word < term.value ->> 1 LIMIT $2))
     FROM json_each($1) AS term ORDER BY 2, 1",
    "SELECT term.place - 1, (SELECT COUNT(*) FROM (
        SELECT 1 FROM contact_word AS w WHERE w.word >= term.value ->> 0 AND w.word < term.value ->> 1 LIMIT $2) AS counted)
     FROM jsonb_array_elements($1) WITH ORDINALITY AS term (value, place) ORDER BY 2, 1",
);

/// A term of which contacts have more words is frequent.
const FREQUENT: i64 = 2_000;
/// So many of the newest contacts are looked at for frequent terms.
const NEWEST: i64 = 20_000;
/// Most words of a term that are walked one by one.
const MOST_WORDS: usize = 32;

super::statement::statements! { SEARCH, SEARCH_NEWEST, SEARCH_WORDS, WORDS, FREQUENCIES }

/// The ends of terms, as JSON.
pub(super) fn ends(terms: &[SearchTerm]) -> Vec<[&str; 2]> {
    terms.iter().map(|term| [term.from.as_str(), term.to.as_str()]).collect()
}

impl SqlTx {
    /// The terms, the rarest first, and whether even that is frequent.
    pub(super) async fn by_frequency(
        &mut self,
        terms: &[SearchTerm],
    ) -> Result<(Vec<SearchTerm>, bool), StorageError> {
        let counts = self.conn.fetch_all::<(i64, i64)>(FREQUENCIES, (Json(ends(terms)), FREQUENT)).await?;
        let term = |place: &i64| usize::try_from(*place).ok().and_then(|place| terms.get(place)).cloned();
        let is_frequent = counts.first().is_some_and(|(_, count)| *count >= FREQUENT);
        Ok((counts.iter().filter_map(|(place, _)| term(place)).collect(), is_frequent))
    }

    /// The stored words of a term, if they are few.
    async fn few_words(&mut self, term: &SearchTerm) -> Result<Option<Vec<String>>, StorageError> {
        let limit = i64::try_from(MOST_WORDS + 1).unwrap_or(i64::MAX);
        let words: Vec<String> = self.conn.fetch_column(WORDS, (&term.from, &term.to, limit)).await?;
        Ok((words.len() <= MOST_WORDS).then_some(words))
    }

    /// Walks the contacts of the rarest term, newest first, where few words begin with it. Of a term with many words it
    /// looks through all contacts; if the term is frequent, it reads the newest contacts before.
    pub(super) async fn search(
        &mut self,
        terms: &[SearchTerm],
        origin: Option<Channel>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Vec<Contact>, StorageError> {
        let (terms, is_frequent) = self.by_frequency(terms).await?;
        let Some(first) = terms.first() else {
            return Ok(Vec::new());
        };
        let Place { at, id, limit } = Place::of(page);
        let (only, origin) = (only.map(Json), &origin);
        let others = Json(ends(&terms[1..]));
        if let Some(words) = self.few_words(first).await? {
            let binds = (at, id, limit, only, Json(&words), None::<&str>, others, origin);
            return self.conn.fetch_all_replanned(SEARCH_WORDS, binds).await;
        }
        if is_frequent {
            let ends = Json(ends(&terms));
            let binds = (at, id, limit, only, NEWEST, None::<&str>, ends, origin);
            let rows = self.conn.fetch_all_replanned::<Contact>(SEARCH_NEWEST, binds).await?;
            if i64::try_from(rows.len()).unwrap_or(i64::MAX) >= limit {
                return Ok(rows);
            }
        }
        let binds = (at, id, limit, only, &first.from, &first.to, others, origin);
        self.conn.fetch_all_replanned(SEARCH, binds).await
    }
}
