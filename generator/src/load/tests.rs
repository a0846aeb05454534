//! Servers from in-memory files, and what an author reads about mistakes.

use super::extension::{self, Media, Risk, Secret};
use super::{Files, LoadedServer, load_server};
use crate::diagnostic::Sink;

const DOCUMENT: &str = "
swagger: '2.0'
paths:
  /t/{id}:
    post:
      parameters:
        - {name: id, in: path, required: true, type: string}
        - {name: request, in: body, schema: {$ref: '#/definitions/A'}}
definitions:
  A: {allOf: [{properties: {size: {type: integer}}}], properties: {model: {type: string}}}
";

const SERVER: &str = "{server: x, title: X, document: d.yaml, overlays: [o.yaml], upstream: {env_prefix: X}}";

fn load(server: &str, actions: &str) -> (Option<LoadedServer>, String) {
    let mut files = Files::new();
    files.insert("specs/x/server.yaml", server);
    files.insert("specs/x/d.yaml", DOCUMENT);
    files.insert("specs/x/o.yaml", format!("overlay: 1.0.0\ninfo: {{title: t, version: '1'}}\nactions:\n{actions}"));
    let mut sink = Sink::new();
    let server = load_server(&files, "specs/x", &mut sink);
    (server, sink.to_string())
}

/// Findings about one `x-toolwright` of the operation.
fn findings(extension: &str) -> String {
    let action = format!("  - target: $.paths['/t/{{id}}'].post\n    update: {{x-toolwright: {extension}}}\n");
    load(SERVER, &action).1
}

#[test]
fn an_extension_is_read_into_types() {
    let (server, findings) = load(
        SERVER,
        "  - target: $.paths['/t/{id}'].post
    update:
      x-toolwright:
        name: make_thing
        risk: destructive
        arguments: {id: Which one., }
        advertise: [model, size]
        media: [json, sse]
        secret: [/token]
        search: {ko: [만들기]}
",
    );
    assert_eq!(findings, "");
    let read = extension::operation(&server.unwrap().document, "/paths/~1t~1{id}/post");
    assert_eq!(read.name.as_deref(), Some("make_thing"));
    assert_eq!(read.risk, Some(Risk::Destructive));
    assert_eq!(read.arguments["id"].description.as_deref(), Some("Which one."));
    assert_eq!(read.advertise.unwrap(), ["model", "size"]);
    assert_eq!(read.media, [Media::Json, Media::Sse]);
    assert_eq!(read.secret, Some(Secret::Pointers(vec!["/token".into()])));
    assert_eq!(read.search.ko, ["만들기"]);
}

#[test]
fn the_body_argument_keeps_the_name_of_the_parameter() {
    let (server, _) = load(SERVER, "  - {target: $.info, update: {}}\n");
    let document = server.unwrap().document;
    let name = extension::body_argument(&document, "/paths/~1t~1{id}/post/requestBody");
    assert_eq!(name.as_deref(), Some("request"));
}

#[test]
fn an_unknown_key_is_reported_at_its_line_of_the_overlay() {
    assert_eq!(
        findings("{naem: a}"),
        "error[unknown-key]: unknown key `naem`\n  --> specs/x/o.yaml:5:29\n  at /actions/0/update/x-toolwright/naem\n  help: did you mean `name`?\n\n"
    );
}

#[test]
fn a_key_that_is_nearly_ours_or_begins_with_ours_is_an_error_at_its_place() {
    for key in ["x-toolwrigt", "x-toolwirght", "x-toolwright-name"] {
        let action = format!("  - target: $.paths['/t/{{id}}'].post\n    update: {{{key}: {{name: a}}}}\n");
        let findings = load(SERVER, &action).1;
        assert!(findings.contains(&format!("error[unknown-key]: unknown key `{key}`\n")), "{findings}");
        assert!(findings.contains(&format!("at /actions/0/update/{key}\n")), "{findings}");
        assert!(findings.contains("help: did you mean `x-toolwright`?"), "{findings}");
    }
    let other = "  - target: $.paths['/t/{id}'].post\n    update: {x-tools: {name: a}, x-toolwrights-of-others: 1}\n";
    assert_eq!(load(SERVER, other).1, "");
}

#[test]
fn names_that_do_not_exist_are_reported() {
    assert!(findings("{arguments: {idd: a}}").contains("`idd` is no parameter, form field or body member"));
    assert!(findings("{fields: {modell: a}}").contains("did you mean `model`?"));
    assert!(findings("{advertise: [model, colour]}").contains("`colour` is no field of the request body"));
    assert!(findings("{advertise: [model, colour]}").contains("at /actions/0/update/x-toolwright/advertise/1"));
}

#[test]
fn wrong_values_are_reported_with_the_right_ones() {
    assert!(findings("{risk: readonly}").contains("did you mean `read-only`?"));
    assert!(findings("{media: [jsn]}").contains("did you mean `json`?"));
    assert!(findings("{name: Make-Thing}").contains("error[tool-name]"));
    assert!(findings("{open_world: maybe}").contains("write `true` or `false`, without quotes"));
    assert!(findings("{secret: [token]}").contains("write `/token`"));
    assert!(findings("{deadline_seconds: 0}").contains("a whole number from 1 to 86400"));
    assert!(findings("{route: {instead: a}}").contains("the key `missing` is missing"));
}

#[test]
fn fields_of_a_schema_are_checked_through_combinations() {
    let action = |fields: &str| {
        format!("  - target: $.components.schemas.A\n    update: {{x-toolwright: {{fields: {fields}}}}}\n")
    };
    assert_eq!(load(SERVER, &action("{size: s, model: m}")).1, "");
    assert!(load(SERVER, &action("{sise: s}")).1.contains("did you mean `size`?"));
}

#[test]
fn an_extension_where_it_means_nothing_is_an_error() {
    let findings = load(SERVER, "  - {target: $.paths, update: {/n: {x-toolwright: {}}}}\n").1;
    assert!(findings.contains("error[misplaced-extension]"), "{findings}");
}

#[test]
fn mistakes_of_server_yaml_are_reported_at_once() {
    let (_, findings) = load(
        "{server: y, title: X, documnt: d.yaml, prose: dropp, exposed: [a, a], upstream: {auth: {bearer: k}}, version: 1.0}",
        "",
    );
    for expected in [
        "unknown key `documnt`\n  --> specs/x/server.yaml:1:23\n  at /documnt\n  help: did you mean `document`?",
        "the key `document` is missing",
        "did you mean `drop`?",
        "`a` is listed twice\n  --> specs/x/server.yaml:1:67",
        "the key `env_prefix` is missing",
        "\"k\" is not one of api_key",
        "put it in quotes: \"1.0\"",
        "the server is named `y`, its folder `x`",
    ] {
        assert!(findings.contains(expected), "{expected}\n---\n{findings}");
    }
}

#[test]
fn values_that_generated_files_could_not_hold_are_refused() {
    let findings = |replaced: &str, by: &str| load(&SERVER.replace(replaced, by), "").1;
    let with = |more: &str| load(&format!("{}, {more}}}", SERVER.strip_suffix('}').unwrap()), "").1;
    assert!(with("version: '1.0'").contains("`1.0` is no version"));
    assert!(with("version: \"1.0.0\\n\"").contains("is no version"));
    assert!(findings("title: X", "title: ' '").contains("`title` is empty"));
    assert!(findings("env_prefix: X", "env_prefix: my-api").contains("write `MY_API`"));
    assert!(findings("env_prefix: X", "env_prefix: X, base_url: 'ftp://x'").contains("is no base URL"));
    assert!(findings("upstream: {env_prefix: X}", "prose: keep").contains("the key `upstream` is missing"));
    let fixed = "fixed_tools: {search_additional_tools: {title: t, description: d, arguments: {qeury: q}}}";
    assert!(with(fixed).contains("did you mean `query`?"));
}

#[test]
fn texts_are_taken_for_the_fixed_tools_that_servers_have() {
    use toolwright_core::fixed::{Fixed, LISTED, PROBE_SAFE_ENDPOINTS, RAW_REQUEST};
    let of = |fixed: &Fixed| (fixed.name, fixed.arguments.iter().map(|argument| argument.name).collect::<Vec<_>>());
    let known: Vec<_> =
        super::config::FIXED_TOOLS.iter().map(|(name, arguments)| (*name, arguments.to_vec())).collect();
    let served: Vec<_> = LISTED.into_iter().chain([&RAW_REQUEST, &PROBE_SAFE_ENDPOINTS]).map(of).collect();
    assert_eq!(known, served);
}

#[test]
fn missing_files_are_named_with_their_neighbours() {
    let (_, findings) = load(&SERVER.replace("o.yaml", "oo.yaml"), "");
    assert!(
        findings.contains("there is no file `oo.yaml`") && findings.contains("did you mean `o.yaml`?"),
        "{findings}"
    );
    let mut sink = Sink::new();
    assert!(load_server(&Files::new(), "specs/z", &mut sink).is_none());
    assert!(sink.to_string().contains("the server has no server.yaml"));
}

#[test]
fn paths_never_leave_the_project() {
    let (_, findings) = load(&SERVER.replace("o.yaml", "../../../../etc/passwd"), "");
    assert!(findings.contains("there is no file"), "{findings}");
}
