//! Documents that say odd or hostile things about credentials, addresses and what stands in headers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use support::{arguments, document, generated, text, tools};

fn api(root: &str, paths: &str) -> String {
    format!("openapi: 3.2.0\ninfo: {{title: t, version: '1'}}\n{root}\npaths:\n{paths}")
}

/// The crate root, the module of the tool `t`, and what is reported.
fn made(root: &str, operation: &str) -> (String, String, String) {
    let (generated, sink) =
        generated(&document(&api(root, &format!("  /t: {{get: {{operationId: t{operation}}}}}\n"))));
    let plain = |path: &str| text(&generated, path).split_whitespace().collect::<Vec<_>>().join(" ");
    (plain("src/lib.rs"), plain("src/general.rs"), sink.to_string())
}

fn schemes(schemes: &str) -> String {
    format!("components: {{securitySchemes: {{{schemes}}}}}")
}

const KEY: &str = "k: {type: apiKey, in: header, name: X-Key}";

#[test]
fn http_schemes_other_than_basic_and_bearer_send_nothing() {
    for scheme in ["{type: http, scheme: digest}", "{type: http, scheme: negotiate}", "{type: http}"] {
        let (root, _, findings) = made(&schemes(&format!("s: {scheme}")), "");
        assert!(root.contains("access: Access::NONE"), "{root}");
        assert!(findings.contains("warning[unknown-scheme]"), "{findings}");
    }
    assert!(made(&schemes("s: {type: http, scheme: BEARER}"), "").0.contains("Bearer { setting: \"s\""));
}

#[test]
fn an_alternative_that_names_an_undeclared_scheme_is_left_out() {
    let two = schemes("token: {type: http, scheme: bearer}, k: {type: apiKey, in: query, name: k}");
    let (_, module, findings) = made(&two, ", security: [{tokn: []}, {k: []}]");
    assert!(module.contains("security((\"k\"))") || module.contains("security(\"k\")"), "{module}");
    assert!(findings.contains("warning[undeclared-scheme]"), "{findings}");
    assert!(findings.contains("did you mean `token`?"), "{findings}");
    // Nothing is left: the document's requirements hold.
    assert!(!made(&two, ", security: [{tokn: []}]").1.contains("security("));
}

#[test]
fn client_credentials_ask_for_the_scopes_that_operations_need() {
    let flow = "o: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://a.example/t', scopes: {}}}}";
    let root = format!("security: [{{o: [read]}}]\n{}", schemes(flow));
    let (code, ..) = made(&root, ", security: [{o: [write, read]}, {o: ['a b']}]");
    assert!(code.contains("key: \"o_scopes\", env: \"T_O_SCOPES\", default: \"read write\""), "{code}");
}

#[test]
fn a_mapping_in_place_of_a_list_is_a_list_of_one() {
    let (root, _, findings) =
        made(&format!("security: {{k: []}}\n{}", schemes(&format!("{KEY}, b: {{type: http, scheme: bearer}}"))), "");
    assert!(root.contains("security: &[&[\"k\"]]"), "{root}");
    assert!(findings.contains("warning[bad-security]"), "{findings}");
}

#[test]
fn a_scheme_may_be_a_reference() {
    let (root, _, findings) = made(&schemes(&format!("{KEY}, r: {{$ref: '#/components/securitySchemes/k'}}")), "");
    assert!(root.contains("name: \"r\", kind: toolwright_core::SchemeKind::ApiKey"), "{root}");
    assert!(!findings.contains("unknown-scheme"), "{findings}");
}

#[test]
fn settings_of_schemes_do_not_depend_on_their_order() {
    let other = "k_: {type: apiKey, in: header, name: X-Other}";
    let key_of = |root: &str, wire: &str| {
        let behind = root.split(&format!("wire: \"{wire}\", setting: \"")).nth(1).unwrap().to_owned();
        behind.split('"').next().unwrap().to_owned()
    };
    let (one, two) =
        (made(&schemes(&format!("{KEY}, {other}")), "").0, made(&schemes(&format!("{other}, {KEY}")), "").0);
    for wire in ["X-Key", "X-Other"] {
        assert_eq!(key_of(&one, wire), key_of(&two, wire));
        assert!(key_of(&one, wire).starts_with("k_"));
    }
    assert_ne!(key_of(&one, "X-Key"), key_of(&one, "X-Other"));
}

#[test]
fn names_that_no_header_or_cookie_can_have_are_left_out() {
    let parameters = "parameters: [{name: 'X Bad', in: header, schema: {}}, {name: 'a=b', in: cookie, schema: {}}, {name: X-Good, in: header, schema: {type: string}}]";
    let (generated, sink) =
        generated(&document(&api("", &format!("  /t: {{get: {{operationId: t, {parameters}}}}}\n"))));
    assert_eq!(arguments(&generated, "t").as_object().unwrap().keys().collect::<Vec<_>>(), ["x_good"]);
    assert_eq!(sink.to_string().matches("warning[bad-name]").count(), 2, "{sink}");
    let (root, _, findings) = made(&schemes("s: {type: apiKey, in: header, name: \"X:\\r\\nY\"}"), "");
    assert!(root.contains("access: Access::NONE") && findings.contains("warning[bad-name]"), "{findings}");
    assert!(!findings.contains("unknown-scheme"), "{findings}");
}

#[test]
fn added_methods_that_cannot_be_sent_are_left_out() {
    let more = "additionalOperations: {'A B': {operationId: a}, connect: {operationId: b}, TRACE: {operationId: c}, COPY: {operationId: d}}";
    let (generated, sink) = generated(&document(&api("", &format!("  /t: {{{more}}}\n"))));
    assert_eq!(tools(&generated), ["d"]);
    assert_eq!(sink.to_string().matches("warning[bad-method]").count(), 3, "{sink}");
    assert!(!sink.to_string().contains("unaccounted"), "{sink}");
}

#[test]
fn media_types_that_cannot_be_sent_are_left_out() {
    let body = "requestBody: {content: {json: {schema: {type: string}}, \"text/a\\nb\": {}, application/json: {schema: {type: object}}}}";
    let (generated, sink) = generated(&document(&api("", &format!("  /t: {{post: {{operationId: t, {body}}}}}\n"))));
    assert_eq!(tools(&generated), ["t"]);
    assert_eq!(sink.to_string().matches("warning[bad-media-type]").count(), 2, "{sink}");
    assert!(!sink.to_string().contains("unaccounted"), "{sink}");
}

fn region(host: &str, default: &str) -> String {
    format!("servers: [{{url: 'https://{{region}}.{host}', variables: {{region: {{default: {default}}}}}}}]")
}

#[test]
fn variables_that_differ_are_settings_of_their_own() {
    let (root, module, _) = made(&region("a.example", "eu"), &format!(", {}", region("b.example", "us")));
    assert!(root.contains("env: \"T_SERVER_REGION\", default: \"eu\""), "{root}");
    assert!(root.contains("default: \"us\""), "{root}");
    assert!(module.contains("https://{server_region_") && !module.contains("{server_region}"), "{module}");
    let shared = made(&region("a.example", "eu"), &format!(", {}", region("b.example", "eu"))).1;
    assert!(shared.contains("https://{server_region}.b.example"), "{shared}");
}

#[test]
fn the_first_server_that_http_can_call_is_taken() {
    let root = made("servers: [{url: 'ws://a.example'}, {url: 'https://b.example'}]", "").0;
    assert!(root.contains("default_base_url: \"https://b.example\""), "{root}");
}
