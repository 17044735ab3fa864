//! `flow watch`: every save of a file goes to the test channel of its router.

use std::path::Path;
use std::time::Duration;

use flowsdk_core::fault::{BoxError, Chain};

use super::push::{Target, push_test};
use super::{Client, RemoteError};

/// The time between two looks at the file. A save is taken when the file is the same in two of them, so that one that is
/// half written is not.
const LOOK: Duration = Duration::from_millis(250);

/// Publishes the file to the test channel now and after each save, and tells `say` what came of it. An error of the file
/// or of the server is told too; then it goes on.
///
/// # Errors
/// The file is not there at the beginning, or nobody can be told.
pub async fn watch(
    client: &mut Client,
    target: &Target,
    mut say: impl FnMut(&str) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let there = std::fs::metadata(&target.file);
    there.map_err(|source| RemoteError::File { path: target.file.clone(), source })?;
    let mut saves = Saves::default();
    loop {
        if saves.look(&target.file) {
            let told = match push_test(client, target).await {
                Ok((chat, warnings)) => {
                    format!("{warnings}{} is in the test chat: {chat}", target.file.display())
                }
                Err(error) => format!("not published: {}", Chain(&*error)),
            };
            say(&told)?;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What was seen of a file. It is read rather than its time: editors replace files, and some clocks are coarse.
#[derive(Default)]
struct Saves {
    /// The content at the last look.
    seen: Option<Vec<u8>>,
    /// The content that was taken last.
    taken: Option<Vec<u8>>,
}

impl Saves {
    /// Returns whether there is a content to take.
    fn look(&mut self, file: &Path) -> bool {
        // A file that is being replaced is not there for a moment.
        let Ok(content) = std::fs::read(file) else { return false };
        let is_whole = self.seen.as_ref() == Some(&content);
        let is_new = self.taken.as_ref() != Some(&content);
        if is_whole && is_new {
            self.taken = self.seen.clone();
        }
        self.seen = Some(content);
        is_whole && is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_is_taken_once_and_when_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("f.json");
        let mut saves = Saves::default();
        let write = |text: &str| std::fs::write(&file, text).expect("written");
        assert!(!saves.look(&file), "not there yet");
        write("a");
        assert_eq!([saves.look(&file), saves.look(&file), saves.look(&file)], [false, true, false]);
        write("half");
        assert!(!saves.look(&file));
        write("whole");
        assert_eq!([saves.look(&file), saves.look(&file), saves.look(&file)], [false, true, false]);
        std::fs::remove_file(&file).expect("deleted");
        assert!(!saves.look(&file));
        write("whole");
        assert_eq!([saves.look(&file), saves.look(&file)], [false, false], "saved as it was");
    }
}
