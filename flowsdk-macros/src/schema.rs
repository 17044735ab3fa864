//! Schemas of texts. `flowsdk-core` drops them unless it has the feature `schema`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, Ident};

/// The keywords of a schema of a text.
#[derive(Default)]
pub(crate) struct Keywords {
    /// The names that it may have.
    pub(crate) options: Option<TokenStream>,
    pub(crate) pattern: Option<Expr>,
    pub(crate) min_length: Option<Expr>,
    pub(crate) max_length: Option<Expr>,
    pub(crate) format: Option<Expr>,
    pub(crate) example: Option<Expr>,
    pub(crate) description: Option<Expr>,
}

/// Writes the schema `name` of the type `ident`.
pub(crate) fn of_text(ident: &Ident, name: &str, keywords: &Keywords) -> TokenStream {
    let Keywords { options, pattern, min_length, max_length, format, example, description } = keywords;
    let utoipa = quote!(::flowsdk_core::derive::utoipa);
    let options = options.iter().map(|one| quote!(.enum_values(Some(#one))));
    let pattern = pattern.iter().map(|one| quote!(.pattern(Some(#one))));
    let min_length = min_length.iter().map(|one| quote!(.min_length(Some(#one))));
    let max_length = max_length.iter().map(|one| quote!(.max_length(Some(#one))));
    let format = format.iter().map(|one| {
        quote!(.format(Some(#utoipa::openapi::schema::SchemaFormat::Custom(::std::string::String::from(#one)))))
    });
    let example = example.iter().map(|one| quote!(.examples([#one])));
    let description = description.iter().map(|one| quote!(.description(Some(#one))));
    quote! {
        ::flowsdk_core::__schema! {
            impl #utoipa::PartialSchema for #ident {
                fn schema() -> #utoipa::openapi::RefOr<#utoipa::openapi::schema::Schema> {
                    #utoipa::openapi::schema::ObjectBuilder::new()
                        .schema_type(#utoipa::openapi::schema::Type::String)
                        #(#options)* #(#pattern)* #(#min_length)* #(#max_length)*
                        #(#format)* #(#example)* #(#description)*
                        .build()
                        .into()
                }
            }

            impl #utoipa::ToSchema for #ident {
                fn name() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(#name)
                }
            }
        }
    }
}
