use serde_json::{Value, json};
use toolwright_core::{
    Alternative, Body, Code, Field, FieldKind, Hidden, HiddenValue, HttpBinding, Method, PartHeader, PartHeaderValue,
    Style, ToolError,
};

use crate::testing::{GET, Request, Server, Setting, json_answer, tool};

const fn field(wire: &'static str, style: Style, explode: bool) -> Field {
    Field {
        argument: wire,
        wire,
        kind: FieldKind::Value,
        style,
        explode,
        content_type: None,
        reserved: false,
        send_as: &[],
    }
}

const fn file(wire: &'static str) -> Field {
    Field { kind: FieldKind::File, ..field(wire, Style::Form, true) }
}

const fn posting(body: Body) -> HttpBinding {
    HttpBinding { method: Method::Post, body, ..GET }
}

const FORM: Body =
    Body::Form { fields: &[field("user", Style::Form, true), field("tags", Style::Form, true)], extra: None };

const UPLOAD: Body = Body::Multipart {
    media_type: "multipart/form-data",
    headers: &[],
    fields: &[
        field("model", Style::Form, true),
        field("tags", Style::Form, true),
        field("ids", Style::Form, false),
        field("params", Style::Deep, true),
        field("options", Style::Json, false),
        Field { send_as: &[("text", "txt")], ..field("response_format", Style::Form, true) },
        file("file"),
    ],
    extra: Some("extra_form"),
};

async fn sent(body: Body, arguments: Value) -> Request {
    let server = Server::with(json_answer("{}")).await;
    let envelope = Setting::for_server(&server).call(&tool(posting(body)), arguments).await;
    assert!(envelope.ok, "{:?}", envelope.error);
    server.only_request()
}

/// The parts of a multipart body as `head|content`, in order.
fn parts(request: &Request) -> Vec<String> {
    let boundary = request.header("content-type").unwrap().split_once("boundary=").unwrap().1;
    let text = request.text();
    let inner = text.strip_suffix(&format!("--{boundary}--\r\n")).expect("the closing boundary");
    inner
        .split(&format!("--{boundary}\r\n"))
        .skip(1)
        .map(|part| {
            let (head, content) = part.strip_suffix("\r\n").unwrap().split_once("\r\n\r\n").unwrap();
            let head = head.strip_prefix("Content-Disposition: form-data; ").unwrap().replace("\r\n", "|");
            format!("{head}|{content}")
        })
        .collect()
}

#[tokio::test]
async fn a_form_is_url_encoded() {
    let seen = sent(FORM, json!({"user": "a b&c", "tags": ["x", "y"]})).await;
    assert_eq!(seen.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(seen.text(), "user=a%20b%26c&tags=x&tags=y");
}

#[tokio::test]
async fn a_multipart_body_is_multipart_even_without_a_file() {
    let seen = sent(UPLOAD, json!({"model": "m"})).await;
    assert!(seen.header("content-type").unwrap().starts_with("multipart/form-data; boundary="));
    assert_eq!(parts(&seen), ["name=\"model\"|m"]);
}

#[tokio::test]
async fn fields_follow_their_styles() {
    let arguments = json!({
        "tags": ["x", "y"], "ids": [1, 2], "params": {"a": 1, "b": {"c": "한"}}, "options": {"k": [1]},
        "response_format": "text",
    });
    assert_eq!(
        parts(&sent(UPLOAD, arguments).await),
        [
            "name=\"tags\"|x",
            "name=\"tags\"|y",
            "name=\"ids\"|1,2",
            "name=\"params[a]\"|1",
            "name=\"params[b][c]\"|한",
            "name=\"options\"|Content-Type: application/json|{\"k\":[1]}",
            "name=\"response_format\"|txt",
        ]
    );
}

#[tokio::test]
async fn a_file_is_a_part_with_name_and_type() {
    let seen = sent(UPLOAD, json!({"file": "data:audio/wav;base64,UklGRg=="})).await;
    assert_eq!(parts(&seen), ["name=\"file\"; filename=\"upload.wav\"|Content-Type: audio/wav|RIFF"]);
}

#[tokio::test]
async fn several_files_of_one_field_are_several_parts() {
    let seen = sent(UPLOAD, json!({"file": ["data:text/plain,a", "data:text/plain,b"]})).await;
    assert_eq!(parts(&seen).len(), 2);
}

#[tokio::test]
async fn a_file_below_the_root_is_streamed_with_its_length() {
    let server = Server::with(json_answer("{}")).await;
    let setting = Setting::for_server(&server);
    let content = "가".repeat(100_000);
    std::fs::write(setting.config.file_root.join("한국어 \"이름\".txt"), &content).unwrap();
    let arguments = json!({"file": "한국어 \"이름\".txt"});
    let envelope = setting.call(&tool(posting(UPLOAD)), arguments).await;
    assert!(envelope.ok, "{:?}", envelope.error);
    let seen = server.only_request();
    assert_eq!(seen.header("transfer-encoding"), None);
    assert_eq!(seen.header("content-length"), Some(seen.body.len().to_string().as_str()));
    let wanted = format!("name=\"file\"; filename=\"한국어 %22이름%22.txt\"|Content-Type: text/plain|{content}");
    assert_eq!(parts(&seen), [wanted]);
}

#[tokio::test]
async fn extra_fields_are_added() {
    let arguments = json!({"model": "a", "extra_form": {"n": 1, "words": ["x", "y"], "o": {"k": 1}}});
    assert_eq!(
        parts(&sent(UPLOAD, arguments).await),
        ["name=\"model\"|a", "name=\"n\"|1", "name=\"words\"|x", "name=\"words\"|y", "name=\"o\"|{\"k\":1}"]
    );
}

#[tokio::test]
async fn extra_fields_never_stand_for_declared_or_hidden_ones() {
    const FIELDS: &[Field] = &[field("a", Style::Form, true), field("o", Style::Deep, true), file("file")];
    const HIDDEN: &[Hidden] = &[Hidden { argument: "a", value: HiddenValue::Constant("\"fixed\"") }];
    const URLENCODED: Body = Body::Form { fields: FIELDS, extra: Some("extra_form") };
    const MULTIPART: Body =
        Body::Multipart { media_type: "multipart/form-data", fields: FIELDS, headers: &[], extra: Some("extra_form") };
    for body in [URLENCODED, MULTIPART] {
        for name in ["a", "o", "o[k]", "file"] {
            let server = Server::with(json_answer("{}")).await;
            let row = tool(HttpBinding { hidden: HIDDEN, ..posting(body) });
            let arguments = json!({"extra_form": {name: "x"}});
            let error = Setting::for_server(&server).call(&row, arguments).await.error.unwrap();
            assert_eq!(error.code, Code::InvalidArguments);
            assert!(error.message.contains(&format!("`{name}` is a field of the form")), "{}", error.message);
            assert_eq!(server.requests().len(), 0);
        }
    }
}

#[tokio::test]
async fn names_of_parts_cannot_break_out_of_their_quotes() {
    let seen = sent(UPLOAD, json!({"extra_form": {"a\"\r\nX: y": "1"}})).await;
    assert_eq!(parts(&seen), ["name=\"a%22%0D%0AX: y\"|1"]);
}

#[tokio::test]
async fn a_null_field_is_left_out() {
    assert_eq!(parts(&sent(UPLOAD, json!({"model": "m", "tags": null, "file": null})).await).len(), 1);
}

#[tokio::test]
async fn the_declared_media_type_is_sent_with_its_parameters() {
    const PATCH: Body = Body::Json { argument: "request", media_type: "application/merge-patch+json; charset=utf-8" };
    let seen = sent(PATCH, json!({"request": {"a": null}})).await;
    assert_eq!(seen.header("content-type"), Some("application/merge-patch+json; charset=utf-8"));
    assert_eq!(seen.text(), r#"{"a":null}"#);
}

#[tokio::test]
async fn scalar_and_array_bodies_are_json() {
    const JSON: Body = Body::Json { argument: "request", media_type: "application/json" };
    assert_eq!(sent(JSON, json!({"request": "text"})).await.text(), "\"text\"");
    assert_eq!(sent(JSON, json!({"request": [1, 2]})).await.text(), "[1,2]");
    assert_eq!(sent(JSON, json!({"request": null})).await.text(), "null");
}

#[tokio::test]
async fn a_text_body_is_sent_as_it_is() {
    const TEXT: Body = Body::Json { argument: "request", media_type: "text/plain" };
    assert_eq!(sent(TEXT, json!({"request": "안녕"})).await.text(), "안녕");
}

#[tokio::test]
async fn a_raw_body_is_a_file_input() {
    const RAW: Body = Body::Json { argument: "request", media_type: "application/octet-stream" };
    let seen = sent(RAW, json!({"request": "base64:AAEC"})).await;
    assert_eq!(seen.header("content-type"), Some("application/octet-stream"));
    assert_eq!(seen.body, [0, 1, 2]);
}

#[tokio::test]
async fn a_refused_file_means_no_request() {
    let server = Server::with(json_answer("{}")).await;
    let arguments = json!({"file": "missing.wav"});
    let envelope = Setting::for_server(&server).call(&tool(posting(UPLOAD)), arguments).await;
    assert_eq!(envelope.code(), Some(Code::FileRefused));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_part_has_the_content_type_that_the_document_says() {
    const FIELDS: &[Field] = &[
        Field { content_type: Some("application/xml"), ..field("meta", Style::Form, true) },
        Field { content_type: Some("image/png"), ..file("picture") },
    ];
    let server = Server::with(json_answer("{}")).await;
    let body = Body::Multipart { media_type: "multipart/form-data", fields: FIELDS, headers: &[], extra: None };
    let arguments = json!({"meta": "<a/>", "picture": "data:;base64,AAEC"});
    Setting::for_server(&server).call(&tool(posting(body)), arguments).await;
    let text = server.only_request().text();
    assert!(text.contains("name=\"meta\"\r\nContent-Type: application/xml\r\n\r\n<a/>"), "{text}");
    assert!(text.contains("Content-Type: image/png\r\n"), "{text}");
}

#[tokio::test]
async fn a_file_part_has_one_of_the_content_types_that_the_document_says() {
    const FIELDS: &[Field] = &[Field { content_type: Some("image/png, image/jpeg"), ..file("picture") }];
    let body = Body::Multipart { media_type: "multipart/form-data", fields: FIELDS, headers: &[], extra: None };
    for (given, sent) in [
        ("data:image/jpeg;base64,AAEC", "image/jpeg"),
        ("base64:AAEC", "image/png"),
        ("data:;base64,AA==", "image/png"),
        ("data:application/octet-stream;base64,AA==", "image/png"),
    ] {
        let server = Server::with(json_answer("{}")).await;
        Setting::for_server(&server).call(&tool(posting(body)), json!({"picture": given})).await;
        let text = server.only_request().text();
        assert!(text.contains(&format!("Content-Type: {sent}\r\n")), "{given}: {text}");
    }
    let server = Server::with(json_answer("{}")).await;
    let envelope =
        Setting::for_server(&server).call(&tool(posting(body)), json!({"picture": "data:text/html;base64,AAEC"})).await;
    let error = envelope.error.unwrap();
    let told =
        "`picture`: the data: URI says text/html, and the API takes image/png, image/jpeg; give content of that type";
    assert_eq!((error.code, error.message.as_str()), (Code::FileRefused, told));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_part_has_the_further_headers_that_the_document_says() {
    const HEADERS: &[PartHeader] = &[
        PartHeader { part: "model", wire: "X-Kind", value: PartHeaderValue::Fixed("name") },
        PartHeader {
            part: "file",
            wire: "X-Tags",
            value: PartHeaderValue::Argument { name: "file_x_tags", explode: false },
        },
    ];
    const BODY: Body = Body::Multipart {
        media_type: "multipart/form-data",
        fields: &[field("model", Style::Form, true), file("file")],
        headers: HEADERS,
        extra: None,
    };
    let given = json!({"model": "m", "file": "data:text/plain,a", "file_x_tags": ["x", "y"]});
    let wanted = [
        "name=\"model\"|x-kind: name|m",
        "name=\"file\"; filename=\"upload.txt\"|Content-Type: text/plain|x-tags: x,y|a",
    ];
    assert_eq!(parts(&sent(BODY, given).await), wanted);
    assert_eq!(parts(&sent(BODY, json!({"file_x_tags": ["x"]})).await), [""; 0]);
}

#[tokio::test]
async fn a_header_of_a_part_cannot_begin_another() {
    const BODY: Body = Body::Multipart {
        media_type: "multipart/form-data",
        fields: &[field("model", Style::Form, true)],
        headers: &[PartHeader {
            part: "model",
            wire: "X-A",
            value: PartHeaderValue::Argument { name: "a", explode: false },
        }],
        extra: None,
    };
    let server = Server::with(json_answer("{}")).await;
    let arguments = json!({"model": "m", "a": "1\r\nX-B: 2"});
    let envelope = Setting::for_server(&server).call(&tool(posting(BODY)), arguments).await;
    assert_eq!(envelope.code(), Some(Code::InvalidArguments));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn another_multipart_type_is_sent_as_declared() {
    const MIXED: Body = Body::Multipart {
        media_type: "multipart/mixed",
        fields: &[field("model", Style::Form, true)],
        headers: &[],
        extra: None,
    };
    let seen = sent(MIXED, json!({"model": "m"})).await;
    assert!(seen.header("content-type").unwrap().starts_with("multipart/mixed; boundary="));
    assert_eq!(parts(&seen), ["name=\"model\"|m"]);
}

#[tokio::test]
async fn a_field_of_a_form_keeps_the_reserved_characters_that_it_may() {
    const BODY: Body = Body::Form {
        fields: &[Field { reserved: true, ..field("next", Style::Form, true) }, field("plain", Style::Form, true)],
        extra: None,
    };
    let seen = sent(BODY, json!({"next": "/a?b=c&d+e", "plain": "/a"})).await;
    assert_eq!(seen.text(), "next=/a?b=c%26d%2Be&plain=%2Fa");
}

#[tokio::test]
async fn a_json_text_sequence_has_its_separators() {
    const SEQUENCE: Body = Body::Raw { argument: "request", media_type: "application/json-seq" };
    assert_eq!(sent(SEQUENCE, json!({"request": [1, {"a": 2}]})).await.text(), "\u{1e}1\n\u{1e}{\"a\":2}\n");
}

const CHOICE: Body = Body::Choice {
    argument: "content_type",
    alternatives: &[
        Alternative {
            media_type: "application/json",
            inside: None,
            required: &["request"],
            body: Body::Json { argument: "request", media_type: "application/json" },
        },
        Alternative {
            media_type: "text/plain",
            inside: None,
            required: &["text"],
            body: Body::Raw { argument: "text", media_type: "text/plain" },
        },
        Alternative {
            media_type: "application/x-www-form-urlencoded",
            inside: Some("form"),
            required: &["form"],
            body: Body::Form { fields: &[field("a", Style::Form, true)], extra: None },
        },
    ],
};

async fn chosen(arguments: Value) -> Result<(String, String), ToolError> {
    let server = Server::with(json_answer("{}")).await;
    let envelope = Setting::for_server(&server).call(&tool(posting(CHOICE)), arguments).await;
    match envelope.error {
        Some(error) => Err(error),
        None => {
            let request = server.only_request();
            Ok((request.header("content-type").unwrap_or_default().to_owned(), request.text()))
        }
    }
}

#[tokio::test]
async fn the_media_type_chooses_among_bodies_that_differ() {
    let sent = |media_type: &str, text: &str| Ok((media_type.to_owned(), text.to_owned()));
    assert_eq!(chosen(json!({"request": {"a": 1}})).await, sent("application/json", "{\"a\":1}"));
    let text = json!({"content_type": "text/plain", "text": "hi", "request": {}});
    assert_eq!(chosen(text).await, sent("text/plain", "hi"));
    let form = json!({"content_type": "application/x-www-form-urlencoded", "form": {"a": "b c"}});
    assert_eq!(chosen(form).await, sent("application/x-www-form-urlencoded", "a=b%20c"));
}

#[tokio::test]
async fn a_chosen_form_has_the_fields_that_nobody_declared() {
    let form = json!({"form": {"a": "b", "more": ["x", "y"], "o": {"k": 1}}});
    assert_eq!(chosen(form).await.unwrap().1, "a=b&more=x&more=y&o=%7B%22k%22%3A1%7D");
}

#[tokio::test]
async fn without_a_media_type_the_body_follows_from_the_arguments() {
    assert_eq!(chosen(json!({"text": "hi"})).await.unwrap().0, "text/plain");
    assert_eq!(chosen(json!({"form": {"a": "b"}})).await.unwrap().0, "application/x-www-form-urlencoded");
}

#[tokio::test]
async fn a_chosen_body_whose_argument_is_missing_is_refused() {
    let error = chosen(json!({"content_type": "text/plain"})).await.unwrap_err();
    assert_eq!(error.message, "`text` is required where the body is sent as text/plain");
    assert!(chosen(json!({"content_type": "image/png"})).await.unwrap_err().message.contains("must be one of"));
}

#[tokio::test]
async fn a_raw_body_takes_the_forms_of_a_file_input() {
    const TAR: Body = Body::Raw { argument: "body", media_type: "application/x-tar" };
    let server = Server::with(json_answer("{}")).await;
    Setting::for_server(&server).call(&tool(posting(TAR)), json!({"body": "base64:AAEC"})).await;
    let request = server.only_request();
    assert_eq!(
        (request.header("content-type"), request.body.as_slice()),
        (Some("application/x-tar"), &[0u8, 1, 2][..])
    );
}
