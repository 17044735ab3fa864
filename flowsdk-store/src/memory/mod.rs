//! In-process adapters: for one process without a server beside it, and for the tests of embedders.
//! Nothing here survives the process.

mod blobs;
mod broker;
mod key_value;

pub use blobs::MemoryBlobs;
pub use broker::MemoryBroker;
pub use key_value::MemoryKeyValue;
