use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::tempdir;
use toolwright_core::content::Piece::{Place, Text};
use toolwright_core::content::{
    Annotations, Answer, Completion, Content, Fixed, Given, MessageContent, Prompt, PromptArgument, PromptMessage,
    Resource, Role,
};
use toolwright_core::{Binding, Catalog, ServerSpec, ToolSpec};

use crate::App;
use crate::settings::{BaseUrl, SettingValue as _, Settings};
use crate::testing::{CATALOG, ROWS, SERVER, Upstream, Wire, settings};

const fn argument(name: &'static str, required: bool, completion: Option<Completion>) -> PromptArgument {
    PromptArgument { name, title: None, description: "What to write.", required, default: None, completion, ask: None }
}

const fn said(content: MessageContent) -> PromptMessage {
    PromptMessage { role: Role::User, content }
}

const ITEM: Answer = Answer { tool: "get_item", arguments: &[("id", Given::Text(&[Place("id")]))], project: None };

const IDS: Completion =
    Completion::Answer(Answer { tool: "list_items", arguments: &[], project: Some("[.[].id | tostring]") });

static PROMPTS: &[Prompt] = &[
    Prompt {
        name: "review",
        title: Some("Review"),
        description: "Review a text.",
        arguments: &[
            argument("text", true, None),
            argument("style", false, Some(Completion::Listed(&["strict", "Stern", "kind"]))),
            PromptArgument { default: Some("en"), ..argument("language", false, None) },
        ],
        messages: &[
            said(MessageContent::Text(&[
                Text("Review in "),
                Place("language"),
                Text(":\n"),
                Place("text"),
                Text("\nBe "),
                Place("style"),
                Text("."),
            ])),
            PromptMessage { role: Role::Assistant, content: MessageContent::Text(&[Text("I will.\n")]) },
        ],
    },
    Prompt {
        name: "show",
        title: None,
        description: "Show an item.",
        arguments: &[argument("id", true, Some(IDS))],
        messages: &[
            said(MessageContent::Read(&[Text("demo://items/"), Place("id")])),
            said(MessageContent::Media { mime_type: "image/png", bytes: b"png" }),
            said(MessageContent::Embedded {
                uri: &[Text("demo://notes/"), Place("id")],
                mime_type: "text/plain",
                content: Fixed::Text(&[Text("A note on "), Place("id")]),
            }),
        ],
    },
];

const PLAIN: Resource = Resource {
    name: "guide",
    title: Some("Guide"),
    description: "How to begin.",
    uri: &[Text("demo://guide")],
    mime_type: Some("text/markdown"),
    annotations: Annotations { audience: &[Role::User], priority: Some(0.5), last_modified: None },
    content: Content::Fixed(Fixed::Text(&[Text("# Begin")])),
    completions: &[],
};

static RESOURCES: &[Resource] = &[
    Resource {
        name: "dot",
        uri: &[Text("demo://dot")],
        mime_type: Some("image/png"),
        annotations: Annotations::NONE,
        content: Content::Fixed(Fixed::Bytes(b"\x89PNG")),
        ..PLAIN
    },
    PLAIN,
    Resource {
        name: "item",
        uri: &[Text("demo://items/"), Place("id")],
        mime_type: None,
        content: Content::Answer(ITEM),
        completions: &[("id", IDS)],
        ..PLAIN
    },
    Resource {
        name: "items",
        uri: &[Text("demo://items")],
        mime_type: None,
        content: Content::Answer(Answer { tool: "list_items", arguments: &[], project: Some("length") }),
        ..PLAIN
    },
    Resource {
        name: "slow",
        uri: &[Text("demo://slow")],
        content: Content::Answer(Answer { tool: "slow_report", arguments: &[], project: None }),
        ..PLAIN
    },
];

static OFFERING: ServerSpec = ServerSpec { prompts: PROMPTS, resources: RESOURCES, ..SERVER };

struct Stage {
    _state: tempfile::TempDir,
    upstream: Upstream,
    app: Arc<App>,
}

async fn stage(change: impl FnOnce(&mut Settings)) -> Stage {
    let (state, upstream) = (tempdir().unwrap(), Upstream::start().await);
    let mut settings = settings(&state);
    settings.base_url = BaseUrl::read(&upstream.url()).unwrap();
    change(&mut settings);
    let app = App::new(&OFFERING, &CATALOG, settings).unwrap();
    Stage { _state: state, upstream, app }
}

/// The answer to a request in each era: its result or its error.
async fn both(app: &Arc<App>, method: &str, parameters: Value) -> [Value; 2] {
    let old = Wire::initialized(app).await.ask(method, parameters.clone()).await;
    let new = Wire::open(app).ask_modern(method, parameters).await;
    [old, new]
}

async fn ask(method: &str, parameters: Value) -> Value {
    let stage = stage(|_| ()).await;
    Wire::initialized(&stage.app).await.ask(method, parameters).await
}

fn of<'v>(answer: &'v Value, list: &str, key: &str) -> Vec<&'v str> {
    answer["result"][list].as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_server_announces_what_it_has() {
    let stage = stage(|_| ()).await;
    let offering = Wire::open(&stage.app).ask_modern("server/discover", json!({})).await;
    for capability in ["prompts", "resources", "completions"] {
        assert!(offering["result"]["capabilities"][capability].is_object(), "{capability}: {offering}");
    }
    let state = tempdir().unwrap();
    let bare = crate::testing::app(&state, &stage.upstream, |_| ());
    let bare = Wire::open(&bare).ask_modern("server/discover", json!({})).await;
    assert_eq!(bare["result"]["capabilities"], json!({"tools": {}, "resources": {}}));
}

#[tokio::test]
async fn prompts_are_listed_with_their_arguments_in_both_eras() {
    let stage = stage(|_| ()).await;
    for answer in both(&stage.app, "prompts/list", json!({})).await {
        assert_eq!(of(&answer, "prompts", "name"), ["review", "show"]);
        let review = &answer["result"]["prompts"][0];
        assert_eq!((&review["title"], &review["description"]), (&json!("Review"), &json!("Review a text.")));
        assert_eq!(review["arguments"][0], json!({"name": "text", "description": "What to write.", "required": true}));
    }
}

#[tokio::test]
async fn lists_of_2026_07_28_say_how_long_they_hold() {
    let stage = stage(|_| ()).await;
    for (method, ttl) in [("prompts/list", 300_000), ("resources/list", 0), ("resources/templates/list", 300_000)] {
        let [old, new] = both(&stage.app, method, json!({})).await;
        assert_eq!((&new["result"]["ttlMs"], &new["result"]["resultType"]), (&json!(ttl), &json!("complete")), "{new}");
        assert!(new["result"]["cacheScope"].is_string(), "{new}");
        assert!(
            ["ttlMs", "cacheScope", "resultType", "_meta"].iter().all(|key| old["result"].get(key).is_none()),
            "{old}"
        );
    }
}

#[tokio::test]
async fn a_prompt_is_filled_in_and_its_defaults_are_used() {
    let stage = stage(|_| ()).await;
    let parameters = json!({"name": "review", "arguments": {"text": "A {style} text.", "style": "kind"}});
    for answer in both(&stage.app, "prompts/get", parameters).await {
        let messages = &answer["result"]["messages"];
        assert_eq!(messages[0]["content"]["text"], "Review in en:\nA {style} text.\nBe kind.", "{answer}");
        assert_eq!(messages[1], json!({"role": "assistant", "content": {"type": "text", "text": "I will."}}));
    }
}

#[tokio::test]
async fn a_line_of_an_optional_argument_that_is_not_given_is_left_out() {
    let answer = ask("prompts/get", json!({"name": "review", "arguments": {"text": "T"}})).await;
    assert_eq!(answer["result"]["messages"][0]["content"]["text"], "Review in en:\nT");
}

#[tokio::test]
async fn all_faults_of_a_prompts_arguments_are_told_at_once() {
    let stage = stage(|_| ()).await;
    let parameters = json!({"name": "review", "arguments": {"txet": "T", "style": ["kind"]}});
    for answer in both(&stage.app, "prompts/get", parameters).await {
        assert_eq!(answer["error"]["code"], -32602);
        let message = answer["error"]["message"].as_str().unwrap();
        for part in ["txet; did you mean text?", "style must be a text", "text is missing"] {
            assert!(message.contains(part), "{part} in {message}");
        }
    }
}

#[tokio::test]
async fn an_argument_of_another_type_is_not_missing_as_well() {
    let answer = ask("prompts/get", json!({"name": "review", "arguments": {"text": {}}})).await;
    let message = &answer["error"]["message"];
    assert_eq!(message, "the prompt review cannot be filled in: the argument text must be a text");
}

#[tokio::test]
async fn an_unknown_prompt_is_invalid_with_a_suggestion() {
    for answer in both(&stage(|_| ()).await.app, "prompts/get", json!({"name": "reveiw"})).await {
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["message"], "Unknown prompt: reveiw; did you mean review?");
    }
}

#[tokio::test]
async fn a_prompt_shows_resources_and_images() {
    let answer = ask("prompts/get", json!({"name": "show", "arguments": {"id": 1}})).await;
    let content = |at: usize| &answer["result"]["messages"][at]["content"];
    assert_eq!((&content(0)["type"], &content(0)["resource"]["uri"]), (&json!("resource"), &json!("demo://items/1")));
    assert!(content(0)["resource"]["text"].as_str().unwrap().contains("\"id\":1"), "{answer}");
    assert_eq!(*content(1), json!({"type": "image", "data": "cG5n", "mimeType": "image/png"}));
    assert_eq!(content(2)["resource"]["text"], "A note on 1");
}

#[tokio::test]
async fn a_prompt_whose_resource_cannot_be_read_is_an_error() {
    let answer = ask("prompts/get", json!({"name": "show", "arguments": {"id": "404"}})).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["uri"]),
        (&json!(-32002), &json!("demo://items/404"))
    );
}

#[tokio::test]
async fn resources_and_templates_are_listed_apart() {
    let stage = stage(|_| ()).await;
    for answer in both(&stage.app, "resources/list", json!({})).await {
        assert_eq!(of(&answer, "resources", "uri"), ["demo://dot", "demo://guide", "demo://items", "demo://slow"]);
        let guide = &answer["result"]["resources"][1];
        assert_eq!(guide["annotations"], json!({"audience": ["user"], "priority": 0.5}));
        assert_eq!(answer["result"]["resources"][0]["size"], 4);
    }
    for answer in both(&stage.app, "resources/templates/list", json!({})).await {
        assert_eq!(of(&answer, "resourceTemplates", "uriTemplate"), ["demo://items/{id}"]);
    }
}

#[tokio::test]
async fn fixed_resources_are_read_as_text_and_as_bytes() {
    let stage = stage(|_| ()).await;
    let text = json!({"uri": "demo://guide", "mimeType": "text/markdown", "text": "# Begin"});
    let bytes = json!({"uri": "demo://dot", "mimeType": "image/png", "blob": "iVBORw=="});
    for contents in [text, bytes] {
        for answer in both(&stage.app, "resources/read", json!({"uri": contents["uri"]})).await {
            assert_eq!(answer["result"]["contents"], json!([contents]));
        }
    }
    let fresh = Wire::open(&stage.app).ask_modern("resources/read", json!({"uri": "demo://guide"})).await;
    assert_eq!((&fresh["result"]["ttlMs"], &fresh["result"]["cacheScope"]), (&json!(300_000), &json!("public")));
}

#[tokio::test]
async fn the_answer_of_a_tool_is_read_anew_each_time() {
    let stage = stage(|_| ()).await;
    let answer = Wire::open(&stage.app).ask_modern("resources/read", json!({"uri": "demo://items/1"})).await;
    let contents = &answer["result"]["contents"][0];
    assert_eq!(contents["mimeType"], "application/json");
    assert!(contents["text"].as_str().unwrap().contains("\"id\":1"), "{answer}");
    assert_eq!((&answer["result"]["ttlMs"], &answer["result"]["cacheScope"]), (&json!(0), &json!("private")));
}

#[tokio::test]
async fn a_projection_makes_the_content() {
    let answer = ask("resources/read", json!({"uri": "demo://items"})).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "1", "{answer}");
}

#[tokio::test]
async fn what_the_upstream_does_not_have_is_not_found() {
    let [old, new] = both(&stage(|_| ()).await.app, "resources/read", json!({"uri": "demo://items/404"})).await;
    assert_eq!((&old["error"]["code"], &new["error"]["code"]), (&json!(-32002), &json!(-32602)));
    assert_eq!(old["error"]["data"]["uri"], "demo://items/404");
}

#[tokio::test]
async fn a_uri_of_no_resource_is_told_apart_from_a_saved_file_that_is_gone() {
    let stage = stage(|_| ()).await;
    for (uri, part) in [
        ("demo://nothing", "resources/templates/list"),
        ("demo://items/", "resources/templates/list"),
        ("toolwright://demo/files/gone.png", "no saved file"),
    ] {
        for answer in both(&stage.app, "resources/read", json!({"uri": uri})).await {
            assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
            assert_eq!(answer["error"]["data"]["uri"], uri);
        }
    }
}

#[tokio::test]
async fn a_variable_that_does_not_fit_the_tool_is_invalid() {
    let answer = ask("resources/read", json!({"uri": "demo://items/first"})).await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["code"]),
        (&json!(-32602), &json!("invalid_arguments"))
    );
}

#[tokio::test]
async fn a_read_ends_at_its_tools_deadline() {
    let answer = ask("resources/read", json!({"uri": "demo://slow"})).await;
    assert_eq!((&answer["error"]["code"], &answer["error"]["data"]["code"]), (&json!(-32603), &json!("deadline")));
}

#[tokio::test]
async fn a_denied_tool_takes_its_resources_and_suggestions_along() {
    let stage = stage(|settings| settings.deny.0 = vec!["get_item".into(), "list_items".into()]).await;
    let mut wire = Wire::initialized(&stage.app).await;
    assert_eq!(of(&wire.ask("resources/templates/list", json!({})).await, "resourceTemplates", "name"), [""; 0]);
    let read = wire.ask("resources/read", json!({"uri": "demo://items/1"})).await;
    assert_eq!((&read["error"]["code"], &read["error"]["data"]["code"]), (&json!(-32602), &json!("not_allowed")));
    let completed = wire.ask("completion/complete", of_template("id", "")).await;
    assert_eq!(completed["result"]["completion"]["values"], json!([]));
}

#[tokio::test]
async fn a_read_is_counted_as_a_call_of_its_tool() {
    let stage = stage(|_| ()).await;
    Wire::initialized(&stage.app).await.ask("resources/read", json!({"uri": "demo://items/1"})).await;
    let text = stage.app.metrics.render(stage.app.server);
    assert!(text.contains("toolwright_calls_total{server=\"demo\",tool=\"get_item\",outcome=\"ok\"} 1"), "{text}");
}

fn of_prompt(prompt: &str, argument: &str, value: &str) -> Value {
    json!({"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": argument, "value": value}})
}

fn of_template(argument: &str, value: &str) -> Value {
    let reference = json!({"type": "ref/resource", "uri": "demo://items/{id}"});
    json!({"ref": reference, "argument": {"name": argument, "value": value}})
}

#[tokio::test]
async fn a_list_suggests_what_begins_with_what_was_typed_in_any_case() {
    for answer in both(&stage(|_| ()).await.app, "completion/complete", of_prompt("review", "style", "st")).await {
        let expected = json!({"values": ["strict", "Stern"], "total": 2, "hasMore": false});
        assert_eq!(answer["result"]["completion"], expected, "{answer}");
    }
}

#[tokio::test]
async fn a_tool_suggests_what_its_filter_makes() {
    for parameters in [of_template("id", ""), of_prompt("show", "id", "")] {
        let answer = ask("completion/complete", parameters).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["1"]), "{answer}");
    }
}

#[tokio::test]
async fn a_tool_is_asked_once_for_what_a_person_types() {
    let stage = stage(|_| ()).await;
    let mut wire = Wire::initialized(&stage.app).await;
    for typed in ["", "1", "12"] {
        wire.ask("completion/complete", of_template("id", typed)).await;
    }
    let text = stage.app.metrics.render(stage.app.server);
    assert!(text.contains("tool=\"list_items\",outcome=\"ok\"} 1"), "{text}");
}

#[tokio::test]
async fn callers_who_speak_for_themselves_share_no_suggestions() {
    let stage = stage(|settings| settings.forward_headers.0 = vec!["x-user".into()]).await;
    let mut wire = Wire::initialized(&stage.app).await;
    for _ in 0..2 {
        wire.ask("completion/complete", of_template("id", "")).await;
    }
    let text = stage.app.metrics.render(stage.app.server);
    assert!(text.contains("tool=\"list_items\",outcome=\"ok\"} 2"), "{text}");
}

#[tokio::test]
async fn an_argument_without_suggestions_has_none() {
    let answer = ask("completion/complete", of_prompt("review", "text", "a")).await;
    assert_eq!(answer["result"]["completion"], json!({"values": [], "total": 0, "hasMore": false}));
}

#[tokio::test]
async fn a_completion_of_what_is_not_there_is_invalid() {
    let elsewhere =
        json!({"ref": {"type": "ref/resource", "uri": "demo://x/{id}"}, "argument": {"name": "id", "value": ""}});
    for parameters in
        [of_prompt("reviews", "text", ""), of_prompt("review", "txt", ""), of_template("di", ""), elsewhere]
    {
        let answer = ask("completion/complete", parameters).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn a_resource_without_variables_has_nothing_to_complete_and_says_so() {
    let parameters =
        json!({"ref": {"type": "ref/resource", "uri": "demo://guide"}, "argument": {"name": "id", "value": ""}});
    let answer = ask("completion/complete", parameters).await;
    assert_eq!(answer["error"]["message"], "the resource guide has no argument id; it has none", "{answer}");
}

const MANY: &str = "[range(250) | tostring]";

static NUMBERS: ServerSpec = ServerSpec {
    default_base_url: "",
    prompts: &[Prompt {
        name: "pick",
        title: None,
        description: "Pick a number.",
        arguments: &[argument(
            "number",
            true,
            Some(Completion::Answer(Answer { tool: "numbers", arguments: &[], project: None })),
        )],
        messages: &[said(MessageContent::Text(&[Place("number")]))],
    }],
    ..SERVER
};

const fn filter(name: &'static str, text: &'static str) -> ToolSpec {
    ToolSpec { name, binding: Binding::Expression(text), ..ROWS[3] }
}

static COUNTING: Catalog = Catalog::new(&[filter("numbers", MANY)]);

#[tokio::test]
async fn a_completion_has_a_hundred_values_and_says_that_there_are_more() {
    let state = tempdir().unwrap();
    let mut settings = settings(&state);
    settings.base_url = BaseUrl::read("").unwrap();
    settings.exposed_tools = crate::settings::Exposed::Everything;
    let app = App::new(&NUMBERS, &COUNTING, settings).unwrap();
    let mut wire = Wire::initialized(&app).await;
    let all = wire.ask("completion/complete", of_prompt("pick", "number", "")).await;
    let all = &all["result"]["completion"];
    assert_eq!(
        (all["values"].as_array().unwrap().len(), &all["total"], &all["hasMore"]),
        (100, &json!(250), &json!(true))
    );
    let some = wire.ask("completion/complete", of_prompt("pick", "number", "24")).await;
    let some = &some["result"]["completion"];
    assert_eq!((&some["total"], &some["hasMore"]), (&json!(11), &json!(false)));
}

#[tokio::test]
async fn without_an_api_and_resources_there_is_no_method_about_them() {
    let state = tempdir().unwrap();
    let mut settings = settings(&state);
    settings.base_url = BaseUrl::read("").unwrap();
    let app = App::new(&NUMBERS, &COUNTING, settings).unwrap();
    let mut wire = Wire::initialized(&app).await;
    for method in ["resources/list", "resources/templates/list", "resources/read"] {
        assert_eq!(wire.ask(method, json!({"uri": "demo://guide"})).await["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn malformed_parameters_of_these_methods_are_invalid() {
    let stage = stage(|_| ()).await;
    let mut wire = Wire::initialized(&stage.app).await;
    for (method, part) in [("prompts/get", "`name`"), ("resources/read", "`uri`"), ("completion/complete", "`ref`")] {
        let answer = wire.ask(method, json!({"nam": "what it is called"})).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(part) && !message.contains("what it is"), "{message}");
    }
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        assert_eq!(wire.ask(method, json!({"cursor": "x"})).await["error"]["code"], -32602, "{method}");
    }
}
