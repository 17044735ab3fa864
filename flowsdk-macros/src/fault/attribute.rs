//! The keys of `#[fault(..)]`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Result, Token};

use super::place;
use crate::key::set;

/// The content of a `#[fault(..)]`; parts may come from the enum's own.
#[derive(Default)]
pub(super) struct Attribute {
    /// Where `transparent` stands.
    pub(super) transparent: Option<Span>,
    pub(super) kind: Option<Ident>,
    pub(super) code: Option<TokenStream>,
    pub(super) text: Option<Words>,
    pub(super) field: Option<TokenStream>,
    pub(super) details: Option<TokenStream>,
    pub(super) rate_limit: Option<TokenStream>,
}

/// The public text.
#[derive(Clone)]
pub(super) enum Words {
    /// Portuguese and English; braces name fields.
    Literal(LitStr, LitStr),
    /// An expression.
    Value(TokenStream),
}

impl Attribute {
    /// Reads the attribute of an item, if it has one.
    ///
    /// # Errors
    /// It is not understood, or there are two.
    pub(super) fn of(attributes: &[syn::Attribute]) -> Result<Option<Self>> {
        let mut ours = attributes.iter().filter(|one| one.path().is_ident("fault"));
        let attribute = ours.next().map(syn::Attribute::parse_args).transpose()?;
        match ours.next() {
            Some(second) => Err(Error::new_spanned(second, "a second #[fault(..)]")),
            None => Ok(attribute),
        }
    }

    /// The same, with the parts of `default` that it leaves out. A transparent variant takes none.
    pub(super) fn or(mut self, default: &Self) -> Self {
        if self.transparent.is_none() {
            self.kind = self.kind.or_else(|| default.kind.clone());
            self.code = self.code.or_else(|| default.code.clone());
            self.text = self.text.or_else(|| default.text.clone());
            self.field = self.field.or_else(|| default.field.clone());
            self.details = self.details.or_else(|| default.details.clone());
            self.rate_limit = self.rate_limit.or_else(|| default.rate_limit.clone());
        }
        self
    }
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut read = Reader::default();
        while !input.is_empty() {
            if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
                read.key(input)?;
            } else {
                read.position(input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        read.finish()
    }
}

/// An attribute, half read.
#[derive(Default)]
struct Reader {
    attribute: Attribute,
    portuguese: Option<LitStr>,
    english: Option<LitStr>,
    parts: usize,
}

impl Reader {
    /// Reads `key = value`.
    fn key(&mut self, input: ParseStream<'_>) -> Result<()> {
        let key: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        self.parts += 1;
        let attribute = &mut self.attribute;
        match key.to_string().as_str() {
            "pt" => set(&mut self.portuguese, &key, input.parse()?),
            "en" => set(&mut self.english, &key, input.parse()?),
            "text" => set(&mut attribute.text, &key, Words::Value(value(input)?)),
            "field" => set(&mut attribute.field, &key, value(input)?),
            "details" => set(&mut attribute.details, &key, value(input)?),
            "rate_limit" => set(&mut attribute.rate_limit, &key, value(input)?),
            _ => Err(Error::new_spanned(
                &key,
                format!("unknown key `{key}`: expected pt, en, text, field, details or rate_limit"),
            )),
        }
    }

    /// Reads `transparent`, the kind, or the code.
    fn position(&mut self, input: ParseStream<'_>) -> Result<()> {
        let is_name = input.peek(Ident) && !input.peek2(Token![::]);
        let attribute = &mut self.attribute;
        if is_name && input.fork().parse::<Ident>()? == "transparent" {
            attribute.transparent = Some(input.parse::<Ident>()?.span());
            return Ok(());
        }
        self.parts += 1;
        if is_name && attribute.kind.is_none() {
            attribute.kind = Some(input.parse()?);
        } else if attribute.code.is_none() {
            attribute.code = Some(value(input)?);
        } else {
            return Err(input.error("expected `key = value` after the kind and the code"));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Attribute> {
        if let (Some(span), 1..) = (self.attribute.transparent, self.parts) {
            return Err(Error::new(span, "a transparent fault has nothing of its own"));
        }
        match (self.portuguese, self.english) {
            (Some(portuguese), Some(_)) if self.attribute.text.is_some() => {
                return Err(Error::new_spanned(portuguese, "either `text`, or `pt` and `en`"));
            }
            (Some(portuguese), Some(english)) => {
                self.attribute.text = Some(Words::Literal(portuguese, english));
            }
            (Some(portuguese), None) => return Err(Error::new_spanned(portuguese, "`pt` without `en`")),
            (None, Some(english)) => return Err(Error::new_spanned(english, "`en` without `pt`")),
            (None, None) => {}
        }
        Ok(self.attribute)
    }
}

/// Reads up to the next comma. It is no expression of Rust: it may begin with a dot.
fn value(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut value = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        value.extend([input.parse::<TokenTree>()?]);
    }
    if value.is_empty() { Err(input.error("expected a value")) } else { Ok(value) }
}

impl ToTokens for Words {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let text = quote!(::flowsdk_core::text::Text);
        tokens.extend(match self {
            Self::Value(value) => place::resolve(value.clone()),
            Self::Literal(portuguese, english) => match (template(portuguese), template(english)) {
                (None, None) => quote!(#text::new(#portuguese, #english)),
                (portuguese_with, english_with) => {
                    let portuguese = portuguese_with.as_ref().unwrap_or(portuguese);
                    let english = english_with.as_ref().unwrap_or(english);
                    quote!(#text::of(::std::format!(#portuguese), ::std::format!(#english)))
                }
            },
        });
    }
}

/// Returns the text for `format!`, if it has braces: `{0}` is `{_0}` there.
fn template(text: &LitStr) -> Option<LitStr> {
    let value = text.value();
    if !value.contains(['{', '}']) {
        return None;
    }
    let mut template = String::with_capacity(value.len() + 1);
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        template.push(character);
        if character == '{' {
            match characters.peek() {
                Some('{') => template.extend(characters.next()),
                Some(digit) if digit.is_ascii_digit() => template.push('_'),
                _ => {}
            }
        }
    }
    Some(LitStr::new(&template, text.span()))
}
