//! Contents as files in a folder.

use std::io::{self, ErrorKind, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::fault::BoxError;
use flowsdk_core::media::{BlobStore, Content, MediaId};
use futures_util::StreamExt as _;
use tokio::fs::{self, DirEntry, File};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

/// The folder, within that of the contents, in which they are while they are written.
pub const UNFINISHED: &str = "unfinished";
/// How long a part may grow before it counts as left: no upload takes as long.
const LEFT_AFTER: Duration = Duration::from_hours(24);
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// Keeps contents in a folder, which is made when the first one comes. Processes that share the folder share the contents.
#[derive(Debug, Clone)]
pub struct FolderBlobs {
    root: PathBuf,
    keep_free: u64,
}

impl FolderBlobs {
    /// Keeps contents in the folder `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), keep_free: 0 }
    }

    /// Takes no content while the disk of the folder has less than this number of bytes free: what else is on it, such as a
    /// database, needs them. Without this nothing is kept free, as where the system cannot tell.
    #[must_use]
    pub fn keeping_free(self, bytes: u64) -> Self {
        Self { keep_free: bytes, ..self }
    }

    fn check_free(&self) -> Result<(), BoxError> {
        match free(&self.root)? {
            Some(free) if free < self.keep_free => Err(format!(
                "the disk of {} has {} MiB free, and {} MiB are kept free",
                self.root.display(),
                free >> 20,
                self.keep_free >> 20
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// Returns the path of a content. Folders of two characters keep the number of entries in each small.
    ///
    /// # Errors
    /// The id cannot be the name of a file.
    fn path(&self, id: &MediaId) -> Result<PathBuf, BoxError> {
        let name = id.as_str();
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if !is_name {
            return Err(format!("{name} cannot be the name of a content").into());
        }
        let shard = &name[name.len().saturating_sub(2)..];
        Ok(self.root.join(shard).join(name))
    }
}

#[async_trait]
impl BlobStore for FolderBlobs {
    async fn put(&self, id: &MediaId, mut content: Content) -> Result<(), BoxError> {
        let path = self.path(id)?;
        let (unfinished, shard) = (self.root.join(UNFINISHED), path.parent().unwrap_or(&self.root));
        private_folder(&unfinished).await?;
        private_folder(shard).await?;
        self.check_free()?;
        // It goes with this call, however that ends.
        let (file, draft) = tempfile::NamedTempFile::new_in(&unfinished)?.into_parts();
        let mut file = File::from_std(file);
        while let Some(piece) = content.next().await {
            file.write_all(&piece?).await?;
        }
        file.flush().await?;
        file.sync_all().await?;
        draft.persist(&path)?;
        // The name is on the disk when its folder is.
        File::open(shard).await?.sync_all().await?;
        Ok(())
    }

    async fn get(&self, id: &MediaId, range: Range<u64>) -> Result<Option<Content>, BoxError> {
        let mut file = match File::open(self.path(id)?).await {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        file.seek(SeekFrom::Start(range.start)).await?;
        let part = file.take(range.end.saturating_sub(range.start));
        let pieces = ReaderStream::with_capacity(part, PIECE);
        Ok(Some(pieces.map(|piece| piece.map_err(BoxError::from)).boxed()))
    }

    async fn delete(&self, id: &MediaId) -> Result<(), BoxError> {
        match fs::remove_file(self.path(id)?).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    async fn sweep(&self) -> Result<(), BoxError> {
        let mut parts = match fs::read_dir(self.root.join(UNFINISHED)).await {
            Ok(parts) => parts,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // One that cannot be removed keeps none of the others.
        let mut stuck = Ok(());
        while let Some(part) = parts.next_entry().await? {
            if let Err(error) = remove_left(&part).await {
                stuck = Err(format!("{} cannot be removed: {error}", part.path().display()).into());
            }
        }
        stuck
    }
}

/// Removes a part, unless it may still grow.
async fn remove_left(part: &DirEntry) -> io::Result<()> {
    let removed = async {
        // Both times are the machine's: files know nothing of an injected clock.
        let age = part.metadata().await?.modified()?.elapsed();
        if age.is_ok_and(|age| age >= LEFT_AFTER) {
            fs::remove_file(part.path()).await?;
        }
        io::Result::Ok(())
    };
    match removed.await {
        // It has ended meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes a folder that nobody else may read, unless it is there.
async fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    builder.create(path).await
}

/// Returns the bytes that the disk of a folder has free for this process.
#[cfg(unix)]
fn free(path: &Path) -> io::Result<Option<u64>> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(Some(disk.f_bavail.saturating_mul(disk.f_frsize)))
}

#[cfg(not(unix))]
fn free(_path: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use flowsdk_core::media::whole;
    use futures_util::stream;

    use super::*;

    fn files(path: &Path) -> usize {
        std::fs::read_dir(path).map_or(0, Iterator::count)
    }

    /// Lets a file or folder look as if it was written this long ago.
    fn written_ago(path: &Path, age: Duration) {
        let file = std::fs::File::open(path).expect("a file");
        let made = file.metadata().and_then(|known| known.modified()).expect("its time");
        file.set_modified(made - age).expect("its time is set");
    }

    #[tokio::test]
    async fn what_breaks_off_leaves_nothing_and_nobody_else_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("media");
        let blobs = FolderBlobs::new(&root);
        let id = MediaId::parse("cabc").expect("an id");
        assert!(!root.exists(), "nothing is made before it is needed");
        let breaks = stream::iter([Ok(b"half".to_vec().into()), Err("broken".into())]).boxed();
        blobs.put(&id, breaks).await.expect_err("it breaks off");
        assert_eq!(files(&root.join(UNFINISHED)), 0);
        assert_eq!(files(&root.join("bc")), 0);
        blobs.put(&id, whole(&b"all"[..])).await.expect("it is kept");
        assert_eq!(std::fs::read(root.join("bc/cabc")).expect("a file"), b"all");
        for path in ["", "bc", "bc/cabc"] {
            let mode = std::fs::metadata(root.join(path)).expect("there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{path}: {mode:o}");
        }
        // A call that is given up.
        let mut never = Box::pin(blobs.put(&id, stream::pending().boxed()));
        for _ in 0..100 {
            let step = std::time::Duration::from_millis(20);
            if tokio::time::timeout(step, &mut never).await.is_err() && files(&root.join(UNFINISHED)) == 1 {
                break;
            }
        }
        drop(never);
        assert_eq!(files(&root.join(UNFINISHED)), 0);
    }

    #[tokio::test]
    async fn a_disk_that_is_nearly_full_takes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = FolderBlobs::new(folder.path());
        let id = MediaId::parse("cabc").expect("an id");
        blobs.clone().keeping_free(1).put(&id, whole(&b"old"[..])).await.expect("there is room");
        let full = blobs.keeping_free(u64::MAX);
        let error = full.put(&id, whole(&b"new"[..])).await.expect_err("no room");
        assert!(error.to_string().contains("kept free"), "{error}");
        assert_eq!(std::fs::read(folder.path().join("bc/cabc")).expect("a file"), b"old");
        assert!(full.get(&id, 0..1).await.expect("read").is_some() && full.delete(&id).await.is_ok());
    }

    #[tokio::test]
    async fn parts_that_a_kill_left_go_after_a_day() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = FolderBlobs::new(folder.path());
        blobs.sweep().await.expect("there is nothing yet");
        let unfinished = folder.path().join(UNFINISHED);
        std::fs::create_dir(&unfinished).expect("a folder");
        for (name, age) in [("old", LEFT_AFTER), ("new", Duration::from_secs(60))] {
            std::fs::write(unfinished.join(name), "part").expect("a file");
            written_ago(&unfinished.join(name), age);
        }
        blobs.sweep().await.expect("swept");
        assert!(!unfinished.join("old").exists() && unfinished.join("new").exists());
    }

    #[tokio::test]
    async fn what_cannot_be_removed_keeps_no_other_part_and_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let unfinished = folder.path().join(UNFINISHED);
        // Somebody's folder is not ours to remove.
        std::fs::create_dir_all(unfinished.join("folder")).expect("a folder");
        written_ago(&unfinished.join("folder"), LEFT_AFTER);
        // The order of a folder's entries is the system's: some come after the one that stays.
        let parts: Vec<PathBuf> = (0..20).map(|n| unfinished.join(n.to_string())).collect();
        for part in &parts {
            std::fs::write(part, "part").expect("a file");
            written_ago(part, LEFT_AFTER);
        }
        let error = FolderBlobs::new(folder.path()).sweep().await.expect_err("one stays");
        assert!(error.to_string().contains("unfinished/folder cannot be removed"), "{error}");
        assert_eq!(files(&unfinished), 1);
    }

    #[tokio::test]
    async fn ids_are_no_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = FolderBlobs::new(folder.path().join("media"));
        for id in ["..", ".", "a.b", "a:b", "a|b"] {
            let id = MediaId::parse(id).expect("an id");
            assert!(blobs.put(&id, whole(&b"x"[..])).await.is_err(), "{id}");
            assert!(blobs.get(&id, 0..1).await.is_err() && blobs.delete(&id).await.is_err(), "{id}");
        }
        assert_eq!(files(folder.path()), 0);
    }
}
