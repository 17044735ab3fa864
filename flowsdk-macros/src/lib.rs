//! Derives of FlowSDK. `flowsdk-core` exports each beside the trait that it implements, and the code that they write
//! names that crate as `flowsdk_core`.
