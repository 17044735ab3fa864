//! `#[derive(TextType)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Path, Result};

use crate::schema::{self, Keywords};

/// How a text becomes a value.
enum Reading {
    /// A function that says whether the text fits.
    Rule(Path),
    /// A function that returns the text to keep.
    Normalize(Path),
    /// `parse` and `as_str` of the type itself.
    Own,
}

/// Everything that `#[text(..)]` says.
pub(crate) struct Declared {
    reading: Reading,
    error: Path,
    schema: String,
    keywords: Keywords,
}

impl Declared {
    /// A text that a rule admits.
    pub(crate) fn by_rule(rule: Path, error: Path, schema: &str, keywords: Keywords) -> Self {
        Self { reading: Reading::Rule(rule), error, schema: schema.to_owned(), keywords }
    }
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    write(input, &declared(input)?)
}

/// Reads the attributes.
fn declared(input: &DeriveInput) -> Result<Declared> {
    let (mut reading, mut error) = (Reading::Own, None);
    let (mut schema, mut keywords) = (input.ident.to_string(), Keywords::default());
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("text")) {
        attribute.parse_nested_meta(|meta| {
            let value = meta.value()?;
            let key = meta.path.require_ident()?.to_string();
            match key.as_str() {
                "rule" => reading = Reading::Rule(value.parse()?),
                "normalize" => reading = Reading::Normalize(value.parse()?),
                "error" => error = Some(value.parse()?),
                "schema" => schema = value.parse::<LitStr>()?.value(),
                "pattern" => keywords.pattern = Some(value.parse()?),
                "min_length" => keywords.min_length = Some(value.parse()?),
                "max_length" => keywords.max_length = Some(value.parse()?),
                "format" => keywords.format = Some(value.parse()?),
                "example" => keywords.example = Some(value.parse()?),
                "description" => keywords.description = Some(value.parse()?),
                _ => return Err(meta.error("not a key of `text`")),
            }
            Ok(())
        })?;
    }
    let error = error.ok_or_else(|| {
        Error::new_spanned(&input.ident, format!("{} needs #[text(error = ..)]", input.ident))
    })?;
    Ok(Declared { reading, error, schema, keywords })
}

/// Writes the type.
pub(crate) fn write(input: &DeriveInput, declared: &Declared) -> Result<TokenStream> {
    let (ident, visible) = (&input.ident, &input.vis);
    let Declared { reading, error, schema, keywords } = declared;
    let read = match reading {
        Reading::Rule(rule) => {
            quote!(if #rule(text) { Ok(Self(::core::convert::Into::into(text))) } else { Err(#error) })
        }
        Reading::Normalize(normalize) => quote! {
            #normalize(text).map(|text| Self(::core::convert::Into::into(text))).ok_or(#error)
        },
        Reading::Own => TokenStream::new(),
    };
    let own = (!read.is_empty()).then(|| {
        quote! {
            impl #ident {
                /// Parses a text that came from outside.
                ///
                /// # Errors
                /// If it does not fit.
                #visible fn parse(text: impl ::core::convert::AsRef<str>) -> ::core::result::Result<Self, #error> {
                    let text = text.as_ref();
                    #read
                }

                /// Returns the text.
                #visible fn as_str(&self) -> &str {
                    &self.0
                }
            }
        }
    });
    let is_newtype = matches!(&input.data, Data::Struct(data)
        if matches!(&data.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1));
    if own.is_some() && !is_newtype {
        return Err(Error::new_spanned(ident, "a struct around one text, or one with `parse` and `as_str`"));
    }
    let schema = schema::of_text(ident, schema, keywords);
    let serde = quote!(::flowsdk_core::derive::serde);
    Ok(quote! {
        #own

        impl ::flowsdk_core::cell::TextCell for #ident {
            fn as_text(&self) -> &str {
                self.as_str()
            }

            fn from_text(text: &str) -> ::core::result::Result<Self, ::flowsdk_core::fault::BoxError> {
                ::core::result::Result::Ok(Self::parse(text)?)
            }
        }

        impl ::core::fmt::Display for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::core::str::FromStr for #ident {
            type Err = #error;

            fn from_str(text: &str) -> ::core::result::Result<Self, #error> {
                Self::parse(text)
            }
        }

        impl ::core::convert::TryFrom<::std::string::String> for #ident {
            type Error = #error;

            fn try_from(text: ::std::string::String) -> ::core::result::Result<Self, #error> {
                Self::parse(&text)
            }
        }

        impl ::core::convert::From<#ident> for ::std::string::String {
            fn from(value: #ident) -> Self {
                value.as_str().to_owned()
            }
        }

        impl #serde::Serialize for #ident {
            fn serialize<S: #serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> #serde::Deserialize<'de> for #ident {
            fn deserialize<D: #serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::flowsdk_core::cell::deserialize_text(deserializer)
            }
        }

        #schema
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn written(input: &DeriveInput) -> String {
        derive(input).map_or_else(|error| format!("error: {error}"), |tokens| tokens.to_string())
    }

    #[test]
    fn a_rule_writes_parse_and_its_absence_does_not() {
        let ruled = written(&parse_quote! {
            #[text(rule = rules::is_name, error = Invalid, schema = "NameText", max_length = MAX)]
            pub struct Name(String);
        });
        assert!(ruled.contains("rules :: is_name (text)") && ruled.contains("pub fn parse"), "{ruled}");
        assert!(ruled.contains(r#""NameText""#) && ruled.contains("max_length (Some (MAX))"), "{ruled}");
        let own = written(&parse_quote!(
            #[text(error = Invalid)]
            struct Name {
                text: String,
            }
        ));
        assert!(!own.contains("fn parse") && own.contains(r#""Name""#), "{own}");
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert!(
            written(&parse_quote!(
                struct A(String);
            ))
            .contains("A needs #[text(error")
        );
        assert!(
            written(&parse_quote!(
                #[text(odd = 1)]
                struct A(String);
            ))
            .contains("not a key")
        );
        let named = parse_quote!(
            #[text(rule = f, error = E)]
            struct A {
                text: String,
            }
        );
        assert!(written(&named).contains("around one text"));
    }
}
