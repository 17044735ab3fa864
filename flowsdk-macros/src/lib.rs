//! Derives of FlowSDK. `flowsdk-core` exports each beside the trait that it implements, and the code that they write
//! names that crate as `flowsdk_core`.

mod fault;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `flowsdk_core::fault::Fault`, where every key is explained.
#[proc_macro_derive(Fault, attributes(fault))]
pub fn fault(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fault::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
