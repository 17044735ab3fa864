//! What the content of a document is, and how that is known of bytes.

use encoding_rs::{Encoding, UTF_8};
use flowsdk_core::cell::Named;
use flowsdk_core::fault::Fault;
use flowsdk_core::media::Claim;
use serde::{Deserialize, Serialize};

/// Most bytes of a content that is a text.
pub const MAX_CONTENT: usize = 5 << 20;
/// Most bytes of a page: the time to read one grows faster than its size.
pub const MAX_PAGE: usize = 1 << 20;
/// Most bytes of a PDF.
pub const MAX_PDF: usize = 20 << 20;
/// Where every PDF begins.
const PDF: &[u8] = b"%PDF-";
/// Bytes of a page in which it may name its character set.
const HEAD: usize = 1_024;

/// What the content of a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
pub enum MediaType {
    /// Plain text.
    #[serde(rename = "text/plain")]
    Text,
    /// Markdown.
    #[serde(rename = "text/markdown")]
    Markdown,
    /// A page.
    #[serde(rename = "text/html")]
    Html,
    /// A PDF. It is no text, so it is uploaded or fetched.
    #[serde(rename = "application/pdf")]
    Pdf,
}

impl MediaType {
    /// Returns the most bytes of a content of this type.
    pub fn most(self) -> usize {
        match self {
            Self::Text | Self::Markdown => MAX_CONTENT,
            Self::Html => MAX_PAGE,
            Self::Pdf => MAX_PDF,
        }
    }

    /// Returns the type of a header without its parameters, in small letters.
    fn of_header(essence: &str) -> Option<Self> {
        match essence {
            "text/plain" => Some(Self::Text),
            "text/markdown" | "text/x-markdown" => Some(Self::Markdown),
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "application/pdf" => Some(Self::Pdf),
            _ => None,
        }
    }

    /// Returns the type of files with such a name.
    fn of_name(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "txt" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" => Some(Self::Html),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }
}

/// Why bytes are no content of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
pub enum Unfit {
    /// There is nothing in them.
    #[error("there is nothing in it")]
    #[fault(Unprocessable, "knowledge_empty", pt = "O arquivo está vazio", en = "The file is empty")]
    Empty,
    /// They are too many for what they are.
    #[error("it is too large: at most 20 MiB of PDF, 5 MiB of text and 1 MiB of HTML")]
    #[fault(
        Unprocessable,
        "knowledge_too_large",
        pt = "O arquivo é grande demais: no máximo 20 MiB de PDF, 5 MiB de texto ou 1 MiB de HTML",
        en = "The file is too large: at most 20 MiB of PDF, 5 MiB of text or 1 MiB of HTML"
    )]
    TooLarge,
    /// They are nothing that documents are made of.
    #[error("it is neither text, Markdown, HTML nor PDF")]
    #[fault(
        Unprocessable,
        "knowledge_type_refused",
        pt = "O arquivo não é texto, Markdown, HTML ou PDF",
        en = "The file is neither text, Markdown, HTML nor PDF"
    )]
    Unknown,
    /// They are not what they are said to be.
    #[error("it is not what its type says")]
    #[fault(
        Unprocessable,
        "knowledge_type_mismatch",
        pt = "O conteúdo do arquivo não é o que o nome ou Content-Type diz",
        en = "The content of the file is not what its name or Content-Type says"
    )]
    Mismatch,
    /// They are no text in the character set that they have, which is UTF-8 where none is named.
    #[error("it is no text in its character set")]
    #[fault(
        Unprocessable,
        "knowledge_charset",
        pt = "O texto não está no conjunto de caracteres indicado, ou em UTF-8",
        en = "The text is not in the character set that is named, or in UTF-8"
    )]
    Charset,
}

/// The content of a document, as it is stored: a text is in UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub(super) media_type: MediaType,
    pub(super) bytes: Vec<u8>,
}

impl Content {
    /// Returns bytes as a content. What they are is said by the media type of `claim`; by its name where that says
    /// nothing; and a PDF says it itself.
    ///
    /// # Errors
    /// [`Unfit`].
    pub fn of(claim: &Claim, bytes: Vec<u8>) -> Result<Self, Unfit> {
        let header = claim.mime_type.as_deref().unwrap_or_default().to_ascii_lowercase();
        let mut parts = header.split(';').map(str::trim);
        let said = match parts.next().unwrap_or_default() {
            // What clients say who do not know. The last one is what curl says.
            "" | "application/octet-stream" | "binary/octet-stream" | "application/x-www-form-urlencoded" => {
                claim.filename.as_deref().and_then(MediaType::of_name)
            }
            essence => Some(MediaType::of_header(essence).ok_or(Unfit::Unknown)?),
        };
        if bytes.is_empty() {
            return Err(Unfit::Empty);
        }
        let is_pdf = bytes.starts_with(PDF);
        let media_type = said.or(is_pdf.then_some(MediaType::Pdf)).ok_or(Unfit::Unknown)?;
        if is_pdf != (media_type == MediaType::Pdf) {
            return Err(Unfit::Mismatch);
        }
        if bytes.len() > media_type.most() {
            return Err(Unfit::TooLarge);
        }
        if is_pdf {
            return Ok(Self { media_type, bytes });
        }
        let charset = parts.find_map(|part| part.strip_prefix("charset=")).map(|name| name.trim_matches('"'));
        let text = decoded(media_type, charset, bytes)?;
        if text.len() > media_type.most() {
            return Err(Unfit::TooLarge);
        }
        if text.trim().is_empty() {
            return Err(Unfit::Empty);
        }
        Ok(Self { media_type, bytes: text.into_bytes() })
    }

    /// Returns a text as a content.
    pub(super) fn of_text(media_type: MediaType, text: String) -> Self {
        Self { media_type, bytes: text.into_bytes() }
    }
}

/// Returns the text of bytes in a character set. Without a name of one they are in UTF-8, or, of a page, in that which it
/// names itself.
fn decoded(media_type: MediaType, charset: Option<&str>, bytes: Vec<u8>) -> Result<String, Unfit> {
    let encoding = match charset {
        Some(name) => Encoding::for_label(name.as_bytes()).ok_or(Unfit::Charset)?,
        None if media_type == MediaType::Html && std::str::from_utf8(&bytes).is_err() => {
            named_in(&bytes).ok_or(Unfit::Charset)?
        }
        None => UTF_8,
    };
    let text = if encoding == UTF_8 {
        String::from_utf8(bytes).map_err(|_| Unfit::Charset)?
    } else {
        let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes);
        text.ok_or(Unfit::Charset)?.into_owned()
    };
    // No text has one; what is no text mostly has.
    if text.contains('\0') { Err(Unfit::Charset) } else { Ok(text) }
}

/// Returns the character set that a page names in its head.
fn named_in(page: &[u8]) -> Option<&'static Encoding> {
    let head = page.get(..HEAD).unwrap_or(page);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, name) = head.split_once("charset=")?;
    let name = name.trim_start_matches(['"', '\'']);
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter));
    Encoding::for_label(name.get(..end.unwrap_or(name.len()))?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mime_type: &str, name: &str, bytes: &[u8]) -> Result<(MediaType, String), Unfit> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let claim = Claim { mime_type: some(mime_type), filename: some(name) };
        let content = Content::of(&claim, bytes.to_vec())?;
        Ok((content.media_type, String::from_utf8(content.bytes).expect("a text")))
    }

    #[test]
    fn a_content_is_what_is_said_of_it() {
        use MediaType::{Html, Markdown, Pdf, Text};
        let unsaid = "application/octet-stream";
        for (mime_type, name, bytes, expected) in [
            ("text/plain", "", "Tea", Text),
            ("TEXT/Markdown; charset=UTF-8", "menu.txt", "# Tea", Markdown),
            ("text/html;charset=\"utf-8\"", "", "<p>Tea", Html),
            ("application/pdf", "menu.txt", "%PDF-1.7 ..", Pdf),
            (unsaid, "Menu.MD", "# Tea", Markdown),
            (unsaid, "menu.html", "<p>Tea", Html),
            ("", "menu.txt", "Tea", Text),
            ("application/x-www-form-urlencoded", "menu.markdown", "Tea", Markdown),
            (unsaid, "", "%PDF-1.7 ..", Pdf),
            (unsaid, "menu", "%PDF-1.7 ..", Pdf),
        ] {
            let (media_type, text) = of(mime_type, name, bytes.as_bytes()).expect(bytes);
            assert_eq!((media_type, text.as_str()), (expected, bytes), "{mime_type} {name}");
        }
    }

    #[test]
    fn what_is_no_content_says_why() {
        let large = |size: usize| "a".repeat(size + 1).into_bytes();
        for (mime_type, name, bytes, expected) in [
            ("image/png", "menu.txt", b"Tea".to_vec(), Unfit::Unknown),
            ("", "menu.docx", b"PK".to_vec(), Unfit::Unknown),
            ("", "", b"Tea".to_vec(), Unfit::Unknown),
            ("text/plain", "", Vec::new(), Unfit::Empty),
            ("text/plain", "", b" \r\n".to_vec(), Unfit::Empty),
            ("application/pdf", "", b"PK".to_vec(), Unfit::Mismatch),
            ("", "menu.pdf", b"Tea".to_vec(), Unfit::Mismatch),
            ("text/plain", "", b"%PDF-1.7".to_vec(), Unfit::Mismatch),
            ("text/plain", "", large(MAX_CONTENT), Unfit::TooLarge),
            ("text/html", "", large(MAX_PAGE), Unfit::TooLarge),
            ("application/pdf", "", [PDF, &large(MAX_PDF)].concat(), Unfit::TooLarge),
            ("text/plain; charset=iso-8859-1", "", vec![0xe9; MAX_CONTENT], Unfit::TooLarge),
            ("text/plain", "", b"ch\xe1".to_vec(), Unfit::Charset),
            ("text/plain; charset=klingon", "", b"Tea".to_vec(), Unfit::Charset),
            ("text/plain", "", b"a\0b".to_vec(), Unfit::Charset),
            ("text/html", "", b"<p>ch\xe1".to_vec(), Unfit::Charset),
        ] {
            assert_eq!(of(mime_type, name, &bytes), Err(expected), "{mime_type} {name}");
        }
    }

    #[test]
    fn a_text_in_another_character_set_is_stored_in_utf_8() {
        let of = |mime_type: &str, bytes: &[u8]| of(mime_type, "", bytes).map(|(_, text)| text);
        let expected = Ok("chá – 12 €".to_owned());
        for charset in ["iso-8859-1", "Latin1", "windows-1252"] {
            assert_eq!(of(&format!("text/plain; charset={charset}"), b"ch\xe1 \x96 12 \x80"), expected);
        }
        let page = b"<meta http-equiv=x content='text/html; charset=ISO-8859-1'>ch\xe1";
        assert!(of("text/html", page).is_ok_and(|text| text.ends_with("chá")));
        let page = b"<meta charset=\"windows-1252\"><p>ch\xe1";
        assert!(of("text/html", page).is_ok_and(|text| text.ends_with("chá")));
    }
}
