//! Composes what models read: purpose, inputs, returns, caution.

use crate::diagnostic::Sink;
use crate::invisible::visible;
use crate::model::Model;
use crate::model::schema::{JsonType, Schema};
use crate::model::tool::{Argument, Binding, Role, Tool};

/// Fields of the body that the description names.
const SHOWN_FIELDS: usize = 6;

pub(super) fn describe(model: &mut Model, _sink: &mut Sink) {
    let mut tools = std::mem::take(&mut model.tools);
    for tool in &mut tools {
        if !tool.is_described && matches!(tool.binding, Binding::Http(_)) {
            let (method, path) = &tool.declared;
            let told = if tool.purpose.trim().is_empty() { &tool.title } else { &tool.purpose };
            tool.purpose = format!("{} Calls {method} {path}.", sentence(told));
        }
        if tool.purpose.is_empty() {
            tool.purpose = format!("{}.", tool.title);
        }
        tool.description = description(model, tool);
        // Names and paths of the document stand in these as well.
        for text in [&mut tool.title, &mut tool.purpose, &mut tool.description] {
            *text = visible(text).into_owned();
        }
    }
    model.tools = tools;
}

fn description(model: &Model, tool: &Tool) -> String {
    let mut paragraphs = vec![tool.purpose.trim().to_owned()];
    if let (Binding::NoRoute(route), false) = (&tool.binding, tool.is_described) {
        paragraphs.push(sentence(&route.missing));
    }
    paragraphs.push(format!("Inputs: {}", inputs(model, tool)));
    paragraphs.push(format!("Returns: {}", sentence(&returns(model, tool))));
    if let Some(caution) = &tool.caution {
        paragraphs.push(format!("Caution: {}", sentence(caution)));
    }
    paragraphs.join("\n")
}

/// Ends a phrase with a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// Every shown argument in backticks, the body with its most telling fields; of its members the most telling ones.
fn inputs(model: &Model, tool: &Tool) -> String {
    let shown = tool.arguments.iter().filter(|argument| argument.shown);
    let (members, others): (Vec<&Argument>, Vec<&Argument>) = shown.partition(|it| it.role == Role::Member);
    let (mut telling, optional): (Vec<&Argument>, Vec<&Argument>) =
        members.into_iter().partition(|it| it.needed_by_body);
    telling.extend(optional);
    let more = if telling.len() > SHOWN_FIELDS { " and more" } else { "" };
    telling.truncate(SHOWN_FIELDS);
    let named: Vec<String> = others
        .into_iter()
        .chain(telling)
        .map(|argument| match argument.role {
            Role::Body { .. } => body(model, tool, argument),
            _ => format!("`{}`", argument.name),
        })
        .collect();
    if named.is_empty() { "none.".to_owned() } else { format!("{}{more}.", named.join(", ")) }
}

fn body(model: &Model, tool: &Tool, argument: &Argument) -> String {
    let object = model.resolve(&argument.schema);
    let fields = telling_fields(object, tool.advertise.as_deref());
    if fields.is_empty() {
        return format!("`{}`", argument.name);
    }
    let shown: Vec<String> = fields.iter().take(SHOWN_FIELDS).map(|field| format!("`{field}`")).collect();
    let more = if fields.len() > SHOWN_FIELDS { " and more" } else { "" };
    format!("`{}` with {}{more}", argument.name, shown.join(", "))
}

/// Required fields first, then in the order of `advertise` or of the document.
fn telling_fields<'s>(object: &'s Schema, advertise: Option<&'s [String]>) -> Vec<&'s str> {
    let all: Vec<&str> = match advertise {
        Some(advertised) => advertised.iter().map(String::as_str).collect(),
        None => object.properties.iter().filter(|(_, p)| !p.read_only).map(|(name, _)| name.as_str()).collect(),
    };
    let is_required = |name: &&str| object.required.iter().any(|required| required == name);
    let (mut fields, optional): (Vec<&str>, Vec<&str>) = all.into_iter().partition(is_required);
    fields.extend(optional);
    fields
}

/// What comes back: as curated, else what the document declares.
fn returns(model: &Model, tool: &Tool) -> String {
    if let Some(returns) = &tool.returns {
        return returns.clone();
    }
    match &tool.binding {
        Binding::NoRoute(_) => "an error that says so".to_owned(),
        Binding::WebSocket { .. } => "`messages`, as they came".to_owned(),
        Binding::Linked(linked) if linked.executor == "llm" && tool.output.is_none() => "`text`".to_owned(),
        Binding::Native { content: true } => "content to look at, listen to or read".to_owned(),
        Binding::Native { .. } | Binding::Expression(_) | Binding::Steps(_) | Binding::Linked(_) => {
            tool.output.as_ref().map_or_else(|| "JSON in `data`".to_owned(), |output| data(model, output))
        }
        Binding::Http(http) => match &tool.output {
            Some(output) => data(model, output),
            None => other(&http.produces),
        },
    }
}

fn data(model: &Model, output: &Schema) -> String {
    let schema = model.resolve(output);
    if schema.is(JsonType::Array) {
        return "an array in `data`".to_owned();
    }
    let answered = schema.properties.iter().filter(|(_, property)| !property.write_only);
    let fields: Vec<String> = answered.take(5).map(|(field, _)| format!("`{field}`")).collect();
    if fields.is_empty() { "JSON in `data`".to_owned() } else { fields.join(", ") }
}

fn other(produces: &[String]) -> String {
    match produces.first() {
        None => "nothing but the status".to_owned(),
        Some(text) if text.starts_with("text/") => "text".to_owned(),
        Some(media_type) if media_type.contains("json") => "JSON in `data`".to_owned(),
        Some(media_type) => format!("content of type {media_type}"),
    }
}
