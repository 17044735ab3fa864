//! `.0` and `.name`: the fields of the error, as thiserror has them.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident};

/// Replaces each `.0` and `.name` that begins an operand by the name to which the field is bound.
pub(super) fn resolve(tokens: TokenStream) -> TokenStream {
    let mut resolved = TokenStream::new();
    let mut begins = true;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(dot) if begins && dot.as_char() == '.' => match tokens.next() {
                Some(TokenTree::Literal(index)) => {
                    format_ident!("_{}", index.to_string(), span = index.span()).to_tokens(&mut resolved);
                    begins = false;
                }
                Some(TokenTree::Ident(name)) => {
                    name.to_tokens(&mut resolved);
                    begins = false;
                }
                other => resolved.extend([TokenTree::Punct(dot)].into_iter().chain(other)),
            },
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), resolve(group.stream()));
                inner.set_span(group.span());
                inner.to_tokens(&mut resolved);
                begins = false;
            }
            token => {
                begins = matches!(&token, TokenTree::Punct(punct) if !matches!(punct.as_char(), '?' | '\''));
                token.to_tokens(&mut resolved);
            }
        }
    }
    resolved
}
