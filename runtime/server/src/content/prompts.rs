//! `prompts/list` and `prompts/get`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::RoleServer;
use rmcp::model::{
    AudioContent, ContentBlock, EmbeddedResource, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, ImageContent, InputRequiredResult, JsonObject, Prompt as ListedPrompt,
    PromptArgument as ListedArgument, PromptMessage as SaidMessage,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use toolwright_core::content::{MessageContent, Piece, Prompt, PromptArgument, Values, expand, fill};
use toolwright_core::{Ability, Question, Reply};

use super::resources::{fixed_contents, read};
use super::said_by;
use crate::App;
use crate::client::{Asking, Caller, Logger};
use crate::handler::shown;
use crate::settings::nearest;

/// The prompts, sorted by name.
pub(crate) fn list(app: &App) -> Vec<ListedPrompt> {
    app.server.prompts.iter().map(listed).collect()
}

fn listed(prompt: &Prompt) -> ListedPrompt {
    let arguments: Vec<ListedArgument> = prompt.arguments.iter().map(argument).collect();
    let listed = ListedPrompt::new(prompt.name, Some(prompt.description), (!arguments.is_empty()).then_some(arguments));
    match prompt.title {
        Some(title) => listed.with_title(title),
        None => listed,
    }
}

fn argument(argument: &PromptArgument) -> ListedArgument {
    let listed = ListedArgument::new(argument.name).with_description(argument.description);
    let listed = listed.with_required(argument.required);
    match argument.title {
        Some(title) => listed.with_title(title),
        None => listed,
    }
}

/// A prompt with its arguments filled in. Resources that it shows are read now.
///
/// # Errors
/// `-32602` for an unknown prompt and for arguments that do not fit it; what a read of a resource fails with.
pub(crate) async fn get(
    app: &App,
    mut request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let prompt = find(app, &request.name)?;
    let mut given = request.arguments.take().unwrap_or_default();
    match asked(app, prompt, &given, &mut request, context).await? {
        Answers::Given(answers) => given.extend(answers),
        Answers::Needed(questions) => return Ok(GetPromptResponse::InputRequired(questions)),
    }
    let values = values(prompt, given)?;
    let mut messages = Vec::with_capacity(prompt.messages.len());
    for message in prompt.messages {
        let role = said_by(message.role);
        for block in blocks(app, &message.content, &values, context).await? {
            messages.push(SaidMessage::new(role.clone(), block));
        }
    }
    Ok(GetPromptResponse::Complete(GetPromptResult::new(messages).with_description(prompt.description)))
}

/// What a person said about arguments that were not given.
enum Answers {
    Given(JsonObject),
    /// The client is told the questions, and asks for the prompt again.
    Needed(InputRequiredResult),
}

/// Asks the person for the arguments that are to be asked for and were not given: in one form. What they do not say, and
/// what the client cannot ask, is not given.
async fn asked(
    app: &App,
    prompt: &Prompt,
    given: &JsonObject,
    request: &mut GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Answers, ErrorData> {
    let open = |argument: &&PromptArgument| argument.ask.is_some() && !given.contains_key(argument.name);
    let open: Vec<&PromptArgument> = prompt.arguments.iter().filter(open).collect();
    let asking = Asking {
        method: "prompts/get",
        responses: request.input_responses.take(),
        state: request.request_state.take(),
        name: &request.name,
        arguments: Some(given),
    };
    let caller = Caller::open(app, context, asking, Logger::default())?;
    let client = caller.client();
    if open.is_empty() || !client.can(Ability::Form) {
        return Ok(Answers::Given(JsonObject::new()));
    }
    match client.ask(vec![("arguments".to_owned(), form(&open))]).await {
        Ok(replies) => Ok(Answers::Given(match replies.into_iter().next() {
            Some(Reply::Filled(answers)) => answers,
            _ => JsonObject::new(),
        })),
        Err(error) => match caller.instead(Some(error.code)) {
            Some(questions) => Ok(Answers::Needed(questions?)),
            None => Err(ErrorData::internal_error(error.message, None)),
        },
    }
}

fn form(open: &[&PromptArgument]) -> Question {
    let field = |argument: &&PromptArgument| {
        let described = ("description", Some(argument.description));
        let told = [described, ("title", argument.title), ("default", argument.default)];
        let told = [("type", Some("string"))].into_iter().chain(told);
        let field: JsonObject = told.filter_map(|(key, text)| Some((key.to_owned(), text?.into()))).collect();
        (argument.name.to_owned(), Value::Object(field))
    };
    let questions: Vec<&str> = open.iter().filter_map(|argument| argument.ask).collect();
    let required: Vec<&str> = open.iter().filter(|it| it.required).map(|argument| argument.name).collect();
    let properties: JsonObject = open.iter().map(field).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Question::Form { message: questions.join("\n"), schema }
}

/// The prompt of a name.
///
/// # Errors
/// `-32602` where there is none.
pub(super) fn find(app: &App, name: &str) -> Result<&'static Prompt, ErrorData> {
    let prompts = app.server.prompts;
    prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
        let near = nearest(name, prompts.iter().map(|prompt| prompt.name));
        let hint = near.map_or_else(|| "prompts/list names them".to_owned(), |near| format!("did you mean {near}?"));
        ErrorData::invalid_params(format!("Unknown prompt: {}; {hint}", shown(name)), None)
    })
}

/// The values of the places: what is given, else the defaults.
fn values(prompt: &Prompt, given: JsonObject) -> Result<Values, ErrorData> {
    let mut values = Values::new();
    let mut faults = Vec::new();
    for (name, value) in given {
        if !prompt.arguments.iter().any(|argument| argument.name == name) {
            let known: Vec<&str> = prompt.arguments.iter().map(|argument| argument.name).collect();
            let hint = match (nearest(&name, known.iter().copied()), known.as_slice()) {
                (Some(near), _) => format!("did you mean {near}?"),
                (None, []) => "it takes none".to_owned(),
                (None, known) => format!("it takes {}", known.join(", ")),
            };
            faults.push(format!("there is no argument {}; {hint}", shown(&name)));
            continue;
        }
        match value {
            Value::String(text) => drop(values.insert(name, text)),
            // Clients that take what a person typed for JSON lose nothing by it.
            Value::Number(_) | Value::Bool(_) => drop(values.insert(name, value.to_string())),
            Value::Null => {}
            Value::Array(_) | Value::Object(_) => {
                faults.push(format!("the argument {name} must be a text"));
                // It is not missing as well.
                values.insert(name, String::new());
            }
        }
    }
    for argument in prompt.arguments.iter().filter(|argument| !values.contains_key(argument.name)).collect::<Vec<_>>() {
        match argument.default {
            Some(default) => drop(values.insert(argument.name.to_owned(), default.to_owned())),
            None if argument.required => faults.push(format!("the argument {} is missing", argument.name)),
            None => {}
        }
    }
    if faults.is_empty() {
        return Ok(values);
    }
    Err(ErrorData::invalid_params(
        format!("the prompt {} cannot be filled in: {}", prompt.name, faults.join("; ")),
        None,
    ))
}

/// What a message says: one block, or one for each part of the resource that it shows.
async fn blocks(
    app: &App,
    content: &MessageContent,
    values: &Values,
    context: &RequestContext<RoleServer>,
) -> Result<Vec<ContentBlock>, ErrorData> {
    Ok(match content {
        MessageContent::Text(text) => vec![ContentBlock::text(said(text, values))],
        MessageContent::Read(uri) => {
            let (result, _) = read(app, &expand(uri, values), context).await?;
            result.contents.into_iter().map(ContentBlock::resource).collect()
        }
        MessageContent::Embedded { uri, mime_type, content } => {
            let contents = fixed_contents(expand(uri, values), Some(mime_type), content, values);
            vec![ContentBlock::Resource(EmbeddedResource::new(contents))]
        }
        MessageContent::Media { mime_type, bytes } => {
            let base64 = STANDARD.encode(bytes);
            vec![match mime_type.starts_with("audio/") {
                true => ContentBlock::Audio(AudioContent::new(base64, *mime_type)),
                false => ContentBlock::Image(ImageContent::new(base64, *mime_type)),
            }]
        }
    })
}

/// The text without the line end that a block of YAML leaves.
fn said(text: &[Piece], values: &Values) -> String {
    let text = fill(text, values);
    text.trim_end_matches('\n').to_owned()
}
