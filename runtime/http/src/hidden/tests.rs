//! Hidden arguments on the wire.

use serde_json::json;
use toolwright_core::{
    Access, Body, Code, Hidden, HiddenValue, HttpBinding, Location, Member, Method, Setting, Style, ToolSpec,
};

use crate::config::{Config, Secret};
use crate::testing::{GET, Server, Setting as TestSetting, json_answer, object, parameter, tool};

const TEXT: &str = r#"{"type":"string"}"#;

const fn constant(argument: &'static str, text: &'static str) -> Hidden {
    Hidden { argument, value: HiddenValue::Constant(text) }
}

const fn setting(argument: &'static str, key: &'static str) -> Hidden {
    Hidden { argument, value: HiddenValue::Setting { key, schema: TEXT } }
}

const ACCESS: Access = Access {
    settings: &[
        Setting { key: "tenant", env: "DEMO_TENANT", default: "", help: "", secret: false, allowed: &[] },
        Setting { key: "region", env: "DEMO_REGION", default: "eu", help: "", secret: false, allowed: &[] },
        Setting { key: "ticket", env: "DEMO_TICKET", default: "", help: "", secret: true, allowed: &[] },
    ],
    ..Access::NONE
};

const BY_TENANT: ToolSpec = tool(HttpBinding {
    path: "/tenants/{tenant}",
    parameters: &[
        parameter("tenant", Location::Path, Style::Simple, false),
        parameter("version", Location::Query, Style::Form, true),
    ],
    hidden: &[setting("tenant", "tenant"), constant("version", "2")],
    ..GET
});

async fn called(spec: &ToolSpec, change: impl FnOnce(&mut Config)) -> (Server, toolwright_core::Envelope) {
    let server = Server::with(json_answer("{}")).await;
    let setting = TestSetting::for_server(&server).with(|config| config.access = ACCESS).with(change);
    let envelope = setting.call(spec, json!({})).await;
    (server, envelope)
}

#[tokio::test]
async fn constants_and_settings_are_sent_where_they_belong() {
    let (server, _) =
        called(&BY_TENANT, |config| drop(config.settings.insert("tenant".into(), Secret::new("a")))).await;
    assert_eq!(server.only_request().line, "GET /tenants/a?version=2 HTTP/1.1");
}

#[tokio::test]
async fn a_hidden_value_in_the_path_is_encoded_and_no_way_out() {
    let with = |text: &'static str| {
        move |config: &mut Config| drop(config.settings.insert("tenant".into(), Secret::new(text)))
    };
    let (server, _) = called(&BY_TENANT, with("a/b?c")).await;
    assert_eq!(server.only_request().line, "GET /tenants/a%2Fb%3Fc?version=2 HTTP/1.1");
    let (server, envelope) = called(&BY_TENANT, with("..")).await;
    let error = envelope.error.unwrap();
    assert_eq!(error.code, Code::NotAllowed);
    assert!(error.message.starts_with("the setting `tenant` (environment variable DEMO_TENANT)"), "{}", error.message);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_default_stands_in_and_a_missing_setting_is_named() {
    const REGIONAL: ToolSpec = tool(HttpBinding {
        parameters: &[parameter("region", Location::Header, Style::Simple, false)],
        hidden: &[setting("region", "region")],
        ..GET
    });
    let (server, _) = called(&REGIONAL, |_| {}).await;
    assert_eq!(server.only_request().header("region"), Some("eu"));
    let (server, envelope) = called(&BY_TENANT, |_| {}).await;
    let error = envelope.error.unwrap();
    assert_eq!(error.code, Code::NotAllowed);
    assert!(error.message.contains("`tenant` (environment variable DEMO_TENANT)"), "{}", error.message);
    assert!(server.requests().is_empty());
}

const BODY: Body = Body::Object {
    media_type: "application/json",
    required: false,
    members: &[
        Member { argument: "name", wire: "name", required: true },
        Member { argument: "tenant", wire: "tenantId", required: true },
    ],
};

#[tokio::test]
async fn a_hidden_member_goes_along_and_makes_no_body_that_lacks_something() {
    const RENAME: ToolSpec =
        tool(HttpBinding { method: Method::Post, body: BODY, hidden: &[constant("tenant", "\"t\"")], ..GET });
    let server = Server::with(json_answer("{}")).await;
    let setting = TestSetting::for_server(&server);
    setting.call(&RENAME, json!({})).await;
    setting.call(&RENAME, json!({"name": "n"})).await;
    let bodies: Vec<String> = server.requests().iter().map(|request| request.text()).collect();
    assert_eq!(bodies, ["", r#"{"name":"n","tenantId":"t"}"#]);
}

const TICKETED: HttpBinding = HttpBinding {
    parameters: &[parameter("ticket", Location::Query, Style::Form, true)],
    hidden: &[setting("ticket", "ticket")],
    ..GET
};

fn with_ticket(config: &mut Config) {
    config.access = ACCESS;
    config.settings.insert("ticket".into(), Secret::new("s3cr3t-ticket"));
}

#[tokio::test]
async fn a_secret_is_named_by_its_variable_in_a_dry_run_and_masked_in_answers() {
    let server = Server::with(json_answer(r#"{"given":"s3cr3t-ticket"}"#)).await;
    let setting = TestSetting::for_server(&server).with(with_ticket);
    let planned = setting.upstream().plan(&tool(TICKETED), &object(json!({}))).unwrap();
    assert!(planned.to_curl().contains("ticket=DEMO_TICKET"), "{}", planned.to_curl());
    let envelope = setting.call(&tool(TICKETED), json!({})).await;
    assert!(server.only_request().line.contains("ticket=s3cr3t-ticket"));
    assert!(!envelope.to_json().values().any(|value| value.to_string().contains("s3cr3t-ticket")));
}

#[tokio::test]
async fn a_secret_header_is_shown_as_shell_that_fills_its_variable_in() {
    const HEADER: HttpBinding =
        HttpBinding { parameters: &[parameter("X-Ticket", Location::Header, Style::Simple, false)], ..TICKETED };
    const HIDDEN: HttpBinding = HttpBinding { hidden: &[setting("X-Ticket", "ticket")], ..HEADER };
    let server = Server::with(json_answer("{}")).await;
    let upstream = TestSetting::for_server(&server).with(with_ticket).upstream();
    let shown = upstream.plan(&tool(HIDDEN), &object(json!({}))).unwrap().to_curl();
    assert!(shown.contains("--header \"x-ticket: $DEMO_TICKET\""), "{shown}");
    assert!(!shown.contains("s3cr3t") && !shown.contains("x-ticket: DEMO_TICKET"), "{shown}");
}

#[tokio::test]
async fn a_secret_goes_to_the_upstreams_own_origin_alone() {
    let server = Server::with(json_answer("{}")).await;
    let setting = TestSetting::for_server(&server).with(with_ticket).with(|config| {
        config.base_url_configured = false;
        config.upstream_hosts = vec!["localhost:9".to_owned()];
    });
    let envelope =
        setting.call(&tool(HttpBinding { server: Some("http://localhost:9/"), ..TICKETED }), json!({})).await;
    assert_eq!(envelope.error.unwrap().code, Code::NotAllowed);
}
