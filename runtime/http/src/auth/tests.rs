//! What each kind of credential looks like on the wire, which are chosen, and where they never go.

use std::collections::BTreeMap;

use serde_json::json;
use toolwright_core::{
    Access, Binding, Code, Exchange, HttpBinding, Location, SchemeKind, SecurityScheme, Setting, WebSocketBinding,
};

use crate::config::Secret;
use crate::testing::{GET, Server, Setting as Stage, answer, bound, json_answer, tool};

const fn secret(key: &'static str, env: &'static str) -> Setting {
    Setting { key, env, default: "", help: "A credential.", secret: true, allowed: &[] }
}

const fn api_key(name: &'static str, location: Location, wire: &'static str) -> SecurityScheme {
    SecurityScheme { name, kind: SchemeKind::ApiKey { location, wire, setting: name } }
}

const ACCESS: Access = Access {
    settings: &[
        secret("head", "DEMO_HEAD"),
        secret("inquery", "DEMO_INQUERY"),
        secret("biscuit", "DEMO_BISCUIT"),
        secret("user", "DEMO_USER"),
        secret("pass", "DEMO_PASS"),
        secret("bear", "DEMO_BEAR"),
        secret("app_client_secret", "DEMO_APP_CLIENT_SECRET"),
    ],
    schemes: &[
        api_key("head", Location::Header, "X-Key"),
        api_key("inquery", Location::Query, "api key"),
        api_key("biscuit", Location::Cookie, "sid"),
        SecurityScheme { name: "basic", kind: SchemeKind::Basic { username: "user", password: "pass" } },
        SecurityScheme { name: "bear", kind: SchemeKind::Bearer { setting: "bear" } },
        SecurityScheme {
            name: "app",
            kind: SchemeKind::ClientCredentials {
                token: "app_token",
                client_id: "app_client_id",
                client_secret: "app_client_secret",
                token_url: "app_token_url",
                scopes: "app_scopes",
                client_auth: "app_client_auth",
            },
        },
    ],
    security: &[&["head"], &["inquery"], &["biscuit"], &["basic"], &["bear"], &["app"]],
};

fn stage(server: &Server, settings: &[(&str, &str)]) -> Stage {
    let settings: BTreeMap<String, Secret> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), Secret::new(*value))).collect();
    Stage::for_server(server).with(|config| {
        config.access = ACCESS;
        config.settings = settings;
    })
}

async fn sent(settings: &[(&str, &str)], binding: HttpBinding) -> crate::testing::Request {
    let server = Server::with(json_answer("{}")).await;
    stage(&server, settings).call(&tool(binding), json!({})).await;
    server.only_request()
}

#[tokio::test]
async fn a_key_goes_into_its_header() {
    let request = sent(&[("head", "k 1")], GET).await;
    assert_eq!(request.header("x-key"), Some("k 1"));
    assert_eq!(request.header("authorization"), None);
}

#[tokio::test]
async fn a_key_goes_into_the_query_encoded() {
    let request = sent(&[("inquery", "a&b")], GET).await;
    assert_eq!(request.line, "GET /thing?api%20key=a%26b HTTP/1.1");
}

#[tokio::test]
async fn a_key_goes_into_a_cookie() {
    assert_eq!(sent(&[("biscuit", "a;b")], GET).await.header("cookie"), Some("sid=a%3Bb"));
}

#[tokio::test]
async fn basic_joins_user_and_password() {
    let request = sent(&[("user", "Aladdin"), ("pass", "open sesame")], GET).await;
    assert_eq!(request.header("authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
    let without_password = sent(&[("user", "key")], GET).await;
    assert_eq!(without_password.header("authorization"), Some("Basic a2V5Og=="));
}

#[tokio::test]
async fn a_bearer_token_is_sent() {
    assert_eq!(sent(&[("bear", "t0k")], GET).await.header("authorization"), Some("Bearer t0k"));
}

#[tokio::test]
async fn the_first_configured_alternative_is_taken_and_no_other() {
    let request = sent(&[("bear", "t0k"), ("biscuit", "c")], GET).await;
    assert_eq!((request.header("cookie"), request.header("authorization")), (Some("sid=c"), None));
}

#[tokio::test]
async fn of_a_combination_all_schemes_are_sent_or_none() {
    const BOTH: HttpBinding = HttpBinding { security: Some(&[&["head", "bear"]]), ..GET };
    let all = sent(&[("head", "k"), ("bear", "t")], BOTH).await;
    assert_eq!((all.header("x-key"), all.header("authorization")), (Some("k"), Some("Bearer t")));
    let some = sent(&[("head", "k")], BOTH).await;
    assert_eq!((some.header("x-key"), some.header("authorization")), (None, None));
}

#[tokio::test]
async fn an_operation_that_needs_no_credential_gets_none() {
    const OPEN: HttpBinding = HttpBinding { security: Some(&[]), ..GET };
    assert_eq!(sent(&[("head", "k")], OPEN).await.header("x-key"), None);
}

#[tokio::test]
async fn an_optional_credential_is_sent_where_it_is_configured() {
    const OPTIONAL: HttpBinding = HttpBinding { security: Some(&[&[], &["head"]]), ..GET };
    assert_eq!(sent(&[("head", "k")], OPTIONAL).await.header("x-key"), Some("k"));
    assert_eq!(sent(&[], OPTIONAL).await.header("x-key"), None);
}

fn token(text: &str, expires_in: u64) -> Vec<u8> {
    json_answer(&format!("{{\"access_token\":\"{text}\",\"token_type\":\"bearer\",\"expires_in\":{expires_in}}}"))
}

fn client<'a>(url: &'a str, auth: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("app_client_id", "me"),
        ("app_client_secret", "s:cret"),
        ("app_token_url", url),
        ("app_scopes", "read write"),
        ("app_client_auth", auth),
    ]
}

#[tokio::test]
async fn client_credentials_fetch_one_token_for_many_calls() {
    let server = Server::in_turn(vec![token("tok-1", 3600), json_answer("{}"), json_answer("{}")]).await;
    let upstream = stage(&server, &client("/oauth/token", "header")).upstream();
    for _ in 0..2 {
        let context = crate::CallContext::within(std::time::Duration::from_secs(10));
        assert!(upstream.execute(&tool(GET), serde_json::Map::new(), &context).await.ok);
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "{requests:?}");
    assert_eq!(requests[0].line, "POST /oauth/token HTTP/1.1");
    assert_eq!(requests[0].header("authorization"), Some("Basic bWU6cyUzQWNyZXQ="));
    assert_eq!(requests[0].text(), "grant_type=client_credentials&scope=read%20write");
    assert_eq!(requests[1].header("authorization"), Some("Bearer tok-1"));
    assert_eq!(requests[2].header("authorization"), Some("Bearer tok-1"));
}

#[tokio::test]
async fn a_token_near_its_end_is_fetched_anew() {
    let answers = vec![token("tok-1", 0), json_answer("{}"), token("tok-2", 3600), json_answer("{}")];
    let server = Server::in_turn(answers).await;
    let upstream = stage(&server, &client("/token", "header")).upstream();
    for _ in 0..2 {
        let context = crate::CallContext::within(std::time::Duration::from_secs(10));
        upstream.execute(&tool(GET), serde_json::Map::new(), &context).await;
    }
    assert_eq!(server.requests()[3].header("authorization"), Some("Bearer tok-2"));
}

#[tokio::test]
async fn a_token_of_a_short_life_is_used_for_most_of_it() {
    let answers = vec![token("tok-1", 20), json_answer("{}"), json_answer("{}")];
    let server = Server::in_turn(answers).await;
    let upstream = stage(&server, &client("/token", "header")).upstream();
    for _ in 0..2 {
        let context = crate::CallContext::within(std::time::Duration::from_secs(10));
        assert!(upstream.execute(&tool(GET), serde_json::Map::new(), &context).await.ok);
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "{requests:?}");
    assert_eq!(requests[2].header("authorization"), Some("Bearer tok-1"));
}

#[tokio::test]
async fn the_client_proves_itself_in_the_body_where_the_header_is_refused() {
    let refusal = answer("401 Unauthorized", &[("content-type", "application/json")], "{\"error\":\"invalid_client\"}");
    let server = Server::in_turn(vec![refusal, token("tok-1", 3600), json_answer("{}")]).await;
    stage(&server, &client("/token", "")).call(&tool(GET), json!({})).await;
    let requests = server.requests();
    assert_eq!(
        requests[1].text(),
        "grant_type=client_credentials&scope=read%20write&client_id=me&client_secret=s%3Acret"
    );
    assert_eq!(requests[1].header("authorization"), None);
    assert_eq!(requests[2].header("authorization"), Some("Bearer tok-1"));
}

#[tokio::test]
async fn a_refused_client_is_told_by_the_endpoints_error_code() {
    let refusal = answer("400 Bad Request", &[("content-type", "application/json")], "{\"error\":\"invalid_scope\"}");
    let server = Server::with(refusal).await;
    let envelope = stage(&server, &client("/token", "header")).call(&tool(GET), json!({})).await;
    let error = envelope.error.unwrap();
    assert_eq!(error.code, Code::UpstreamError);
    let told = "status 400, invalid_scope: the scopes to ask for are a setting of the server";
    assert!(error.message.ends_with(told), "{error}");
}

#[tokio::test]
async fn fetched_tokens_and_every_form_of_a_credential_are_masked_in_answers() {
    let echo = json_answer("{\"a\":\"tok-12345\",\"b\":\"s:cret-long\",\"c\":\"s%3Acret-long\"}");
    let server = Server::in_turn(vec![token("tok-12345", 3600), echo]).await;
    let mut settings = client("/token", "header");
    settings[1].1 = "s:cret-long";
    let envelope = stage(&server, &settings).call(&tool(GET), json!({})).await;
    assert_eq!(envelope.to_json()["data"], json!({"a": "[masked]", "b": "[masked]", "c": "[masked]"}));
}

#[tokio::test]
async fn a_refused_token_is_not_used_again() {
    let refusal = || answer("401 Unauthorized", &[], "");
    let server = Server::in_turn(vec![token("old", 3600), refusal(), token("new", 3600), json_answer("{}")]).await;
    let upstream = stage(&server, &client("/token", "header")).upstream();
    for _ in 0..2 {
        let context = crate::CallContext::within(std::time::Duration::from_secs(10));
        upstream.execute(&tool(GET), serde_json::Map::new(), &context).await;
    }
    assert_eq!(server.requests()[3].header("authorization"), Some("Bearer new"));
}

const ELSEWHERE: HttpBinding = HttpBinding { server: Some("http://localhost:{port}/up"), ..GET };

#[tokio::test]
async fn another_host_is_called_only_where_it_is_allowed_and_without_credentials() {
    let (own, other) = (Server::with(json_answer("{}")).await, Server::with(json_answer("{}")).await);
    let port = other.url.port().unwrap().to_string();
    const PORT: Access = Access {
        settings: &[
            Setting { key: "port", env: "DEMO_PORT", default: "1", help: "", secret: false, allowed: &[] },
            secret("head", "DEMO_HEAD"),
        ],
        ..ACCESS
    };
    let stage = || {
        stage(&own, &[("head", "k"), ("port", &port)]).with(|config| {
            config.base_url_configured = false;
            config.access = PORT;
        })
    };
    let refused = stage().call(&tool(ELSEWHERE), json!({})).await;
    assert_eq!(refused.code(), Some(Code::NotAllowed));
    assert!(own.requests().is_empty() && other.requests().is_empty());

    let allowed = stage().with(|config| config.upstream_hosts = vec![format!("localhost:{port}")]);
    assert!(allowed.call(&tool(ELSEWHERE), json!({})).await.ok);
    let request = other.only_request();
    assert_eq!((request.line.as_str(), request.header("x-key")), ("GET /up/thing HTTP/1.1", None));
}

#[tokio::test]
async fn a_relative_server_lies_at_the_upstreams_origin() {
    const FILES: HttpBinding = HttpBinding { server: Some("/files/v2"), ..GET };
    let server = Server::with(json_answer("{}")).await;
    let stage = stage(&server, &[("head", "k")]).with(|config| {
        config.base_url = config.base_url.join("/api/v1").unwrap();
        config.base_url_configured = false;
    });
    stage.call(&tool(FILES), json!({})).await;
    let request = server.only_request();
    assert_eq!((request.line.as_str(), request.header("x-key")), ("GET /files/v2/thing HTTP/1.1", Some("k")));
}

#[tokio::test]
async fn a_configured_base_replaces_an_operations_server() {
    let server = Server::with(json_answer("{}")).await;
    let stage = stage(&server, &[]).with(|config| config.base_url = config.base_url.join("/proxy").unwrap());
    stage.call(&tool(ELSEWHERE), json!({})).await;
    assert_eq!(server.only_request().line, "GET /proxy/thing HTTP/1.1");
}

#[tokio::test]
async fn a_printed_request_names_variables_and_shows_no_secret() {
    let server = Server::with(json_answer("{}")).await;
    let shown = |settings: &[(&str, &str)]| {
        let upstream = stage(&server, settings).upstream();
        upstream.plan(&tool(GET), &serde_json::Map::new()).unwrap().to_curl()
    };
    assert!(shown(&[("head", "hidden-1")]).contains("--header 'X-Key: '\"$DEMO_HEAD\""));
    assert!(shown(&[("inquery", "hidden-1")]).contains("--url-query 'api key='\"$DEMO_INQUERY\""));
    assert!(shown(&[("user", "hidden-1")]).contains("--user \"$DEMO_USER:$DEMO_PASS\""));
    assert!(!shown(&[("head", "hidden-1"), ("user", "hidden-1")]).contains("hidden"));
}

async fn handshake(settings: &[(&str, &str)], binding: WebSocketBinding) -> Vec<crate::testing::Request> {
    let server = Server::with(answer("401 Unauthorized", &[], "{}")).await;
    let stage = stage(&server, settings).with(|config| config.base_url_configured = false);
    stage.call(&bound(Binding::WebSocket(binding)), json!({})).await;
    server.requests()
}

const EXCHANGE: WebSocketBinding = WebSocketBinding {
    path: "/ws",
    parameters: &[],
    exchange: Exchange::Receive,
    security: None,
    server: None,
    hidden: &[],
};

#[tokio::test]
async fn a_handshake_carries_the_credentials_of_its_operation() {
    let all = [("head", "K"), ("inquery", "a b"), ("biscuit", "c"), ("bear", "T")];
    let only = |name: &'static [&'static [&'static str]]| WebSocketBinding { security: Some(name), ..EXCHANGE };
    let seen = handshake(&all, only(&[&["inquery"]])).await;
    assert_eq!((seen[0].line.as_str(), seen[0].header("x-key")), ("GET /ws?api%20key=a%20b HTTP/1.1", None));
    assert_eq!(handshake(&all, only(&[&["biscuit"]])).await[0].header("cookie"), Some("sid=c"));
    assert_eq!(handshake(&all, only(&[&["bear"]])).await[0].header("authorization"), Some("Bearer T"));
    assert_eq!(handshake(&all, EXCHANGE).await[0].header("x-key"), Some("K"));
    assert_eq!(handshake(&all, only(&[])).await[0].header("x-key"), None);
}

#[tokio::test]
async fn an_exchange_of_another_host_is_opened_only_where_it_is_allowed() {
    let elsewhere = WebSocketBinding { server: Some("http://other.example"), ..EXCHANGE };
    assert_eq!(handshake(&[("head", "K")], elsewhere).await.len(), 0);
    let relative = WebSocketBinding { server: Some("/v2"), ..EXCHANGE };
    assert_eq!(handshake(&[("head", "K")], relative).await[0].line, "GET /v2/ws HTTP/1.1");
}

#[tokio::test]
async fn a_key_that_a_redirect_repeats_is_sent_once() {
    let moved = answer("308 Permanent Redirect", &[("location", "/moved?api%20key=K&a=1")], "");
    let server = Server::in_turn(vec![moved, json_answer("{}")]).await;
    stage(&server, &[("inquery", "K")]).call(&tool(GET), json!({})).await;
    let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    assert_eq!(lines, ["GET /thing?api%20key=K HTTP/1.1", "GET /moved?api%20key=K&a=1 HTTP/1.1"]);
}
