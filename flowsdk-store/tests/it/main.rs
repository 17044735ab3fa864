//! The conformance suites on the adapters of this crate. The tests on Redis need a server of version 7 or
//! later: `FLOWSDK_TEST_REDIS=redis://127.0.0.1:6379`; without it they say that they are skipped.

mod memory;
mod redis;
