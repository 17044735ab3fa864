//! What of a content cannot be sent: limits, empty texts, addresses.

use std::collections::HashSet;

use super::capability::{Capabilities, Limits};
use super::content::{
    ButtonAction, Carousel, ContactCard, FileSource, FormAction, FormOpening, FormParameters, Header,
    HeaderFile, Interactive, LinkAction, ListAction, Location, Media, QuickReplies, ReplyButton,
};
use super::{ContentMessage, Reaction};
use crate::id::is_id;
use crate::text::Text as Wording;

/// How texts are read: as they are sent, or as the author of a flow writes them, with places for values.
pub trait Reading {
    /// Returns how many characters a text has at least.
    fn chars(&self, text: &str) -> usize;

    /// Returns whether a text is what is sent, without places for values.
    fn is_literal(&self, text: &str) -> bool;
}

/// Reads texts as they are sent.
#[derive(Debug, Clone, Copy)]
pub struct AsSent;

impl Reading for AsSent {
    fn chars(&self, text: &str) -> usize {
        text.chars().count()
    }

    fn is_literal(&self, _text: &str) -> bool {
        true
    }
}

/// A part of a content that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// JSON pointer below the message.
    pub pointer: String,
    /// What is wrong there.
    pub kind: FlawKind,
}

/// What is wrong with a part of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FlawKind {
    EmptyText,
    TooLong {
        chars: usize,
        most: usize,
    },
    /// The code, the nouns, and the bounds of a number of parts.
    Count {
        code: &'static str,
        nouns: [&'static str; 2],
        most: usize,
    },
    ReplyId {
        most: usize,
    },
    DuplicateReply {
        id: String,
    },
    DuplicateTitle,
    NoTitle,
    BadLink,
    /// The id of a file is no id.
    BadFile,
    BadPlace,
    /// A form that opens a screen has to name it; one that asks its endpoint may not.
    FormScreen,
}

impl FlawKind {
    /// Returns the stable name of the flaw.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyText => "empty_text",
            Self::TooLong { .. } => "too_long",
            Self::Count { code, .. } => code,
            Self::ReplyId { .. } => "bad_reply_id",
            Self::DuplicateReply { .. } => "duplicate_reply",
            Self::DuplicateTitle => "duplicate_title",
            Self::NoTitle => "no_title",
            Self::BadLink => "bad_link",
            Self::BadFile => "bad_file",
            Self::BadPlace => "bad_place",
            Self::FormScreen => "form_screen",
        }
    }

    /// Returns the message for authors.
    pub fn message(&self) -> Wording {
        match self {
            Self::EmptyText => Wording::new("este texto não pode ser vazio", "this text may not be empty"),
            Self::TooLong { chars, most } => Wording::of(
                format!("{chars} caracteres de no máximo {most}"),
                format!("{chars} characters of at most {most}"),
            ),
            Self::Count { nouns: [ours, twin], most, .. } => {
                Wording::of(format!("de 1 a {most} {ours}"), format!("1 to {most} {twin}"))
            }
            Self::ReplyId { most } => Wording::of(
                format!("um id tem de 1 a {most} caracteres"),
                format!("an id has 1 to {most} characters"),
            ),
            Self::DuplicateReply { id } => {
                Wording::of(format!("o id `{id}` está repetido"), format!("the id `{id}` is there twice"))
            }
            Self::DuplicateTitle => Wording::new("dois botões parecem iguais", "two buttons look the same"),
            Self::NoTitle => Wording::new(
                "havendo várias seções, cada uma tem um título",
                "with several sections each has a title",
            ),
            Self::BadLink => Wording::new(
                "um endereço começa com https:// ou http://",
                "an address starts with https:// or http://",
            ),
            Self::BadFile => Wording::new("não é o id de um arquivo", "this is not the id of a file"),
            Self::BadPlace => Wording::new(
                "latitude de -90 a 90, longitude de -180 a 180",
                "latitude from -90 to 90, longitude from -180 to 180",
            ),
            Self::FormScreen => Wording::new(
                "`navigate`, que vale sem `flow_action`, precisa de `flow_action_payload` com `screen`; `data_exchange` não o tem",
                "`navigate`, which counts without `flow_action`, needs `flow_action_payload` with its `screen`; `data_exchange` has none",
            ),
        }
    }
}

impl Capabilities {
    /// Returns why a content cannot be carried, in words for the log; `None`, if it can.
    pub fn refusal_of(&self, content: &ContentMessage) -> Option<String> {
        let kind = content.content_kind();
        if !self.carry(kind) {
            return Some(format!("the channel has no {}", kind.name()));
        }
        let flaw = content.flaws(&self.limits, &AsSent).into_iter().next()?;
        Some(format!("{}: {}", flaw.pointer, flaw.kind.message().english()))
    }
}

impl ContentMessage {
    /// Returns what of it is beyond `limits`, or cannot be sent by any channel. Templates have limits of their own.
    pub fn flaws(&self, limits: &Limits, reading: &dyn Reading) -> Vec<Flaw> {
        let mut search = Search { limits, reading, found: Vec::new() };
        let pointer = format!("/{}", self.kind());
        match self {
            Self::Text { text } => search.required(&text.body, limits.text, format!("{pointer}/body")),
            Self::Image { image: file }
            | Self::Audio { audio: file }
            | Self::Video { video: file }
            | Self::Document { document: file }
            | Self::Sticker { sticker: file } => search.media(file, &pointer),
            Self::Interactive { interactive } => search.interactive(interactive, &pointer),
            Self::Location { location } => search.location(location, &pointer),
            Self::Contacts { contacts } => search.contacts(contacts, &pointer),
            Self::Reaction { reaction: Reaction { message_id, .. } } => {
                if message_id.trim().is_empty() {
                    search.found(format!("{pointer}/message_id"), FlawKind::EmptyText);
                }
            }
            Self::Template { .. } => {}
            Self::QuickReplies { quick_replies } => search.quick_replies(quick_replies, &pointer),
            Self::Carousel { carousel } => search.carousel(carousel, &pointer),
        }
        search.found
    }
}

struct Search<'a> {
    limits: &'a Limits,
    reading: &'a dyn Reading,
    found: Vec<Flaw>,
}

impl Search<'_> {
    fn found(&mut self, pointer: impl Into<String>, kind: FlawKind) {
        self.found.push(Flaw { pointer: pointer.into(), kind });
    }

    /// A text that may not be blank.
    fn required(&mut self, text: &str, most: usize, pointer: String) {
        if text.trim().is_empty() {
            self.found(pointer, FlawKind::EmptyText);
        } else {
            self.limit(text, most, pointer);
        }
    }

    fn limit(&mut self, text: &str, most: usize, pointer: String) {
        let chars = self.reading.chars(text);
        if chars > most {
            self.found(pointer, FlawKind::TooLong { chars, most });
        }
    }

    fn count(
        &mut self,
        count: usize,
        most: usize,
        (code, nouns): (&'static str, [&'static str; 2]),
        pointer: &str,
    ) {
        if !(1..=most).contains(&count) {
            self.found(pointer, FlawKind::Count { code, nouns, most });
        }
    }

    fn link(&mut self, link: &str, pointer: String) {
        let is_address = link.starts_with("https://") || link.starts_with("http://");
        if self.reading.is_literal(link) && !is_address {
            self.found(pointer, FlawKind::BadLink);
        }
    }

    fn file(&mut self, source: &FileSource, pointer: &str) {
        match source {
            FileSource::Link(link) => self.link(link, format!("{pointer}/link")),
            FileSource::Id(id) => {
                if self.reading.is_literal(id) && !is_id(id) {
                    self.found(format!("{pointer}/id"), FlawKind::BadFile);
                }
            }
        }
    }

    fn media(&mut self, Media { source, caption, .. }: &Media, pointer: &str) {
        self.file(source, pointer);
        if let Some(caption) = caption {
            self.limit(caption, self.limits.caption, format!("{pointer}/caption"));
        }
    }

    fn interactive(&mut self, interactive: &Interactive, pointer: &str) {
        let frame = interactive.frame();
        if let Some(header) = frame.header {
            self.header(header, &format!("{pointer}/header"));
        }
        self.required(&frame.body.text, self.limits.body, format!("{pointer}/body/text"));
        if let Some(footer) = frame.footer {
            self.required(&footer.text, self.limits.footer, format!("{pointer}/footer/text"));
        }
        let pointer = format!("{pointer}/action");
        match interactive {
            Interactive::Button { action, .. } => self.buttons(action, &format!("{pointer}/buttons")),
            Interactive::List { action, .. } => self.list(action, &pointer),
            Interactive::CtaUrl { action: LinkAction::CtaUrl { parameters }, .. } => {
                let pointer = format!("{pointer}/parameters");
                self.required(
                    &parameters.display_text,
                    self.limits.link_label,
                    format!("{pointer}/display_text"),
                );
                self.link(&parameters.url, format!("{pointer}/url"));
            }
            Interactive::Flow { action: FormAction::Flow { parameters }, .. } => {
                self.form(parameters, &format!("{pointer}/parameters"));
            }
        }
    }

    fn header(&mut self, header: &Header, pointer: &str) {
        match header {
            Header::Text { text } => self.required(text, self.limits.header, format!("{pointer}/text")),
            Header::Image { image: HeaderFile { source, .. } } => {
                self.file(source, &format!("{pointer}/image"));
            }
            Header::Video { video: HeaderFile { source, .. } } => {
                self.file(source, &format!("{pointer}/video"));
            }
            Header::Document { document: HeaderFile { source, .. } } => {
                self.file(source, &format!("{pointer}/document"));
            }
        }
    }

    fn buttons(&mut self, action: &ButtonAction, pointer: &str) {
        const BUTTONS: (&str, [&str; 2]) = ("too_many_buttons", ["botões", "buttons"]);
        self.count(action.buttons.len(), self.limits.buttons, BUTTONS, pointer);
        let (mut ids, mut titles) = (HashSet::new(), HashSet::new());
        for (at, ReplyButton::Reply { reply }) in action.buttons.iter().enumerate() {
            let pointer = format!("{pointer}/{at}/reply");
            self.reply_id(&reply.id, self.limits.button_id, &mut ids, format!("{pointer}/id"));
            self.required(&reply.title, self.limits.button_title, format!("{pointer}/title"));
            if !titles.insert(reply.title.as_str()) {
                self.found(format!("{pointer}/title"), FlawKind::DuplicateTitle);
            }
        }
    }

    fn list(&mut self, action: &ListAction, pointer: &str) {
        const ROWS: (&str, [&str; 2]) = ("too_many_rows", ["linhas ao todo", "rows in all"]);
        const SECTIONS: (&str, [&str; 2]) = ("too_many_sections", ["seções", "sections"]);
        self.required(&action.button, self.limits.button_title, format!("{pointer}/button"));
        let pointer = format!("{pointer}/sections");
        let rows: usize = action.sections.iter().map(|section| section.rows.len()).sum();
        self.count(rows, self.limits.rows, ROWS, &pointer);
        if action.sections.len() > self.limits.sections {
            self.count(action.sections.len(), self.limits.sections, SECTIONS, &pointer);
        }
        let mut ids = HashSet::new();
        for (at, section) in action.sections.iter().enumerate() {
            let pointer = format!("{pointer}/{at}");
            match &section.title {
                Some(title) => {
                    self.required(title, self.limits.section_title, format!("{pointer}/title"));
                }
                None if action.sections.len() > 1 => self.found(pointer.clone(), FlawKind::NoTitle),
                None => {}
            }
            for (at, row) in section.rows.iter().enumerate() {
                let pointer = format!("{pointer}/rows/{at}");
                self.reply_id(&row.id, self.limits.row_id, &mut ids, format!("{pointer}/id"));
                self.required(&row.title, self.limits.row_title, format!("{pointer}/title"));
                if let Some(description) = &row.description {
                    self.limit(description, self.limits.row_description, format!("{pointer}/description"));
                }
            }
        }
    }

    fn form(&mut self, parameters: &FormParameters, pointer: &str) {
        let FormParameters { flow_id, flow_cta, flow_action, flow_action_payload, .. } = parameters;
        if flow_id.trim().is_empty() {
            self.found(format!("{pointer}/flow_id"), FlawKind::EmptyText);
        }
        self.required(flow_cta, self.limits.form_label, format!("{pointer}/flow_cta"));
        let asks = *flow_action == Some(FormOpening::DataExchange);
        if asks == flow_action_payload.is_some() {
            self.found(pointer, FlawKind::FormScreen);
        }
    }

    fn reply_id<'a>(&mut self, id: &'a str, most: usize, ids: &mut HashSet<&'a str>, pointer: String) {
        if id.trim().is_empty() || id.chars().count() > most {
            self.found(pointer.clone(), FlawKind::ReplyId { most });
        }
        if !ids.insert(id) {
            self.found(pointer, FlawKind::DuplicateReply { id: id.to_owned() });
        }
    }

    fn location(&mut self, location: &Location, pointer: &str) {
        let Location { latitude, longitude, .. } = location;
        if !((-90.0..=90.0).contains(latitude) && (-180.0..=180.0).contains(longitude)) {
            self.found(pointer, FlawKind::BadPlace);
        }
    }

    fn contacts(&mut self, contacts: &[ContactCard], pointer: &str) {
        const CARDS: (&str, [&str; 2]) = ("too_many_contacts", ["contatos", "contacts"]);
        self.count(contacts.len(), self.limits.contacts, CARDS, pointer);
        for (at, card) in contacts.iter().enumerate() {
            if card.name.formatted_name.trim().is_empty() {
                self.found(format!("{pointer}/{at}/name/formatted_name"), FlawKind::EmptyText);
            }
        }
    }

    fn quick_replies(&mut self, quick_replies: &QuickReplies, pointer: &str) {
        const REPLIES: (&str, [&str; 2]) = ("too_many_buttons", ["respostas", "replies"]);
        let QuickReplies { body, quick_replies } = quick_replies;
        self.required(body, self.limits.text, format!("{pointer}/body"));
        let pointer = format!("{pointer}/quickReplies");
        self.count(quick_replies.len(), self.limits.quick_replies, REPLIES, &pointer);
        let mut ids = HashSet::new();
        for (at, reply) in quick_replies.iter().enumerate() {
            let pointer = format!("{pointer}/{at}");
            self.reply_id(&reply.payload, self.limits.button_id, &mut ids, format!("{pointer}/payload"));
            self.required(&reply.title, self.limits.quick_reply_title, format!("{pointer}/title"));
        }
    }

    fn carousel(&mut self, carousel: &Carousel, pointer: &str) {
        const CARDS: (&str, [&str; 2]) = ("too_many_cards", ["cartões", "cards"]);
        const BUTTONS: (&str, [&str; 2]) = ("too_many_buttons", ["botões", "buttons"]);
        let pointer = format!("{pointer}/elements");
        self.count(carousel.elements.len(), self.limits.cards, CARDS, &pointer);
        for (at, card) in carousel.elements.iter().enumerate() {
            let pointer = format!("{pointer}/{at}");
            self.required(&card.title, self.limits.card_text, format!("{pointer}/title"));
            if let Some(subtitle) = &card.subtitle {
                self.limit(subtitle, self.limits.card_text, format!("{pointer}/subtitle"));
            }
            if let Some(image) = &card.image_url {
                self.link(image, format!("{pointer}/imageUrl"));
            }
            if !card.buttons.is_empty() {
                let pointer = format!("{pointer}/buttons");
                self.count(card.buttons.len(), self.limits.card_buttons, BUTTONS, &pointer);
            }
            for (at, button) in card.buttons.iter().enumerate() {
                let pointer = format!("{pointer}/buttons/{at}");
                self.required(&button.title, self.limits.button_title, format!("{pointer}/title"));
                match (&button.url, button.payload.as_deref().unwrap_or_default()) {
                    (Some(url), _) => self.link(url, format!("{pointer}/url")),
                    (None, payload) if payload.trim().is_empty() => {
                        self.found(format!("{pointer}/payload"), FlawKind::EmptyText);
                    }
                    (None, _) => {}
                }
            }
        }
    }
}
