//! Tools that are Rust of the server's own: what a handler is given, and how a call reaches it.
//!
//! The generator writes a trait with one method a tool and an implementation of [`NativeTools`] that passes each call to
//! its method. So there is no registry: a handler that is missing does not compile.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::client::{Ability, Client, NoClient, Question, Reply, Severity};
use crate::{Block, Code, ToolError};

/// A call on its way.
pub type NativeCall<'a> = Pin<Box<dyn Future<Output = Result<NativeOutput, ToolError>> + Send + 'a>>;

/// What a handler made.
#[derive(Debug, Clone, PartialEq)]
pub enum NativeOutput {
    /// The `data` of the result.
    Data(Value),
    /// Content blocks, which are the whole result (`native: {content: true}`).
    Content(Vec<Block>),
}

/// Carries out the native tools of one server. Generated code implements it.
pub trait NativeTools: Send + Sync {
    /// Calls the tool of that name with arguments that fit its input schema.
    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>, context: &'a Context) -> NativeCall<'a>;
}

/// What a running server puts at the disposal of a call. A handler sees it through its [`Context`].
pub trait Surroundings: Send + Sync {
    /// The value of a setting that a tool file declares; `None` where it has none.
    fn setting(&self, key: &str) -> Option<&str>;
    /// Tells the caller how far the call is; never waits.
    fn progress(&self, done: f64, total: Option<f64>, message: &str);
    /// True once the caller has given up.
    fn is_cancelled(&self) -> bool;
    /// Ends when the caller gives up.
    fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
    /// Whoever called, to be asked back.
    fn client(&self) -> &dyn Client;
    /// Tells whoever follows this resource that it has changed; never waits.
    fn resource_changed(&self, uri: &str);
}

/// What surrounds one call of a handler: its deadline, its cancellation, whom to tell about progress, and settings.
///
/// A handler that only awaits needs to watch neither deadline nor cancellation: its future is dropped then. Work that it
/// started elsewhere takes a clone along.
#[derive(Clone)]
pub struct Context {
    deadline: Instant,
    surroundings: Arc<dyn Surroundings>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

impl Context {
    /// A context within a running server.
    #[must_use]
    pub fn new(deadline: Instant, surroundings: Arc<dyn Surroundings>) -> Self {
        Context { deadline, surroundings }
    }

    /// A context outside any server, as tests of handlers need it: these settings, nobody who watches or cancels.
    #[must_use]
    pub fn alone<const N: usize>(limit: Duration, settings: [(&str, &str); N]) -> Self {
        let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Context::new(Instant::now() + limit, Arc::new(Alone(settings.into())))
    }

    /// When the call must be over.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Time left before the deadline.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The value of a setting that the tool's file declares: what the operator set, else its default, else `None`.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.surroundings.setting(key)
    }

    /// As [`Context::setting`], for a tool that cannot do without.
    ///
    /// # Errors
    /// `handler_failed`, naming the setting.
    pub fn required_setting(&self, key: &str) -> Result<&str, ToolError> {
        let missing = || ToolError::failed(format!("the setting `{key}` has no value; the server's operator sets it"));
        self.setting(key).ok_or_else(missing)
    }

    /// Tells the caller how far the call is, where it asked for that. `done` grows from call to call.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.surroundings.progress(done, total, message);
    }

    /// True once the caller has given up; for loops that never await.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.surroundings.is_cancelled()
    }

    /// Ends when the caller gives up.
    pub async fn cancelled(&self) {
        self.surroundings.cancelled().await;
    }

    /// Whether the caller can answer such a question.
    #[must_use]
    pub fn can(&self, ability: Ability) -> bool {
        self.surroundings.client().can(ability)
    }

    /// Asks the caller one thing, under a key of the handler's own. Ask before anything is changed: with a client of MCP 2026-07-28
    /// the handler runs from its beginning again once the answer is there.
    ///
    /// # Errors
    /// `missing_capability` where the client cannot answer; `input_required` where it will call again with the answer. Pass
    /// both on with `?`.
    pub async fn ask(&self, key: &str, question: Question) -> Result<Reply, ToolError> {
        let replies = self.ask_all(vec![(key.to_owned(), question)]).await?;
        replies.into_iter().next().ok_or_else(|| ToolError::failed("the client gave no answer"))
    }

    /// As [`Context::ask`], several things at once; the answers come in the order of the questions.
    ///
    /// # Errors
    /// As [`Context::ask`].
    pub async fn ask_all(&self, questions: Vec<(String, Question)>) -> Result<Vec<Reply>, ToolError> {
        self.surroundings.client().ask(questions).await
    }

    /// Asks the person in front of the client whether to go on. A yes counts once, and for this very call alone.
    ///
    /// # Errors
    /// As [`Context::ask`], and `not_allowed` where the answer is no or none.
    pub async fn confirm(&self, message: &str) -> Result<(), ToolError> {
        match self.surroundings.client().confirm(message.to_owned()).await? {
            Reply::Filled(_) => Ok(()),
            Reply::Declined => Err(ToolError::new(Code::NotAllowed, "the person declined; nothing was done")),
            _ => Err(ToolError::new(Code::NotAllowed, "the person gave no answer; nothing was done")),
        }
    }

    /// Sends a message to the client's log, where the client asked for such messages. It is for people who watch the client;
    /// the server's own log is written with `tracing`.
    pub fn log(&self, severity: Severity, message: impl Into<Value>) {
        self.surroundings.client().log(severity, message.into());
    }

    /// Tells clients that follow this resource that it has changed.
    pub fn resource_changed(&self, uri: &str) {
        self.surroundings.resource_changed(uri);
    }
}

/// Nobody calls.
struct Alone(BTreeMap<String, String>);

impl Surroundings for Alone {
    fn setting(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn progress(&self, _done: f64, _total: Option<f64>, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::pending())
    }

    fn client(&self) -> &dyn Client {
        &NoClient
    }

    fn resource_changed(&self, _uri: &str) {}
}

/// The arguments of a call as its tool's struct.
///
/// # Errors
/// `invalid_arguments` where a value fits the schema and not the Rust type, such as an integer of 30 digits.
pub fn native_input<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolError::invalid(format!("a value is out of the range of this tool: {error}")))
}

/// What a handler returned, as JSON.
///
/// # Errors
/// `handler_failed` where it cannot be written as JSON, such as a map whose keys are no texts.
pub fn native_output<T: Serialize>(output: T) -> Result<NativeOutput, ToolError> {
    serde_json::to_value(output)
        .map(NativeOutput::Data)
        .map_err(|error| ToolError::failed(format!("the tool's output cannot be written as JSON: {error}")))
}

/// The failure of a call that names none of these tools, which generated code rules out.
#[must_use]
pub fn no_handler(tool: &str) -> ToolError {
    ToolError::new(Code::NotAllowed, format!("{tool} has no handler in this program"))
}

/// The declared shape of a native tool's output, compiled. MCP lets clients rely on it (2025-11-25, Tools: Output Schema).
#[derive(Debug)]
pub struct OutputSchema(jsonschema::Validator);

impl OutputSchema {
    /// Compiles a schema; `None` where it is no JSON Schema 2020-12, which the generator rules out.
    #[must_use]
    pub fn new(schema: &str) -> Option<Self> {
        let schema: Value = serde_json::from_str(schema).ok()?;
        jsonschema::draft202012::new(&schema).ok().map(OutputSchema)
    }

    /// Checks an output.
    ///
    /// # Errors
    /// `handler_failed` with the first place that differs. The value is left out: it may be large.
    pub fn check(&self, output: &Value) -> Result<(), ToolError> {
        let Err(error) = self.0.validate(output) else { return Ok(()) };
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the whole of it".to_owned() } else { format!("`{place}`") };
        Err(ToolError::failed(format!("the tool's output is not of the shape that it declares, at {place}")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_context_without_a_server_has_its_settings_and_nobody_who_cancels() {
        let context = Context::alone(Duration::from_secs(60), [("tone", "plain")]);
        assert_eq!((context.setting("tone"), context.setting("other")), (Some("plain"), None));
        assert!(!context.is_cancelled());
        assert!(context.remaining() > Duration::from_secs(50));
    }

    #[test]
    fn a_setting_that_a_tool_needs_is_named_where_it_is_missing() {
        let error = Context::alone(Duration::ZERO, []).required_setting("tone").unwrap_err();
        assert_eq!(error.code, Code::HandlerFailed);
        assert!(error.message.contains("`tone`"), "{error}");
    }

    #[test]
    fn arguments_beyond_the_rust_type_are_the_callers_fault() {
        #[derive(Debug, serde::Deserialize)]
        #[allow(dead_code)]
        struct Input {
            count: i64,
        }
        let arguments = serde_json::from_str(r#"{"count": 300000000000000000000}"#).unwrap();
        let error = native_input::<Input>(arguments).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
    }

    #[test]
    fn an_output_of_another_shape_is_told_by_its_place() {
        let schema = OutputSchema::new(r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#).unwrap();
        assert!(schema.check(&json!({"a": 1})).is_ok());
        let error = schema.check(&json!({"a": "x"})).unwrap_err();
        assert_eq!(error.code, Code::HandlerFailed);
        assert!(error.message.ends_with("at `/a`"), "{error}");
    }
}
