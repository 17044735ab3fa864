//! `#[derive(Named)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, LitStr, Result, Token, Variant};

use crate::case;
use crate::schema::{self, Keywords};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only enums have names of variants"));
    };
    let rule = of_serde(&input.attrs, "rename_all")?;
    let (ident, visible) = (&input.ident, &input.vis);
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let names = data.variants.iter().map(|one| name(one, rule.as_ref())).collect::<Result<Vec<_>>>()?;
    let count = variants.len();
    let (schema_name, description) = options(input)?;
    let values = quote!([#(#names),*]);
    let keywords = Keywords { options: Some(values), description, ..Keywords::default() };
    let schema = schema::of_text(ident, &schema_name, &keywords);
    Ok(quote! {
        impl #ident {
            /// Every variant, in the order of declaration.
            #visible const ALL: [Self; #count] = [#(Self::#variants),*];

            /// Returns the name on the wire and in storage.
            #visible const fn name(self) -> &'static str {
                match self { #(Self::#variants => #names),* }
            }

            /// Returns the variant of this name.
            #visible fn parse(name: &str) -> ::core::option::Option<Self> {
                match name { #(#names => ::core::option::Option::Some(Self::#variants),)* _ => ::core::option::Option::None }
            }
        }

        impl ::flowsdk_core::cell::Named for #ident {
            const ALL: &'static [Self] = &Self::ALL;

            fn name(self) -> &'static str {
                Self::name(self)
            }
        }

        #schema
    })
}

/// Returns the name of a variant.
fn name(variant: &Variant, rule: Option<&LitStr>) -> Result<String> {
    if !matches!(variant.fields, Fields::Unit) {
        return Err(Error::new_spanned(
            variant,
            format!("{} has fields, and a name has none", variant.ident),
        ));
    }
    if let Some(name) = of_serde(&variant.attrs, "rename")? {
        return Ok(name.value());
    }
    let ident = variant.ident.to_string();
    match rule {
        None => Ok(ident),
        Some(rule) => case::rename(&rule.value(), &ident).ok_or_else(|| {
            let rules = case::RULES;
            Error::new_spanned(rule, format!("unsupported `rename_all`: expected {rules}"))
        }),
    }
}

/// Returns the value of `key` in `#[serde(..)]`.
fn of_serde(attributes: &[Attribute], key: &str) -> Result<Option<LitStr>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident(key) {
                found = Some(meta.value()?.parse()?);
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<Expr>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Returns the name of the schema and its description.
fn options(input: &DeriveInput) -> Result<(String, Option<Expr>)> {
    let (mut name, mut description) = (format!("{}Name", input.ident), None);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("named")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("schema") {
                name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("description") {
                description = Some(meta.value()?.parse()?);
            } else {
                return Err(meta.error("only `schema` and `description`"));
            }
            Ok(())
        })?;
    }
    Ok((name, description))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn written(input: &DeriveInput) -> String {
        derive(input).map_or_else(|error| format!("error: {error}"), |tokens| tokens.to_string())
    }

    #[test]
    fn names_follow_the_attributes_of_serde() {
        let input = parse_quote! {
            #[derive(Default)]
            #[serde(rename_all = "snake_case")]
            #[named(schema = "StreamName")]
            pub enum Kind { VeryHigh, #[default] #[serde(rename = "stream:a", alias = "a")] Other }
        };
        let written = written(&input);
        assert!(written.contains(r#"Self :: VeryHigh => "very_high""#), "{written}");
        assert!(written.contains(r#"Self :: Other => "stream:a""#), "{written}");
        assert!(written.contains(r#""StreamName""#), "{written}");
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert!(
            written(&parse_quote!(
                struct A;
            ))
            .contains("only enums")
        );
        assert!(
            written(&parse_quote!(
                enum A {
                    B(u8),
                }
            ))
            .contains("B has fields")
        );
        assert!(
            written(&parse_quote!(
                #[serde(rename_all = "Odd")]
                enum A {
                    B,
                }
            ))
            .contains(
                "unsupported `rename_all`: expected lowercase, UPPERCASE, camelCase, snake_case, \
                 SCREAMING_SNAKE_CASE or kebab-case"
            )
        );
        assert!(
            written(&parse_quote!(
                #[named(odd = "a")]
                enum A {
                    B,
                }
            ))
            .contains("only `schema`")
        );
    }
}
