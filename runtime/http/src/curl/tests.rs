use serde_json::{Value, json};
use toolwright_core::{Body, Field, FieldKind, HttpBinding, Method, Style};

use crate::testing::{GET, POST_JSON, Server, Setting, object, tool};

const UPLOAD: HttpBinding = HttpBinding {
    method: Method::Post,
    body: Body::Multipart {
        fields: &[
            Field {
                argument: "model",
                wire: "model",
                kind: FieldKind::Value,
                style: Style::Form,
                explode: true,
                content_type: None,
                send_as: &[],
            },
            Field {
                argument: "file",
                wire: "file",
                kind: FieldKind::File,
                style: Style::Form,
                explode: true,
                content_type: None,
                send_as: &[],
            },
        ],
        extra: None,
    },
    ..GET
};

async fn printed(binding: HttpBinding, arguments: Value) -> String {
    let server = Server::with("").await;
    let setting = Setting::for_server(&server).with(|config| {
        config.base_url = "http://127.0.0.1:8080".parse().unwrap();
        config.api_key = Some("key-12345".into());
    });
    setting.upstream().plan(&tool(binding), &object(arguments)).unwrap().to_curl()
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
