//! The stops and redirects of a session: the latest in its row, all of them in rows of their own (rulings S17).
//!
//! The row of a session is rewritten at every turn, so it keeps the latest [`MAX_HISTORY`]. Entries are numbered from
//! 0. Before an entry that is not archived would leave the row, all entries of the row become a [`HistoryChunk`]. Chunks
//! begin at multiples of [`MAX_HISTORY`], so there is one in as many pushes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Session, Stop};
use crate::cell::Named;
use crate::page::{Cursor, InvalidCursor};
use crate::time::Timestamp;

/// Most stops that `sessionHistory` keeps, and entries of a chunk; the row is rewritten at every turn, so it stays small.
pub const MAX_HISTORY: usize = 20;

/// Most stops of a session that are kept, and most redirects; the oldest are dropped beyond it, a chunk at a time.
pub const MAX_ARCHIVED: i64 = 10_000;

/// Entries of a chunk.
const CHUNK: i64 = MAX_HISTORY as i64;

/// A list of the history of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum HistoryKind {
    /// Stops at input blocks.
    Stop,
    /// External redirects.
    Redirect,
}

/// Entries of a history that are stored in one row. The last ones may stand in the row of the session, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryChunk {
    /// The list that they are of.
    pub kind: HistoryKind,
    /// The number of the first entry.
    pub first: i64,
    /// The entries, oldest first. Of a redirect the place to which it led.
    pub entries: Vec<Stop>,
}

impl HistoryChunk {
    /// Returns the number behind the last entry.
    pub fn end(&self) -> i64 {
        self.first + count(&self.entries)
    }

    /// Returns the number below which chunks are dropped when this one is stored, so that with those in the row at most
    /// [`MAX_ARCHIVED`] entries are kept.
    pub fn drops_below(&self) -> Option<i64> {
        Some(self.first + 2 * CHUNK - MAX_ARCHIVED).filter(|&below| below > 0)
    }
}

/// Adds an entry to `latest`, before which there were `before`. Returns the entries that are to be archived now, with the
/// number of the first one.
pub(super) fn push<T: Clone>(latest: &mut Vec<T>, before: &mut i64, entry: T) -> Option<(i64, Vec<T>)> {
    let mut full = None;
    if latest.len() >= MAX_HISTORY {
        full = (*before % CHUNK == 0).then(|| (*before, latest.clone()));
        latest.remove(0);
        *before += 1;
    }
    latest.push(entry);
    full
}

/// Returns how many entries there were before the `latest` of a full row, if the last process that wrote it does not
/// count them. `archived` is the last chunk of the list.
///
/// Entries that the two have in common count once. The most that they may have in common counts, so that no entry
/// comes twice; where stops repeat themselves, some may be missing.
pub fn entries_before(latest: &[Stop], archived: Option<&HistoryChunk>) -> i64 {
    let Some(chunk) = archived else { return 0 };
    let most = latest.len().min(chunk.entries.len());
    let common = (0..=most).rev().find(|&common| chunk.entries.ends_with(&latest[..common]));
    chunk.end() - i64::try_from(common.unwrap_or(0)).unwrap_or(0)
}

/// The place behind an item of a history. It holds while the session lasts, and not for another one under its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPlace {
    /// When the session began.
    pub started_at: Timestamp,
    /// The number of the item.
    pub number: i64,
}

impl HistoryPlace {
    /// Reads the text that [`fmt::Display`] wrote.
    ///
    /// # Errors
    /// [`InvalidCursor`]
    pub fn parse(text: &str) -> Result<Self, InvalidCursor> {
        let Cursor { at, id } = Cursor::parse(text)?;
        let number = id.parse().ok().filter(|&number| number >= 0).ok_or(InvalidCursor)?;
        Ok(Self { started_at: at, number })
    }
}

impl fmt::Display for HistoryPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Cursor { at: self.started_at, id: self.number.to_string() }.fmt(f)
    }
}

/// The entries of a list that stand in the row of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestEntries {
    /// The number of the first one.
    pub first: i64,
    /// The entries, oldest first.
    pub entries: Vec<Stop>,
}

/// The chunks that a page needs besides the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunksWanted {
    /// The number before which they begin.
    pub below: i64,
    /// How many there are at most, the newest first.
    pub most: u32,
}

impl LatestEntries {
    /// Returns those of a session.
    pub fn of(session: &Session, kind: HistoryKind) -> Self {
        match kind {
            HistoryKind::Stop => Self { first: session.stops_before, entries: session.history.clone() },
            HistoryKind::Redirect => {
                let entries = session.redirects.iter().map(|redirect| redirect.stop()).collect();
                Self { first: session.redirects_before, entries }
            }
        }
    }

    fn end(&self, until: Option<i64>) -> i64 {
        let end = self.first + count(&self.entries);
        until.map_or(end, |until| until.min(end))
    }

    /// Returns the chunks needed for a page of `limit` entries before number `until`, and for the entry behind it, which
    /// tells of another page.
    pub fn wanted(&self, until: Option<i64>, limit: u32) -> Option<ChunksWanted> {
        let end = self.end(until);
        let rest = i64::from(limit) + 1 - (end - self.first).max(0);
        if self.first <= 0 || rest <= 0 {
            return None;
        }
        // Of the newest one perhaps only the first entry is before the page.
        let most = u32::try_from(rest).unwrap_or(limit).div_ceil(CHUNK as u32) + 1;
        Some(ChunksWanted { below: end.min(self.first), most })
    }

    /// Returns up to `limit` entries before number `until` with their numbers, newest first, and whether others follow.
    pub fn page(
        self,
        mut chunks: Vec<HistoryChunk>,
        until: Option<i64>,
        limit: u32,
    ) -> (Vec<(i64, Stop)>, bool) {
        let end = self.end(until);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        chunks.sort_unstable_by_key(|chunk| chunk.first);
        let archived = chunks.into_iter().flat_map(|chunk| (chunk.first..).zip(chunk.entries));
        let archived = archived.filter(|(number, _)| *number < self.first);
        let all = archived.chain((self.first..).zip(self.entries)).filter(|(number, _)| *number < end);
        let mut items: Vec<_> = all.collect();
        items.reverse();
        let more = items.len() > limit;
        items.truncate(limit);
        (items, more)
    }
}

fn count(entries: &[Stop]) -> i64 {
    i64::try_from(entries.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
