//! Any arguments of a call. What passes the check is sent where the row says and nowhere else: no path leaves its
//! endpoint, no value begins a header, a cookie or a part of its own, and every digit arrives.
//!
//! An input is a JSON object of arguments, or lines of `name=value` whose values are JSON where they parse, else text.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};
use toolwright_core::{
    Alternative, Binding, Body, Declared, Exchange, Field, FieldKind, HttpBinding, Location, Member, Method, Parameter,
    PartHeader, PartHeaderValue, Risk, SearchTerms, Style, ToolSpec, WebSocketBinding, arguments::Checker,
};
use toolwright_http::{Config, Upstream, Url, WrittenRequest};

const KEY: &str = "sk-planted-0123456789";
const BASE: &str = "http://127.0.0.1:9/base";

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

static UPSTREAM: LazyLock<Upstream> = LazyLock::new(|| {
    let mut config = Config::new("demo", Url::parse(BASE).expect("a URL"));
    config.api_key = Some(KEY.into());
    config.file_root = "/nonexistent".into();
    Upstream::new(config).expect("settings that can be used")
});

const PATH: &str = "/things/{id}/{list}/v{version}{format}/{matrix}/{label}/end";
const SEGMENTS: usize = 7;

const fn parameter(argument: &'static str, wire: &'static str, location: Location, style: Style) -> Parameter {
    Parameter { argument, wire, location, style, explode: false, reserved: false, send_as: &[] }
}

const fn exploded(parameter: Parameter) -> Parameter {
    Parameter { explode: true, ..parameter }
}

static PARAMETERS: [Parameter; 20] = [
    parameter("id", "id", Location::Path, Style::Simple),
    exploded(parameter("list", "list", Location::Path, Style::Simple)),
    parameter("version", "version", Location::Path, Style::Simple),
    parameter("format", "format", Location::Path, Style::Simple),
    exploded(parameter("matrix", "matrix", Location::Path, Style::Matrix)),
    parameter("label", "label", Location::Path, Style::Label),
    exploded(parameter("q", "q", Location::Query, Style::Form)),
    Parameter { reserved: true, ..parameter("joined", "joined", Location::Query, Style::Form) },
    parameter("spaces", "spaces", Location::Query, Style::Spaces),
    parameter("pipes", "pipes", Location::Query, Style::Pipes),
    parameter("tabs", "tabs", Location::Query, Style::Tabs),
    exploded(parameter("deep", "deep", Location::Query, Style::Deep)),
    parameter("json", "json[]", Location::Query, Style::Json),
    Parameter { send_as: &[("yes", "1"), ("no", "0")], ..parameter("switch", "switch", Location::Query, Style::Form) },
    parameter("trace", "X-Trace", Location::Header, Style::Simple),
    exploded(parameter("labels", "X-Labels", Location::Header, Style::Simple)),
    parameter("raw", "X-Raw", Location::Header, Style::Json),
    parameter("session", "session", Location::Cookie, Style::Form),
    exploded(parameter("choices", "choices", Location::Cookie, Style::Form)),
    parameter("number", "number", Location::Query, Style::Form),
];

/// Names of headers that a request may have.
const HEADERS: [&str; 8] =
    ["accept", "authorization", "content-length", "content-type", "cookie", "x-labels", "x-raw", "x-trace"];

const fn field(name: &'static str, kind: FieldKind, style: Style, content_type: Option<&'static str>) -> Field {
    Field { argument: name, wire: name, kind, style, explode: true, content_type, reserved: false, send_as: &[] }
}

static FIELDS: [Field; 6] = [
    field("q", FieldKind::Value, Style::Form, None),
    field("json", FieldKind::Value, Style::Json, None),
    field("deep", FieldKind::Value, Style::Deep, None),
    field("trace", FieldKind::Value, Style::Form, Some("text/plain")),
    field("file", FieldKind::File, Style::Form, None),
    field("files", FieldKind::File, Style::Form, Some("image/png")),
];

static PART_HEADERS: [PartHeader; 2] = [
    PartHeader { part: "q", wire: "X-Part", value: PartHeaderValue::Argument { name: "labels", explode: true } },
    PartHeader { part: "file", wire: "X-Part", value: PartHeaderValue::Fixed("1") },
];

static MEMBERS: [Member; 3] = [
    Member { argument: "number", wire: "number", required: false },
    Member { argument: "json", wire: "the json", required: false },
    Member { argument: "q", wire: "q", required: false },
];

static ALTERNATIVES: [Alternative; 3] = [
    Alternative { media_type: "application/json", inside: None, required: &["body"], body: JSON },
    Alternative {
        media_type: "application/x-www-form-urlencoded",
        inside: Some("form"),
        required: &[],
        body: Body::Form { fields: &FIELDS, extra: Some("extra") },
    },
    Alternative {
        media_type: "application/x-ndjson",
        inside: None,
        required: &["lines"],
        body: Body::Json { argument: "lines", media_type: "application/x-ndjson" },
    },
];

const JSON: Body = Body::Json { argument: "body", media_type: "application/json" };

/// Arguments by their schemas; the rows share them.
const SCHEMA: &str = r##"{
    "type": "object", "additionalProperties": false, "required": ["id"],
    "properties": {
        "id": {"type": ["string", "integer"]},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "default": ["all"]},
        "version": {"type": "integer", "default": 1},
        "format": {"type": "string", "default": ".json"},
        "matrix": {"default": 1}, "label": {"type": "string", "default": "x"},
        "q": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "joined": {"type": "array"}, "spaces": {"type": "array"}, "pipes": {"type": "array"}, "tabs": {"type": "array"},
        "deep": {"type": "object"}, "json": {},
        "switch": {"enum": ["yes", "no"]},
        "trace": {"type": "string", "maxLength": 200}, "labels": {"type": "object"}, "raw": {},
        "session": {"type": "string"}, "choices": {"type": ["object", "array", "string"]},
        "number": {"type": "integer"}, "when": {"type": "string", "format": "date-time"},
        "body": {"$ref": "#/$defs/Tree"},
        "content_type": {"type": "string"}, "form": {"type": "object"}, "lines": {"type": "array"},
        "file": {"type": "string"}, "files": {"type": "array"}, "text": {"type": "string"}, "extra": {"type": "object"}
    },
    "$defs": {"Tree": {"type": "object", "properties": {
        "n": {"type": "integer", "minimum": -9007199254740993}, "x": {"type": "number", "multipleOf": 0.5},
        "on": {"type": "boolean"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}}
}"##;

const fn row(binding: Binding, risk: Risk) -> ToolSpec {
    ToolSpec {
        name: "thing",
        title: "Thing",
        description: "A thing.",
        summary: "A thing.",
        tags: &[],
        risk,
        idempotent: false,
        open_world: false,
        input_schema: SCHEMA,
        advertised_schema: None,
        result_schema: None,
        search: SearchTerms { en: &[], ko: &[], ja: &[] },
        declared: Declared { method: "POST", path: PATH },
        binding,
        deadline_seconds: None,
        long: false,
        secrets: &[],
    }
}

const fn posting(body: Body) -> ToolSpec {
    let http = HttpBinding { method: Method::Post, path: PATH, parameters: &PARAMETERS, body, ..HttpBinding::PLAIN };
    row(Binding::Http(http), Risk::Write)
}

static ROWS: [ToolSpec; 8] = [
    posting(JSON),
    posting(Body::Object { media_type: "application/json", required: false, members: &MEMBERS }),
    posting(Body::Form { fields: &FIELDS, extra: Some("extra") }),
    posting(Body::Multipart {
        media_type: "multipart/form-data",
        fields: &FIELDS,
        headers: &PART_HEADERS,
        extra: Some("extra"),
    }),
    posting(Body::Choice { argument: "content_type", alternatives: &ALTERNATIVES }),
    posting(Body::Raw { argument: "text", media_type: "text/plain" }),
    posting(Body::Raw { argument: "file", media_type: "application/octet-stream" }),
    row(
        Binding::WebSocket(WebSocketBinding {
            path: PATH,
            parameters: &PARAMETERS,
            exchange: Exchange::Receive,
            security: None,
            server: None,
            hidden: &[],
        }),
        Risk::Destructive,
    ),
];

static CHECKERS: LazyLock<Vec<Checker>> =
    LazyLock::new(|| ROWS.iter().map(|row| Checker::new(row).expect("a schema")).collect());

fuzz_target!(|input: &[u8]| {
    let given = read(input);
    for (row, checker) in ROWS.iter().zip(&*CHECKERS) {
        let checked = match checker.check(given.clone()) {
            Ok(accepted) => accepted.arguments,
            Err(refusal) => {
                assert!(!refusal.violations.is_empty(), "a refusal says why");
                let _ = refusal.into_envelope("thing", checker.schema()).to_json();
                // The encoders stand by themselves: what was not checked is sent as safely.
                given.clone()
            }
        };
        if let Ok(planned) = UPSTREAM.plan(row, &checked) {
            check_curl(&planned.to_curl());
        }
        if let Ok(request) = RUNTIME.block_on(UPSTREAM.write(row, &checked)) {
            check_url(&request.url, &checked);
            check_headers(&request);
            check_body(row, &request, &checked);
        }
    }
});

fn read(input: &[u8]) -> Map<String, Value> {
    if let Ok(Value::Object(arguments)) = serde_json::from_slice(input) {
        return arguments;
    }
    let text = String::from_utf8_lossy(input);
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, value)| (name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into()))).collect()
}

fn check_url(url: &Url, arguments: &Map<String, Value>) {
    assert!(url.as_str().starts_with("http://127.0.0.1:9/base/things/"), "{url} leaves its endpoint");
    assert!(url.path().ends_with("/end") && url.fragment().is_none(), "{url} ends elsewhere");
    let segments: Vec<&str> = url.path().split('/').skip(2).collect();
    assert_eq!(segments.len(), SEGMENTS, "{url} has other segments than its template");
    for segment in &segments {
        let decoded: Vec<u8> = percent_decode_str(segment).collect();
        assert!(!decoded.is_empty() && !decoded.iter().all(|byte| *byte == b'.'), "{url} climbs");
    }
    assert!(url.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{url} holds what a URL cannot");
    if let (Some(Value::Number(id)), Some(segment)) = (arguments.get("id"), segments.get(1)) {
        assert_eq!(decoded(segment), id.to_string(), "digits are lost in the path");
    }
    let pairs = || url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    if let Some(Value::Number(number)) = arguments.get("number") {
        let sent = pairs().any(|(name, value)| name == "number" && decoded(value) == number.to_string());
        assert!(sent, "digits of {number} are lost in {url}");
    }
    for (name, _) in pairs().filter(|_| !arguments.get("q").is_some_and(Value::is_object)) {
        let name = decoded(name);
        let known = PARAMETERS.iter().any(|it| it.location == Location::Query && name.starts_with(it.wire));
        assert!(known, "{name:?} became a query parameter of its own in {url}");
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn check_headers(request: &WrittenRequest) {
    let mut names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a header comes twice: {:?}", request.headers);
    for (name, value) in &request.headers {
        assert!(HEADERS.contains(&name.as_str()), "{name} became a header of its own");
        assert!(!value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)), "a line ends inside {name}: {value:?}");
        match name.as_str() {
            "authorization" => assert_eq!(value, format!("Bearer {KEY}").as_bytes()),
            "content-length" => assert_eq!(value, request.body.len().to_string().as_bytes()),
            "cookie" => assert!(value.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '), "{value:?}"),
            _ => {}
        }
    }
}

fn check_body(row: &ToolSpec, request: &WrittenRequest, arguments: &Map<String, Value>) {
    let Binding::Http(http) = row.binding else { return };
    match http.body {
        Body::Json { argument, .. } => {
            if let Some(value) = arguments.get(argument) {
                assert_eq!(&parsed(&request.body), value, "the body is another value");
            }
        }
        Body::Object { members, .. } if !request.body.is_empty() => {
            let sent = parsed(&request.body);
            for member in members {
                assert_eq!(sent.get(member.wire), arguments.get(member.argument), "{} is another value", member.wire);
            }
        }
        Body::Form { .. } => {
            let plain = |byte: &u8| byte.is_ascii_graphic();
            assert!(request.body.iter().all(plain), "a form holds bytes that need an escape");
        }
        Body::Multipart { .. } => check_parts(request),
        _ => {}
    }
}

fn parsed(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("a body that says it is JSON")
}

/// Every part has the lines that we write, and no others.
fn check_parts(request: &WrittenRequest) {
    let content_type = request.headers.iter().find(|(name, _)| name == "content-type").expect("a content type");
    let content_type = String::from_utf8_lossy(&content_type.1).into_owned();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
    let body = String::from_utf8_lossy(&request.body);
    let body = body.strip_prefix(&format!("--{boundary}")).expect("a first part");
    if body == "--\r\n" {
        return;
    }
    let (parts, end) = body.rsplit_once(&format!("--{boundary}--")).unwrap_or((body, "--"));
    assert!(end == "\r\n", "something follows the last part: {end:?}");
    for part in parts.split(&format!("\r\n--{boundary}")).filter(|part| !part.trim().is_empty()) {
        let (head, _) = part.trim_start_matches("\r\n").split_once("\r\n\r\n").expect("a part has a head");
        for (index, line) in head.split("\r\n").enumerate() {
            let starts: &[&str] = match index {
                0 => &["content-disposition: form-data; name=\""],
                _ => &["content-type: ", "x-part: "],
            };
            let line_start = line.to_ascii_lowercase();
            assert!(starts.iter().any(|start| line_start.starts_with(start)), "a line of its own: {head:?}");
            assert!(!line.contains(['\r', '\n']), "a line ends early: {head:?}");
        }
    }
}

/// A shell reads the command as one: every quote is closed.
fn check_curl(command: &str) {
    let mut quoted = false;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => quoted = !quoted,
            '\\' if !quoted => drop(characters.next()),
            ';' | '&' | '|' | '`' | '\n' if !quoted && !command.contains("base64 -d") && !command.starts_with('#') => {
                panic!("a shell would read {character:?} in {command}")
            }
            _ => {}
        }
    }
    assert!(!quoted || command.starts_with('#'), "a quote stays open in {command}");
}
