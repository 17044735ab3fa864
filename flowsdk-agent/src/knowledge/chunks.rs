//! Passages of a text.

use text_splitter::{Characters, ChunkConfig, MarkdownSplitter, TextSplitter};
use tokio_util::sync::CancellationToken;

use super::MediaType;

/// Most characters of a passage.
pub const LONGEST_CHUNK: usize = 1_200;
/// Most characters that a passage has in common with the one before it, so that what stands between two is found.
const OVERLAP: usize = 150;
/// Bytes of a text that are cut into passages at once: the time for that grows faster than the text.
const PART: usize = 32 << 10;
/// Most passages of a document.
pub const MAX_CHUNKS: usize = 5_000;

/// A text that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is too long: it has more than {MAX_CHUNKS} passages")]
pub struct TooLong;

/// Cuts a text into passages, at the ends of sections, paragraphs and sentences where it can. Nothing but blanks is lost.
///
/// # Errors
/// [`TooLong`].
pub fn chunks_of(media_type: MediaType, text: &str) -> Result<Vec<String>, TooLong> {
    chunks_unless(media_type, text, &CancellationToken::new())
}

/// Cuts a text into passages as [`chunks_of`] does. It ends at the next part when `left` is cancelled, and has some of them.
pub(super) fn chunks_unless(
    media_type: MediaType,
    text: &str,
    left: &CancellationToken,
) -> Result<Vec<String>, TooLong> {
    let plain = TextSplitter::new(config());
    let markdown = MarkdownSplitter::new(config());
    let (mut chunks, mut rest) = (Vec::new(), text);
    while !rest.is_empty() && !left.is_cancelled() {
        let (part, after) = rest.split_at(end_of_part(rest));
        match media_type {
            MediaType::Text | MediaType::Pdf => {
                chunks.extend(plain.chunks(part).filter(is_said).map(str::to_owned))
            }
            MediaType::Markdown | MediaType::Html => {
                chunks.extend(markdown.chunks(part).filter(is_said).map(str::to_owned));
            }
        }
        if chunks.len() > MAX_CHUNKS {
            return Err(TooLong);
        }
        rest = after;
    }
    Ok(chunks)
}

fn config() -> ChunkConfig<Characters> {
    let config = ChunkConfig::new(LONGEST_CHUNK);
    config.with_overlap(OVERLAP).unwrap_or_else(|_| ChunkConfig::new(LONGEST_CHUNK))
}

fn is_said(chunk: &&str) -> bool {
    !chunk.trim().is_empty()
}

/// Returns where the first part of a text ends: behind a paragraph, a line or a word, if there is one.
fn end_of_part(text: &str) -> usize {
    if text.len() <= PART {
        return text.len();
    }
    let longest = text.floor_char_boundary(PART);
    let part = text.get(..longest).unwrap_or(text);
    let end = part.rfind("\n\n").or_else(|| part.rfind('\n')).or_else(|| part.rfind(' '));
    end.map_or(longest, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Requires that the passages are short, stand in the text in order, and leave out blanks only.
    fn whole(media_type: MediaType, text: &str) {
        let chunks = chunks_of(media_type, text).expect("passages");
        let mut until = 0;
        for chunk in &chunks {
            assert!(chunk.chars().count() <= LONGEST_CHUNK, "{} characters", chunk.chars().count());
            // The last place where it may stand without a gap: a text may say the same twice.
            let blanks = text[until..].len() - text[until..].trim_start().len();
            let end = text.floor_char_boundary(until + blanks + chunk.len());
            let at = text[..end].rfind(chunk.as_str()).expect("a part of the text, without a gap");
            until = until.max(at + chunk.len());
        }
        let left = &text[until..];
        assert!(left.trim().is_empty(), "{left:?} is lost");
    }

    #[test]
    fn passages_end_where_sections_do() {
        let (menu, hours) = ("Tea is 12 reais. ".repeat(50), "We open at nine. ".repeat(50));
        let text = format!("# Menu\n\n{menu}\n\n# Hours\n\n{hours}");
        let chunks = chunks_of(MediaType::Markdown, &text).expect("passages");
        assert_eq!(chunks.len(), 2, "{chunks:#?}");
        assert!(chunks[0].starts_with("# Menu") && chunks[1].contains("# Hours"), "{chunks:#?}");
        assert_eq!(chunks_of(MediaType::Text, "Tea").as_deref(), Ok(&["Tea".to_owned()][..]));
        assert_eq!(chunks_of(MediaType::Text, " \n"), Ok(Vec::new()));
    }

    #[test]
    fn a_text_without_an_end_is_cut_all_the_same() {
        for text in ["a".repeat(20_000), "ã👋".repeat(5_000), "\n".repeat(5_000) + "x", "> ".repeat(3_000)]
        {
            whole(MediaType::Text, &text);
            whole(MediaType::Markdown, &text);
        }
    }

    #[test]
    fn a_text_that_nobody_waits_for_is_left() {
        let left = CancellationToken::new();
        left.cancel();
        assert_eq!(chunks_unless(MediaType::Text, "Tea", &left), Ok(Vec::new()));
    }

    #[test]
    fn a_text_of_too_many_passages_is_refused() {
        let text = format!("{}\n\n", "a".repeat(LONGEST_CHUNK)).repeat(MAX_CHUNKS + 1);
        assert_eq!(chunks_of(MediaType::Text, &text), Err(TooLong));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn nothing_of_a_text_is_lost(
            parts in proptest::collection::vec("[a-zé#*>`\\[\\]|. \n-]{0,900}", 0..8),
            markdown in any::<bool>(),
        ) {
            let media_type = if markdown { MediaType::Markdown } else { MediaType::Text };
            whole(media_type, &parts.concat());
        }
    }
}
