//! Tools of an expression and of steps: what they become, and what their authors are told.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{document, findings, generated, json, text, tool_files};
use toolwright_generator::load::Files;

const API: &str = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /users:
    get:
      operationId: findUsers
      parameters:
        - {name: q, in: query, required: true, schema: {type: string}}
        - {name: pageSize, in: query, schema: {type: integer}}
  /users/{id}/orders:
    post:
      operationId: addOrder
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [itemName], properties: {itemName: {type: string}}}}}
";

const ORDER: &str = "description: Order an item for a person.
input:
  name: {type: string, description: Name of the person.}
  item: {type: string, description: Item to order.}
steps:
  - stepId: find
    operationId: findUsers
    parameters: {q: $inputs.name, page_size: 1}
    successCriteria:
      - $statusCode == 200
      - {context: $response.body, type: jq, condition: length == 1}
    outputs: {id: $response.body#/0/id}
    onFailure: [{type: retry, retryAfter: 0.5, retryLimit: 2, criteria: [{condition: $statusCode == 503}]}]
  - stepId: order
    tool: add_order
    parameters: [{name: id, in: path, value: $steps.find.outputs.id}]
    requestBody: {payload: {itemName: $inputs.item}}
    outputs: {number: $response.body#/number}
  - stepId: receipt
    http: {method: GET, path: '/receipts/{$steps.order.outputs.number}', query: {full: true}}
    outputs: {text: $response.body#/text}
outputs: {order: $steps.order.outputs.number, receipt: $steps.receipt.outputs.text}
project: '{order, receipt}'
";

fn server(file: &str) -> Files {
    let mut files = document(API);
    files.insert("specs/t/tools/order_item.yaml", file);
    files
}

/// What is said of the tool with one part of its file replaced.
fn told(replaced: &str, by: &str) -> String {
    assert!(ORDER.contains(replaced), "the test replaces nothing");
    let all = findings(&server(&ORDER.replacen(replaced, by, 1)));
    all.split("\n\n").filter(|finding| !finding.starts_with("warning")).collect::<Vec<_>>().join("\n")
}

fn tool(files: &Files, name: &str) -> Value {
    let catalog = json(&generated(files).0, "catalog.json");
    catalog["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone()
}

#[test]
fn steps_become_a_plan_that_names_tools_and_their_arguments() {
    let (generated, sink) = generated(&server(ORDER));
    let plan = json(&generated, "schemas/order_item.steps.json");
    assert_snapshot!(serde_json::to_string_pretty(&plan).unwrap());
    assert!(!sink.has_errors());
    assert!(text(&generated, "src/general.rs").contains("#[steps(\"schemas/order_item.steps.json\")]"));
}

#[test]
fn the_risk_is_that_of_the_worst_step_unless_it_is_declared() {
    assert_eq!(tool(&server(ORDER), "order_item")["risk"], "write");
    let declared = format!("hints: {{risk: compute}}\n{ORDER}");
    assert_eq!(tool(&server(&declared), "order_item")["risk"], "compute");
    let reading = ORDER.replace("tool: add_order", "operationId: findUsers").replace(
        "parameters: [{name: id, in: path, value: $steps.find.outputs.id}]\n    requestBody: {payload: {itemName: $inputs.item}}",
        "parameters: {q: $inputs.item}",
    );
    let tool = tool(&server(&reading), "order_item");
    assert_eq!((&tool["risk"], &tool["annotations"]["idempotentHint"]), (&json!("read-only"), &json!(true)));
}

#[test]
fn a_body_as_a_whole_is_spread_over_the_arguments_that_are_its_members() {
    let spread = ORDER.replace("{payload: {itemName: $inputs.item}}", "{payload: $inputs.item}");
    let plan = json(&generated(&server(&spread)).0, "schemas/order_item.steps.json");
    let expected = json!({"value": "$inputs.item", "members": {"itemName": "item_name"}});
    assert_eq!(plan["steps"][1]["call"]["tool"]["spread"], expected);
}

#[test]
fn an_operation_can_be_named_by_its_pointer() {
    let by_path = ORDER
        .replace("tool: add_order", "operationPath: '{$sourceDescriptions.api.url}#/paths/~1users~1{id}~1orders/post'");
    assert_eq!(
        json(&generated(&server(&by_path)).0, "schemas/order_item.steps.json")["steps"][1]["call"]["tool"]["name"],
        "add_order"
    );
}

#[test]
fn steps_need_an_upstream() {
    assert!(findings(&tool_files(&[("order_item", ORDER)], "")).contains("the key `upstream` is missing"));
}

#[test]
fn an_expression_becomes_a_filter_in_the_row() {
    let file = "description: Add two numbers.\ninput: {a: {type: number}, b: {type: number}}\n\
                output: {type: number}\nexpression: .a + .b\n";
    let files = tool_files(&[("add", file)], "");
    assert!(text(&generated(&files).0, "src/general.rs").contains("#[expression(\".a + .b\")]"));
    let tool = tool(&files, "add");
    assert_eq!((&tool["risk"], &tool["binding"]), (&json!("compute"), &json!({"expression": ".a + .b"})));
}

#[test]
fn mistakes_about_an_expression() {
    let file = "description: Add two numbers.\nhints: {risk: write}\ninput: {a: {type: number}}\noutputs: {x: 1}\nexpression: .a | plus(1)\n";
    assert_snapshot!(findings(&tool_files(&[("add", file)], "")));
}

#[test]
fn a_name_of_a_tool_that_is_misspelt() {
    assert_snapshot!(told("tool: add_order", "tool: add_ordr"));
}

#[test]
fn an_operation_that_does_not_exist() {
    assert_snapshot!(told("operationId: findUsers", "operationId: findUser"));
}

#[test]
fn an_argument_that_the_tool_does_not_have() {
    assert_snapshot!(told("q: $inputs.name", "p: $inputs.name"));
}

#[test]
fn a_member_that_the_body_does_not_have() {
    assert_snapshot!(told("payload: {itemName:", "payload: {item:"));
}

#[test]
fn an_input_that_does_not_exist() {
    assert_snapshot!(told("q: $inputs.name", "q: $inputs.nme"));
}

#[test]
fn a_step_and_an_output_that_do_not_exist() {
    assert_snapshot!(told(
        "value: $steps.find.outputs.id",
        "value: '{$steps.fnd.outputs.id}-{$steps.find.outputs.name}'"
    ));
}

#[test]
fn an_output_of_a_later_step() {
    assert_snapshot!(told("q: $inputs.name", "q: $steps.receipt.outputs.text"));
}

#[test]
fn an_answer_where_there_is_none() {
    assert_snapshot!(told("receipt: $steps.receipt.outputs.text", "receipt: $response.body#/text"));
}

#[test]
fn expressions_that_have_no_meaning() {
    assert_snapshot!(told("{id: $response.body#/0/id}", "{id: $response.body.id, url: $url}"));
}

#[test]
fn an_expression_without_its_end() {
    let said = told("{id: $response.body#/0/id}", "{id: 'a {$inputs.name'}");
    assert!(said.contains("`{$inputs.name` has no end") && said.contains("help: write `{$inputs.name}`"), "{said}");
}

#[test]
fn criteria_that_cannot_be_checked() {
    assert_snapshot!(told(
        "      - $statusCode == 200\n      - {context: $response.body, type: jq, condition: length == 1}\n",
        "      - $statusCode = 200\n      - {context: $response.body, type: jq, condition: lenth}\n\
         \x20     - {context: $response.body, type: jsonpath, condition: '$[0]'}\n",
    ));
}

#[test]
fn actions_that_lead_nowhere() {
    assert_snapshot!(told(
        "[{type: retry, retryAfter: 0.5, retryLimit: 2, criteria: [{condition: $statusCode == 503}]}]",
        "[{type: goto, stepId: recipt}, {type: retry, retryLimit: 99}, {type: stop}]",
    ));
}

#[test]
fn steps_that_call_nothing_or_two_things() {
    assert_snapshot!(told("    tool: add_order\n", "    tool: add_order\n    operationId: addOrder\n"));
    assert_snapshot!(told("    operationId: findUsers\n", ""));
}

#[test]
fn a_step_that_is_several_calls_itself() {
    assert_snapshot!(told("tool: add_order", "tool: order_item"));
}

#[test]
fn mistakes_about_a_request() {
    assert_snapshot!(told(
        "{method: GET, path: '/receipts/{$steps.order.outputs.number}', query: {full: true}}",
        "{method: GET, path: '/receipts/{number}', body: {a: 1}, headers: {Host: x}}",
    ));
}

#[test]
fn two_steps_of_one_name() {
    assert_snapshot!(told("stepId: order", "stepId: find"));
}

const WORKFLOWS: &str = "arazzo: 1.0.1
info: {title: Orders, version: '1'}
sourceDescriptions: [{name: api, url: ./openapi.yaml, type: openapi}]
workflows:
  - workflowId: orderItem
    summary: Order item
    description: Order an item for a person.
    inputs: {$ref: '#/components/inputs/order'}
    x-toolwright: {caution: The person pays for the item.}
    failureActions: [{reference: $components.failureActions.again}]
    steps:
      - stepId: find
        operationId: $sourceDescriptions.api.findUsers
        parameters: [{name: q, in: query, value: $inputs.personName}]
        outputs: {id: $response.body#/0/id}
      - stepId: order
        operationId: addOrder
        parameters: [{name: id, in: path, value: $steps.find.outputs.id}]
        requestBody: {contentType: application/json, payload: {itemName: '{$inputs.item}'}}
        successCriteria: [{condition: $statusCode == 201}]
        outputs: {number: $response.body#/number}
    outputs: {number: $steps.order.outputs.number}
components:
  inputs:
    order:
      type: object
      required: [personName]
      properties: {personName: {type: string}, item: {type: string}}
  failureActions:
    again: {name: again, type: retry, retryAfter: 2, retryLimit: 3, criteria: [{condition: $statusCode == 503}]}
";

fn workflows(text: &str) -> Files {
    let mut files = document(API);
    files.insert("specs/t/arazzo/orders.yaml", text);
    files
}

#[test]
fn a_workflow_of_arazzo_is_a_tool_of_steps() {
    let files = workflows(WORKFLOWS);
    let plan = json(&generated(&files).0, "schemas/order_item.steps.json");
    assert_snapshot!(serde_json::to_string_pretty(&plan).unwrap());
    let tool = tool(&files, "order_item");
    assert_eq!((&tool["title"], &tool["risk"]), (&json!("Order item"), &json!("write")));
    assert_eq!(tool["arguments"]["person_name"]["required"], true, "{tool}");
    assert_eq!(tool["arguments"]["item"].get("required"), None);
}

#[test]
fn mistakes_in_a_workflow_have_the_places_of_its_file() {
    let wrong = WORKFLOWS
        .replace("api.findUsers", "api.findUser")
        .replace("value: $inputs.personName", "value: $inputs.personNam")
        .replace("{condition: $statusCode == 201}", "{condition: $statusCode === 201}")
        .replace("failureActions.again}", "failureActions.agin}");
    let all = findings(&workflows(&wrong));
    assert_snapshot!(
        all.split("\n\n").filter(|finding| !finding.starts_with("warning")).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn a_workflow_and_a_tool_file_cannot_make_the_same_tool() {
    let mut files = workflows(WORKFLOWS);
    files.insert("specs/t/tools/order_item.yaml", ORDER);
    assert!(findings(&files).contains("two files make the tool `order_item`"));
}

#[test]
fn a_destructive_step_makes_the_tool_say_what_is_lost() {
    let deleting = ORDER.replace(
        "http: {method: GET, path: '/receipts/{$steps.order.outputs.number}', query: {full: true}}",
        "http: {method: DELETE, path: /receipts}",
    );
    let said = |file: &str| findings(&server(file)).contains("does not say what is lost");
    assert!(said(&deleting));
    assert!(!said(&format!("caution: All receipts are lost.\n{deleting}")));
}
