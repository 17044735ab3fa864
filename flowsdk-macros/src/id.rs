//! `#[derive(Id)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result, parse_quote};

use crate::schema::Keywords;
use crate::text::{self, Declared};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let (ident, visible) = (&input.ident, &input.vis);
    let keywords = Keywords {
        pattern: Some(parse_quote!(::flowsdk_core::id::PATTERN)),
        min_length: Some(parse_quote!(1)),
        max_length: Some(parse_quote!(::flowsdk_core::id::MAX_LEN)),
        example: Some(parse_quote!("cmi7w0q2p00000qx1b3k9z5ra")),
        ..Keywords::default()
    };
    let (rule, error) =
        (parse_quote!(::flowsdk_core::id::is_id), parse_quote!(::flowsdk_core::id::InvalidId));
    let text = text::write(input, &Declared::by_rule(rule, error, "Id", keywords))?;
    Ok(quote! {
        #text

        impl #ident {
            /// Returns a new identifier from `ids`.
            #visible fn generate(ids: &dyn ::flowsdk_core::id::IdSource) -> Self {
                Self(::core::convert::Into::into(ids.next_id()))
            }
        }
    })
}
