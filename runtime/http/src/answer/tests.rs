use std::time::Duration;

use serde_json::{Map, json};
use tokio::io::AsyncWriteExt;
use toolwright_core::{Binary, Binding, BlockKind, Code, Envelope, HttpBinding, NoRoute, Payload, ToolSpec};

use crate::{
    context::{CallContext, Progress},
    testing::{GET, POST_JSON, Server, Setting, answer, bound, json_answer, tool},
};

/// 100,000 letters, deflated, with their checksum and length (RFC 1952 section 2.3).
#[rustfmt::skip]
const GZIPPED_BODY: [u8; 123] = [
    237, 193, 49, 1, 0, 0, 0, 194, 160, 172, 235, 95, 194, 26, 30, 64, 1, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 175, 6, 135, 250, 226, 27, 160,
    134, 1, 0,
];

#[tokio::test]
async fn json_is_data() {
    let server = Server::with(json_answer(r#"{"id":12345678901234567890123,"name":"안녕"}"#)).await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert!(envelope.ok, "{envelope:?}");
    assert_eq!(envelope.status_code, Some(200));
    assert_eq!(envelope.content_type.as_deref(), Some("application/json"));
    let Payload::Data(data) = envelope.payload else { panic!("{:?}", envelope.payload) };
    assert_eq!(data.to_string(), r#"{"id":12345678901234567890123,"name":"안녕"}"#);
}

#[tokio::test]
async fn a_body_is_sent_as_json_with_explicit_nulls_and_every_digit() {
    let server = Server::with(json_answer("{}")).await;
    let request = serde_json::from_str(r#"{"request":{"a":null,"n":9007199254740993,"t":"모델"}}"#).unwrap();
    Setting::for_server(&server).call(&tool(POST_JSON), request).await;
    let seen = server.only_request();
    assert_eq!(seen.line, "POST /thing HTTP/1.1");
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.text(), r#"{"a":null,"n":9007199254740993,"t":"모델"}"#);
}

#[tokio::test]
async fn an_absent_body_is_not_sent() {
    let server = Server::with(json_answer("{}")).await;
    Setting::for_server(&server).call(&tool(POST_JSON), json!({})).await;
    let seen = server.only_request();
    assert_eq!(seen.header("content-type"), None);
    assert_eq!(seen.header("content-length"), Some("0"));
    assert_eq!(seen.body, b"");
}

#[tokio::test]
async fn no_content_is_success_whatever_type_it_claims() {
    let server =
        Server::with("HTTP/1.1 204 No Content\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n").await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert!(envelope.ok);
    assert!(matches!(envelope.payload, Payload::Empty));
}

#[tokio::test]
async fn an_error_status_is_a_failure_with_its_body_and_one_sentence() {
    let body = r#"{"error":{"message":"model not found","code":404}}"#;
    let server = Server::with(answer("404 Not Found", &[("content-type", "application/json")], body)).await;
    let envelope = Setting::for_server(&server).call(&tool(GET), json!({})).await;
    assert!(!envelope.ok);
    let error = envelope.error.unwrap();
    assert_eq!(error.code, Code::UpstreamError);
    assert_eq!(error.message, "the upstream answered 404 (Not Found): model not found");
    assert!(matches!(envelope.payload, Payload::Data(_)));
}

fn payload_text(envelope: &Envelope) -> &str {
    match &envelope.payload {
        Payload::Text(text) => text,
        other => panic!("not text: {other:?}"),
    }
}

fn binary(envelope: &Envelope) -> &Binary {
    match &envelope.payload {
        Payload::Binary(binary) => binary,
        other => panic!("not binary: {other:?}"),
    }
}

async fn answered(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Envelope {
    let server = Server::with(answer(status, headers, body)).await;
    Setting::for_server(&server).call(&tool(GET), json!({})).await
}

#[tokio::test]
async fn types_that_extend_json_are_data() {
    for kind in ["application/problem+json", "Application/JSON; charset=utf-8", "text/json"] {
        let envelope = answered("200 OK", &[("content-type", kind)], "{\"a\":1}").await;
        assert!(matches!(envelope.payload, Payload::Data(_)), "{kind}");
    }
}

#[tokio::test]
async fn text_xml_and_yaml_are_text() {
    for kind in
        ["text/plain", "text/markdown; charset=utf-8", "application/xml", "application/atom+xml", "application/yaml"]
    {
        let envelope = answered("200 OK", &[("content-type", kind)], "안녕").await;
        assert_eq!(payload_text(&envelope), "안녕", "{kind}");
    }
}

#[tokio::test]
async fn an_empty_body_is_success_whatever_its_type() {
    for kind in ["application/json", "text/plain", "audio/wav", "text/event-stream"] {
        let envelope = answered("200 OK", &[("content-type", kind)], "").await;
        let events = matches!(&envelope.payload, Payload::Events { events, .. } if events.is_empty());
        assert!(envelope.ok && (events || matches!(envelope.payload, Payload::Empty)), "{kind}: {envelope:?}");
    }
}

#[tokio::test]
async fn json_that_is_none_is_text_with_a_warning() {
    let envelope = answered("200 OK", &[("content-type", "application/json")], "{oops").await;
    assert!(envelope.ok);
    assert_eq!(payload_text(&envelope), "{oops");
    assert_eq!(envelope.warnings, ["the answer calls itself application/json and is not JSON; it is given as text"]);
}

#[tokio::test]
async fn json_that_is_neither_is_binary_with_a_warning() {
    let envelope = answered("200 OK", &[("content-type", "application/json")], [0xff, 0xfe, 0]).await;
    assert_eq!(binary(&envelope).size_bytes, 3);
    assert_eq!(envelope.warnings.len(), 1);
}

#[tokio::test]
async fn text_and_json_in_another_charset_are_read_in_it() {
    let korean = [0xbe, 0xc8, 0xb3, 0xe7];
    let text = answered("200 OK", &[("content-type", "text/plain; charset=euc-kr")], korean).await;
    assert_eq!((payload_text(&text), text.warnings.len()), ("안녕", 0));
    let text = answered("200 OK", &[("content-type", "text/csv; charset=\"UTF-16LE\"")], [0x48, 0xc5]).await;
    assert_eq!(payload_text(&text), "안");
    let json = [b"\"".as_slice(), &korean, b"\""].concat();
    let json = answered("200 OK", &[("content-type", "application/json; charset=EUC-KR")], json).await;
    assert!(matches!(&json.payload, Payload::Data(data) if data == "안녕"), "{json:?}");
}

#[tokio::test]
async fn a_charset_that_does_not_fit_or_is_unknown_is_a_warning() {
    let text = answered("200 OK", &[("content-type", "text/plain; charset=euc-kr")], [b'a', 0xff]).await;
    assert_eq!(payload_text(&text), "a\u{fffd}");
    assert_eq!(text.warnings, ["the text is not all EUC-KR; what cannot be read is replaced"]);
    let text = answered("200 OK", &[("content-type", "text/plain; charset=odd")], [b'a', 0xff]).await;
    assert_eq!(payload_text(&text), "a\u{fffd}");
    assert_eq!(text.warnings, ["the text is not UTF-8; what cannot be read is replaced"]);
    let text = answered("200 OK", &[("content-type", "text/plain; charset=us-ascii")], "안녕").await;
    assert_eq!(payload_text(&text), "안녕");
}

#[tokio::test]
async fn content_without_a_type_is_read_as_what_it_is() {
    assert!(matches!(answered("200 OK", &[], "{\"a\":1}").await.payload, Payload::Data(_)));
    assert_eq!(payload_text(&answered("200 OK", &[], "안녕").await), "안녕");
    assert_eq!(binary(&answered("200 OK", &[], [0, 1, 2]).await).mime_type, "application/octet-stream");
}

#[tokio::test]
async fn a_type_that_nobody_knows_is_text_where_it_is_text() {
    let envelope = answered("200 OK", &[("content-type", "application/x-odd")], "plain").await;
    assert_eq!(payload_text(&envelope), "plain");
    assert_eq!(envelope.warnings, ["the answer has application/x-odd; it was read as text"]);
}

#[tokio::test]
async fn small_audio_comes_inside_the_result_and_as_a_file() {
    let envelope = answered("200 OK", &[("content-type", "audio/x-wav")], "abc").await;
    assert!(envelope.ok);
    let binary = binary(&envelope);
    assert_eq!((binary.size_bytes, binary.mime_type.as_str(), &binary.base64), (3, "audio/x-wav", &None));
    assert!(matches!(&envelope.attachments[0].kind, BlockKind::Audio(base64) if base64 == "YWJj"));
    assert!(matches!(&envelope.attachments[1].kind, BlockKind::Link { size_bytes: 3, .. }));
    assert!(binary.resource_uri.as_ref().unwrap().starts_with("toolwright://demo/files/"));
    assert!(binary.saved_path.as_ref().unwrap().ends_with(".wav"));
}

#[tokio::test]
async fn images_and_other_content_have_their_own_blocks() {
    let image = answered("200 OK", &[("content-type", "image/png")], "abc").await;
    assert!(matches!(image.attachments[0].kind, BlockKind::Image(_)));
    let model = answered("200 OK", &[("content-type", "model/gltf-binary")], "abc").await;
    assert!(matches!(model.attachments[0].kind, BlockKind::Blob { .. }));
}

#[tokio::test]
async fn base64_is_inside_the_envelope_only_on_request() {
    let server = Server::with(answer("200 OK", &[("content-type", "audio/wav")], "abc")).await;
    let setting = Setting::for_server(&server).with(|config| config.inline_base64 = true);
    assert_eq!(binary(&setting.call(&tool(GET), json!({})).await).base64.as_deref(), Some("YWJj"));
}

#[tokio::test]
async fn content_over_the_inline_limit_is_a_file_and_a_link() {
    let server = Server::with(answer("200 OK", &[("content-type", "image/png")], vec![7; 100_000])).await;
    let setting = Setting::for_server(&server).with(|config| config.inline_binary_limit = 1000);
    let envelope = setting.call(&tool(GET), json!({})).await;
    assert_eq!(envelope.attachments.len(), 1);
    assert!(matches!(envelope.attachments[0].kind, BlockKind::Link { size_bytes: 100_000, .. }));
    assert_eq!(std::fs::read(binary(&envelope).saved_path.as_ref().unwrap()).unwrap(), vec![7; 100_000]);
}

#[tokio::test]
async fn content_that_may_not_be_saved_says_so() {
    let server = Server::with(answer("200 OK", &[("content-type", "image/png")], vec![7; 5000])).await;
    let setting = Setting::for_server(&server).with(|config| {
        config.inline_binary_limit = 1000;
        config.save_binary = false;
    });
    let envelope = setting.call(&tool(GET), json!({})).await;
    assert!(envelope.ok);
    assert_eq!(binary(&envelope).size_bytes, 5000);
    assert_eq!(envelope.warnings, ["the content was not kept: raise INLINE_BINARY_LIMIT or switch SAVE_BINARY on"]);
    assert!(!setting.config.output_dir.exists());
}

#[tokio::test]
async fn content_that_the_result_holds_is_not_lost_for_want_of_quota() {
    let server = Server::with(answer("200 OK", &[("content-type", "image/png")], vec![7; 5000])).await;
    let setting = Setting::for_server(&server).with(|config| config.output_quota_bytes = 1000);
    let envelope = setting.call(&tool(GET), json!({})).await;
    assert!(envelope.ok, "{:?}", envelope.error);
    assert!(matches!(envelope.attachments[0].kind, BlockKind::Image(_)));
    assert_eq!(envelope.warnings.len(), 1);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_a_warning() {
    let server = Server::with(answer("200 OK", &[("content-type", "image/png")], "abc")).await;
    let setting = Setting::for_server(&server);
    std::fs::write(&setting.config.output_dir, "a file where the folder should be").unwrap();
    let envelope = setting.call(&tool(GET), json!({})).await;
    assert!(envelope.ok);
    assert!(envelope.warnings[0].starts_with("the content could not be saved"), "{:?}", envelope.warnings);
    assert!(matches!(envelope.attachments[0].kind, BlockKind::Image(_)));
}

#[tokio::test]
async fn an_answer_over_the_limit_is_refused_by_its_length() {
    let server = Server::with(json_answer(&format!("\"{}\"", "x".repeat(2000)))).await;
    let setting = Setting::for_server(&server).with(|config| config.max_response_bytes = 1000);
    let envelope = setting.call(&tool(GET), json!({})).await;
    assert_eq!(envelope.code(), Some(Code::TooLarge));
    assert_eq!(envelope.status_code, Some(200));
    assert_eq!(envelope.extra["size_bytes"], 2002);
    assert!(envelope.error.unwrap().message.contains("1000 bytes"));
}

#[tokio::test]
async fn an_answer_over_the_limit_without_a_length_is_refused_while_it_comes() {
    for kind in ["application/json", "text/plain", "image/png", "text/event-stream"] {
        let server = Server::running(move |_, mut stream| async move {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            // Endless: only a reader that stops can finish the test.
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        })
        .await;
        let setting = Setting::for_server(&server).with(|config| {
            config.max_response_bytes = 300_000;
            config.inline_binary_limit = 1000;
        });
        let envelope = setting.call(&tool(GET), json!({})).await;
        assert_eq!(envelope.code(), Some(Code::TooLarge), "{kind}");
        let left = std::fs::read_dir(&setting.config.output_dir).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{kind} left a file behind");
    }
}

#[tokio::test]
async fn a_compressed_answer_is_unpacked_and_limited_by_what_comes_out() {
    // gzip of 100,000 times "a".
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    packed.extend_from_slice(&GZIPPED_BODY);
    let headers = [("content-type", "text/plain"), ("content-encoding", "gzip")];
    let server = Server::with(answer("200 OK", &headers, &packed)).await;
    let setting = Setting::for_server(&server);
    assert_eq!(payload_text(&setting.call(&tool(GET), json!({})).await).len(), 100_000);
    let setting = setting.with(|config| config.max_response_bytes = 50_000);
    assert_eq!(setting.call(&tool(GET), json!({})).await.code(), Some(Code::TooLarge));
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_a_failure() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"a\":";
    let server = Server::with(cut).await;
    let envelope = Setting::for_server(&server).call(&tool(POST_JSON), json!({})).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamUnreachable));
    assert_eq!(envelope.status_code, Some(200));
    assert!(envelope.error.unwrap().message.starts_with("the upstream broke off its answer after 5 bytes"));
}

#[tokio::test]
async fn some_headers_are_kept() {
    let headers = [
        ("X-Total-Count", "7"),
        ("x-trace-offset", "0"),
        ("X-Audio-Stems", "a"),
        ("Retry-After", "3"),
        ("X-Correlation-ID", "c"),
        ("Content-Disposition", "attachment"),
        ("Set-Cookie", "session=secret"),
        ("Server", "x"),
    ];
    let envelope = answered("200 OK", &headers, "").await;
    let kept: Vec<&str> = envelope.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        kept,
        ["x-total-count", "x-trace-offset", "x-audio-stems", "retry-after", "x-correlation-id", "content-disposition"]
    );
}

#[tokio::test]
async fn errors_of_every_shape_become_one_sentence() {
    let json = ("content-type", "application/json");
    for (kind, body, wanted) in [
        (
            json,
            r#"{"error":{"message":"no\n such  model"}}"#,
            "the upstream answered 500 (Internal Server Error): no such model",
        ),
        (json, r#"{"error":"plain"}"#, "the upstream answered 500 (Internal Server Error): plain"),
        (json, r#"{"message":"m"}"#, "the upstream answered 500 (Internal Server Error): m"),
        (
            json,
            r#"{"detail":[{"msg":"x","message":"field"}]}"#,
            "the upstream answered 500 (Internal Server Error): field",
        ),
        (
            ("content-type", "application/problem+json"),
            r#"{"title":"t","detail":"d"}"#,
            "the upstream answered 500 (Internal Server Error): d",
        ),
        (("content-type", "text/plain"), "oops\n", "the upstream answered 500 (Internal Server Error): oops"),
        (
            ("content-type", "text/html"),
            "<html>",
            "the upstream answered 500 (Internal Server Error) without saying why",
        ),
        (json, "", "the upstream answered 500 (Internal Server Error) without saying why"),
    ] {
        let envelope = answered("500 Internal Server Error", &[kind], body).await;
        assert!(!envelope.ok);
        assert_eq!(envelope.error.unwrap().message, wanted, "{body}");
    }
}

#[tokio::test]
async fn a_long_error_page_is_cut_between_letters() {
    let page = "가".repeat(5000);
    let envelope = answered("502 Bad Gateway", &[("content-type", "text/html")], &page).await;
    let text = payload_text(&envelope);
    assert!(text.len() <= 4100 && text.ends_with("가…"), "{}", text.len());
    assert_eq!(envelope.warnings, ["the text of the error was cut; it has 15000 bytes"]);
}

#[tokio::test]
async fn a_refused_key_says_what_to_check() {
    let envelope = answered("401 Unauthorized", &[("content-type", "application/json")], r#"{"error":"no."}"#).await;
    let message = envelope.error.unwrap().message;
    assert_eq!(message, "the upstream answered 401 (Unauthorized): no; check the API key of the upstream");
}

#[tokio::test]
async fn an_undeclared_type_is_a_warning() {
    let server = Server::with(json_answer("{}")).await;
    let spec = tool(HttpBinding { produces: &["audio/x-wav"], ..GET });
    let envelope = Setting::for_server(&server).call(&spec, json!({})).await;
    assert!(envelope.ok);
    assert_eq!(envelope.warnings, ["the answer is application/json; the document declares audio/x-wav"]);
}

#[tokio::test]
async fn declared_types_are_accepted_by_range_and_by_their_older_names() {
    for (declared, received) in [("image/*", "image/png"), ("audio/x-wav", "audio/wav"), ("*/*", "text/plain")] {
        assert!(super::reading::matches(declared, received), "{declared} {received}");
    }
    assert!(!super::reading::matches("image/*", "audio/wav"));
}

#[tokio::test]
async fn a_stand_in_route_is_a_warning() {
    let server = Server::with(json_answer("{}")).await;
    let stand_in = Some(NoRoute { missing: "The declared route does not exist.", instead: Some("get_metrics") });
    let spec = tool(HttpBinding { stand_in, ..GET });
    let envelope = Setting::for_server(&server).call(&spec, json!({})).await;
    assert_eq!(envelope.warnings, ["The declared route does not exist; use get_metrics instead"]);
}

#[tokio::test]
async fn a_tool_without_a_route_sends_nothing() {
    let server = Server::with(json_answer("{}")).await;
    let spec =
        bound(Binding::NoRoute(NoRoute { missing: "The server has no such route.", instead: Some("get_metrics") }));
    let envelope = Setting::for_server(&server).call(&spec, json!({})).await;
    assert_eq!(envelope.code(), Some(Code::NoRoute));
    assert_eq!(envelope.error.unwrap().message, "The server has no such route; use get_metrics instead");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn secret_fields_are_masked_unless_they_may_be_shown() {
    let body = r#"{"token":"s","list":[{"key":"a","n":1},{"key":null}],"other":"x"}"#;
    let server = Server::with(json_answer(body)).await;
    let spec = ToolSpec { secrets: &["/token", "/list/*/key", "/absent/x"], ..tool(GET) };
    let setting = Setting::for_server(&server);
    let envelope = setting.call(&spec, json!({})).await;
    let Payload::Data(data) = &envelope.payload else { panic!() };
    let masked = json!({"token": "[masked]", "list": [{"key": "[masked]", "n": 1}, {"key": null}], "other": "x"});
    assert_eq!(data, &masked);
    assert_eq!(envelope.warnings.len(), 1);
    let setting = setting.with(|config| config.reveal_secrets = true);
    let Payload::Data(data) = setting.call(&spec, json!({})).await.payload else { panic!() };
    assert_eq!(data["token"], "s");
}

#[tokio::test]
async fn a_tool_with_secret_fields_masks_by_name_too() {
    let body = r#"[{"request":{"headers":{"authorization":"S1"},"body":"{\"api_key\":\"S2\",\"n\":1"}},{"data":{"token":"S3"}}]"#;
    let server = Server::with(json_answer(body)).await;
    let spec = ToolSpec { secrets: &["/*/request/headers/authorization"], ..tool(GET) };
    let envelope = Setting::for_server(&server).call(&spec, json!({})).await;
    let Payload::Data(data) = &envelope.payload else { panic!() };
    let request = json!({"headers": {"authorization": "[masked]"}, "body": "{\"api_key\":\"[masked]\",\"n\":1"});
    assert_eq!(data, &json!([{"request": request}, {"data": {"token": "[masked]"}}]));
    assert!(envelope.warnings[0].starts_with("3 secret values are masked"), "{:?}", envelope.warnings);
}

#[tokio::test]
async fn a_tool_without_secret_fields_masks_nothing_by_name() {
    let server = Server::with(json_answer(r#"{"token":"t"}"#)).await;
    let Payload::Data(data) = Setting::for_server(&server).call(&tool(GET), json!({})).await.payload else { panic!() };
    assert_eq!(data["token"], "t");
}

#[tokio::test]
async fn a_credential_is_taken_out_of_names_media_types_and_file_names_in_any_case() {
    const KEY: &str = "Sk-Planted-0123456789";
    let headers = [
        ("content-type", "audio/Sk-Planted-0123456789"),
        ("x-ratelimit-Sk-Planted-0123456789", "3"),
        ("content-disposition", "attachment; filename=\"Sk-Planted-0123456789.bin\""),
    ];
    let server = Server::with(answer("200 OK", &headers, [0, 1, 2])).await;
    let setting = Setting::for_server(&server).with(|config| config.api_key = Some(KEY.into()));
    let envelope = setting.call(&tool(GET), json!({})).await;
    let Payload::Binary(Binary { saved_path: Some(_), .. }) = envelope.payload else { panic!("{envelope:?}") };
    let shown = format!("{envelope:?}").to_lowercase();
    assert!(!shown.contains(&KEY.to_lowercase()), "{shown}");
    assert!(shown.contains("x-ratelimit-[masked]"), "{shown}");
}

#[tokio::test]
async fn an_empty_pointer_masks_everything() {
    let spec = ToolSpec { secrets: &[""], ..tool(GET) };
    let server = Server::with(answer("200 OK", &[("content-type", "text/plain")], "token")).await;
    assert_eq!(payload_text(&Setting::for_server(&server).call(&spec, json!({})).await), "[masked]");
    let server = Server::with(json_answer("\"token\"")).await;
    let Payload::Data(data) = Setting::for_server(&server).call(&spec, json!({})).await.payload else { panic!() };
    assert_eq!(data, "[masked]");
}

#[tokio::test]
async fn secret_content_never_goes_to_a_file() {
    let spec = ToolSpec { secrets: &[""], ..tool(GET) };
    let server = Server::with(answer("200 OK", &[("content-type", "application/octet-stream")], [0, 1])).await;
    let setting = Setting::for_server(&server);
    let envelope = setting.call(&spec, json!({})).await;
    assert!(envelope.attachments.is_empty());
    assert!(!setting.config.output_dir.exists());
}

#[tokio::test]
async fn the_api_key_is_taken_out_wherever_the_upstream_repeats_it() {
    let server = Server::with(json_answer(r#"{"headers":{"Authorization":"Bearer key-12345"}}"#)).await;
    let setting = Setting::for_server(&server).with(|config| {
        config.api_key = Some("key-12345".into());
        config.reveal_secrets = true;
    });
    let envelope = setting.call(&tool(GET), json!({})).await;
    assert_eq!(server.only_request().header("authorization"), Some("Bearer key-12345"));
    assert!(!format!("{envelope:?}").contains("key-12345"));
}

#[tokio::test]
async fn binary_content_of_an_error_is_not_kept() {
    let envelope = answered("500 Internal Server Error", &[("content-type", "image/png")], [0, 1, 2]).await;
    assert!(!envelope.ok);
    assert_eq!((binary(&envelope).size_bytes, envelope.attachments.len()), (3, 0));
    assert_eq!(binary(&envelope).saved_path, None);
}

#[tokio::test]
async fn the_api_key_is_taken_out_of_names_and_of_the_media_type() {
    let answers = [
        answer("200 OK", &[("content-type", "application/json")], r#"{"key-12345": {"a key-12345": 1}}"#),
        answer("200 OK", &[("content-type", "image/key-12345")], "\0"),
    ];
    for answer in answers {
        let server = Server::with(answer).await;
        let setting = Setting::for_server(&server).with(|config| config.api_key = Some("key-12345".into()));
        let envelope = setting.call(&tool(GET), json!({})).await;
        assert!(envelope.ok && !format!("{envelope:?}").contains("key-12345"), "{envelope:?}");
    }
}

#[tokio::test]
async fn lines_of_json_are_a_list_with_every_digit() {
    let lines = "{\"id\":12345678901234567890123}\r\n\n{\"a\":null}\n";
    for kind in ["application/x-ndjson", "application/jsonl; charset=utf-8"] {
        let envelope = answered("200 OK", &[("content-type", kind)], lines).await;
        let Payload::Data(data) = &envelope.payload else { panic!("{:?}", envelope.payload) };
        assert_eq!(data.to_string(), r#"[{"id":12345678901234567890123},{"a":null}]"#, "{kind}");
    }
}

#[tokio::test]
async fn a_json_text_sequence_is_a_list() {
    let text = "\u{1e}{\"a\":\n1}\n\u{1e}2\n";
    let envelope = answered("200 OK", &[("content-type", "application/json-seq")], text).await;
    let Payload::Data(data) = &envelope.payload else { panic!("{:?}", envelope.payload) };
    assert_eq!(*data, json!([{"a": 1}, 2]));
}

#[tokio::test]
async fn lines_that_are_not_all_json_stay_text() {
    let envelope = answered("200 OK", &[("content-type", "application/x-ndjson")], "{\"a\":1}\nhalf {").await;
    assert_eq!(payload_text(&envelope), "{\"a\":1}\nhalf {");
    assert_eq!(envelope.warnings.len(), 1);
}

#[tokio::test]
async fn secrets_of_a_form_are_masked_by_name() {
    const SECRET: ToolSpec = ToolSpec { secrets: &["/key"], ..tool(GET) };
    let body = r#"{"key":"K","sent":"user=u&password=12345","link":"https://h/?token=T&a=b"}"#;
    let server = Server::with(json_answer(body)).await;
    let envelope = Setting::for_server(&server).call(&SECRET, json!({})).await;
    let wanted =
        json!({"key": "[masked]", "sent": "user=u&password=[masked]", "link": "https://h/?token=[masked]&a=b"});
    let Payload::Data(data) = &envelope.payload else { panic!("{:?}", envelope.payload) };
    assert_eq!(*data, wanted);
}

#[tokio::test]
async fn lines_of_json_are_counted_for_people_who_watch() {
    let body = "{}\n".repeat(250);
    let server = Server::with(answer("200 OK", &[("content-type", "application/x-ndjson")], &body)).await;
    let (sender, mut receiver) = tokio::sync::mpsc::channel(8);
    let context = CallContext { progress: Progress::to(sender), ..CallContext::within(Duration::from_secs(5)) };
    Setting::for_server(&server).upstream().execute(&tool(GET), Map::new(), &context).await;
    drop(context);
    let mut last = String::new();
    while let Some(update) = receiver.recv().await {
        last = update.message;
    }
    assert!(last.ends_with(" values"), "{last}");
}
