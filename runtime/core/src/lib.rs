//! The plain types that generated tool servers stand on.
//!
//! A server is a [`Catalog`]: a frozen, sorted table of [`ToolSpec`] rows plus the [`ServerSpec`] they belong to, which
//! also holds its prompts and resources ([`content`]).
//! A call is a JSON object of arguments, checked by [`arguments`] against the row's schema before any I/O, and its
//! result is an [`Envelope`]. Nothing here performs I/O, and nothing here knows MCP or OpenAPI.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod access;
pub mod arguments;
mod binding;
mod block;
mod catalog;
mod client;
pub mod content;
mod envelope;
mod error;
mod executor;
pub mod fixed;
mod generated;
mod hidden;
mod native;
mod paginate;
mod profile;
mod secret;
mod spec;

pub use access::{Access, Requirements, SchemeKind, SecurityScheme, Setting};
pub use binding::{
    Alternative, Binding, Body, Exchange, Field, FieldKind, HttpBinding, Location, Member, Method, NoRoute, Parameter,
    PartHeader, PartHeaderValue, StreamDialect, Style, WebSocketBinding,
};
pub use block::{Block, BlockKind};
pub use catalog::{Catalog, assert_sorted_and_unique};
pub use client::{Ability, Asked, Client, NoClient, Question, Reply, Severity, cannot_answer};
pub use envelope::{Binary, Envelope, Payload};
pub use error::{Code, ToolError};
pub use executor::{
    Configuration, ConfigurationFault, Examination, Executor, ExecutorCall, Held, LinkedBinding, LinkedTool, read_plan,
};
pub use hidden::{BadSetting, Hidden, HiddenValue, read_setting};
pub use native::{
    Context, NativeCall, NativeOutput, NativeTools, OutputSchema, Surroundings, native_input, native_output, no_handler,
};
pub use paginate::{NextPage, Paginate};
pub use profile::Profile;
pub use secret::{NoSecrets, Secret, SecretFault, Secrets};
pub use spec::{Declared, DocumentFacts, FixedTool, Risk, SearchTerms, ServerSpec, Tool, ToolSpec};
