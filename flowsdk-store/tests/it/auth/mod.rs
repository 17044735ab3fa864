//! The use cases of `flowsdk-auth` on the databases of this crate.

mod administration;
mod audit;
mod authenticate;
mod desk;
mod limits;
mod login;
mod recovery;
mod refresh;
mod store;
mod users;
mod world;
