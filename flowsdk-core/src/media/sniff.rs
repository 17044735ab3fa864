//! What a file is, by its first bytes: names and headers only claim it.

use infer::MatcherType;

/// Bytes that tell what a file is.
pub(super) const HEAD: usize = 4_096;

/// What the sender of a file says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// The media type, as a header gives it.
    pub mime_type: Option<String>,
    /// The name of the file.
    pub filename: Option<String>,
}

/// Why a file is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// It is something that machines run.
    Executable,
    /// It is not what it is said to be.
    Mismatch {
        /// What it is said to be.
        claimed: String,
        /// What it is.
        found: String,
    },
}

/// Media types of files whose content nobody can tell by its first bytes.
const ANY: &str = "application/octet-stream";

/// Endings of names that stand for a type which the first bytes tell.
const ENDINGS: [(&str, &str); 19] = [
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("mp3", "audio/mpeg"),
    ("m4a", "audio/mp4"),
    ("aac", "audio/aac"),
    ("amr", "audio/amr"),
    ("ogg", "audio/ogg"),
    ("oga", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
    ("3gp", "video/3gpp"),
    ("3gpp", "video/3gpp"),
    ("webm", "video/webm"),
    ("mov", "video/quicktime"),
    ("pdf", "application/pdf"),
];

/// Returns the media type of a file with these first bytes.
///
/// # Errors
/// [`Refused`].
pub fn settle_type(head: &[u8], claim: &Claim) -> Result<String, Refused> {
    let found = infer::get(head);
    if found.is_some_and(|found| is_run(found.matcher_type(), found.mime_type())) {
        return Err(Refused::Executable);
    }
    let found = found.map(|found| usual(found.mime_type()));
    let header = claim.mime_type.as_deref().map(usual).filter(|mime| !is_nothing(mime));
    let by_name = claim.filename.as_deref().and_then(ending).map(usual);
    for claimed in [header, by_name].into_iter().flatten().filter(|claimed| is_told(claimed)) {
        if found.is_none_or(|found| container(found) != container(claimed)) {
            let found = found.unwrap_or(ANY).to_owned();
            return Err(Refused::Mismatch { claimed: claimed.to_owned(), found });
        }
    }
    Ok(match (found, header.or(by_name)) {
        // Sound and film may be in the same container; the sender knows which it is.
        (Some(found), Some(claimed)) if container(found) == container(claimed) => claimed,
        (Some(found), _) => found,
        (None, Some(claimed)) if is_text(claimed) => claimed,
        (None, _) => ANY,
    }
    .to_owned())
}

/// Returns the type that the ending of a name stands for.
fn ending(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, mime)| *mime)
}

/// Returns the usual name of a type.
fn usual(mime: &str) -> &str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/jpg" | "image/pjpeg" => "image/jpeg",
        "audio/mp3" => "audio/mpeg",
        "audio/m4a" | "audio/x-m4a" => "audio/mp4",
        "audio/opus" => "audio/ogg",
        "audio/x-wav" | "audio/wave" => "audio/wav",
        "audio/x-aac" => "audio/aac",
        "audio/x-flac" => "audio/flac",
        "image/vnd.microsoft.icon" => "image/x-icon",
        mime => mime,
    }
}

/// Clients name these where they know nothing.
fn is_nothing(mime: &str) -> bool {
    matches!(mime, "" | ANY | "application/x-www-form-urlencoded" | "binary/octet-stream")
}

/// Returns whether the first bytes of a file of this type tell it.
fn is_told(mime: &str) -> bool {
    let is_media = ["image/", "audio/", "video/"].iter().any(|class| mime.starts_with(class));
    (is_media && mime != "image/svg+xml") || mime == "application/pdf"
}

/// Returns whether a type is text, which has no first bytes of its own.
fn is_text(mime: &str) -> bool {
    let is_known = matches!(mime, "application/json" | "application/xml" | "application/rtf");
    is_known || (mime.starts_with("text/") && mime != "text/html" && mime.is_ascii())
}

/// Returns whether a machine or a browser would run it.
fn is_run(kind: MatcherType, mime: &str) -> bool {
    kind == MatcherType::App || matches!(mime, "text/html" | "text/x-shellscript")
}

/// Returns the container of a type: several types may be in the same one.
fn container(mime: &str) -> &str {
    match mime {
        "video/mp4" | "audio/mp4" | "video/quicktime" | "video/x-m4v" => "mp4",
        "video/3gpp" | "audio/3gpp" => "3gp",
        "video/webm" | "audio/webm" | "video/x-matroska" => "webm",
        "video/ogg" | "audio/ogg" | "application/ogg" => "ogg",
        "image/heic" | "image/heif" | "image/heic-sequence" | "image/heif-sequence" => "heif",
        mime => mime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const PDF: &[u8] = b"%PDF-1.7\n";
    const OGG: &[u8] = b"OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead";
    const MP4: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom";
    const HEIC: &[u8] = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
    const ELF: &[u8] = &elf();

    /// A file is told by as much.
    const fn elf() -> [u8; 64] {
        let mut head = [0; 64];
        (head[0], head[1], head[2], head[3], head[4]) = (0x7f, b'E', b'L', b'F', 2);
        head
    }

    fn settled(head: &[u8], mime_type: &str, filename: &str) -> Result<String, Refused> {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        settle_type(head, &Claim { mime_type: text(mime_type), filename: text(filename) })
    }

    #[test]
    fn the_first_bytes_tell_the_type() {
        for (head, mime, name, expected) in [
            (PNG, "", "", "image/png"),
            (PNG, "image/png", "a.PNG", "image/png"),
            (PNG, "application/x-www-form-urlencoded", "a.png", "image/png"),
            (PNG, "text/plain", "notes.txt", "image/png"),
            (PDF, "application/octet-stream", "a.pdf", "application/pdf"),
            (OGG, "audio/ogg; codecs=opus", "voice.ogg", "audio/ogg"),
            (OGG, "audio/opus", "", "audio/ogg"),
            (MP4, "", "", "video/mp4"),
            (MP4, "audio/mp4", "", "audio/mp4"),
            (MP4, "", "song.m4a", "audio/mp4"),
            (b"name;price\n", "text/csv", "a.csv", "text/csv"),
            (b"name;price\n", "", "a.csv", "application/octet-stream"),
            (b"hello", "text/html", "", "application/octet-stream"),
            (HEIC, "image/heic", "photo.heic", "image/heic"),
            (b"fLaC\0\0\0\x22", "audio/flac", "song.flac", "audio/flac"),
            (
                b"<svg xmlns='http://www.w3.org/2000/svg'/>",
                "image/svg+xml",
                "logo.svg",
                "application/octet-stream",
            ),
            (b"{}", "application/json", "", "application/json"),
        ] {
            assert_eq!(settled(head, mime, name).as_deref(), Ok(expected), "{mime} {name}");
        }
    }

    #[test]
    fn what_is_not_as_it_is_said_to_be_is_refused() {
        for (head, mime, name) in [
            (PNG, "image/jpeg", ""),
            (PNG, "", "a.jpg"),
            (PNG, "image/png", "a.pdf"),
            (b"hello", "image/png", ""),
            (b"hello", "", "a.png"),
            (OGG, "video/mp4", ""),
            (PDF, "", "photo.jpeg"),
        ] {
            let refused = settled(head, mime, name);
            assert!(matches!(refused, Err(Refused::Mismatch { .. })), "{mime} {name}: {refused:?}");
        }
        for (head, mime, name) in [
            (ELF, "", ""),
            (ELF, "image/png", "a.png"),
            (b"MZ\x90\0", "application/pdf", "a.pdf"),
            (b"<!DOCTYPE html><html>", "image/png", "a.png"),
            (b"<html><script>", "", "a.html"),
            (b"#!/bin/sh\n", "text/plain", "a.txt"),
        ] {
            assert_eq!(settled(head, mime, name), Err(Refused::Executable), "{mime} {name}");
        }
    }
}
