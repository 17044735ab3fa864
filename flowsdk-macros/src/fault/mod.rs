//! `#[derive(Fault)]`: an error and its public face in one row.

mod attribute;
mod place;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Result};

use attribute::Attribute;

/// Writes the implementation.
///
/// # Errors
/// An attribute that is missing, incomplete or not understood.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let rows = rows(input)?;
    let methods = methods(&rows);
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::flowsdk_core::fault::Fault for #name #type_generics #where_clause {
            #methods
        }
    })
}

/// A variant, or the whole of a struct.
struct Row {
    pattern: TokenStream,
    face: Face,
}

/// The parts that clients see.
enum Face {
    /// Those of the fault in this field.
    Of(Ident),
    /// Its own.
    Own(Box<Own>),
}

struct Own {
    kind: TokenStream,
    code: TokenStream,
    text: TokenStream,
    field: Option<TokenStream>,
    details: Option<TokenStream>,
    rate_limit: Option<TokenStream>,
}

fn rows(input: &DeriveInput) -> Result<Vec<Row>> {
    let outer = Attribute::of(&input.attrs)?;
    match &input.data {
        Data::Struct(data) => {
            let attribute = outer.unwrap_or_default();
            Ok(vec![row(&input.ident, &data.fields, quote!(Self), attribute)?])
        }
        Data::Enum(data) => {
            let default = outer.unwrap_or_default();
            if let Some(span) = default.transparent {
                return Err(Error::new(span, "`transparent` belongs to a variant, not to the enum"));
            }
            let row = |variant: &syn::Variant| {
                let name = &variant.ident;
                let attribute = Attribute::of(&variant.attrs)?.unwrap_or_default();
                row(name, &variant.fields, quote!(Self::#name), attribute.or(&default))
            };
            // Every variant at fault is named, not the first one only.
            let mut rows = Vec::new();
            let mut errors: Option<Error> = None;
            for result in data.variants.iter().map(row) {
                match (result, &mut errors) {
                    (Ok(row), _) => rows.push(row),
                    (Err(error), Some(errors)) => errors.combine(error),
                    (Err(error), none) => *none = Some(error),
                }
            }
            match errors {
                Some(errors) => Err(errors),
                None if rows.is_empty() => Err(Error::new_spanned(&input.ident, "an error without variants")),
                None => Ok(rows),
            }
        }
        _ => Err(Error::new_spanned(&input.ident, "Fault is derived for enums and structs")),
    }
}

fn row(name: &Ident, fields: &Fields, path: TokenStream, attribute: Attribute) -> Result<Row> {
    let (pattern, bound) = pattern(fields, &path);
    if attribute.transparent.is_some() {
        let [inner] = &bound[..] else {
            return Err(Error::new_spanned(name, format!("`{name}` is transparent and needs one field")));
        };
        return Ok(Row { pattern, face: Face::Of(inner.clone()) });
    }
    let missing = |part: &str| {
        let hint = r#"#[fault(Kind, "code", pt = "..", en = "..")] or #[fault(transparent)]"#;
        Error::new_spanned(name, format!("`{name}` has no {part}: {hint}"))
    };
    let kind = attribute.kind.ok_or_else(|| missing("kind"))?;
    let text = attribute.text.ok_or_else(|| missing("text"))?;
    let own = Own {
        kind: quote!(::flowsdk_core::fault::FaultKind::#kind),
        code: attribute.code.ok_or_else(|| missing("code"))?,
        text: text.into_token_stream(),
        field: attribute.field.map(place::resolve),
        details: attribute.details.map(place::resolve),
        rate_limit: attribute.rate_limit.map(place::resolve),
    };
    Ok(Row { pattern, face: Face::Own(Box::new(own)) })
}

/// The pattern that binds every field by reference, and the names that it binds.
fn pattern(fields: &Fields, path: &TokenStream) -> (TokenStream, Vec<Ident>) {
    let bound: Vec<Ident> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| field.ident.clone().unwrap_or_else(|| format_ident!("_{index}")))
        .collect();
    let pattern = match fields {
        Fields::Unit => path.clone(),
        Fields::Unnamed(_) => quote!(#path(#(#bound),*)),
        Fields::Named(_) => quote!(#path { #(#bound),* }),
    };
    (pattern, bound)
}

fn methods(rows: &[Row]) -> TokenStream {
    let required = |name: &str, output: TokenStream, own: fn(&Own) -> &TokenStream| {
        let name = format_ident!("{name}");
        let arms = rows.iter().map(|Row { pattern, face }| {
            let value = match face {
                Face::Of(inner) => quote!(::flowsdk_core::fault::Fault::#name(#inner)),
                Face::Own(face) => own(face).clone(),
            };
            quote!(#pattern => #value,)
        });
        quote!(fn #name(&self) -> #output { match self { #(#arms)* } })
    };
    // A method that every row leaves to the trait is not written.
    let optional = |name: &str, output: TokenStream, own: fn(&Own) -> Option<TokenStream>| {
        let name = format_ident!("{name}");
        let arms: Vec<_> = rows
            .iter()
            .filter_map(|Row { pattern, face }| {
                let value = match face {
                    Face::Of(inner) => quote!(::flowsdk_core::fault::Fault::#name(#inner)),
                    Face::Own(face) => own(face)?,
                };
                Some(quote!(#pattern => #value,))
            })
            .collect();
        if arms.is_empty() {
            return TokenStream::new();
        }
        let rest = (arms.len() < rows.len()).then(|| quote!(_ => ::core::default::Default::default(),));
        quote!(fn #name(&self) -> #output { match self { #(#arms)* #rest } })
    };
    let text = quote!(::flowsdk_core::text::Text);
    let methods = [
        required("kind", quote!(::flowsdk_core::fault::FaultKind), |own| &own.kind),
        required("code", quote!(&'static str), |own| &own.code),
        required("text", text.clone(), |own| &own.text),
        optional("field", quote!(::core::option::Option<&'static str>), |own| {
            own.field.as_ref().map(|field| quote!(::core::convert::Into::into(#field)))
        }),
        optional("details", quote!(::std::vec::Vec<(::std::string::String, #text)>), |own| {
            own.details.clone()
        }),
        optional("rate_limit", quote!(::core::option::Option<::flowsdk_core::fault::RateLimit>), |own| {
            own.rate_limit.as_ref().map(|limit| quote!(::core::option::Option::Some(#limit)))
        }),
    ];
    quote!(#(#methods)*)
}

#[cfg(test)]
mod tests;
