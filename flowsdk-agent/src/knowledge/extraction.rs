//! The text of a content.

use std::io::{self, Read};

use html2text::config;
use tokio_util::sync::CancellationToken;

use super::MediaType;
use super::depth::is_deeper;

/// Columns after which the text of a page is wrapped. What is nested so deeply that it has no room there cannot be read.
const COLUMNS: usize = 100;
/// Most elements of a page that are open at once.
const DEEPEST: usize = 500;
/// How much longer than a page its text may be.
const GROWTH: usize = 4;

/// Why a content has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoText {
    /// Its bytes are no text.
    #[error("the content is not UTF-8")]
    Encoding,
    /// It is a page that cannot be read.
    #[error("the page cannot be read: it is nested too deeply")]
    Page,
    /// There is nothing in it.
    #[error("the document has no text")]
    Empty,
}

/// Returns the text of a content. That of a page has its headings and lists as Markdown, and neither scripts nor styles.
/// Of a PDF, `content` is what its [reader](super::PdfReader) has read.
///
/// # Errors
/// [`NoText`].
pub fn text_of(media_type: MediaType, content: &[u8]) -> Result<String, NoText> {
    text_unless(media_type, content, &CancellationToken::new())
}

/// Returns the text of a content as [`text_of`] does. A page is left at its next part when `left` is cancelled, and has none.
///
/// # Errors
/// [`NoText`].
pub(super) fn text_unless(
    media_type: MediaType,
    content: &[u8],
    left: &CancellationToken,
) -> Result<String, NoText> {
    let text = std::str::from_utf8(content).map_err(|_| NoText::Encoding)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = match media_type {
        MediaType::Text | MediaType::Markdown | MediaType::Pdf => text.to_owned(),
        MediaType::Html => page(text, left)?,
    };
    let text = without_blanks(&text);
    if text.is_empty() { Err(NoText::Empty) } else { Ok(text) }
}

/// Returns a text without blanks at the ends of lines, and with one empty line at most between two others.
fn without_blanks(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut is_apart = false;
    for line in text.replace("\r\n", "\n").split(['\n', '\r']).map(str::trim_end) {
        if line.is_empty() {
            is_apart = true;
            continue;
        }
        if !lines.is_empty() {
            lines.push_str(if is_apart { "\n\n" } else { "\n" });
        }
        is_apart = false;
        lines.push_str(line);
    }
    lines
}

/// A page that is read until nobody waits for it.
struct Awaited<'a> {
    page: &'a [u8],
    left: &'a CancellationToken,
}

impl Read for Awaited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_cancelled() { Err(io::Error::other("nobody waits")) } else { self.page.read(buffer) }
    }
}

fn page(html: &str, left: &CancellationToken) -> Result<String, NoText> {
    if is_deeper(html, DEEPEST) {
        return Err(NoText::Page);
    }
    // Cells of tables stand below each other: a table that is drawn is wide, and its passages say less.
    let reader = config::plain_no_decorate().raw_mode(true).no_table_borders().link_footnotes(false);
    let page = Awaited { page: html.as_bytes(), left };
    let text = reader.string_from_read(page, COLUMNS).map_err(|_| NoText::Page)?;
    if text.len() > html.len().saturating_mul(GROWTH).max(COLUMNS) { Err(NoText::Page) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_without_what_nobody_reads() {
        let html = "<html><head><title>T</title><style>p { color: red }</style></head><body><h1>Menu</h1>\
            <script>alert('x')</script><p>Tea is <b>12</b> reais. <a href='https://x.example/y'>Order</a></p>\
            <ul><li>green</li><li>black</li></ul><table><tr><th>Size</th><td>large</td></tr></table></body></html>";
        let text = text_of(MediaType::Html, html.as_bytes()).expect("a text");
        for there in ["# Menu", "Tea is 12 reais. [Order]", "* green", "* black", "Size", "large"] {
            assert!(text.contains(there), "{there}: {text}");
        }
        for away in ["alert", "color", "x.example", "<"] {
            assert!(!text.contains(away), "{away}: {text}");
        }
    }

    #[test]
    fn a_text_stays_as_it_is_but_for_blanks() {
        let text = "\n \nOne  \r\n\r\n\r\n  two\t\r\nand\n\n\n\nthree\n\n";
        assert_eq!(text_of(MediaType::Text, text.as_bytes()).as_deref(), Ok("One\n\n  two\nand\n\nthree"));
        for kind in [MediaType::Text, MediaType::Markdown] {
            assert_eq!(text_of(kind, "\u{feff}# Olá\n\n<b>".as_bytes()).as_deref(), Ok("# Olá\n\n<b>"));
        }
    }

    #[test]
    fn what_has_no_text_says_why() {
        assert_eq!(text_of(MediaType::Text, b"\xff\xfe"), Err(NoText::Encoding));
        assert_eq!(text_of(MediaType::Text, b" \n"), Err(NoText::Empty));
        assert_eq!(text_of(MediaType::Html, b"<script>x</script>"), Err(NoText::Empty));
        for deep in ["<blockquote>".repeat(200), "<div>".repeat(100_000)] {
            assert_eq!(text_of(MediaType::Html, (deep + "x").as_bytes()), Err(NoText::Page));
        }
    }

    #[test]
    fn a_page_that_nobody_waits_for_is_left() {
        let left = CancellationToken::new();
        assert_eq!(text_unless(MediaType::Html, b"<p>Tea</p>", &left).as_deref(), Ok("Tea"));
        left.cancel();
        assert_eq!(text_unless(MediaType::Html, b"<p>Tea</p>", &left), Err(NoText::Page));
    }

    #[test]
    fn no_page_brings_the_reader_down() {
        for piece in ["<div>", "<b><i>", "<ul><li>", "<table><tr><td>", "</p>", "<!--", "&amp", "<a <a"] {
            let _read = text_of(MediaType::Html, (piece.repeat(400) + "x").as_bytes());
        }
    }
}
