//! `flow watch`: every save of a file goes to a test channel of its router.

use std::path::Path;
use std::time::Duration;

use flowsdk_core::fault::{BoxError, Chain};

use super::api::{Channel, Router};
use super::push::{Target, push_test};
use super::{Client, RemoteError};

/// The time between two looks at the file. A save is taken when the file is the same in two of them, so that one that is
/// half written is not.
const LOOK: Duration = Duration::from_millis(250);
/// The time after which a save is sent again to a server that is away.
const AGAIN: Duration = Duration::from_secs(2);

/// The file to watch, and where its saves go.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Watch {
    /// The file, and its flow.
    #[command(flatten)]
    pub target: Target,
    /// The name or id of a test channel of the router, which is made if no channel has this name; without it, the
    /// router's own, which its authors share.
    #[arg(long)]
    pub channel: Option<String>,
}

/// Publishes the file to the test channel now and after each save, and tells `say` what came of it. An error of the file
/// or of the server is told too; then it goes on. While the server is away it is asked again until it answers.
///
/// # Errors
/// The file, the router or the channel is not there at the beginning, or nobody can be told.
pub async fn watch(
    client: &mut Client,
    watch: &Watch,
    mut say: impl FnMut(&str) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let Watch { target, channel } = watch;
    let there = std::fs::metadata(&target.file);
    there.map_err(|source| RemoteError::File { path: target.file.clone(), source })?;
    let mut away = false;
    let (router, channel) = loop {
        match place(client, target, channel.as_deref()).await {
            Ok(place) => break place,
            Err(error) if error.may_pass() => {
                if !away {
                    say(&format!("{}: waiting for the server", Chain(&error)))?;
                }
                away = true;
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) => return Err(error.into()),
        }
    };
    let file = target.file.display();
    let mut saves = Saves::default();
    loop {
        match saves.look(&target.file) {
            Seen::Nothing => {}
            Seen::Gone => say(&format!("{file} is gone: waiting until it is there again"))?,
            Seen::Save => {
                let published = push_test(client, &router, channel.as_ref().map(Channel::id), target).await;
                let was_away = away;
                away = matches!(&published, Err(error) if may_pass(error));
                match published {
                    Ok((chat, warnings)) => say(&format!("{warnings}{file} is in the test chat: {chat}"))?,
                    Err(_) if away && was_away => {}
                    Err(error) if away => {
                        say(&format!("not published: {}: waiting for the server", Chain(&*error)))?;
                    }
                    Err(error) => say(&format!("not published: {}", Chain(&*error)))?,
                }
                if away {
                    saves.forget();
                }
            }
        }
        tokio::time::sleep(if away { AGAIN } else { LOOK }).await;
    }
}

/// Returns the router of the file, and the channel to publish to if it is not the router's own.
async fn place(
    client: &mut Client,
    target: &Target,
    channel: Option<&str>,
) -> Result<(Router, Option<Channel>), RemoteError> {
    let router = client.router(&target.router).await?;
    let channel = match channel {
        Some(name) => Some(client.test_channel(&router, name).await?),
        None => None,
    };
    Ok((router, channel))
}

fn may_pass(error: &BoxError) -> bool {
    error.downcast_ref::<RemoteError>().is_some_and(RemoteError::may_pass)
}

/// The result of a look at a file.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// Nothing to tell.
    Nothing,
    /// A content to take.
    Save,
    /// The file is not there any more.
    Gone,
}

/// What was seen of a file. It is read rather than its time: editors replace files, and some clocks are coarse.
#[derive(Default)]
struct Saves {
    /// The content at the last look.
    seen: Option<Vec<u8>>,
    /// The content that was taken last.
    taken: Option<Vec<u8>>,
    /// Looks in a row that found no file.
    missed: u32,
}

impl Saves {
    fn look(&mut self, file: &Path) -> Seen {
        let Ok(content) = std::fs::read(file) else {
            self.missed = self.missed.saturating_add(1);
            // A file that is being replaced is not there for a moment.
            return if self.missed == 2 { Seen::Gone } else { Seen::Nothing };
        };
        self.missed = 0;
        let is_whole = self.seen.as_ref() == Some(&content);
        let is_new = self.taken.as_ref() != Some(&content);
        if is_whole && is_new {
            self.taken = self.seen.clone();
        }
        self.seen = Some(content);
        if is_whole && is_new { Seen::Save } else { Seen::Nothing }
    }

    /// Makes the content that was taken last one to take, as it is when the file is looked at again.
    fn forget(&mut self) {
        self.taken = None;
    }
}

#[cfg(test)]
mod tests {
    use super::Seen::{Gone, Nothing, Save};
    use super::*;

    #[test]
    fn a_save_is_taken_once_and_when_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("f.json");
        let mut saves = Saves::default();
        let write = |text: &str| std::fs::write(&file, text).expect("written");
        assert_eq!(saves.look(&file), Nothing, "not there yet");
        write("a");
        assert_eq!([saves.look(&file), saves.look(&file), saves.look(&file)], [Nothing, Save, Nothing]);
        write("half");
        assert_eq!(saves.look(&file), Nothing);
        write("whole");
        assert_eq!([saves.look(&file), saves.look(&file), saves.look(&file)], [Nothing, Save, Nothing]);
        std::fs::remove_file(&file).expect("deleted");
        assert_eq!([saves.look(&file), saves.look(&file), saves.look(&file)], [Nothing, Gone, Nothing]);
        write("whole");
        assert_eq!([saves.look(&file), saves.look(&file)], [Nothing, Nothing], "saved as it was");
        saves.forget();
        assert_eq!([saves.look(&file), saves.look(&file)], [Save, Nothing]);
    }
}
