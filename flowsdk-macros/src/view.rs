//! `#[derive(View)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Path, Result, Type};

/// Where the value of a field comes from.
enum Source {
    /// The field of the same name.
    Same,
    /// Whether this field has a value.
    Some(Ident),
    /// A function of the aggregate.
    With(Path),
}

/// How a view gets hold of the aggregate.
#[derive(Clone, Copy)]
enum Taking {
    /// It takes the aggregate, and moves its fields.
    Whole,
    /// It borrows the aggregate, and clones the fields that it shows.
    Reference,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let ident = &input.ident;
    let of = of(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(ident, "a view is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(ident, "a view has named fields"));
    };
    let sources = fields.named.iter().map(source).collect::<Result<Vec<_>>>()?;
    let body = |taking| {
        let (mut computed, mut values) = (Vec::new(), Vec::new());
        for (field, source) in fields.named.iter().zip(&sources) {
            let name = &field.ident;
            match source {
                Source::Same => {
                    let value = same(field, taking);
                    values.push(quote!(#name: #value));
                }
                Source::Some(option) => {
                    computed.push(quote!(let #name = of.#option.is_some();));
                    values.push(quote!(#name));
                }
                Source::With(function) => {
                    let of = match taking {
                        Taking::Whole => quote!(&of),
                        Taking::Reference => quote!(of),
                    };
                    computed.push(quote!(let #name = #function(#of);));
                    values.push(quote!(#name));
                }
            }
        }
        quote!(#(#computed)* Self { #(#values),* })
    };
    let (whole, reference) = (body(Taking::Whole), body(Taking::Reference));
    Ok(quote! {
        impl ::core::convert::From<#of> for #ident {
            fn from(of: #of) -> Self {
                #whole
            }
        }

        impl ::core::convert::From<&#of> for #ident {
            fn from(of: &#of) -> Self {
                #reference
            }
        }
    })
}

/// Returns the field of the same name, converted. Where the view has an `Option`, its content is converted.
fn same(field: &Field, taking: Taking) -> TokenStream {
    let name = &field.ident;
    let value = match taking {
        Taking::Whole => quote!(of.#name),
        Taking::Reference => quote!(::core::clone::Clone::clone(&of.#name)),
    };
    let into = quote!(::core::convert::Into::into);
    match &field.ty {
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option") => {
            quote!(::core::option::Option::map(#value, #into))
        }
        _ => quote!(#into(#value)),
    }
}

/// Returns the aggregate of the view.
fn of(input: &DeriveInput) -> Result<Path> {
    let mut of = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("view")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("of") {
                return Err(meta.error("only `of`"));
            }
            of = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    of.ok_or_else(|| Error::new_spanned(&input.ident, format!("{} needs #[view(of = ..)]", input.ident)))
}

fn source(field: &Field) -> Result<Source> {
    let mut source = Source::Same;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("view")) {
        attribute.parse_nested_meta(|meta| {
            source = if meta.path.is_ident("some") {
                Source::Some(meta.value()?.parse()?)
            } else if meta.path.is_ident("with") {
                Source::With(meta.value()?.parse()?)
            } else {
                return Err(meta.error("only `some` and `with`"));
            };
            Ok(())
        })?;
    }
    Ok(source)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn written(input: &DeriveInput) -> String {
        derive(input).map_or_else(|error| format!("error: {error}"), |tokens| tokens.to_string())
    }

    fn integration() -> DeriveInput {
        parse_quote! {
            #[view(of = Integration)]
            struct IntegrationView {
                id: Id,
                #[view(some = credentials)]
                has_credentials: bool,
                #[view(with = length)]
                length: usize,
                used_at: Option<IsoTime>,
            }
        }
    }

    #[test]
    fn fields_come_from_the_aggregate() {
        let written = written(&integration());
        assert!(written.contains("From < Integration > for IntegrationView"), "{written}");
        assert!(written.contains("let has_credentials = of . credentials . is_some ()"), "{written}");
        assert!(written.contains("let length = length (& of)"), "{written}");
        assert!(written.contains("id : :: core :: convert :: Into :: into (of . id)"), "{written}");
        assert!(
            written.contains("Option :: map (of . used_at , :: core :: convert :: Into :: into)"),
            "{written}"
        );
    }

    #[test]
    fn a_reference_is_enough_and_only_shown_fields_are_cloned() {
        let written = written(&integration());
        assert!(written.contains("From < & Integration > for IntegrationView"), "{written}");
        assert!(
            written.contains("Into :: into (:: core :: clone :: Clone :: clone (& of . id))"),
            "{written}"
        );
        assert!(written.contains("let length = length (of)"), "{written}");
        assert_eq!(written.matches("clone (& of").count(), 2, "`id` and `used_at`: {written}");
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert!(
            written(&parse_quote!(
                struct A {
                    b: u8,
                }
            ))
            .contains("A needs #[view(of")
        );
        assert!(
            written(&parse_quote!(
                #[view(of = B)]
                enum A {
                    C,
                }
            ))
            .contains("is a struct")
        );
        assert!(
            written(&parse_quote!(
                #[view(of = B)]
                struct A(u8);
            ))
            .contains("named fields")
        );
        let odd = parse_quote!(
            #[view(of = B)]
            struct A {
                #[view(odd = c)]
                b: u8,
            }
        );
        assert!(written(&odd).contains("only `some`"));
    }
}
