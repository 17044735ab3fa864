//! What agents see: the images of a turn go to a model with vision, as long as the turn lasts.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flowsdk_core::media::MediaId;
use flowsdk_core::store::Store;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::equipping::OpenTurn;
use super::hearing::Room;
use super::{Executor, ExecutorTx, ReadableFile};
use crate::model::Item;
use crate::turn::{MAX_MEDIA, MediaFault, UNSEEN};

/// Most images of a turn that its model sees.
pub(super) const MOST_IMAGES: usize = 4;
/// The media types of images that models see.
const TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/webp", "image/gif"];
/// How an image of a contact is named where turns are stored.
const SCHEME: &str = "media:";

/// The images of a turn by their names in it, as addresses with their content.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    by_name: HashMap<String, String>,
    /// Taken as long as they are held.
    _room: Option<OwnedSemaphorePermit>,
}

/// Returns the name of an image of a contact where turns are stored.
pub(super) fn name_of(file: &MediaId) -> String {
    format!("{SCHEME}{file}")
}

/// Returns the names of the images of contacts in items.
fn names(items: &[Item]) -> impl Iterator<Item = &String> {
    let images = items.iter().filter_map(|item| match item {
        Item::User { images, .. } => Some(images),
        _ => None,
    });
    images.flatten().filter(|image| image.starts_with(SCHEME))
}

/// Leaves the images of contacts out of what was said before. Their texts say that there was one.
pub(super) fn leave_out(item: &mut Item) {
    if let Item::User { images, .. } = item {
        images.retain(|image| !image.starts_with(SCHEME));
    }
}

impl Pictures {
    /// Puts the contents of images in place of their names. For each that is not there, the text says so.
    pub(super) fn show(&self, item: &mut Item) {
        let Item::User { text, images } = item else { return };
        let named = std::mem::take(images);
        for image in named {
            match self.by_name.get(&image) {
                Some(content) => images.push(content.clone()),
                None if image.starts_with(SCHEME) => {
                    text.push('\n');
                    text.push_str(UNSEEN);
                }
                None => images.push(image),
            }
        }
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Returns the images of a turn. What cannot be had is left out.
    pub(super) async fn look(&self, turn: &OpenTurn) -> Pictures {
        let names: Vec<&String> = names(&turn.record.items).take(MOST_IMAGES).collect();
        if names.is_empty() || !turn.configuration.has_vision {
            return Pictures::default();
        }
        let until = Instant::now() + self.settings.hearing_time;
        timeout_at(until, self.open_pictures(turn, names)).await.unwrap_or_default()
    }

    async fn open_pictures(&self, turn: &OpenTurn, names: Vec<&String>) -> Pictures {
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            match self.find_picture(turn, name).await {
                Ok(file) => found.push((name.clone(), file)),
                Err(fault) => {
                    tracing::warn!(turn = %turn.record.id, image = name, ?fault, "an image is not seen by an AI agent");
                }
            }
        }
        let size = found.iter().map(|(_, file)| file.size).sum();
        let room = Arc::clone(&self.room.0).acquire_many_owned(Room::permits(size)).await.ok();
        let mut by_name = HashMap::with_capacity(found.len());
        for (name, file) in found {
            // A content that was deleted meanwhile is left out, as one that never came.
            if let Ok(bytes) = self.media.read(&file).await {
                let mime_type = file.mime_type.as_deref().unwrap_or_default();
                by_name.insert(name, format!("data:{mime_type};base64,{}", STANDARD.encode(bytes)));
            }
        }
        Pictures { by_name, _room: room }
    }

    async fn find_picture(&self, turn: &OpenTurn, name: &str) -> Result<ReadableFile, MediaFault> {
        let id = name.strip_prefix(SCHEME).and_then(|id| MediaId::parse(id).ok());
        let file = self.media.find(&turn.session.id, &id.ok_or(MediaFault::Unexpected)?).await?;
        if file.size > MAX_MEDIA {
            return Err(MediaFault::TooLarge(file.size));
        }
        let is_image = file.mime_type.as_deref().is_some_and(|mime_type| TYPES.contains(&mime_type));
        if is_image { Ok(file) } else { Err(MediaFault::Unexpected) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(images: &[&str]) -> Item {
        let images = images.iter().map(|image| (*image).to_owned()).collect();
        Item::User { text: "[Imagem]".to_owned(), images }
    }

    #[test]
    fn images_are_those_of_the_turn_and_others_are_said() {
        let by_name = HashMap::from([("media:a".to_owned(), "data:image/png;base64,AA==".to_owned())]);
        let pictures = Pictures { by_name, _room: None };
        let mut item = input(&["media:a", "https://a.example/i.png", "media:b"]);
        pictures.show(&mut item);
        let Item::User { text, images } = item else { panic!("an input") };
        assert_eq!(images, ["data:image/png;base64,AA==", "https://a.example/i.png"]);
        assert_eq!(text, format!("[Imagem]\n{UNSEEN}"));

        let mut before = input(&["media:a", "https://a.example/i.png"]);
        leave_out(&mut before);
        assert_eq!(before, input(&["https://a.example/i.png"]));
        assert_eq!(names(&[input(&["media:a", "https://a.example"]), Item::user("b")]).count(), 1);
    }
}
