//! The reference server of FlowSDK.
//!
//! - [`config`]: the environment, with every problem reported at once.
//! - [`app`]: builds the services and their tasks, runs them and stops them in order.
//! - [`serve`]: the accept loop every FlowSDK server runs on.
//! - [`socket`]: Socket.IO with ordered, bounded event handling; [`webchat`]: the web chat over it.
//! - [`sms`]: text messages to users, by webhook, Twilio or the log.
//! - [`script_worker`], [`pdf_reader`]: the processes that run scripts of flows, and that read PDFs; [`flow_command`]: flows at the command line;
//!   [`remote`]: flows on a server, at the command line.
//! - `testkit`, behind the feature of that name: the app in process, for tests.
//! - [`demo`]: the data folder of the one-command demonstration. [`desk_command`]: a desk in the terminal.
//!   [`agent_command`]: AI agents of a file, in memory.

mod agent;
pub mod agent_command;
pub mod api;
pub mod app;
pub mod backup_command;
mod caller;
pub mod check_command;
pub mod config;
pub mod demo;
mod desk;
pub mod desk_command;
pub mod doctor_command;
mod embedded;
pub mod flow_command;
mod front;
mod gate;
pub mod health;
mod http_client;
pub mod logging;
mod media;
pub mod pdf_reader;
mod phone;
pub mod printed;
mod private_file;
mod refusals;
pub mod remote;
pub mod restore_command;
pub mod rotate_command;
pub mod script_worker;
pub mod serve;
pub mod simulator;
pub mod sms;
pub mod socket;
mod strict_json;
pub mod supervisor;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod user_command;
pub mod webchat;
