//! `completion/complete`: suggestions from lists, and from tools whose answers are kept for a little while.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use rmcp::service::RequestContext;
use serde_json::Value;
use toolwright_core::content::{Answer, Completion, Values, template};
use toolwright_core::{Code, NoClient, Payload};

use super::{answer, failure, prompts};
use crate::App;
use crate::handler::shown;
use crate::settings::nearest;

/// How long an answer is kept: a person types many letters, and asks for the list once.
const KEPT: Duration = Duration::from_secs(30);
/// Answers that are kept at most.
const MOST_KEPT: usize = 64;
/// An answer whose texts take more is not kept.
const MOST_BYTES: usize = 256 << 10;

/// The texts of one answer, and since when they are known.
type Kept = (Instant, Arc<[String]>);

/// Answers of tools, by what was asked.
#[derive(Debug, Default)]
pub(crate) struct Suggestions {
    kept: Mutex<BTreeMap<String, Kept>>,
}

impl Suggestions {
    fn get(&self, key: &str) -> Option<Arc<[String]>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(key).filter(|(since, _)| since.elapsed() < KEPT).map(|(_, texts)| Arc::clone(texts))
    }

    fn keep(&self, key: String, texts: &Arc<[String]>) {
        if texts.iter().map(String::len).sum::<usize>() > MOST_BYTES {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (since, _)| since.elapsed() < KEPT);
        if kept.len() >= MOST_KEPT {
            let oldest = kept.iter().min_by_key(|(_, (since, _))| *since).map(|(key, _)| key.clone());
            oldest.map(|oldest| kept.remove(&oldest));
        }
        kept.insert(key, (Instant::now(), Arc::clone(texts)));
    }
}

/// Suggestions for an argument of a prompt or a variable of a template.
///
/// # Errors
/// `-32602` for what is not there; what a tool fails with.
pub(crate) async fn complete(
    app: &App,
    request: CompleteRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CompleteResult, ErrorData> {
    let given = request.context.and_then(|context| context.arguments).unwrap_or_default();
    let mut values: Values = given.into_iter().collect();
    values.insert(request.argument.name.clone(), request.argument.value.clone());
    let typed = request.argument.value;
    let texts: Arc<[String]> = match source(app, &request.r#ref, &request.argument.name)? {
        None => Arc::from([]),
        Some(Completion::Listed(texts)) => texts.iter().map(|text| (*text).to_owned()).collect(),
        Some(Completion::Answer(answer)) => answered(app, answer, values, context).await?,
    };
    Ok(CompleteResult::new(chosen(&texts, &typed)))
}

/// Where the suggestions come from; `None` where there are none.
fn source(app: &App, of: &Reference, argument: &str) -> Result<Option<&'static Completion>, ErrorData> {
    let unknown = |what: &str, known: &[&str]| {
        let hint = match (nearest(argument, known.iter().copied()), known) {
            (Some(near), _) => format!("did you mean {near}?"),
            (None, []) => "it has none".to_owned(),
            (None, known) => format!("there are: {}", known.join(", ")),
        };
        ErrorData::invalid_params(format!("{what} has no argument {}; {hint}", shown(argument)), None)
    };
    match of {
        Reference::Prompt(prompt) => {
            let prompt = prompts::find(app, &prompt.name)?;
            let known: Vec<&str> = prompt.arguments.iter().map(|argument| argument.name).collect();
            let found = prompt.arguments.iter().find(|known| known.name == argument);
            Ok(found.ok_or_else(|| unknown(&format!("the prompt {}", prompt.name), &known))?.completion.as_ref())
        }
        Reference::Resource(resource) => {
            let mut templates = app.server.resources.iter();
            let found = templates.find(|known| template(known.uri) == resource.uri);
            let found = found.ok_or_else(|| {
                let message = format!("Unknown resource: {}; resources/templates/list has them", shown(&resource.uri));
                ErrorData::invalid_params(message, None)
            })?;
            let known: Vec<&str> = toolwright_core::content::places(found.uri).collect();
            if !known.contains(&argument) {
                return Err(unknown(&format!("the resource {}", found.name), &known));
            }
            Ok(found.completions.iter().find(|(variable, _)| *variable == argument).map(|(_, source)| source))
        }
        _ => Err(ErrorData::invalid_params("a completion is of a prompt or of a template of resources", None)),
    }
}

/// The texts that a tool answers. What the operator forbids has none; no list is shared where callers speak for themselves.
async fn answered(
    app: &App,
    answer: &'static Answer,
    values: Values,
    context: &RequestContext<RoleServer>,
) -> Result<Arc<[String]>, ErrorData> {
    let Some(arguments) = answer::arguments(answer, &values) else { return Ok(Arc::from([])) };
    let is_shared = app.settings.forward_headers.0.is_empty();
    let asked = Value::Object(arguments.clone());
    let key = format!("{} {asked} {}", answer.tool, answer.project.unwrap_or_default());
    if let Some(kept) = app.suggestions.get(&key).filter(|_| is_shared) {
        return Ok(kept);
    }
    let trace = app.begin_trace(answer.tool, Some(&arguments), context);
    let ask = |call| async move { Ok(app.answer(answer, arguments, &call).await) };
    let envelope = app.surrounded(trace, context, Arc::new(NoClient), ask).await?;
    if !envelope.ok {
        return match envelope.code() {
            Some(Code::NotAllowed) => Ok(Arc::from([])),
            _ => Err(failure(&envelope, "there are no suggestions")),
        };
    }
    let data = match envelope.payload {
        Payload::Data(data) | Payload::Events { data: Some(data), .. } => data,
        Payload::Text(text) => text.into(),
        _ => Value::Null,
    };
    let texts = texts(data);
    if is_shared {
        app.suggestions.keep(key, &texts);
    }
    Ok(texts)
}

/// The texts and numbers of a list, each once, in its order.
fn texts(data: Value) -> Arc<[String]> {
    let items = match data {
        Value::Array(items) => items,
        other => vec![other],
    };
    let mut seen = std::collections::BTreeSet::new();
    let texts = items.into_iter().filter_map(|item| match item {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    texts.filter(|text| seen.insert(text.clone())).collect()
}

/// Those that begin with what was typed, in any case; 100 at most (MCP, Completion).
fn chosen(texts: &[String], typed: &str) -> CompletionInfo {
    let typed = typed.to_lowercase();
    let fitting: Vec<&String> = texts.iter().filter(|text| text.to_lowercase().starts_with(&typed)).collect();
    let values = fitting.iter().take(CompletionInfo::MAX_VALUES).map(|text| (*text).clone()).collect();
    let mut info = CompletionInfo::default();
    info.values = values;
    info.total = u32::try_from(fitting.len()).ok();
    info.has_more = Some(fitting.len() > CompletionInfo::MAX_VALUES);
    info
}
