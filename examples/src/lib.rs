//! Small programs that use the crates of FlowSDK as libraries. They are in `src/bin`.

/// Compiles the samples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
struct Embedding;
