//! `.0` and `.name`: the fields of the error, as thiserror has them.

use proc_macro2::{Group, Ident, Literal, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident};

/// The keywords that an operand follows.
const BEFORE_OPERAND: [&str; 7] = ["break", "if", "in", "match", "mut", "return", "while"];

/// Replaces each `.0` and `.name` that begins an operand by the name to which the field is bound.
pub(super) fn resolve(tokens: TokenStream) -> TokenStream {
    let mut resolved = TokenStream::new();
    let mut begins = true;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        begins = match token {
            token if is_dot(&token) => {
                if let Some(second) = tokens.next_if(is_dot) {
                    // A range, and its end may follow.
                    resolved.extend([token, second]);
                    true
                } else {
                    match tokens.next_if(|field| begins && bound(field).is_some()) {
                        Some(field) => resolved.extend(bound(&field)),
                        None => token.to_tokens(&mut resolved),
                    }
                    false
                }
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), resolve(group.stream()));
                inner.set_span(group.span());
                inner.to_tokens(&mut resolved);
                false
            }
            token => {
                token.to_tokens(&mut resolved);
                match &token {
                    TokenTree::Punct(punct) => !matches!(punct.as_char(), '?' | '\''),
                    TokenTree::Ident(word) => BEFORE_OPERAND.iter().any(|keyword| word == keyword),
                    _ => false,
                }
            }
        };
    }
    resolved
}

fn is_dot(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '.')
}

/// Returns the tokens of a field that follows a dot; `None` if no field can be written so.
fn bound(field: &TokenTree) -> Option<TokenStream> {
    match field {
        TokenTree::Ident(name) => Some(name.to_token_stream()),
        TokenTree::Literal(index) => {
            let text = index.to_string();
            // `.0.1` is a dot and the number `0.1`.
            let (outer, inner) = match text.split_once('.') {
                Some((outer, inner)) => (outer, Some(inner)),
                None => (text.as_str(), None),
            };
            let mut tokens = name_of(outer, index)?.into_token_stream();
            if let Some(inner) = inner {
                Punct::new('.', Spacing::Alone).to_tokens(&mut tokens);
                // The number may end with its dot, before a name.
                if !inner.is_empty() {
                    let mut position = Literal::u32_unsuffixed(inner.parse().ok()?);
                    position.set_span(index.span());
                    position.to_tokens(&mut tokens);
                }
            }
            Some(tokens)
        }
        _ => None,
    }
}

/// Returns the name to which the field at the position `index` is bound.
fn name_of(index: &str, literal: &Literal) -> Option<Ident> {
    let index: u32 = index.parse().ok()?;
    Some(format_ident!("_{index}", span = literal.span()))
}
