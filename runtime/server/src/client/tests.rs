use std::sync::Arc;

use serde_json::{Map, Value, json};
use tempfile::tempdir;
use toolwright_core::content::{
    Annotations, Content, Fixed, MessageContent, Piece, Prompt, PromptArgument, PromptMessage, Resource, Role,
};
use toolwright_core::{
    Ability, Access, Binding, Block, Catalog, Context, NativeCall, NativeOutput, NativeTools, Question, Reply, Risk,
    ServerSpec, Severity, ToolError, ToolSpec, no_handler,
};

use crate::settings::{BaseUrl, Exposed, SettingValue as _};
use crate::testing::{ROWS, SERVER, Wire, settings};
use crate::{App, Program};

const fn native(name: &'static str) -> ToolSpec {
    ToolSpec { name, risk: Risk::ReadOnly, binding: Binding::Native, ..ROWS[3] }
}

static CATALOG: Catalog = Catalog::new(&[
    native("confirm"),
    native("greet"),
    native("pick"),
    native("tell"),
    native("three"),
    native("touch"),
]);

static NOTES: &[Resource] = &[Resource {
    name: "note",
    title: None,
    description: "A note.",
    uri: &[Piece::Text("demo://note")],
    mime_type: None,
    annotations: Annotations::NONE,
    content: Content::Fixed(Fixed::Text(&[Piece::Text("note")])),
    completions: &[],
}];

static PROMPTS: &[Prompt] = &[Prompt {
    name: "write",
    title: None,
    description: "Write about a subject.",
    arguments: &[PromptArgument {
        name: "subject",
        title: None,
        description: "The subject.",
        required: true,
        default: None,
        completion: None,
        ask: Some("What about?"),
    }],
    messages: &[PromptMessage {
        role: Role::User,
        content: MessageContent::Text(&[Piece::Text("Write about "), Piece::Place("subject")]),
    }],
}];

static NATIVE: ServerSpec =
    ServerSpec { default_base_url: "", access: Access::NONE, resources: NOTES, prompts: PROMPTS, ..SERVER };

struct Tools;

fn form(field: &str) -> Question {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    Question::Form { message: format!("Which {field}?"), schema }
}

fn field(reply: &Reply, name: &str) -> String {
    match reply {
        Reply::Filled(fields) => fields[name].as_str().unwrap().to_owned(),
        other => format!("{other:?}"),
    }
}

async fn called(tool: &str, context: &Context) -> Result<String, ToolError> {
    match tool {
        "confirm" => {
            context.confirm("First?").await?;
            context.confirm("Second?").await?;
            Ok("both".to_owned())
        }
        "greet" => {
            let name = context.ask("name", form("name")).await?;
            let color = context.ask("color", form("color")).await?;
            Ok(format!("{} likes {}", field(&name, "name"), field(&color, "color")))
        }
        "pick" if context.can(Ability::Form) => Ok("a form".to_owned()),
        "pick" => Ok("nothing".to_owned()),
        "tell" => {
            context.log(Severity::Debug, "low");
            context.log(Severity::Warning, json!({"high": 1}));
            Ok("told".to_owned())
        }
        "three" => {
            let questions = vec![
                ("a".to_owned(), form("name")),
                ("b".to_owned(), Question::Sample(json!({"messages": [], "maxTokens": 5}))),
                ("c".to_owned(), Question::Roots),
            ];
            Ok(format!("{:?}", context.ask_all(questions).await?.len()))
        }
        "touch" => {
            context.resource_changed("demo://note");
            Ok("touched".to_owned())
        }
        other => Err(no_handler(other)),
    }
}

impl NativeTools for Tools {
    fn call<'a>(&'a self, tool: &'a str, _: Map<String, Value>, context: &'a Context) -> NativeCall<'a> {
        Box::pin(async move { Ok(NativeOutput::Content(vec![Block::text(called(tool, context).await?)])) })
    }
}

pub(crate) fn desk(state: &tempfile::TempDir) -> Arc<App> {
    let mut settings = settings(state);
    settings.base_url = BaseUrl::read("").unwrap();
    settings.exposed_tools = Exposed::Everything;
    Program::new(&NATIVE, &CATALOG).native(Tools).app(settings).unwrap()
}

fn call(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}})
}

fn said(answer: &Value) -> &Value {
    &answer["result"]["content"][0]["text"]
}

fn accept(name: &str, value: &str) -> Value {
    json!({"action": "accept", "content": {name: value}})
}

fn everything() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

async fn round(wire: &mut Wire, tool: &str, before: Option<&Value>, answers: Value) -> Value {
    let mut call = call(tool);
    if let Some(before) = before {
        call["requestState"] = before["result"]["requestState"].clone();
        call["inputResponses"] = answers;
    }
    wire.ask_modern_with("tools/call", call, everything()).await
}

#[tokio::test]
async fn a_handler_that_asks_twice_takes_three_rounds_and_keeps_the_first_answer() {
    let state = tempdir().unwrap();
    let mut wire = Wire::open(&desk(&state));
    let one = round(&mut wire, "greet", None, json!({})).await;
    assert!(one["result"]["inputRequests"]["name"].is_object(), "{one}");
    let two = round(&mut wire, "greet", Some(&one), json!({"name": accept("name", "Ada")})).await;
    assert!(two["result"]["inputRequests"]["color"].is_object(), "{two}");
    let three = round(&mut wire, "greet", Some(&two), json!({"color": accept("color", "blue")})).await;
    assert_eq!(said(&three), "Ada likes blue", "{three}");
    assert_eq!(three["result"].get("structuredContent"), None);
}

#[tokio::test]
async fn over_2025_11_25_the_handler_goes_on_where_it_was() {
    let state = tempdir().unwrap();
    let mut wire = Wire::initialized_with(&desk(&state), everything()).await;
    let name = wire.ask("tools/call", call("greet")).await;
    wire.answer(&name, accept("name", "Ada")).await;
    let color = wire.receive().await;
    wire.answer(&color, accept("color", "blue")).await;
    assert_eq!(said(&wire.receive().await), "Ada likes blue");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let state = tempdir().unwrap();
    let mut wire = Wire::open(&desk(&state));
    let one = round(&mut wire, "greet", None, json!({})).await;
    for wrong in [json!({"name": 5}), json!({"name": {"action": "accept", "content": {}}}), json!({"else": {}})] {
        let two = round(&mut wire, "greet", Some(&one), wrong).await;
        assert!(two["result"]["inputRequests"]["name"].is_object(), "{two}");
    }
}

#[tokio::test]
async fn several_questions_go_out_at_once() {
    let state = tempdir().unwrap();
    let mut wire = Wire::open(&desk(&state));
    let one = round(&mut wire, "three", None, json!({})).await;
    let methods: Vec<&Value> =
        one["result"]["inputRequests"].as_object().unwrap().values().map(|it| &it["method"]).collect();
    assert_eq!(methods, ["elicitation/create", "sampling/createMessage", "roots/list"]);
    let written = json!({"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"});
    let answers = json!({"a": accept("name", "Ada"), "b": written, "c": {"roots": []}});
    assert_eq!(said(&round(&mut wire, "three", Some(&one), answers).await), "3");
}

#[tokio::test]
async fn each_of_two_confirmations_needs_its_own_yes() {
    let state = tempdir().unwrap();
    let mut wire = Wire::open(&desk(&state));
    let one = round(&mut wire, "confirm", None, json!({})).await;
    let both = json!({"confirm_1": {"action": "accept"}, "confirm_2": {"action": "accept"}});
    let two = round(&mut wire, "confirm", Some(&one), both.clone()).await;
    assert_eq!(two["result"]["inputRequests"]["confirm_2"]["params"]["message"], "Second?", "{two}");
    assert_eq!(said(&round(&mut wire, "confirm", Some(&two), both).await), "both");
}

#[tokio::test]
async fn what_a_client_did_not_declare_is_an_error_that_names_it_or_a_failed_call() {
    let state = tempdir().unwrap();
    let app = desk(&state);
    let new = Wire::open(&app).ask_modern("tools/call", call("greet")).await;
    assert_eq!(new["error"]["code"], -32021, "{new}");
    assert_eq!(new["error"]["data"]["requiredCapabilities"], json!({"elicitation": {}}));
    let old = Wire::initialized(&app).await.ask("tools/call", call("greet")).await;
    assert_eq!(old["result"]["structuredContent"]["code"], "missing_capability", "{old}");
}

#[tokio::test]
async fn a_handler_sees_what_its_client_can() {
    let state = tempdir().unwrap();
    let app = desk(&state);
    let able = Wire::open(&app).ask_modern_with("tools/call", call("pick"), everything()).await;
    let unable = Wire::open(&app).ask_modern("tools/call", call("pick")).await;
    assert_eq!((said(&able), said(&unable)), (&json!("a form"), &json!("nothing")));
}

#[tokio::test]
async fn messages_go_to_clients_that_asked_for_their_level() {
    let state = tempdir().unwrap();
    let app = desk(&state);
    let mut old = Wire::initialized(&app).await;
    assert_eq!(said(&old.ask("tools/call", call("tell")).await), "told");
    assert_eq!(old.ask("logging/setLevel", json!({"level": "warning"})).await["result"], json!({}));
    let message = old.ask("tools/call", call("tell")).await;
    assert_eq!(message["params"], json!({"level": "warning", "logger": "demo", "data": {"high": 1}}), "{message}");
    assert_eq!(said(&old.receive().await), "told");
    let mut new = Wire::open(&app);
    assert_eq!(said(&new.ask_modern("tools/call", call("tell")).await), "told");
    let mut wanted = call("tell");
    wanted["_meta"]["io.modelcontextprotocol/logLevel"] = "debug".into();
    assert_eq!(new.ask_modern("tools/call", wanted).await["params"]["data"], "low");
}

#[tokio::test]
async fn whoever_follows_a_resource_is_told_that_it_changed() {
    let state = tempdir().unwrap();
    let mut wire = Wire::initialized(&desk(&state)).await;
    let note = json!({"uri": "demo://note"});
    assert_eq!(wire.ask("resources/subscribe", note.clone()).await["result"], json!({}));
    let messages = [wire.ask("tools/call", call("touch")).await, wire.receive().await];
    let told = messages.iter().find(|message| message["method"] == "notifications/resources/updated").unwrap();
    assert_eq!(told["params"]["uri"], "demo://note");
    assert_eq!(wire.ask("resources/unsubscribe", note).await["result"], json!({}));
    assert_eq!(said(&wire.ask("tools/call", call("touch")).await), "touched");
}

#[tokio::test]
async fn what_sessions_ask_for_is_announced_to_2025_11_25_alone() {
    let state = tempdir().unwrap();
    let app = desk(&state);
    let mut old = Wire::open(&app);
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let announced = &old.ask("initialize", hello).await["result"]["capabilities"];
    assert_eq!((&announced["logging"], &announced["resources"]["subscribe"]), (&json!({}), &json!(true)));
    let mut new = Wire::open(&app);
    let announced = &new.ask_modern("server/discover", json!({})).await["result"]["capabilities"];
    assert!(announced.get("logging").is_none() && announced["resources"].get("subscribe").is_none(), "{announced}");
    for (method, parameters) in
        [("logging/setLevel", json!({"level": "info"})), ("resources/subscribe", json!({"uri": "demo://note"}))]
    {
        assert_eq!(new.ask_modern(method, parameters).await["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn a_prompt_asks_for_what_it_lacks() {
    let state = tempdir().unwrap();
    let app = desk(&state);
    let mut wire = Wire::open(&app);
    let mut request = json!({"name": "write"});
    let one = wire.ask_modern_with("prompts/get", request.clone(), everything()).await;
    let question = &one["result"]["inputRequests"]["arguments"]["params"];
    assert_eq!(question["message"], "What about?", "{one}");
    assert_eq!(question["requestedSchema"]["required"], json!(["subject"]));
    request["requestState"] = one["result"]["requestState"].clone();
    request["inputResponses"] = json!({"arguments": accept("subject", "bees")});
    let two = wire.ask_modern_with("prompts/get", request, everything()).await;
    assert_eq!(two["result"]["messages"][0]["content"]["text"], "Write about bees", "{two}");
    let unable = wire.ask_modern("prompts/get", json!({"name": "write"})).await;
    assert_eq!(unable["error"]["code"], -32602, "{unable}");
}
