//! Durable work of tools: operations that outlive the process that began them.
//!
//! An *operation* is one run of a [`Workflow`]. It stands in a catalogue, in SQLite or PostgreSQL, and moves through the
//! [`State`]s of an MCP task. A worker runs it under a *lease*: each claim draws a higher *fence*, every later write names
//! it, and a worker that lost its lease can therefore write nothing more. What an operation did is its *journal*: one row a
//! step, by which another process goes on where the last one died.
//!
//! - A step that is in the journal is never run again; its recorded result is handed out instead.
//! - A step with an effect outside is announced in the journal before it runs. If the process dies in between, the next
//!   attempt is told ([`Attempt::interrupted`]) and has the same [`Attempt::key`], so that whoever takes the effect can
//!   tell a repetition. Where neither helps, [`Context::effect_once`] never repeats it.
//! - Steps run in the same order with the same names on every run, so code between them must not look at the clock, at
//!   random numbers or at the outside: what it needs of these is a step of its own.
//!
//! ```
//! use serde_json::{Value, json};
//! use toolwright_workflow::{Context, Failure, Location, NewOperation, Runtime, Settings, Workflow};
//!
//! struct Greeting;
//!
//! impl Workflow for Greeting {
//!     async fn run(&self, context: &mut Context) -> Result<Value, Failure> {
//!         let name = context.operation().request["name"].as_str().unwrap_or("you").to_owned();
//!         let text: String = context.compute("greet", async || Ok(format!("Hello, {name}!"))).await?;
//!         let number: u64 = context.effect("send", async |attempt| send(&attempt.key, &text).await).await?;
//!         Ok(json!({ "letter": number }))
//!     }
//! }
//!
//! /// Sends a letter; the receiver answers a key that it knows with the number that it gave before.
//! async fn send(key: &str, text: &str) -> Result<u64, Failure> {
//! #   let _ = (key, text);
//!     Ok(1)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), toolwright_workflow::Error> {
//! # let temporary = tempfile::tempdir().expect("a temporary folder");
//! # let folder = temporary.path().join("workflow");
//! let runtime = Runtime::start(Greeting, Location::Sqlite { folder }, Settings::new("greeting")).await?;
//! let operation = runtime.submit(NewOperation::new("stdio", "Greet Ada", json!({ "name": "Ada" }))).await?;
//! let ended = runtime.wait(&operation.id, "stdio").await?;
//! assert_eq!(ended.result, Some(json!({ "letter": 1 })));
//! runtime.close().await
//! # }
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod catalogue;
mod clock;
mod context;
mod database;
mod error;
mod journal;
mod json;
mod lease;
mod operation;
mod running;
mod runtime;
mod settings;

pub use catalogue::Catalogue;
pub use clock::{Clock, SystemClock};
pub use context::{Attempt, Context, Reporter};
pub use database::Location;
pub use error::{Error, Failure};
pub use journal::{Recorded, Started};
pub use lease::{Claim, Lease, Renewal};
pub use operation::{Change, Edit, Ending, NewOperation, Operation, State};
pub use runtime::{Runtime, Workflow};
pub use settings::Settings;
