use serde_json::{Value, json};
use toolwright_core::{
    Binding, Body, Exchange, Field, FieldKind, HttpBinding, Method, PartHeader, PartHeaderValue, Style, ToolSpec,
    WebSocketBinding,
};

use crate::{
    RawRequest,
    testing::{GET, POST_JSON, Server, Setting, bound, object, tool},
};

const UPLOAD: HttpBinding = HttpBinding {
    method: Method::Post,
    body: Body::Multipart {
        media_type: "multipart/form-data",
        headers: &[],
        fields: &[
            Field {
                argument: "model",
                wire: "model",
                kind: FieldKind::Value,
                style: Style::Form,
                explode: true,
                content_type: None,
                reserved: false,
                send_as: &[],
            },
            Field {
                argument: "file",
                wire: "file",
                kind: FieldKind::File,
                style: Style::Form,
                explode: true,
                content_type: None,
                reserved: false,
                send_as: &[],
            },
        ],
        extra: None,
    },
    ..GET
};

async fn setting(base_url: &str) -> Setting {
    let server = Server::with("").await;
    Setting::for_server(&server).with(|config| {
        config.base_url = base_url.parse().unwrap();
        config.api_key = Some("key-12345".into());
    })
}

async fn printed_row(spec: ToolSpec, base_url: &str, arguments: Value) -> String {
    setting(base_url).await.upstream().plan(&spec, &object(arguments)).unwrap().to_curl()
}

async fn printed(binding: HttpBinding, arguments: Value) -> String {
    printed_row(tool(binding), "http://127.0.0.1:8080", arguments).await
}

#[tokio::test]
async fn a_raw_request_is_a_command_as_well() {
    let request = RawRequest {
        method: "purge".to_owned(),
        path: "/cache?all=1".to_owned(),
        body: Some(json!({"a": 1})),
        ..RawRequest::default()
    };
    let planned = setting("http://127.0.0.1:8080").await.upstream().plan_raw(&request).unwrap();
    assert_eq!(planned.method(), "PURGE");
    assert_eq!(
        planned.to_curl(),
        concat!(
            "curl --request PURGE 'http://127.0.0.1:8080/cache?all=1' \\\n",
            "  --header \"Authorization: Bearer $DEMO_API_KEY\" \\\n",
            "  --header 'accept: */*' \\\n",
            "  --header 'content-type: application/json' \\\n",
            "  --data-raw '{\"a\":1}'",
        )
    );
}

#[tokio::test]
async fn a_request_for_a_head_waits_for_no_body_and_odd_tokens_are_quoted() {
    let upstream = setting("http://127.0.0.1:8080").await.upstream();
    let begins = |method: &str| {
        let request = RawRequest { method: method.to_owned(), path: "/x".to_owned(), ..RawRequest::default() };
        upstream.plan_raw(&request).unwrap().to_curl().lines().next().unwrap().to_owned()
    };
    assert_eq!(begins("HEAD"), "curl --head 'http://127.0.0.1:8080/x' \\");
    assert_eq!(begins("A`B"), "curl --request 'A`B' 'http://127.0.0.1:8080/x' \\");
}

#[tokio::test]
async fn a_websocket_is_an_address_with_a_comment() {
    let binding = Binding::WebSocket(WebSocketBinding {
        path: "/stream",
        parameters: &[],
        exchange: Exchange::Receive,
        security: None,
        server: None,
        hidden: &[],
    });
    for (base, address) in
        [("http://127.0.0.1:8080", "ws://127.0.0.1:8080/stream"), ("https://http.example", "wss://http.example/stream")]
    {
        let printed = printed_row(bound(binding), base, json!({})).await;
        assert_eq!(
            printed,
            format!(
                "# curl cannot hold a WebSocket exchange: open this address with a WebSocket client.\n# Header: Authorization: Bearer $DEMO_API_KEY\n{address}"
            )
        );
    }
}

#[tokio::test]
async fn a_request_is_a_command_without_its_key() {
    let command = printed(POST_JSON, json!({"request": {"text": "it's 안녕"}})).await;
    assert_eq!(
        command,
        concat!(
            "curl --request POST 'http://127.0.0.1:8080/thing' \\\n",
            "  --header \"Authorization: Bearer $DEMO_API_KEY\" \\\n",
            "  --header 'accept: */*' \\\n",
            "  --header 'content-type: application/json' \\\n",
            "  --data-raw '{\"text\":\"it'\\''s 안녕\"}'",
        )
    );
}

#[tokio::test]
async fn files_are_shown_by_their_place_and_not_opened() {
    let command = printed(UPLOAD, json!({"model": "@m;x", "file": "sub/voice.wav"})).await;
    assert!(command.contains("--form-string 'model=@m;x'"), "{command}");
    assert!(command.contains("--form 'file='\"@\"'sub/voice.wav'"), "{command}");
}

#[tokio::test]
async fn inline_files_are_written_out() {
    let command = printed(UPLOAD, json!({"file": "data:audio/wav;base64,AAEC"})).await;
    let wanted = "--form 'file='\"@\"<(echo AAEC | base64 -d)';type=audio/wav;filename=upload.wav'";
    assert!(command.contains(wanted), "{command}");
}

#[tokio::test]
async fn headers_of_parts_and_other_multipart_types_are_told() {
    const MODEL: &[Field] = match UPLOAD.body {
        Body::Multipart { fields, .. } => fields,
        _ => &[],
    };
    const BODY: Body = Body::Multipart {
        media_type: "multipart/mixed",
        fields: MODEL,
        headers: &[PartHeader { part: "model", wire: "x-part", value: PartHeaderValue::Fixed("a \"b\"") }],
        extra: None,
    };
    let text = printed(HttpBinding { body: BODY, ..UPLOAD }, json!({"model": "m"})).await;
    assert!(text.contains("--header 'content-type: multipart/mixed'"), "{text}");
    assert!(text.contains(r#"--form 'model=m;headers="x-part: a \"b\""'"#), "{text}");
}
