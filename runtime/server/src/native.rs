//! Calls of native tools: the one place that passes a checked call to its handler.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt as _;
use serde_json::{Map, Value};
use tokio::time::sleep_until;
use toolwright_core::{
    Client, Code, Context, Envelope, NativeOutput, NativeTools, Payload, Surroundings, ToolError, ToolSpec,
};
use toolwright_http::{CallContext, CancellationToken, Progress, ProgressUpdate};

use crate::sessions::Sessions;
use crate::settings::{DocumentSettings, Secret, Settings};

/// The handlers of a server, with what their calls need.
pub(crate) struct Native {
    tools: Box<dyn NativeTools>,
    surrounding: Surrounding,
}

impl Native {
    pub(crate) fn new(tools: Box<dyn NativeTools>, surrounding: Surrounding) -> Self {
        Native { tools, surrounding }
    }

    /// Carries out a call whose arguments are checked. Every outcome is an envelope, a panic of the handler too.
    pub(crate) async fn execute(
        &self,
        row: &'static ToolSpec,
        arguments: Map<String, Value>,
        context: &CallContext,
    ) -> Envelope {
        let seen = self.surrounding.of(context);
        // `Result::flatten` is younger than the oldest Rust that is supported.
        let called = guarded(row, context, async { self.tools.call(row.name, arguments, &seen).await }).await;
        match called.and_then(|outcome| outcome) {
            Ok(NativeOutput::Data(data)) => Envelope::success(data),
            Ok(NativeOutput::Content(blocks)) => {
                Envelope { ok: true, payload: Payload::Content(blocks), ..Envelope::default() }
            }
            Err(error) => Envelope::failure(error),
        }
    }
}

/// What surrounds every call of code that is not this crate's: settings, and what stops it.
#[derive(Clone)]
pub(crate) struct Surrounding {
    said: Arc<DocumentSettings>,
    /// The same with what only the keyring has, once that was asked.
    complete: Arc<OnceLock<Arc<DocumentSettings>>>,
    sessions: Arc<Sessions>,
}

impl Surrounding {
    pub(crate) fn new(settings: &Settings, sessions: Arc<Sessions>) -> Self {
        Surrounding { said: Arc::new(settings.document.clone()), complete: Arc::default(), sessions }
    }

    /// From now on, calls see these settings.
    pub(crate) fn complete(&self, settings: &Settings) {
        // Set once, as the keyring is asked once.
        let _ = self.complete.set(Arc::new(settings.document.clone()));
    }

    /// The context of one call, as such code sees it.
    pub(crate) fn of(&self, context: &CallContext) -> Context {
        let surroundings = Call {
            settings: Arc::clone(self.complete.get().unwrap_or(&self.said)),
            progress: context.progress.clone(),
            cancel: context.cancel.clone(),
            client: Arc::clone(&context.client),
            sessions: Arc::clone(&self.sessions),
        };
        Context::new(context.deadline.into_std(), Arc::new(surroundings))
    }
}

/// Waits for a call of such code until it is cancelled, its deadline passes, or it panics. The call is made inside `call`,
/// since it may panic before its first await as well.
///
/// # Errors
/// Which of these happened.
pub(crate) async fn guarded<T>(
    row: &ToolSpec,
    context: &CallContext,
    call: impl Future<Output = T>,
) -> Result<T, ToolError> {
    let call = AssertUnwindSafe(call).catch_unwind();
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Err(ended(row, Code::Cancelled, "the call was cancelled")),
        () = sleep_until(context.deadline) => {
            Err(ended(row, Code::Deadline, "the tool did not finish before the deadline"))
        }
        outcome = call => outcome.map_err(|_| panicked(row)),
    }
}

/// A call that was given up: what it had begun to change may have happened.
pub(crate) fn ended(row: &ToolSpec, code: Code, what: &str) -> ToolError {
    let advice = match (code, row.risk.leaves_state()) {
        (Code::Deadline, true) => "; ask for less, or raise the request timeout",
        (_, true) => "",
        (_, false) => "; it may already have been applied: read the state before trying again",
    };
    ToolError::new(code, format!("{what}{advice}"))
}

/// The panic's own text went to stderr with its place; it may hold anything, so that the caller gets none of it.
fn panicked(row: &ToolSpec) -> ToolError {
    tracing::error!(tool = row.name, "the handler panicked");
    let name = row.name;
    ToolError::failed(format!("the handler of {name} failed by a fault of its own; the server's log says where"))
}

/// What a running server puts at the disposal of one call.
struct Call {
    settings: Arc<DocumentSettings>,
    progress: Progress,
    cancel: CancellationToken,
    client: Arc<dyn Client>,
    sessions: Arc<Sessions>,
}

impl Surroundings for Call {
    fn setting(&self, key: &str) -> Option<&str> {
        self.settings.0.get(key).map(Secret::expose)
    }

    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        // An update that a slow client has no room for is left out.
        let _ = self.progress.send(ProgressUpdate { progress: done, total, message: message.to_owned() });
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn cancelled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.cancel.cancelled())
    }

    fn client(&self) -> &dyn Client {
        &*self.client
    }

    fn resource_changed(&self, uri: &str) {
        self.sessions.changed(uri);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tempfile::tempdir;
    use toolwright_core::{Access, Binding, Catalog, NativeCall, Risk, ServerSpec, Setting, native_output, no_handler};

    use super::*;
    use crate::settings::{Exposed, SettingValue as _};
    use crate::testing::{ROWS, SERVER, Wire, settings};
    use crate::{App, Program};

    const fn native(name: &'static str, risk: Risk) -> ToolSpec {
        ToolSpec { name, risk, binding: Binding::Native, ..ROWS[3] }
    }

    const COUNTED: &str = r##"{"type":"object","properties":{"count":{"$ref":"#/$defs/Count"}},"required":["count"],
        "$defs":{"Count":{"type":"integer"}}}"##;

    static CATALOG: Catalog = Catalog::new(&[
        ToolSpec { result_schema: Some(COUNTED), ..native("count", Risk::ReadOnly) },
        ToolSpec { result_schema: Some(COUNTED), ..native("miscount", Risk::ReadOnly) },
        native("panic", Risk::ReadOnly),
        ToolSpec { deadline_seconds: Some(1), ..native("sleep", Risk::Write) },
        native("tell", Risk::ReadOnly),
    ]);

    static NATIVE: ServerSpec = ServerSpec {
        default_base_url: "",
        access: Access {
            settings: &[Setting {
                key: "token",
                env: "DEMO_TOKEN",
                default: "",
                help: "Token.",
                secret: true,
                allowed: &[],
            }],
            ..Access::NONE
        },
        ..SERVER
    };

    struct Tools;

    impl NativeTools for Tools {
        fn call<'a>(&'a self, tool: &'a str, _: Map<String, Value>, context: &'a Context) -> NativeCall<'a> {
            Box::pin(async move {
                match tool {
                    "count" => {
                        context.progress(1.0, Some(2.0), "halfway");
                        native_output(json!({"count": 2}))
                    }
                    "miscount" => native_output(json!({"count": "two"})),
                    "panic" => panic!("a fault in this handler"),
                    "sleep" => {
                        context.cancelled().await;
                        std::future::pending().await
                    }
                    "tell" => {
                        let told = format!("the token is {}", context.required_setting("token")?);
                        context.progress(1.0, None, &told);
                        native_output(json!({"told": told}))
                    }
                    other => Err(no_handler(other)),
                }
            })
        }
    }

    fn app(state: &tempfile::TempDir) -> Arc<App> {
        let mut settings = settings(state);
        settings.base_url = crate::settings::BaseUrl::read("").unwrap();
        settings.exposed_tools = Exposed::Everything;
        Arc::make_mut(&mut settings.document.0).insert("token".into(), Secret::new("s3cr3t-token"));
        Program::new(&NATIVE, &CATALOG).native(Tools).app(settings).unwrap()
    }

    async fn call(name: &str) -> Value {
        let state = tempdir().unwrap();
        let app = app(&state);
        let context = CallContext::within(Duration::from_secs(20));
        let envelope = app.operation(CATALOG.find(name).unwrap(), Map::new(), &context).await;
        Value::Object(envelope.into_json())
    }

    #[tokio::test]
    async fn an_output_is_data_in_the_envelope_of_every_tool() {
        let envelope = call("count").await;
        assert_eq!((&envelope["ok"], &envelope["data"]), (&json!(true), &json!({"count": 2})));
        assert_eq!(envelope.get("status_code"), None);
    }

    #[tokio::test]
    async fn an_output_of_another_shape_than_declared_is_a_failure() {
        let envelope = call("miscount").await;
        assert_eq!((&envelope["ok"], &envelope["code"]), (&json!(false), &json!("handler_failed")));
        assert_eq!(envelope.get("data"), None);
    }

    #[tokio::test]
    async fn a_panic_is_answered_without_its_text() {
        let envelope = call("panic").await;
        assert_eq!((&envelope["ok"], &envelope["code"]), (&json!(false), &json!("handler_failed")));
        assert!(!envelope.to_string().contains("a fault in this handler"), "{envelope}");
    }

    #[tokio::test]
    async fn a_handler_that_takes_too_long_is_dropped_at_the_deadline() {
        let envelope = call("sleep").await;
        assert_eq!(envelope["code"], "deadline");
        assert!(envelope["error"].as_str().unwrap().contains("may already have been applied"), "{envelope}");
    }

    #[tokio::test]
    async fn a_secret_setting_never_comes_back() {
        let envelope = call("tell").await;
        assert_eq!(envelope["data"]["told"], "the token is [masked]");
    }

    #[tokio::test]
    async fn a_list_shows_the_declared_output_inside_the_envelope() {
        let state = tempdir().unwrap();
        let app = app(&state);
        let tool = app.listed().iter().find(|tool| tool.name == "count").unwrap();
        let schema = json!(tool.output_schema);
        assert_eq!(schema["properties"]["data"]["properties"]["count"]["$ref"], "#/$defs/Count");
        assert_eq!(schema["$defs"]["Count"]["type"], "integer");
        assert_eq!(schema["required"], json!(["ok", "elapsed_ms"]));
        assert!(app.listed().iter().find(|tool| tool.name == "tell").unwrap().output_schema.is_none());
    }

    #[tokio::test]
    async fn every_declared_output_is_an_object_at_its_root() {
        let state = tempdir().unwrap();
        let app = app(&state);
        let schemas: Vec<_> = app.listed().iter().map(|tool| json!(tool.output_schema)).collect();
        assert!(schemas.iter().any(|schema| !schema.is_null()));
        for schema in schemas.iter().filter(|schema| !schema.is_null()) {
            assert_eq!(schema["type"], "object", "{schema}");
            assert!(["anyOf", "oneOf", "allOf"].iter().all(|word| schema.get(word).is_none()), "{schema}");
        }
    }

    #[tokio::test]
    async fn progress_of_a_handler_reaches_the_client() {
        let state = tempdir().unwrap();
        let app = app(&state);
        let mut wire = Wire::initialized(&app).await;
        let parameters = json!({"name": "count", "arguments": {}, "_meta": {"progressToken": "p"}});
        let told = wire.ask("tools/call", parameters).await;
        assert_eq!((&told["params"]["progress"], &told["params"]["message"]), (&json!(1.0), &json!("halfway")));
    }

    #[tokio::test]
    async fn progress_of_a_handler_shows_no_secret_setting() {
        let state = tempdir().unwrap();
        let mut wire = Wire::initialized(&app(&state)).await;
        let parameters = json!({"name": "tell", "arguments": {}, "_meta": {"progressToken": "p"}});
        let told = wire.ask("tools/call", parameters).await;
        assert_eq!(told["params"]["message"], "the token is [masked]");
    }

    #[tokio::test]
    async fn without_an_api_there_are_no_saved_files_and_no_raw_requests() {
        let state = tempdir().unwrap();
        let app = app(&state);
        let mut wire = Wire::initialized(&app).await;
        assert_eq!(wire.ask("resources/list", json!({})).await["error"]["code"], -32601);
        let raw = json!({"tool_name": "raw_request", "arguments": {"method": "GET", "path": "/"}});
        let answer = wire.ask("tools/call", json!({"name": "execute_additional_tool", "arguments": raw})).await;
        assert_eq!(answer["result"]["structuredContent"]["code"], "upstream_unreachable", "{answer}");
    }
}
