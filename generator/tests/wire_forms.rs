//! What the generator makes of bodies, credentials and servers. One rule each, on the smallest document.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{arguments, document, files, findings, generated, json as file, text};
use toolwright_generator::ledger::{Outcome, Part, Rule};

/// A document of one POST with this body, in flow YAML.
fn post(content: &str) -> String {
    format!(
        "openapi: 3.1.0
info: {{title: t, version: '1'}}
paths:
  /t:
    post:
      operationId: t
      requestBody: {{required: true, content: {content}}}
      responses: {{'200': {{description: ok}}}}
components:
  schemas:
    Thing: {{type: object, required: [name], properties: {{name: {{type: string}}, data: {{type: string, format: binary}}}}}}
"
    )
}

fn bodies(content: &str) -> Value {
    arguments(&generated(&document(&post(content))).0, "t")
}

fn schema(content: &str) -> Value {
    file(&generated(&document(&post(content))).0, "schemas/t.json")
}

fn code(content: &str) -> String {
    text(&generated(&document(&post(content))).0, "src/general.rs")
}

#[test]
fn bytes_are_a_file_input_of_the_declared_type() {
    for media_type in ["application/octet-stream", "application/x-tar", "image/png", "application/zip"] {
        let content = format!("{{{media_type}: {{schema: {{type: string, format: binary}}}}}}");
        assert_eq!(bodies(&content), json!({"file": {"in": "body", "media_type": media_type, "required": true}}));
        let file = &schema(&content)["properties"]["file"];
        assert_eq!(file, &json!({"type": "string", "description": "Path, data: URI, base64: or URL."}));
    }
}

#[test]
fn bytes_need_no_schema() {
    assert_eq!(bodies("{application/octet-stream: {}}")["file"]["in"], "body");
}

#[test]
fn anything_that_is_bytes_is_a_file_input() {
    let any = "{'*/*': {schema: {type: string, format: binary}}}";
    assert_eq!(bodies(any)["file"]["media_type"], "*/*");
}

#[test]
fn text_is_one_argument_of_text_whatever_its_schema_says() {
    for media_type in ["text/plain", "application/xml", "text/csv", "application/yaml"] {
        let content = format!("{{{media_type}: {{schema: {{$ref: '#/components/schemas/Thing'}}}}}}");
        assert_eq!(bodies(&content), json!({"text": {"in": "body", "media_type": media_type, "required": true}}));
        assert_eq!(schema(&content)["properties"]["text"]["type"], "string");
    }
}

#[test]
fn a_text_schema_keeps_what_it_says_of_text() {
    let content = "{text/plain: {schema: {type: string, enum: [on, off]}}}".replace("on, off", "'on', 'off'");
    assert_eq!(schema(&content)["properties"]["text"]["enum"], json!(["on", "off"]));
}

#[test]
fn json_bodies_of_any_type_are_one_argument() {
    for shape in ["string", "integer", "array", "object", "boolean"] {
        let content = format!("{{application/json: {{schema: {{type: {shape}}}}}}}");
        assert_eq!(schema(&content)["properties"]["request"]["type"], shape);
    }
    let map = "{application/json: {schema: {type: object, additionalProperties: {type: integer}}}}";
    assert_eq!(schema(map)["properties"]["request"]["additionalProperties"]["type"], "integer");
}

#[test]
fn json_types_are_sent_as_declared() {
    for media_type in ["application/json-patch+json", "application/merge-patch+json", "application/vnd.x.v1+json"] {
        let content = format!("{{{media_type}: {{schema: {{type: array, items: {{}}}}}}}}");
        assert_eq!(bodies(&content)["request"]["media_type"], media_type);
    }
}

#[test]
fn lines_of_json_are_an_array_of_their_items() {
    let content = "{application/x-ndjson: {itemSchema: {$ref: '#/components/schemas/Thing'}}}";
    let request = &schema(content)["properties"]["request"];
    assert_eq!(request["type"], "array");
    assert!(request["items"].is_object(), "{request}");
}

#[test]
fn of_media_types_with_one_schema_json_is_sent_and_nothing_is_asked() {
    let content = "{application/xml: {schema: {type: object}}, application/json: {schema: {type: object}}}";
    assert_eq!(bodies(content), json!({"request": {"in": "body", "media_type": "application/json", "required": true}}));
}

#[test]
fn a_form_with_files_goes_before_json_of_the_same_schema() {
    let same = "{schema: {$ref: '#/components/schemas/Thing'}}";
    let content = format!("{{application/json: {same}, multipart/form-data: {same}}}");
    assert_eq!(bodies(&content)["data"]["in"], "file");
}

#[test]
fn bodies_that_differ_are_chosen_by_content_type() {
    let content = "{text/plain: {schema: {type: string}}, multipart/form-data: {schema: {$ref: '#/components/schemas/Thing'}}, \
                   application/json: {schema: {type: object, properties: {a: {type: integer}}}}}";
    let schema = schema(content);
    assert_eq!(schema["required"], Value::Null);
    assert_eq!(
        schema["properties"]["content_type"]["enum"],
        json!(["application/json", "multipart/form-data", "text/plain"])
    );
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["request", "form", "text", "content_type"]);
    let data = &schema["properties"]["form"]["properties"]["data"];
    assert_eq!(data["description"], "Path, data: URI, base64: or URL.");
    let code = code(content);
    assert!(code.contains("#[body(required)]"), "{code}");
    assert!(code.contains("field(wire = \"data\", file)"), "{code}");
    assert!(code.contains("#[content_type]"), "{code}");
}

#[test]
fn a_form_among_several_bodies_takes_what_the_first_would_take() {
    let form = |said: &str| {
        let content = format!(
            "{{application/json: {{schema: {{type: string}}}}, application/x-www-form-urlencoded: \
            {{schema: {{type: object, properties: {{a: {{type: string}}}}{said}}}}}}}"
        );
        schema(&content)["properties"]["form"]["additionalProperties"].clone()
    };
    assert_eq!(form(""), Value::Null);
    assert_eq!(form(", additionalProperties: false"), false);
    assert_eq!(form(", additionalProperties: {type: integer}"), json!({"type": "integer"}));
}

#[test]
fn of_two_json_bodies_the_same_goes_first_whatever_the_document_lists_first() {
    let merge = "application/merge-patch+json: {schema: {type: object}}";
    let patch = "application/json-patch+json: {schema: {type: array}}";
    let bodies = [format!("{{{merge}, {patch}}}"), format!("{{{patch}, {merge}}}")].map(|content| bodies(&content));
    assert_eq!(bodies[0]["request"]["media_type"], "application/json-patch+json");
    assert_eq!(bodies[0], bodies[1]);
}

#[test]
fn parts_have_the_content_type_of_their_encoding() {
    let content = "{multipart/form-data: {schema: {type: object, properties: {meta: {type: object}, xml: {type: string}, \
                   data: {type: string, format: binary}}}, encoding: {meta: {contentType: application/json}, \
                   xml: {contentType: 'application/xml; charset=utf-8'}, data: {contentType: 'image/png, image/jpeg'}}}}";
    let bodies = bodies(content);
    assert_eq!((&bodies["meta"]["style"], &bodies["meta"]["content_type"]), (&json!("json"), &Value::Null));
    assert_eq!(bodies["xml"]["content_type"], "application/xml; charset=utf-8");
    assert_eq!(bodies["data"]["content_type"], "image/png, image/jpeg");
}

#[test]
fn urlencoded_fields_have_the_style_of_their_encoding() {
    let content = "{application/x-www-form-urlencoded: {schema: {type: object, properties: {deep: {type: object}, \
                   piped: {type: array, items: {type: string}}, json: {type: object}, joined: {type: array, items: {type: string}}}}, \
                   encoding: {deep: {style: deepObject, explode: true}, piped: {style: pipeDelimited}, joined: {explode: false}}}}";
    let bodies = bodies(content);
    let written = |name: &str| (bodies[name]["style"].clone(), bodies[name]["explode"].clone());
    assert_eq!(written("deep"), (json!("deep"), json!(true)));
    assert_eq!(written("piped"), (json!("pipes"), json!(false)));
    assert_eq!(written("json"), (json!("json"), json!(false)));
    assert_eq!(written("joined"), (json!("form"), json!(false)));
}

#[test]
fn a_form_without_declared_fields_takes_any() {
    for media_type in ["application/x-www-form-urlencoded", "multipart/form-data"] {
        let content = format!("{{{media_type}: {{schema: {{type: object}}}}}}");
        assert_eq!(schema(&content)["properties"]["form"]["type"], "object");
    }
    assert!(code("{application/x-www-form-urlencoded: {schema: {}}}").contains("#[extra(urlencoded)]"));
}

#[test]
fn the_fields_of_a_union_are_fields_of_the_form() {
    let content = "{application/x-www-form-urlencoded: {schema: {oneOf: [{type: object, required: [a], properties: {a: {type: string}}}, \
                   {type: object, properties: {b: {type: string}}}]}}}";
    let schema = schema(content);
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!((names, &schema["required"]), (vec![&"a".to_owned(), &"b".to_owned()], &Value::Null));
}

#[test]
fn a_body_without_media_types_is_sent_as_json() {
    assert_eq!(bodies("{}")["request"]["in"], "body");
}

#[test]
fn a_body_that_leaves_no_input_fails_the_build() {
    let content = "{application/x-www-form-urlencoded: {schema: {type: object, properties: {id: {type: string, readOnly: true}}}}}";
    assert!(
        findings(&document(&post(content))).contains("POST /t has a body, and its tool would have no input for it")
    );
}

/// A document of two GETs with these members at the root, and these in the first operation.
fn with_root(root: &str, operation: &str) -> String {
    format!(
        "openapi: 3.1.0
info: {{title: t, version: '1'}}
{root}
paths:
  /t:
    get: {{operationId: t, responses: {{'200': {{description: ok}}}}{operation}}}
"
    )
}

fn server(root: &str, operation: &str) -> (String, String) {
    let (generated, _) = generated(&document(&with_root(root, operation)));
    let plain = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (plain(text(&generated, "src/lib.rs")), plain(text(&generated, "src/general.rs")))
}

fn scheme(node: &str) -> String {
    server(&format!("components: {{securitySchemes: {{petAuth: {node}}}}}"), "").0
}

#[test]
fn a_key_is_a_setting_named_after_its_scheme() {
    let root = scheme("{type: apiKey, in: header, name: X-Key}");
    assert!(root.contains("key: \"pet_auth\", env: \"T_PET_AUTH\""), "{root}");
    assert!(
        root.contains(
            "ApiKey { location: toolwright_core::Location::Header, wire: \"X-Key\", setting: \"pet_auth\", }"
        ),
        "{root}"
    );
    assert!(root.contains("secret: true"), "{root}");
}

#[test]
fn basic_has_a_user_name_and_a_password() {
    let root = scheme("{type: http, scheme: Basic}");
    assert!(root.contains("Basic { username: \"pet_auth_username\", password: \"pet_auth_password\", }"), "{root}");
    assert!(root.contains("env: \"T_PET_AUTH_PASSWORD\""), "{root}");
}

#[test]
fn bearer_and_openid_are_a_token() {
    for node in ["{type: http, scheme: bearer}", "{type: openIdConnect, openIdConnectUrl: 'https://id/x'}"] {
        assert!(scheme(node).contains("Bearer { setting: \"pet_auth\""));
    }
}

#[test]
fn client_credentials_know_their_token_endpoint() {
    let root = scheme("{type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://id/token', scopes: {}}}}");
    assert!(root.contains("client_secret: \"pet_auth_client_secret\""), "{root}");
    assert!(root.contains("env: \"T_PET_AUTH_TOKEN_URL\", default: \"https://id/token\""), "{root}");
}

#[test]
fn flows_that_need_a_browser_take_a_token() {
    let root = scheme("{type: oauth2, flows: {implicit: {authorizationUrl: 'https://id/a', scopes: {}}}}");
    assert!(root.contains("Bearer { setting: \"pet_auth_token\""), "{root}");
}

#[test]
fn a_scheme_never_takes_the_name_of_a_setting_of_every_server() {
    let (root, _) = server("components: {securitySchemes: {host: {type: http, scheme: bearer}}}", "");
    assert!(root.contains("key: \"host_credential\""), "{root}");
}

#[test]
fn requirements_keep_their_alternatives_and_combinations() {
    let schemes =
        "components: {securitySchemes: {a: {type: http, scheme: bearer}, b: {type: apiKey, in: query, name: k}}}";
    let root = format!("security: [{{a: [], b: []}}, {{b: []}}]\n{schemes}");
    assert!(server(&root, "").0.contains("security: &[&[\"a\", \"b\"], &[\"b\"]]"));
    let own = server(&root, ", security: [{}, {a: []}]").1;
    assert!(own.contains("security((), (\"a\"))"), "{own}");
    assert!(server(&root, ", security: []").1.contains("security()"));
    assert!(server(schemes, "").0.contains("security: &[&[\"a\"], &[\"b\"]]"));
}

#[test]
fn where_the_server_file_says_how_to_authenticate_the_schemes_are_left_aside() {
    let root = "components: {securitySchemes: {a: {type: http, scheme: bearer}}}";
    let mut files = files(&with_root(root, ", security: []"), "", None);
    let settings = "server: t\ntitle: T\ndocument: openapi.yaml\nupstream: {env_prefix: T, auth: {bearer: api_key}}\n";
    files.insert("specs/t/server.yaml", settings);
    let (generated, _) = generated(&files);
    assert!(text(&generated, "src/lib.rs").contains("access: Access::NONE"));
    assert!(!text(&generated, "src/general.rs").contains("security"));
}

#[test]
fn the_documents_server_is_the_default_and_its_variables_are_settings() {
    let servers =
        "servers: [{url: 'https://{region}.example/v1/', variables: {region: {default: eu, enum: [eu, us]}}}]";
    let (root, _) = server(servers, "");
    assert!(root.contains("default_base_url: \"https://{server_region}.example/v1\""), "{root}");
    assert!(root.contains("env: \"T_SERVER_REGION\", default: \"eu\""), "{root}");
    assert!(root.contains("allowed: &[\"eu\", \"us\"]"), "{root}");
}

#[test]
fn a_relative_server_is_no_default() {
    assert!(server("servers: [{url: /api}]", "").0.contains("default_base_url: \"\""));
}

#[test]
fn a_host_of_the_server_file_and_a_path_of_the_document_make_one_address() {
    let address = |base_url: &str, declared: &str| {
        let mut files = files(&with_root(&format!("servers: [{{url: '{declared}'}}]"), ""), "", None);
        let upstream = format!("upstream: {{env_prefix: T, base_url: '{base_url}'}}\n");
        files.insert("specs/t/server.yaml", format!("server: t\ntitle: T\ndocument: openapi.yaml\n{upstream}"));
        let root = text(&generated(&files).0, "src/lib.rs");
        let line = root.lines().find(|line| line.contains("default_base_url")).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    assert_eq!(address("http://h:1", "/api/v1/"), "http://h:1/api/v1");
    assert_eq!(address("http://h:1/proxy", "/api/v1"), "http://h:1/proxy");
    assert_eq!(address("http://h:1", "https://other/v1"), "http://h:1");
}

#[test]
fn an_operations_server_beats_its_paths() {
    let root = "servers: [{url: 'https://a.example'}]";
    assert!(server(root, ", servers: [{url: 'https://b.example/x'}]").1.contains("server = \"https://b.example/x\""));
    let mut of_path = with_root(root, "");
    of_path.push_str("    servers: [{url: /p}]\n");
    let (generated, _) = generated(&document(&of_path));
    assert!(text(&generated, "src/general.rs").contains("server = \"/p\""));
}

fn parameter(node: &str) -> Value {
    let operation = format!(", parameters: [{node}]");
    arguments(&generated(&document(&with_root("", &operation))).0, "t")
}

#[test]
fn headers_that_carry_route_or_frame_are_no_arguments() {
    for name in ["Accept", "content-type", "Authorization", "Cookie", "Host", "Content-Length"] {
        let node = format!("{{name: {name}, in: header, schema: {{type: string}}}}");
        assert_eq!(parameter(&node), Value::Null, "{name}");
    }
}

#[test]
fn headers_and_cookies_have_their_styles() {
    let header = parameter("{name: X-Ids, in: header, explode: true, schema: {type: object}}");
    assert_eq!((&header["x_ids"]["style"], &header["x_ids"]["explode"]), (&json!("simple"), &json!(true)));
    let cookie = parameter("{name: ids, in: cookie, explode: false, schema: {type: array, items: {type: string}}}");
    assert_eq!((&cookie["ids"]["style"], &cookie["ids"]["explode"]), (&json!("form"), &json!(false)));
    let newer = parameter("{name: ids, in: cookie, style: cookie, schema: {type: string}}");
    assert_eq!((&newer["ids"]["style"], &newer["ids"]["explode"]), (&json!("cookie"), &json!(true)));
}

#[test]
fn a_style_that_the_place_does_not_know_is_the_default_with_a_warning() {
    let node = "{name: X-Ids, in: header, style: form, schema: {type: string}}";
    assert_eq!(parameter(node)["x_ids"]["style"], "simple");
    let operation = format!(", parameters: [{node}]");
    assert!(findings(&document(&with_root("", &operation))).contains("a parameter in header has no style \"form\""));
    let other = ", parameters: [{name: q, in: query, style: cookie, schema: {type: string}}]";
    assert!(findings(&document(&with_root("", other))).contains("a parameter in query has no style \"cookie\""));
}

#[test]
fn a_content_parameter_is_json_unless_it_is_text() {
    let json_one = parameter("{name: q, in: query, content: {application/json: {schema: {type: object}}}}");
    assert_eq!(json_one["q"]["style"], "json");
    let text_one = parameter("{name: q, in: query, content: {text/plain: {schema: {type: string}}}}");
    assert_eq!(text_one["q"]["style"], "form");
}

#[test]
fn schemes_are_settings_in_the_ledger_and_an_unknown_kind_is_told() {
    let text = "openapi: 3.1.0
info: {title: t, version: '1'}
paths: {/t: {get: {operationId: t}}}
components: {securitySchemes: {MyOAuth2: {type: http, scheme: bearer}, odd: {type: carrier-pigeon}}}
";
    let (generated, sink) = generated(&document(text));
    assert_eq!(
        file(&generated, "ledger.json")["totals"]["security_scheme"],
        json!({"total": 2, "mapped": 1, "dropped": {"unknown-scheme": 1}})
    );
    assert!(sink.to_string().contains("warning[unknown-scheme]: the security scheme `odd`"), "{sink}");
    assert!(support::text(&generated, "src/lib.rs").contains("env: \"T_MY_OAUTH2\""));
}

#[test]
fn further_fields_of_an_urlencoded_form_are_one_argument_and_are_sent() {
    let form = |further: &str| {
        format!(
            "{{application/x-www-form-urlencoded: {{schema: {{type: object, properties: {{a: {{type: string}}}}{further}}}}}}}"
        )
    };
    let open = form(", additionalProperties: {type: integer}");
    let extra = &schema(&open)["properties"]["extra_form"];
    assert_eq!(extra["additionalProperties"], json!({"type": "integer"}));
    assert_eq!(bodies(&open)["extra_form"]["in"], "extra form fields");
    assert!(code(&open).contains("#[extra(urlencoded)]"), "{}", code(&open));
    assert_eq!(bodies(&form(", additionalProperties: true"))["extra_form"]["in"], "extra form fields");
    assert!(bodies(&form("")).get("extra_form").is_none());
}

#[test]
fn properties_that_are_written_in_place_are_in_the_ledger_and_it_adds_up() {
    let paths = "openapi: 3.1.0
info: {title: t, version: '1'}
paths:
  /t:
    post:
      operationId: t
      parameters: [{name: f, in: query, content: {application/json: {schema: {type: object, properties: {p: {}}}}}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {a: {type: object, properties: {b: {}}}, made: {readOnly: true}}}}}}
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: object, properties: {c: {}}}}}}
        '201': {description: ok, content: {application/json: {schema: {type: object, properties: {d: {}}}}}}
        '400': {description: no, content: {application/json: {schema: {type: object, properties: {e: {}}}}}}
";
    let (generated, sink) = generated(&document(paths));
    let properties = &file(&generated, "ledger.json")["totals"]["property"];
    let dropped = json!({"read-only": 1, "further-success": 1, "error-answer": 1});
    assert_eq!(properties, &json!({"total": 7, "mapped": 4, "dropped": dropped}), "{sink}");
    assert!(generated.ledger.summary().values().all(toolwright_generator::ledger::PartSummary::adds_up));
    assert!(!sink.to_string().contains("unaccounted"), "{sink}");
}

#[test]
fn a_body_that_would_leave_a_tool_without_inputs_stops_the_run() {
    let empty = "{application/json: {schema: {type: object, properties: {made: {type: string, readOnly: true}}, additionalProperties: false}}}";
    let form = "{application/x-www-form-urlencoded: {schema: {type: object, properties: {made: {type: string, readOnly: true}}}}}";
    let told = findings(&document(&post(form)));
    assert!(told.contains("error[body-without-inputs]: POST /t has a body"), "{told}");
    assert!(bodies(empty).get("request").is_some());
}

#[test]
fn bodies_that_would_be_sent_as_one_media_type_are_one() {
    let range = |name: &str| format!("{{schema: {{type: object, properties: {{{name}: {{type: string}}}}}}}}");
    let content = format!("{{'application/*': {}, '*/*': {}}}", range("second"), range("first"));
    let told = findings(&document(&post(&content)));
    let wanted = "the bodies */* and application/* are both sent as application/json, and application/* was left out";
    assert!(told.contains(wanted), "{told}");
    assert!(!told.contains("unaccounted"), "{told}");
    let schema = schema(&content).to_string();
    assert!(schema.contains("\"first\"") && !schema.contains("\"second\""), "{schema}");
    assert!(!schema.contains("content_type"), "{schema}");
}

#[test]
fn a_path_that_is_not_sent_as_it_stands_is_told_with_what_is_sent() {
    let told = |path: &str| {
        findings(&document(&format!(
            "openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\npaths: {{\"{path}\": {{get: {{operationId: t}}}}}}\n"
        )))
    };
    assert!(told("/a/../b").contains("warning[odd-path]: the path \"/a/../b\" has a segment of dots"));
    assert!(told("/a//b").contains("has an empty segment, which is sent as it is"));
    assert!(told("/a/{b").contains("braces that do not match"));
    assert!(!told("/a/b/").contains("odd-path"));
}

#[test]
fn a_query_behind_the_path_asks_for_nothing_that_is_never_sent() {
    let text = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {'/a/{b}{?q}': {get: {operationId: t, \
                parameters: [{name: q, in: path, required: true, schema: {type: string}}]}}}\n";
    let (generated, sink) = generated(&document(text));
    assert_eq!(arguments(&generated, "t").as_object().unwrap().keys().collect::<Vec<_>>(), ["b"]);
    let said = sink.to_string();
    assert!(said.contains("warning[odd-path]") && said.contains("warning[stray-path-parameter]"), "{said}");
}

/// One parameter of `GET /t/{id}` as the catalog shows it, and what is reported.
fn reported(node: &str) -> (Value, String) {
    let path = "{name: id, in: path, required: true, schema: {type: string}}";
    let nodes = if node.contains("in: path") { node.to_owned() } else { format!("{path}, {node}") };
    let text = with_root("", &format!(", parameters: [{nodes}]")).replace("  /t:", "  '/t/{id}':");
    let (generated, sink) = generated(&document(&text));
    (arguments(&generated, "t"), sink.to_string())
}

#[test]
fn reserved_characters_are_allowed_in_a_query_alone() {
    let (arguments, said) = reported("{name: next, in: query, allowReserved: true, schema: {type: string}}");
    assert_eq!((&arguments["next"]["reserved"], said.contains("allowReserved")), (&json!(true), false));
    let (arguments, said) =
        reported("{name: id, in: path, required: true, allowReserved: true, schema: {type: string}}");
    assert_eq!(arguments["id"]["reserved"], Value::Null);
    assert!(said.contains("`allowReserved` is for the query, and this parameter is in path"), "{said}");
}

#[test]
fn reserved_characters_of_a_form_field_make_its_content_type_silent() {
    let content = "{application/x-www-form-urlencoded: {schema: {type: object, properties: {next: {type: string}}}, \
                   encoding: {next: {allowReserved: true, contentType: application/json}}}}";
    let next = &bodies(content)["next"];
    assert_eq!((&next["reserved"], &next["style"]), (&json!(true), &json!("form")));
    let multipart = content.replace("application/x-www-form-urlencoded", "multipart/form-data");
    assert_eq!(bodies(&multipart)["next"]["reserved"], Value::Null);
}

const WITH_HEADERS: &str = "{multipart/form-data: {schema: {type: object, required: [file], properties: {file: {type: string, format: binary}}}, \
    encoding: {file: {headers: {Content-Type: {schema: {type: string}}, X-Kind: {schema: {type: string, enum: [raw]}}, \
    X-Digest: {required: true, description: The digest., schema: {type: string}}, X-Level: {schema: {type: integer, default: 3}}}}}}}";

#[test]
fn headers_of_parts_are_arguments_where_they_have_more_than_one_value() {
    let bodies = bodies(WITH_HEADERS);
    let digest = json!({"in": "header of a part", "wire": "X-Digest", "part": "file", "required": true});
    assert_eq!((&bodies["file_x_digest"], bodies.get("file_x_kind")), (&digest, None));
    assert_eq!(bodies.get("file_content_type"), None);
    let schema = schema(WITH_HEADERS);
    assert_eq!(schema["properties"]["file_x_digest"]["description"], "The digest.");
    assert_eq!(schema["properties"]["file_x_level"]["default"], 3);
    assert_eq!(schema["required"], json!(["file", "file_x_digest"]));
}

#[test]
fn headers_of_parts_with_one_value_are_sent_by_themselves() {
    assert!(code(WITH_HEADERS).contains("part_headers((\"file\", \"X-Kind\", \"raw\"))"), "{}", code(WITH_HEADERS));
}

#[test]
fn headers_of_parts_of_a_form_among_several_bodies_are_reported() {
    let content = WITH_HEADERS.replacen('{', "{application/json: {schema: {type: array, items: {type: string}}}, ", 1);
    let said = findings(&document(&post(&content)));
    assert!(said.contains("the header X-Digest of a part is not sent where a form is one of several bodies"), "{said}");
}

#[test]
fn headers_of_a_part_that_is_not_there_are_reported() {
    let said = findings(&document(&post(&WITH_HEADERS.replace("encoding: {file:", "encoding: {fiel:"))));
    assert!(said.contains("for a part `fiel`, which the body does not have"), "{said}");
    assert!(!findings(&document(&post(WITH_HEADERS))).contains("which the body does not have"));
}

#[test]
fn parts_with_names_are_fields_in_every_multipart_type() {
    let content = "{multipart/mixed: {schema: {$ref: '#/components/schemas/Thing'}}}";
    assert_eq!(bodies(content)["data"]["in"], "file");
    assert!(code(content).contains("multipart = \"multipart/mixed\""));
}

#[test]
fn parts_that_go_by_their_position_are_left_out_by_rule() {
    for parts in ["schema: {type: array, items: {type: string}}", "itemSchema: {type: string}", "prefixEncoding: [{}]"]
    {
        let only = post(&format!("{{multipart/mixed: {{{parts}}}}}"));
        let said = findings(&document(&only));
        assert!(said.contains("the parts of this multipart/mixed body have no names"), "{parts}: {said}");
        let content = format!("{{multipart/mixed: {{{parts}}}, text/plain: {{schema: {{type: string}}}}}}");
        assert_eq!(bodies(&content)["text"]["in"], "body", "{parts}");
        let dropped = generated(&document(&post(&content))).0.ledger;
        let at = "/paths/~1t/post/requestBody/content/multipart~1mixed";
        assert_eq!(dropped.outcome(Part::Body, at), Some(&Outcome::Dropped(Rule::PositionalParts)), "{parts}");
    }
}

#[test]
fn an_exchange_has_the_credentials_and_the_server_of_its_operation() {
    let root =
        "components: {securitySchemes: {a: {type: http, scheme: bearer}, b: {type: apiKey, in: query, name: k}}}";
    let own =
        ", security: [{b: []}], servers: [{url: 'https://s.example'}], x-toolwright: {websocket: {exchange: receive}}";
    let code = server(root, own).1;
    let wanted = "exchange = receive, server = \"https://s.example\", security((\"b\"))";
    assert!(code.contains(wanted), "{code}");
}

#[test]
fn lines_of_json_that_come_back_are_a_list_of_their_items() {
    let answer = |key: &str| {
        let content =
            format!("{{application/x-ndjson: {{{key}: {{type: object, properties: {{a: {{type: string}}}}}}}}}}");
        let text = with_root("", "").replace("{description: ok}", &format!("{{description: ok, content: {content}}}"));
        file(&generated(&document(&text)).0, "schemas/t.result.json")
    };
    for key in ["schema", "itemSchema"] {
        assert_eq!((&answer(key)["type"], &answer(key)["items"]["type"]), (&json!("array"), &json!("object")), "{key}");
    }
}
