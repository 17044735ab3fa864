//! `#[derive(RouterRecord)]`: a record of a router, as its service, its list and the log of changes need it.

mod keys;

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Result, Token, Type};

use keys::{Keys, Orphan};

/// Writes the implementations.
///
/// # Errors
/// An attribute that is missing, incomplete or not understood, and a field that is missing.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let fields = fields(input)?;
    let keys = Keys::of(input)?;
    for name in keys.fields() {
        let missing = || Error::new_spanned(name, format!("{} has no field `{name}`", input.ident));
        type_of(&name.to_string(), fields).ok_or_else(missing)?;
    }
    let required = |name: &str| {
        let missing = || Error::new_spanned(&input.ident, format!("a record has a field `{name}`"));
        type_of(name, fields).ok_or_else(missing)
    };
    let id = required("id")?;
    for name in ["router_id", "created_at", "updated_at"] {
        required(name)?;
    }
    let ident = &input.ident;
    let (searched, recorded, router_record) = (searched(&keys), recorded(&keys), router_record(&keys, id));
    Ok(quote! {
        #[automatically_derived]
        impl ::flowsdk_core::page::Searched for #ident { #searched }

        #[automatically_derived]
        impl ::flowsdk_core::change::Recorded for #ident { #recorded }

        #[automatically_derived]
        impl ::flowsdk_core::record::RouterRecord for #ident { #router_record }
    })
}

fn fields(input: &DeriveInput) -> Result<&Punctuated<Field, Token![,]>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a record is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "a record has named fields"));
    };
    Ok(&fields.named)
}

/// Returns the type of a field.
fn type_of<'a>(name: &str, fields: &'a Punctuated<Field, Token![,]>) -> Option<&'a Type> {
    fields.iter().find(|field| field.ident.as_ref().is_some_and(|ident| ident == name)).map(|field| &field.ty)
}

fn searched(keys: &Keys) -> TokenStream {
    let texts = keys.search.iter().map(|field| {
        // An error about a field that is no text stands at the name of the field.
        let as_str = Ident::new("as_str", field.span());
        quote!(self.#field.#as_str())
    });
    let text = match keys.search.len() {
        1 => quote!(::std::borrow::Cow::Borrowed(#(#texts)*)),
        _ => quote!(::std::borrow::Cow::Owned([#(#texts),*].join(" "))),
    };
    quote! {
        fn search_text(&self) -> ::std::borrow::Cow<'_, str> {
            #text
        }

        fn place(&self) -> ::flowsdk_core::page::Cursor {
            ::flowsdk_core::page::Cursor::of(self.created_at, &self.id)
        }
    }
}

fn recorded(keys: &Keys) -> TokenStream {
    let kind = &keys.kind;
    let change = quote!(::flowsdk_core::change);
    let public = match &keys.view {
        Some(view) => quote!(&<#view as ::core::convert::From<&Self>>::from(self)),
        None => quote!(self),
    };
    let secrets = keys.secrets.as_ref().map(|function| {
        quote! {
            fn secrets(&self) -> ::std::vec::Vec<(&'static str, ::core::option::Option<&str>)> {
                #function(self)
            }
        }
    });
    quote! {
        fn entity(&self) -> #change::Entity<'_> {
            #change::Entity {
                kind: #change::EntityKind::#kind,
                id: self.id.as_str(),
                router_id: ::core::option::Option::Some(&self.router_id),
            }
        }

        fn to_json(&self) -> ::flowsdk_core::derive::serde_json::Value {
            #change::public_json(#public)
        }

        #secrets
    }
}

fn router_record(keys: &Keys, id: &Type) -> TokenStream {
    let error = &keys.error;
    let filter = match &keys.filter {
        Some(filter) => quote!(#filter),
        None => quote!(::core::option::Option<::flowsdk_core::id::RouterId>),
    };
    let not_found = match &keys.not_found {
        Some(variant) => quote!(#variant),
        None => quote!(NotFound),
    };
    let not_stored = not_stored(keys);
    let may_be_deleted = keys.may_be_deleted.as_ref().map(|function| {
        quote! {
            fn may_be_deleted(&self) -> ::core::result::Result<(), #error> {
                #function(self)
            }
        }
    });
    quote! {
        type Id = #id;
        type Filter = #filter;
        type Error = #error;

        fn router_id(&self) -> &::flowsdk_core::id::RouterId {
            &self.router_id
        }

        fn set_updated_at(&mut self, now: ::flowsdk_core::time::Timestamp) {
            self.updated_at = now;
        }

        fn not_found() -> #error {
            #error::#not_found
        }

        #not_stored
        #may_be_deleted
    }
}

/// Returns `not_stored`; nothing where the trait's own is enough.
fn not_stored(keys: &Keys) -> Option<TokenStream> {
    let error = &keys.error;
    let storage = quote!(::flowsdk_core::fault::StorageError);
    let unique = keys.unique.iter().map(|variant| quote!(#storage::Unique { .. } => #error::#variant,));
    let orphan = keys.orphan.iter().map(|Orphan { field, variant }| {
        let condition = field.iter().map(|field| {
            // An error about a field that is no option stands at the name of the field.
            let is_some = Ident::new("is_some", field.span());
            quote!(if self.#field.#is_some())
        });
        quote!(#storage::Orphan { .. } #(#condition)* => #error::#variant,)
    });
    let arms: Vec<_> = unique.chain(orphan).collect();
    (!arms.is_empty()).then(|| {
        quote! {
            fn not_stored(&self, error: #storage) -> #error {
                match error {
                    #(#arms)*
                    error => ::flowsdk_core::router::router_gone(error),
                }
            }
        }
    })
}

#[cfg(test)]
mod tests;
