//! Group commit: what several turns have to write at one moment is written in one transaction.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::session::SessionId;
use flowsdk_core::store::Retries;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Semaphore, oneshot};

/// Most items of a group: whoever is in it waits for all of it.
const MOST: usize = 64;

/// Writes items of several sessions.
#[async_trait]
pub(super) trait GroupWriter<I>: Sync {
    /// What became of an item.
    type Outcome: Send;

    /// Returns the session of an item.
    fn session_of<'a>(&self, item: &'a I) -> &'a SessionId;

    /// Writes items, each of another session, in one transaction. Returns their outcomes, in their order.
    async fn write(&self, items: &[I]) -> Result<Vec<Self::Outcome>, StorageError>;
}

/// An item with its outcome, or why it was not written.
type Written<I, O> = Result<(I, O), StorageError>;

/// Items of many tasks. As many tasks as there are writers write a group each; what comes meanwhile is the next one.
pub(super) struct Groups<I, O> {
    waiting: Mutex<VecDeque<Waiting<I, O>>>,
    /// A task with a permit writes.
    writing: Semaphore,
}

struct Waiting<I, O> {
    item: I,
    done: oneshot::Sender<Written<I, O>>,
}

impl<I, O> Groups<I, O> {
    /// Returns groups of which `writers` are written at once.
    pub(super) fn new(writers: usize) -> Self {
        Self { waiting: Mutex::default(), writing: Semaphore::new(writers) }
    }
}

impl<I: Send + Sync, O: Send> Groups<I, O> {
    /// Has an item written, and returns it with its outcome. A task that finds a writer missing waits for `gather`, so that
    /// others come too, and writes the items of all.
    ///
    /// # Errors
    /// [`StorageError`], also if the task that wrote the item was dropped: its transaction is taken back.
    pub(super) async fn write<W>(&self, item: I, gather: Duration, writer: &W) -> Written<I, O>
    where
        W: GroupWriter<I, Outcome = O>,
    {
        let (done, mut outcome) = oneshot::channel();
        self.waiting().push_back(Waiting { item, done });
        let dropped = || StorageError::Unavailable("the task that wrote it was dropped".into());
        let permit = tokio::select! {
            biased;
            outcome = &mut outcome => return outcome.unwrap_or_else(|_| Err(dropped())),
            permit = self.writing.acquire() => permit,
        };
        let permit = permit.map_err(|_| dropped())?;
        let mut is_gathered = gather.is_zero();
        loop {
            match outcome.try_recv() {
                Ok(written) => return written,
                Err(TryRecvError::Closed) => return Err(dropped()),
                Err(TryRecvError::Empty) if is_gathered => {
                    let (items, waiting): (Vec<_>, Vec<_>) = self.take().into_iter().unzip();
                    if items.is_empty() {
                        // Another task writes the item.
                        drop(permit);
                        return outcome.await.unwrap_or_else(|_| Err(dropped()));
                    }
                    for (written, done) in write_all(writer, items).await.into_iter().zip(waiting) {
                        // A task that was dropped needs no outcome.
                        let _ = done.send(written);
                    }
                }
                Err(TryRecvError::Empty) => {
                    tokio::time::sleep(gather).await;
                    is_gathered = true;
                }
            }
        }
    }

    /// Takes a group. Nothing is written for tasks that were dropped while they waited.
    fn take(&self) -> Vec<(I, oneshot::Sender<Written<I, O>>)> {
        let mut waiting = self.waiting();
        let mut group = Vec::new();
        while group.len() < MOST
            && let Some(Waiting { item, done }) = waiting.pop_front()
        {
            if !done.is_closed() {
                group.push((item, done));
            }
        }
        group
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting<I, O>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes items together, or one by one if that fails: an item that cannot be written holds up no other.
async fn write_all<I, W: GroupWriter<I>>(writer: &W, items: Vec<I>) -> Vec<Written<I, W::Outcome>> {
    let mut failure = None;
    if items.len() > 1 && are_of_several_sessions(writer, &items) {
        match writer.write(&items).await {
            Ok(outcomes) => return items.into_iter().zip(outcomes).map(Ok).collect(),
            Err(error @ StorageError::Unavailable(_)) => failure = Some(Chain(&error).to_string()),
            Err(error) => {
                tracing::debug!(error = %Chain(&error), "what turns have done is written one by one")
            }
        }
    }
    let mut written = Vec::with_capacity(items.len());
    for item in items {
        // Nobody waits for a database that is not there once for each turn.
        let outcome = match &failure {
            Some(failure) => Err(StorageError::Unavailable(failure.as_str().into())),
            None => write_one(writer, item).await,
        };
        if let (None, Err(error @ StorageError::Unavailable(_))) = (&failure, &outcome) {
            failure = Some(Chain(error).to_string());
        }
        written.push(outcome);
    }
    written
}

async fn write_one<I, W: GroupWriter<I>>(writer: &W, item: I) -> Written<I, W::Outcome> {
    let mut retries = Retries::default();
    loop {
        match writer.write(std::slice::from_ref(&item)).await {
            Err(error) if error.is_lost_race() && retries.again() => {}
            outcomes => {
                let outcome = outcomes?.pop().ok_or(StorageError::Stale { entity: "turn" })?;
                return Ok((item, outcome));
            }
        }
    }
}

/// Returns whether no two items are of one session: the second one would not know of the first.
fn are_of_several_sessions<I>(writer: &impl GroupWriter<I>, items: &[I]) -> bool {
    let mut sessions = HashSet::new();
    items.iter().all(|item| sessions.insert(writer.session_of(item)))
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::{join_all, poll_immediate};

    use super::*;

    /// Writes numbers of sessions, and notes the groups.
    #[derive(Default)]
    struct Notebook {
        groups: Mutex<Vec<Vec<usize>>>,
        writing: AtomicUsize,
        /// How many other groups may be written meanwhile.
        others: usize,
        /// A number that cannot be written, with others or alone.
        refused: Option<usize>,
        /// Whether nothing can be written.
        is_gone: bool,
    }

    /// A number, and the session of it.
    type Note = (usize, SessionId);

    /// Writes while it exists.
    struct Writing<'a>(&'a AtomicUsize);

    impl Drop for Writing<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[async_trait]
    impl GroupWriter<Note> for Notebook {
        type Outcome = usize;

        fn session_of<'a>(&self, (_, session): &'a Note) -> &'a SessionId {
            session
        }

        async fn write(&self, items: &[Note]) -> Result<Vec<usize>, StorageError> {
            let others = self.writing.fetch_add(1, Ordering::SeqCst);
            assert!(others <= self.others, "{others} groups at once, and this one");
            let _writing = Writing(&self.writing);
            tokio::time::sleep(Duration::from_millis(5)).await;
            let numbers: Vec<usize> = items.iter().map(|(number, _)| *number).collect();
            self.groups.lock().expect("groups").push(numbers.clone());
            if self.is_gone {
                return Err(StorageError::Unavailable("gone".into()));
            }
            if numbers.iter().any(|number| Some(*number) == self.refused) {
                return Err(StorageError::Orphan { constraint: "chat".to_owned() });
            }
            Ok(numbers.into_iter().map(|number| number * 10).collect())
        }
    }

    impl Notebook {
        fn sizes(&self) -> Vec<usize> {
            self.groups.lock().expect("groups").iter().map(Vec::len).collect()
        }
    }

    fn note(number: usize) -> Note {
        (number, SessionId::parse(format!("wa-1-{number}")).expect("an id"))
    }

    const NOT_AT_ALL: Duration = Duration::ZERO;

    /// Has a number written, and returns its outcome; `None` if it was not.
    async fn write(groups: &Groups<Note, usize>, notebook: &Notebook, note: Note) -> Option<usize> {
        groups.write(note, NOT_AT_ALL, notebook).await.ok().map(|(_, outcome)| outcome)
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_while_a_group_is_written_is_the_next() {
        let (groups, notebook) = (Groups::new(1), Notebook::default());
        let written = join_all((0..100).map(|number| write(&groups, &notebook, note(number)))).await;
        assert_eq!(written, (0..100).map(|number| Some(number * 10)).collect::<Vec<_>>());
        // The first of them looks before the others have come.
        assert_eq!(notebook.sizes(), [1, MOST, 100 - 1 - MOST]);
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_groups_as_writers_are_written_at_once() {
        let (groups, notebook) = (Groups::new(2), Notebook { others: 1, ..Notebook::default() });
        let began = tokio::time::Instant::now();
        let written = join_all((0..150).map(|number| write(&groups, &notebook, note(number)))).await;
        assert_eq!(written, (0..150).map(|number| Some(number * 10)).collect::<Vec<_>>());
        assert_eq!(notebook.sizes(), [1, 1, MOST, MOST, 150 - 2 - 2 * MOST]);
        assert_eq!(began.elapsed(), Duration::from_millis(15));
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_whose_item_another_one_has_taken_waits_for_it() {
        let (groups, notebook) = (Groups::new(2), Notebook { others: 1, ..Notebook::default() });
        let gather = Duration::from_millis(2);
        let both = (0..2).map(|number| groups.write(note(number), gather, &notebook));
        assert!(join_all(both).await.into_iter().all(|outcome| outcome.is_ok()));
        assert_eq!(notebook.sizes(), [2]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_waits_for_others() {
        let (groups, notebook) = (Groups::new(1), Notebook::default());
        let come = async |number: usize| {
            tokio::time::sleep(Duration::from_millis(number as u64)).await;
            groups
                .write(note(number), Duration::from_micros(3_500), &notebook)
                .await
                .map(|(_, outcome)| outcome)
        };
        let written = join_all((0..6).map(come)).await;
        assert!(written.into_iter().all(|outcome| outcome.is_ok()));
        assert_eq!(notebook.sizes(), [4, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_that_cannot_be_written_holds_up_no_other() {
        let groups = Groups::new(1);
        let notebook = Notebook { refused: Some(2), ..Notebook::default() };
        let written = join_all((0..4).map(|number| write(&groups, &notebook, note(number)))).await;
        assert_eq!(written, [Some(0), Some(10), None, Some(30)]);
        assert_eq!(
            *notebook.groups.lock().expect("groups"),
            [vec![0], vec![1, 2, 3], vec![1], vec![2], vec![3]]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_database_that_is_gone_is_asked_once_for_a_group() {
        let groups = Groups::new(1);
        let notebook = Notebook { is_gone: true, ..Notebook::default() };
        let written = join_all((0..9).map(|number| write(&groups, &notebook, note(number)))).await;
        assert_eq!(written, [None; 9]);
        assert_eq!(notebook.sizes(), [1, 8]);
    }

    #[tokio::test(start_paused = true)]
    async fn two_items_of_a_session_are_written_one_by_one() {
        let (groups, notebook) = (Groups::new(1), Notebook::default());
        let notes = [note(0), note(1), (2, note(1).1)];
        let written = join_all(notes.map(|note| write(&groups, &notebook, note))).await;
        assert_eq!(written, [Some(0), Some(10), Some(20)]);
        assert_eq!(notebook.sizes(), [1, 1, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_dropped_takes_nobody_along_who_waits() {
        let (groups, notebook) = (Groups::new(1), Notebook::default());
        let mut waits = Box::pin(write(&groups, &notebook, note(2)));
        {
            let mut writes = pin!(write(&groups, &notebook, note(1)));
            assert!(poll_immediate(&mut writes).await.is_none(), "it writes");
            assert!(poll_immediate(&mut waits).await.is_none(), "it waits");
        }
        let mut dropped = Box::pin(write(&groups, &notebook, note(3)));
        assert!(poll_immediate(&mut waits).await.is_none(), "it writes now");
        assert!(poll_immediate(&mut dropped).await.is_none(), "it waits");
        drop(dropped);
        assert_eq!(waits.await, Some(20));
        assert_eq!(write(&groups, &notebook, note(4)).await, Some(40));
        assert_eq!(*notebook.groups.lock().expect("groups"), [[2], [4]]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_is_lost_with_whoever_writes_it() {
        let (groups, notebook) = (Groups::new(1), Notebook::default());
        let mut writes = Box::pin(groups.write(note(1), Duration::from_millis(1), &notebook));
        assert!(poll_immediate(&mut writes).await.is_none(), "it gathers");
        let mut waits = Box::pin(write(&groups, &notebook, note(2)));
        assert!(poll_immediate(&mut waits).await.is_none(), "it waits");
        tokio::time::advance(Duration::from_millis(2)).await;
        assert!(poll_immediate(&mut writes).await.is_none(), "it writes both");
        drop(writes);
        assert_eq!(waits.await, None);
    }
}
