//! Lists in pages: the argument that says how many items are wanted, and what asks for the next page.

use super::super::join;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::extension::{EXTENSION, NextPage, Pagination};
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::Operation;
use crate::model::schema::{JsonType, Schema};
use crate::model::tool::{Argument, Hidden, Pages, Role};

/// Items of one call. More would be no answer that a model reads.
const MOST_ITEMS: u32 = 10_000;

/// The argument with which pages are followed; nothing where the operation has none.
pub(super) fn argument(operation: &Operation) -> Option<Argument> {
    operation.extension.paginate.as_ref()?;
    let mut schema = Schema::of(JsonType::Integer);
    schema.bounds.insert("minimum".to_owned(), 1.into());
    schema.bounds.insert("maximum".to_owned(), MOST_ITEMS.into());
    Some(Argument {
        origin: String::new(),
        name: "max_items".to_owned(),
        wire_name: String::new(),
        role: Role::Paging,
        required: false,
        needed_by_body: false,
        shown: true,
        description: Some("Most items to return, from as many pages as it takes; without it, one page.".to_owned()),
        schema,
        send_as: Vec::new(),
    })
}

/// How pages are asked for, in names of arguments.
pub(super) fn of(
    model: &Model,
    operation: &Operation,
    arguments: &[Argument],
    hidden: &[Hidden],
    sink: &mut Sink,
) -> Option<Pages> {
    let paginate = operation.extension.paginate.as_ref()?;
    let own = join(&join(&operation.origin, EXTENSION), "paginate");
    if operation.extension.websocket.is_some() {
        let error = Diagnostic::error("no-pages", "a WebSocket exchange has no pages");
        sink.push(error.at(model.loaded.document.place(&own)).help("remove `paginate`"));
        return None;
    }
    let argument = arguments.iter().find(|argument| argument.role == Role::Paging)?.name.clone();
    let mut named = |wire_name: &str| find(model, operation, arguments, hidden, wire_name, &own, sink);
    let next = match &paginate.next {
        NextPage::Link => NextPage::Link,
        NextPage::Cursor { answer, argument } => {
            NextPage::Cursor { answer: answer.clone(), argument: named(argument)?.name.clone() }
        }
        NextPage::Offset { argument, size } => {
            let size = size.as_ref().and_then(|size| named(size)).map(|size| size.name.clone());
            NextPage::Offset { argument: named(argument)?.name.clone(), size }
        }
        NextPage::Page { argument, size, first } => {
            let size = size.as_ref().and_then(|size| named(size)).map(|size| size.name.clone());
            let page = named(argument)?;
            let default = page.schema.default.as_ref().and_then(serde_json::Value::as_u64);
            let default = default.and_then(|number| u32::try_from(number).ok());
            NextPage::Page { argument: page.name.clone(), size, first: first.or(default).or(Some(1)) }
        }
    };
    no_list(model, operation, paginate, &own, sink);
    Some(Pages { argument, items: paginate.items.clone(), next })
}

/// The argument of a wire name: a parameter goes before a member of the body.
fn find<'a>(
    model: &Model,
    operation: &Operation,
    arguments: &'a [Argument],
    hidden: &[Hidden],
    wire_name: &str,
    own: &str,
    sink: &mut Sink,
) -> Option<&'a Argument> {
    let is_parameter = |argument: &&Argument| matches!(argument.role, Role::Parameter { .. });
    let mut named = arguments.iter().filter(|argument| argument.wire_name == wire_name);
    let found = named.clone().find(is_parameter).or_else(|| named.next());
    if found.is_none() && hidden.iter().any(|hidden| hidden.argument.wire_name == wire_name) {
        let message =
            format!("`{wire_name}` of {} is hidden, so that no page can be asked for with it", operation.route());
        let error = Diagnostic::error("no-pages", message).at(model.loaded.document.place(own));
        sink.push(error.help("leave it to callers, or remove `paginate`"));
    } else if found.is_none() && super::body::has_field(model, operation, wire_name) {
        let message = format!("`{wire_name}` is no argument of {}", operation.route());
        let error = Diagnostic::error("unknown-name", message).at(model.loaded.document.place(own));
        sink.push(error.help("a page is asked for with a parameter, or with a member of a body that is flattened"));
    }
    found
}

/// Warns where the document's own answer has no list, or no cursor, at the place that is named.
fn no_list(model: &Model, operation: &Operation, paginate: &Pagination, own: &str, sink: &mut Sink) {
    // A tool file declares what its projection makes of the answer.
    let is_of_answer = operation.extension.project.is_none() || !is_of_file(&operation.origin);
    let Some(output) = super::output(model, operation).filter(|_| is_of_answer) else { return };
    let mut report = |key: &str, pointer: &str, what: &str| {
        let at = if pointer.is_empty() { "its root".to_owned() } else { format!("`{pointer}`") };
        let message = format!("the document's answer of {} has no {what} at {at}", operation.route());
        let place = model.loaded.document.place(&join(own, key));
        let help = "write a JSON pointer into the answer, such as `/data/items`; nothing where the answer is the list";
        sink.push(Diagnostic::warning("no-list", message).at(place).help(help));
    };
    let is_list = |schema: &Schema| schema.types.is_empty() || schema.types.contains(&JsonType::Array);
    match at(model, &output, &paginate.items) {
        Found::Unknown => {}
        Found::Schema(schema) if is_list(schema) => {}
        Found::Schema(_) | Found::Nothing => report("items", &paginate.items, "list"),
    }
    if let NextPage::Cursor { answer, .. } = &paginate.next
        && matches!(at(model, &output, answer), Found::Nothing)
    {
        report("cursor", answer, "cursor");
    }
}

enum Found<'s> {
    Schema(&'s Schema),
    /// The document says which members there are, and this is none of them.
    Nothing,
    /// The document does not say.
    Unknown,
}

fn at<'s>(model: &'s Model, output: &'s Schema, pointer: &str) -> Found<'s> {
    let mut schema = model.resolve(output);
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        let is_plain = schema.all_of.is_empty() && schema.any_of.is_empty() && schema.one_of.is_empty();
        match schema.properties.get(&name) {
            Some(property) => schema = model.resolve(property),
            None if is_plain && !schema.properties.is_empty() => return Found::Nothing,
            None => return Found::Unknown,
        }
    }
    Found::Schema(schema)
}
