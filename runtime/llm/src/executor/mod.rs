//! The executor `llm` of the tool language: a tool that asks a model.

mod plan;
mod prompt;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value, json};
use tokio::{sync::mpsc, time::Instant};
use toolwright_core::{
    Code, Configuration, ConfigurationFault, Context, Envelope, Examination, Executor, ExecutorCall, Held, LinkedTool,
    Payload, Secrets, ToolError, read_plan,
};
use toolwright_http::{CallContext, Progress};

use self::{
    plan::{Output, Plan},
    prompt::Prompt,
};
use crate::{
    answer::{Answer, StopReason, Usage},
    catalogue::Provider,
    config::{Backend, LlmConfig, Verify},
    error::ModelError,
    model::Model,
    models::Models,
    request::{Message, Request},
    secrets::GATEWAY_KEY,
    structured::{Structured, StructuredError, submit_structured, without_reasoning},
};

/// Updates that may wait until the caller's progress takes them.
const WAITING: usize = 64;

/// What the operator adds where there is no table `[llm]`.
const NO_TABLE: &str = "the configuration file has no table [llm], which says where models are served: add it with \
     `backend = \"openai_compatible\"` and the `base_url` of a gateway such as \"http://127.0.0.1:8080/v1\", or with \
     `backend = \"native\"`";

/// Carries out the tools of a server that ask a model.
#[derive(Default)]
pub struct LlmExecutor {
    served: Option<Arc<Served>>,
}

/// Where models are served, once that is known.
struct Served {
    models: Models,
    secrets: Arc<dyn Secrets>,
    /// Models that were asked before: they keep their connections.
    made: Mutex<BTreeMap<String, Model>>,
}

impl std::fmt::Debug for LlmExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LlmExecutor").field("models", &self.served.as_ref().map(|it| &it.models)).finish()
    }
}

impl LlmExecutor {
    /// An executor that knows of no models until it is configured.
    #[must_use]
    pub fn new() -> Self {
        LlmExecutor::default()
    }

    fn served(&self) -> Result<&Arc<Served>, ToolError> {
        self.served.as_ref().ok_or_else(|| ToolError::failed(NO_TABLE))
    }

    async fn answer(
        &self,
        tool: LinkedTool,
        arguments: &Map<String, Value>,
        context: &Context,
    ) -> Result<Envelope, ToolError> {
        let plan: Plan = read_plan(tool)?;
        let (served, output) = (self.served()?, Output::of(tool.row)?);
        let model = Served::model(served, plan.model.id(context)?).await?;
        let prompt = Prompt::of(&plan, arguments);
        let (model, plan) = (&model, &plan);
        let asking = |call: CallContext| async move {
            match output {
                Some(output) => structured(model, plan, prompt, output, &call).await,
                None => free(model, plan, prompt, &call).await,
            }
        };
        watched(context, asking).await.map_err(|error| served.told(error))
    }
}

impl Served {
    /// A model, made by the first call of it on a thread that may wait for its key.
    async fn model(served: &Arc<Self>, id: &str) -> Result<Model, ToolError> {
        if let Some(model) = served.made().get(id) {
            return Ok(model.clone());
        }
        let (own, wanted) = (Arc::clone(served), id.to_owned());
        let making = tokio::task::spawn_blocking(move || own.models.model(&wanted));
        let unfinished = |_| ToolError::failed(format!("the model {id:?} could not be made ready"));
        let model = making.await.map_err(unfinished)?.map_err(|error| served.told(error.into()))?;
        // Where another call was faster, its connections are kept.
        Ok(served.made().entry(id.to_owned()).or_insert(model).clone())
    }

    fn made(&self) -> MutexGuard<'_, BTreeMap<String, Model>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What went wrong, by its code. A key that is missing is named with where it belongs.
    fn told(&self, error: StructuredError) -> ToolError {
        let message = match &error {
            StructuredError::Model(ModelError::KeyMissing { secret, .. }) => {
                format!("{error}: set {}", self.secrets.place(secret))
            }
            _ => error.to_string(),
        };
        ToolError::new(code(&error), message)
    }

    /// Where the model is, in words.
    fn whereabouts(&self) -> String {
        match &self.models.config().backend {
            Backend::OpenAiCompatible { base_url } => format!("through the gateway {base_url}"),
            Backend::Native => "at its provider".to_owned(),
        }
    }
}

fn code(error: &StructuredError) -> Code {
    let StructuredError::Model(error) = error else { return Code::UpstreamError };
    match error {
        ModelError::Deadline { .. } => Code::Deadline,
        ModelError::Cancelled { .. } => Code::Cancelled,
        ModelError::TooLarge { .. } => Code::TooLarge,
        ModelError::ReadTimeout { .. } | ModelError::Unreachable { .. } | ModelError::Cut { .. } => {
            Code::UpstreamUnreachable
        }
        ModelError::Refused(_) | ModelError::Broken(_) | ModelError::Unreadable { .. } => Code::UpstreamError,
        // What is left is a fault of the settings.
        _ => Code::HandlerFailed,
    }
}

/// Asks while the progress of the answer is passed on to the caller.
async fn watched<A: Future>(context: &Context, asking: impl FnOnce(CallContext) -> A) -> A::Output {
    let (sender, mut updates) = mpsc::channel(WAITING);
    let call = CallContext {
        deadline: Instant::from_std(context.deadline()),
        progress: Progress::to(sender),
        ..CallContext::within(context.remaining())
    };
    let passing = async {
        while let Some(update) = updates.recv().await {
            context.progress(update.progress, update.total, &update.message);
        }
    };
    // The call holds the last sender, so that passing ends after the last update.
    futures_util::future::join(asking(call), passing).await.0
}

async fn structured(
    model: &Model,
    plan: &Plan,
    prompt: Prompt,
    output: Output,
    call: &CallContext,
) -> Result<Envelope, StructuredError> {
    let asked = Structured {
        max_output_tokens: plan.max_output_tokens,
        reasoning_effort: plan.effort(),
        ..Structured::new(output.schema.clone(), prompt.system, vec![Message::user(prompt.text)])
    };
    let submitted = submit_structured(model, &asked, call).await?;
    let mut envelope = Envelope::success(output.unwrapped(submitted.value));
    told_of(&mut envelope, model, submitted.usage);
    envelope.extra.insert("turns".to_owned(), submitted.turns.into());
    Ok(envelope)
}

async fn free(model: &Model, plan: &Plan, prompt: Prompt, call: &CallContext) -> Result<Envelope, StructuredError> {
    let request = Request {
        system: prompt.system,
        messages: vec![Message::user(prompt.text)],
        max_output_tokens: plan.max_output_tokens,
        reasoning_effort: plan.effort(),
        ..Request::default()
    };
    let answer = model.complete(&request, call).await?;
    let usage = answer.usage;
    let mut envelope = text(answer, model.id());
    told_of(&mut envelope, model, usage);
    Ok(envelope)
}

/// The answer as text. One that was cut is given as far as it came; one without a text is a failure.
fn text(answer: Answer, model: &str) -> Envelope {
    let failed =
        |what: &str| Envelope::failure(ToolError::new(Code::UpstreamError, format!("the model {model:?} {what}")));
    let Ok(text) = without_reasoning(&answer.text) else {
        return failed(
            "thought until its tokens were used up, and gave no answer; raise max_output_tokens of the tool",
        );
    };
    match (&answer.stop, text) {
        (StopReason::Refusal, _) => failed("refused to answer; ask in other words"),
        (_, "") => failed("gave no text; ask again, or in other words"),
        (stop, text) => {
            let warnings = match stop {
                StopReason::Length => vec!["the answer was cut at the limit of its length".to_owned()],
                _ => Vec::new(),
            };
            Envelope { ok: true, payload: Payload::Text(text.to_owned()), warnings, ..Envelope::default() }
        }
    }
}

/// Which model it was, and what it cost.
fn told_of(envelope: &mut Envelope, model: &Model, usage: Usage) {
    envelope.extra.insert("model".to_owned(), model.id().into());
    if usage != Usage::default() {
        let usage = json!({"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens});
        envelope.extra.insert("usage".to_owned(), usage);
    }
}

impl Executor for LlmExecutor {
    fn kind(&self) -> &'static str {
        "llm"
    }

    fn configure(&mut self, configuration: Configuration) -> Result<(), Vec<ConfigurationFault>> {
        let Some(table) = &configuration.table else { return Ok(()) };
        let config = LlmConfig::from_value(table).map_err(|faults| {
            let fault = |fault: crate::Fault| ConfigurationFault { field: fault.field, message: fault.message };
            faults.0.into_iter().map(fault).collect::<Vec<_>>()
        })?;
        // Told at start: every call would fail with it.
        if let Verify::Authorities(path) = &config.verify {
            let fault = |message| vec![ConfigurationFault { field: "llm.verify".to_owned(), message }];
            toolwright_http::check_ca_file(path).map_err(|error| fault(error.to_string()))?;
        }
        let secrets = configuration.secrets;
        let models = Models::new(config, Arc::clone(&secrets));
        self.served = Some(Arc::new(Served { models, secrets, made: Mutex::default() }));
        Ok(())
    }

    fn held(&self) -> Vec<Held> {
        let Some(served) = &self.served else { return Vec::new() };
        let config = served.models.config();
        let mut held: Vec<Held> =
            config.shown().into_iter().map(|(field, value)| Held::Value { field, value }).collect();
        let keys = match &config.backend {
            Backend::OpenAiCompatible { .. } => vec![(Some(GATEWAY_KEY), "the gateway is asked without a key")],
            Backend::Native => vec![
                (Provider::OpenAi.key(), "no model of OpenAI can be asked"),
                (Provider::Anthropic.key(), "no model of Anthropic can be asked"),
            ],
        };
        held.extend(keys.into_iter().filter_map(|(name, without)| Some(Held::Secret { name: name?, without })));
        held
    }

    fn call<'a>(&'a self, tool: LinkedTool, arguments: Map<String, Value>, context: &'a Context) -> ExecutorCall<'a> {
        Box::pin(async move { self.answer(tool, &arguments, context).await.unwrap_or_else(Envelope::failure) })
    }

    fn explain(
        &self,
        tool: LinkedTool,
        arguments: &Map<String, Value>,
        context: &Context,
    ) -> Result<String, ToolError> {
        let plan: Plan = read_plan(tool)?;
        let prompt = Prompt::of(&plan, arguments);
        let mut text = format!("model {}\n", plan.model.id(context)?);
        if !prompt.system.is_empty() {
            text.push_str(&format!("\nsystem:\n{}\n", prompt.system));
        }
        text.push_str(&format!("\nprompt:\n{}", prompt.text));
        if let Some(output) = Output::of(tool.row)? {
            text.push_str(&format!("\n\nanswer as JSON of this schema:\n{}", output.schema.value()));
        }
        Ok(text)
    }

    fn examine<'a>(&'a self, tool: LinkedTool, context: &'a Context) -> Examination<'a> {
        Box::pin(async move {
            let examined = || {
                let plan: Plan = read_plan(tool)?;
                let (served, id) = (self.served()?, plan.model.id(context)?.to_owned());
                served.models.validate(&id).map_err(|error| served.told(error.into()))?;
                Ok(format!("model {id} {}", served.whereabouts()))
            };
            examined().map_err(|error: ToolError| error.message)
        })
    }
}
