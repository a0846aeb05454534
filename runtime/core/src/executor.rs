//! Executors that not every server has: what carries out the tools of one kind, in a crate that only servers with such
//! tools link.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{Context, Envelope, Secrets, ToolError, ToolSpec};

/// How an executor that a server links carries out one of its tools.
#[derive(Debug, Clone, Copy)]
pub struct LinkedBinding {
    /// The executor's word in the tool language, such as `llm`.
    pub executor: &'static str,
    /// What the tool's file says of the call, as JSON.
    pub plan: &'static str,
    /// jq filter over `data` of a success.
    pub project: Option<&'static str>,
}

/// One tool as its executor sees it.
#[derive(Debug, Clone, Copy)]
pub struct LinkedTool {
    /// The row.
    pub row: &'static ToolSpec,
    /// [`LinkedBinding::plan`].
    pub plan: &'static str,
}

impl ToolSpec {
    /// The tool as its executor sees it, and the executor's word; `None` where no linked executor carries it out.
    #[must_use]
    pub const fn linked(&'static self) -> Option<(&'static str, LinkedTool)> {
        match self.binding {
            crate::Binding::Linked(linked) => Some((linked.executor, LinkedTool { row: self, plan: linked.plan })),
            _ => None,
        }
    }
}

/// What the operator says to an executor.
pub struct Configuration {
    /// The executor's table of the configuration file, `None` where the file has none.
    pub table: Option<Value>,
    /// Where secrets are.
    pub secrets: Arc<dyn Secrets>,
}

/// One thing that is wrong with a table of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationFault {
    /// The field with its tables, such as `llm.base_url`.
    pub field: String,
    /// What is wrong, and what to write.
    pub message: String,
}

/// One thing that holds for an executor, whoever said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// A field and its value, its default too.
    Value {
        /// The field with its tables, such as `llm.base_url`.
        field: String,
        /// The value for people; `None` where it is never shown.
        value: Option<String>,
    },
    /// A secret that calls need.
    Secret {
        /// Its logical name, such as `llm_api_key`.
        name: &'static str,
        /// What it means where nobody set it.
        without: &'static str,
    },
}

/// A call on its way: its end is the result. It is dropped where the call is cancelled or its deadline passes.
pub type ExecutorCall<'a> = Pin<Box<dyn Future<Output = Envelope> + Send + 'a>>;

/// A tool on trial: what there is to say of it, or why it cannot be called as things are.
pub type Examination<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

/// Carries out the tools of one kind.
pub trait Executor: Send + Sync {
    /// Its word in the tool language, which is the name of its table in the configuration file.
    fn kind(&self) -> &'static str;

    /// Takes what the operator says, once, before the first call.
    ///
    /// # Errors
    /// Everything that is wrong with it. A table that is absent is no fault: the calls that need it say so.
    fn configure(&mut self, configuration: Configuration) -> Result<(), Vec<ConfigurationFault>> {
        drop(configuration);
        Ok(())
    }

    /// All that holds after [`Executor::configure`]; nothing where it was given no table.
    fn held(&self) -> Vec<Held> {
        Vec::new()
    }

    /// Calls a tool with arguments that fit its input schema.
    fn call<'a>(&'a self, tool: LinkedTool, arguments: Map<String, Value>, context: &'a Context) -> ExecutorCall<'a>;

    /// What a call would do, as text for people; nothing is done.
    ///
    /// # Errors
    /// Why there would be no call.
    fn explain(&self, tool: LinkedTool, arguments: &Map<String, Value>, context: &Context)
    -> Result<String, ToolError>;

    /// Finds out whether a tool can be called here and now, without calling it.
    fn examine<'a>(&'a self, tool: LinkedTool, context: &'a Context) -> Examination<'a>;
}

/// The plan of a tool, read.
///
/// # Errors
/// `handler_failed` where it is none, as after a change by hand.
pub fn read_plan<P: serde::de::DeserializeOwned>(tool: LinkedTool) -> Result<P, ToolError> {
    serde_json::from_str(tool.plan).map_err(|error| {
        let name = tool.row.name;
        ToolError::failed(format!("the plan of {name} cannot be read: {error}; generate the server again"))
    })
}
