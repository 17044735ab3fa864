//! Limits of messages. They are those of the phone channel, the narrowest one: a message beyond
//! them is refused by the provider as a whole. Only the literal part of a text can be measured here.

use std::collections::HashSet;

use super::Findings;
use crate::flow::interpolate::Template;
use crate::message::{
    ButtonAction, ContentMessage, Header, Interactive, ListAction, MAX_BUTTONS, MAX_ROWS, Media, ReplyButton,
    Text,
};
use crate::text::Text as Wording;

const TEXT: usize = 4096;
const CAPTION: usize = 1024;
const BODY: usize = 1024;
const HEADER: usize = 60;
const FOOTER: usize = 60;
const BUTTON_TITLE: usize = 20;
const ROW_TITLE: usize = 24;
const ROW_DESCRIPTION: usize = 72;
const REPLY_ID: usize = 256;

pub(super) fn check(message: &ContentMessage, pointer: &str, findings: &mut Findings) {
    match message {
        ContentMessage::Text { text } => {
            required(&text.body, TEXT, &format!("{pointer}/text/body"), findings);
        }
        ContentMessage::Image { image: file }
        | ContentMessage::Audio { audio: file }
        | ContentMessage::Video { video: file }
        | ContentMessage::Document { document: file } => {
            media(file, &format!("{pointer}/{}", message.kind()), findings);
        }
        ContentMessage::Template { .. } => findings.error(
            "not_in_flows",
            pointer,
            Wording::new("modelos são enviados por disparo", "templates are sent by a dispatch"),
        ),
        ContentMessage::Interactive { interactive } => {
            let pointer = format!("{pointer}/interactive");
            match interactive {
                Interactive::Button { header, body, footer, action } => {
                    frame(header.as_ref(), body, footer.as_ref(), &pointer, findings);
                    buttons(action, &format!("{pointer}/action/buttons"), findings);
                }
                Interactive::List { header, body, footer, action } => {
                    frame(header.as_ref(), body, footer.as_ref(), &pointer, findings);
                    list(action, &format!("{pointer}/action"), findings);
                }
            }
        }
    }
}

fn media(media: &Media, pointer: &str, findings: &mut Findings) {
    let link = Template::parse(&media.link);
    let is_address = |link: &str| link.starts_with("https://") || link.starts_with("http://");
    if link.as_literal().is_some_and(|link| !is_address(link)) {
        findings.error(
            "bad_link",
            format!("{pointer}/link"),
            Wording::new(
                "um endereço começa com https:// ou http://",
                "an address starts with https:// or http://",
            ),
        );
    }
    if let Some(caption) = &media.caption {
        limit(caption, CAPTION, &format!("{pointer}/caption"), findings);
    }
}

fn frame(
    header: Option<&Header>,
    body: &Text,
    footer: Option<&Text>,
    pointer: &str,
    findings: &mut Findings,
) {
    if let Some(Header::Text { text }) = header {
        required(text, HEADER, &format!("{pointer}/header/text"), findings);
    }
    required(&body.text, BODY, &format!("{pointer}/body/text"), findings);
    if let Some(footer) = footer {
        required(&footer.text, FOOTER, &format!("{pointer}/footer/text"), findings);
    }
}

fn buttons(action: &ButtonAction, pointer: &str, findings: &mut Findings) {
    if !(1..=MAX_BUTTONS).contains(&action.buttons.len()) {
        findings.error(
            "too_many_buttons",
            pointer,
            Wording::of(
                format!("uma mensagem tem de 1 a {MAX_BUTTONS} botões"),
                format!("a message has 1 to {MAX_BUTTONS} buttons"),
            ),
        );
    }
    let mut ids = HashSet::new();
    let mut titles = HashSet::new();
    for (at, ReplyButton::Reply { reply }) in action.buttons.iter().enumerate() {
        let pointer = format!("{pointer}/{at}/reply");
        reply_id(&reply.id, &mut ids, &pointer, findings);
        required(&reply.title, BUTTON_TITLE, &format!("{pointer}/title"), findings);
        if !titles.insert(reply.title.as_str()) {
            findings.error(
                "duplicate_title",
                format!("{pointer}/title"),
                Wording::new("dois botões parecem iguais", "two buttons look the same"),
            );
        }
    }
}

fn list(action: &ListAction, pointer: &str, findings: &mut Findings) {
    required(&action.button, BUTTON_TITLE, &format!("{pointer}/button"), findings);
    let rows: usize = action.sections.iter().map(|section| section.rows.len()).sum();
    let pointer = format!("{pointer}/sections");
    if !(1..=MAX_ROWS).contains(&rows) {
        findings.error(
            "too_many_rows",
            &pointer,
            Wording::of(
                format!("uma lista tem de 1 a {MAX_ROWS} linhas ao todo"),
                format!("a list has 1 to {MAX_ROWS} rows in all"),
            ),
        );
    }
    let mut ids = HashSet::new();
    for (at, section) in action.sections.iter().enumerate() {
        let pointer = format!("{pointer}/{at}");
        match &section.title {
            Some(title) => required(title, ROW_TITLE, &format!("{pointer}/title"), findings),
            None if action.sections.len() > 1 => {
                findings.error(
                    "no_title",
                    &pointer,
                    Wording::new(
                        "havendo várias seções, cada uma tem um título",
                        "with several sections each has a title",
                    ),
                );
            }
            None => {}
        }
        for (at, row) in section.rows.iter().enumerate() {
            let pointer = format!("{pointer}/rows/{at}");
            reply_id(&row.id, &mut ids, &pointer, findings);
            required(&row.title, ROW_TITLE, &format!("{pointer}/title"), findings);
            if let Some(description) = &row.description {
                limit(description, ROW_DESCRIPTION, &format!("{pointer}/description"), findings);
            }
        }
    }
}

fn reply_id<'a>(id: &'a str, ids: &mut HashSet<&'a str>, pointer: &str, findings: &mut Findings) {
    let pointer = format!("{pointer}/id");
    if id.trim().is_empty() || id.chars().count() > REPLY_ID {
        findings.error(
            "bad_reply_id",
            &pointer,
            Wording::of(
                format!("um id tem de 1 a {REPLY_ID} caracteres"),
                format!("an id has 1 to {REPLY_ID} characters"),
            ),
        );
    }
    if !ids.insert(id) {
        findings.error(
            "duplicate_reply",
            pointer,
            Wording::of(format!("o id `{id}` está repetido"), format!("the id `{id}` is there twice")),
        );
    }
}

/// A text that may not be blank.
fn required(text: &str, most: usize, pointer: &str, findings: &mut Findings) {
    if text.trim().is_empty() {
        findings.error(
            "empty_text",
            pointer,
            Wording::new("este texto não pode ser vazio", "this text may not be empty"),
        );
    }
    limit(text, most, pointer, findings);
}

fn limit(text: &str, most: usize, pointer: &str, findings: &mut Findings) {
    let length = Template::parse(text).literal_chars();
    if length > most {
        findings.error(
            "too_long",
            pointer,
            Wording::of(
                format!("{length} caracteres de no máximo {most}"),
                format!("{length} characters of at most {most}"),
            ),
        );
    }
}

/// The text that a wrong answer is told.
pub(super) fn retry_text(text: &str, pointer: &str, findings: &mut Findings) {
    limit(text, TEXT, pointer, findings);
}
