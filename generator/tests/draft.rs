//! The first `server.yaml` that a document gets. One point each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use toolwright_generator::diagnostic::Sink;
use toolwright_generator::load::{Files, Prose};
use toolwright_generator::{FileSet, draft, generate, start};

/// The drafted settings, which must generate as they are.
fn drafted(document: &str) -> String {
    let mut files = Files::new();
    files.insert("specs/my-api/openapi.yaml", document);
    let mut sink = Sink::new();
    let text = draft(&files, "specs/my-api", "openapi.yaml", Prose::Keep, &mut sink).unwrap().text;
    files.insert("specs/my-api/server.yaml", text.clone());
    assert!(generate(&files, "specs/my-api", &mut sink).is_some(), "{sink}\n{text}");
    text
}

fn openapi(head: &str, paths: &str) -> String {
    format!("openapi: 3.1.0\ninfo: {{title: t, version: '1'}}\n{head}\npaths:\n{paths}")
}

fn assert_line(text: &str, line: &str) {
    assert!(text.lines().any(|own| own.trim() == line), "no line `{line}` in\n{text}");
}

#[test]
fn names_follow_from_the_folder() {
    let text = drafted(&openapi("", "  /t: {get: {}}\n"));
    assert_line(&text, "server: my-api");
    assert_line(&text, "env_prefix: MY_API");
}

fn assert_no_key(text: &str, key: &str) {
    assert!(!text.lines().any(|line| line.trim().starts_with(&format!("{key}:"))), "`{key}` in\n{text}");
}

#[test]
fn the_first_server_is_the_address_by_itself() {
    let servers = "servers: [{url: 'https://{region}.example.com/v1/', variables: {region: {default: eu}}}]";
    let text = drafted(&openapi(servers, "  /t: {get: {}}\n"));
    assert_no_key(&text, "base_url");
    assert_line(&text, "# The address is the document's first server, https://eu.example.com/v1");
    assert_line(&text, "# Its variables are settings: MY_API_SERVER_REGION (eu).");
}

#[test]
fn the_scheme_of_an_address_may_be_a_variable() {
    let servers = "servers: [{url: '{scheme}://example.com', variables: {scheme: {default: https}}}]";
    assert_no_key(&drafted(&openapi(servers, "  /t: {get: {}}\n")), "base_url");
}

#[test]
fn a_later_server_is_written_where_the_first_cannot_be_called() {
    let servers = "servers: [{url: 'https://{nowhere}'}, {url: 'https://example.com'}]";
    assert_line(&drafted(&openapi(servers, "  /t: {get: {}}\n")), "base_url: \"https://example.com\"");
}

#[test]
fn credentials_of_the_document_are_told_and_not_written() {
    let schemes = "components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}, login: {type: http, scheme: basic}, token: {type: http, scheme: bearer}, app: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://a.example/t', scopes: {}}}}}}";
    let text = drafted(&openapi(schemes, "  /t: {get: {}}\n"));
    assert_no_key(&text, "auth");
    assert_line(&text, "#   key: MY_API_KEY, sent as `X-Key` (header)");
    assert_line(&text, "#   login: MY_API_LOGIN_USERNAME and MY_API_LOGIN_PASSWORD (HTTP Basic)");
    assert_line(&text, "#   token: MY_API_TOKEN, sent as a bearer token");
    assert_line(
        &text,
        "#   app: MY_API_APP_CLIENT_ID and MY_API_APP_CLIENT_SECRET (OAuth2 client credentials), or MY_API_APP_TOKEN with a token from elsewhere",
    );
}

#[test]
fn names_of_schemes_cannot_break_out_of_the_comment() {
    let schemes = "components: {securitySchemes: {\"a\\nserver: evil\": {type: http, scheme: bearer}}}";
    assert_line(&drafted(&openapi(schemes, "  /t: {get: {}}\n")), "server: my-api");
}

#[test]
fn a_host_that_the_document_does_not_name_is_not_guessed() {
    for (servers, told) in [
        ("servers: [{url: /api/v1}]", "# The document names a path and no host."),
        ("", "# The document names no host."),
        ("servers: [{url: 'https://{nowhere}'}]", "# The document names no host."),
    ] {
        let text = drafted(&openapi(servers, "  /t: {get: {}}\n"));
        assert_no_key(&text, "base_url");
        let line = text.lines().map(str::trim).find(|line| line.starts_with(told));
        assert!(line.unwrap().contains("MY_API_BASE_URL"), "{text}");
    }
}

#[test]
fn health_is_a_reading_tool_without_required_arguments_that_does_not_log_out() {
    let paths = "  /a: {get: {operationId: logout}}\n  /b/{id}: {get: {operationId: one, parameters: [{name: id, in: path, required: true, schema: {type: string}}]}}\n  /c/d: {get: {operationId: things}}\n";
    assert_line(&drafted(&openapi("", paths)), "health: [things]");
    assert_line(
        &drafted(&openapi("", &format!("{paths}  /e/f/version: {{get: {{operationId: v}}}}\n"))),
        "health: [v]",
    );
    assert_line(&drafted(&openapi("", "  /a: {post: {operationId: make}}\n")), "health: []");
}

#[test]
fn words_of_the_document_cannot_break_out_of_the_settings() {
    let head = "openapi: 3.1.0\ninfo:\n  title: \"x\\\"\\nserver: evil # {a: b}\"\n  description: \"- a: [b\\n\\ny\"\n  version: '1'\npaths: {/t: {get: {}}}\n";
    let text = drafted(head);
    assert_line(&text, "server: my-api");
    assert!(!text.lines().any(|line| line.starts_with("server: evil")), "{text}");
}

#[test]
fn a_document_without_operations_is_a_server_without_tools() {
    let text = drafted("openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {}\n");
    assert!(!text.contains("\nexpose:"), "{text}");
}

#[test]
fn packages_of_the_first_reading_are_those_that_the_draft_gives() {
    let many: String =
        (0..50).map(|n| format!("  /p{n}: {{get: {{operationId: op{n}, tags: [a{}]}}}}\n", n % 3)).collect();
    let schemes = "servers: [{url: 'https://example.com'}]\ncomponents: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}\nsecurity: [{key: []}]";
    let shapes = "servers: [{url: 'https://example.com'}]\ncomponents: {schemas: {A: {type: object, properties: {a: {type: string}}}}}";
    let body = "  /t: {post: {operationId: make, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}, delete: {}}\n";
    for document in
        [openapi("servers: [{url: 'https://example.com'}]", &many), openapi(schemes, &many), openapi(shapes, body)]
    {
        let mut files = Files::new();
        files.insert("specs/my-api/openapi.yaml", document);
        let mut sink = Sink::new();
        let (draft, generated) = start(&files, "specs/my-api", "openapi.yaml", Prose::Keep, &mut sink).unwrap();
        files.insert("specs/my-api/server.yaml", draft.text);
        let mut again = Sink::new();
        let expected = generate(&files, "specs/my-api", &mut again).unwrap();
        assert_eq!(sink.to_string(), again.to_string());
        let generated = generated.unwrap_or_else(|| panic!("nothing was made at once: {sink}"));
        let texts =
            |files: &FileSet| files.iter().map(|(path, text)| (path.to_owned(), text.to_vec())).collect::<Vec<_>>();
        assert!(texts(&generated.files) == texts(&expected.files));
    }
}

#[test]
fn nothing_is_made_at_once_of_a_document_with_errors() {
    let form = "{application/x-www-form-urlencoded: {schema: {type: object, properties: {made: {readOnly: true}}}}}";
    let mut files = Files::new();
    let paths = format!("  /t: {{post: {{requestBody: {{content: {form}}}}}}}\n");
    files.insert("specs/my-api/openapi.yaml", openapi("", &paths));
    let mut sink = Sink::new();
    let (_, generated) = start(&files, "specs/my-api", "openapi.yaml", Prose::Keep, &mut sink).unwrap();
    assert!(sink.has_errors() && generated.is_none());
}
