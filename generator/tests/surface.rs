//! What a change of a document means to callers. One point each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use support::{document, generated};
use toolwright_generator::diagnostic::Sink;
use toolwright_generator::surface::{Changes, Surface, compare};

const OLD: &str = "  /items:
    get: {operationId: listItems, parameters: [{name: limit, in: query, schema: {type: integer}}]}
  /items/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    delete: {operationId: deleteItem}
";

fn surface(paths: &str) -> Surface {
    let (generated, _) =
        generated(&document(&format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}")));
    Surface::of_generated(&generated.files, &mut Sink::new()).unwrap()
}

fn changes(replaced: &str, by: &str) -> Changes {
    assert!(OLD.contains(replaced));
    compare(&surface(OLD), &surface(&OLD.replace(replaced, by)))
}

#[test]
fn a_version_against_itself_is_clean() {
    let changes = changes("items", "items");
    assert!(changes.is_empty() && !changes.is_breaking());
    assert!(changes.markdown("T", "1", "2").contains("Nothing changed."));
}

#[test]
fn a_tool_that_is_gone_breaks_and_a_new_one_does_not() {
    let more = format!("{OLD}  /new: {{get: {{operationId: news}}}}\n");
    let added = compare(&surface(OLD), &surface(&more));
    assert_eq!((added.added["news"].as_str(), added.is_breaking()), ("GET /new", false));
    let removed = compare(&surface(&more), &surface(OLD));
    assert_eq!((removed.removed["news"].as_str(), removed.is_breaking()), ("GET /new", true));
}

#[test]
fn a_new_name_for_a_route_is_a_rename() {
    let changes = changes("listItems", "allItems");
    assert_eq!((changes.renamed[0].from.as_str(), changes.renamed[0].to.as_str()), ("list_items", "all_items"));
    assert!(changes.is_breaking() && changes.removed.is_empty() && changes.added.is_empty());
}

#[test]
fn inputs_that_refuse_what_they_accepted_are_told_as_such() {
    let changes = changes(
        "{name: limit, in: query, schema: {type: integer}}",
        "{name: limit, in: query, required: true, schema: {type: integer, maximum: 9}}",
    );
    let text = changes.markdown("T", "1", "2");
    assert!(changes.is_breaking());
    assert!(text.contains("## Inputs that break callers\n\n- `list_items`: `limit` is required now"), "{text}");
    assert!(text.contains("`limit` maximum is 9 now"), "{text}");
}

#[test]
fn a_tool_that_may_do_more_harm_breaks_what_was_approved() {
    let changes = changes("{operationId: listItems,", "{operationId: listItems, x-toolwright: {risk: write},");
    assert!(changes.changed[0].is_riskier && changes.is_breaking());
    assert!(
        changes
            .markdown("T", "1", "2")
            .contains("`list_items`: risk is write, was read-only **(may do more than before)**")
    );
}

#[test]
fn better_texts_need_no_change() {
    let changes =
        changes("{operationId: deleteItem}", "{operationId: deleteItem, description: Delete an item for good.}");
    assert!(changes.changed[0].texts && !changes.is_breaking());
}

#[test]
fn what_an_optional_body_needs_breaks_calls_that_give_other_members() {
    let changed = |properties: &str| {
        let surface = |required: &str| {
            let schema = format!("{{type: object, {required}properties: {{{properties}}}}}");
            let content = format!("{{content: {{application/json: {{schema: {schema}}}}}}}");
            surface(&format!("  /items: {{patch: {{operationId: change, requestBody: {content}}}}}\n"))
        };
        compare(&surface(""), &surface("required: [name], "))
    };
    let changes = changed("name: {type: string}, note: {type: string}");
    let text = changes.markdown("T", "1", "2");
    assert!(changes.is_breaking());
    assert!(text.contains("`name` is required now where any other field of the body is given"), "{text}");
    assert!(!changed("name: {type: string}").is_breaking());
}

/// An argument of this name on the wire, under this name.
fn called(arguments: &str) -> Surface {
    surface(&format!("  /items: {{get: {{operationId: find, parameters: [{arguments}]}}}}\n"))
}

#[test]
fn a_renamed_argument_breaks_and_is_told_as_such() {
    let parameter = "{name: q, in: query, schema: {type: string}}";
    let (old, new) = (called(parameter), {
        let path = "{name: q, in: header, schema: {type: string}}";
        called(&format!("{parameter}, {path}"))
    });
    let changes = compare(&old, &new);
    let text = changes.markdown("T", "1", "2");
    assert!(changes.is_breaking());
    assert!(text.contains("`q` is named `q_query` now"), "{text}");
    assert!(!text.contains("is gone") && text.contains("`q_header` is new"), "{text}");
}

#[test]
fn arguments_that_swap_their_names_break_though_the_schema_is_the_same() {
    let swapped = |first: &str, second: &str| {
        let parameter = |wire: &str| format!("{{name: {wire}, in: query, schema: {{type: string}}}}");
        let named = format!("x-toolwright: {{arguments: {{A: {{name: {first}}}, B: {{name: {second}}}}}}}");
        surface(&format!(
            "  /items: {{get: {{operationId: find, {named}, parameters: [{}, {}]}}}}\n",
            parameter("A"),
            parameter("B")
        ))
    };
    let changes = compare(&swapped("one", "two"), &swapped("two", "one"));
    let text = changes.markdown("T", "1", "2");
    assert!(changes.is_breaking());
    assert!(text.contains("`one` is named `two` now") && text.contains("`two` is named `one` now"), "{text}");
}

/// The surface of a server with one prompt and one resource.
fn offering(prompt: &str, uri: &str) -> Surface {
    let mut files = document(&format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths:\n{OLD}"));
    let message = "messages: [{text: '{a}'}]";
    files.insert("specs/t/prompts/ask.yaml", format!("description: d\narguments: {prompt}\n{message}\n"));
    files.insert("specs/t/resources/note.yaml", format!("description: d\nuri: {uri}\ntext: n\n"));
    Surface::of_generated(&generated(&files).0.files, &mut Sink::new()).unwrap()
}

#[test]
fn a_prompt_or_resource_that_is_gone_breaks_and_a_new_one_does_not() {
    let with = offering("{a: {description: d}}", "t://note");
    let added = compare(&surface(OLD), &with);
    assert!(!added.is_breaking() && added.content.len() == 2);
    let removed = compare(&with, &surface(OLD));
    assert!(removed.is_breaking());
    let text = removed.markdown("T", "1", "2");
    let section = "## Prompts and resources\n\n- prompt `ask` is gone **(callers have to change)**\n- resource `t://note` is gone **(callers have to change)**\n";
    assert!(text.ends_with(section), "{text}");
}

#[test]
fn an_argument_of_a_prompt_that_becomes_required_breaks() {
    let (optional, required) =
        (offering("{a?: {description: d}}", "t://n"), offering("{a: {description: d}}", "t://n"));
    assert!(compare(&optional, &required).is_breaking());
    assert!(!compare(&required, &optional).is_breaking());
}
