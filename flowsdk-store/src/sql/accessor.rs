//! The accessors of a transaction: it implements every repository itself. Each stands in the file of its repository.

/// Implements an accessor for [`SqlTx`](super::SqlTx).
macro_rules! has {
    ($accessor:ident::$name:ident -> $repository:ident) => {
        impl $accessor for super::SqlTx {
            fn $name(&mut self) -> &mut dyn $repository {
                self
            }
        }
    };
}
pub(super) use has;
