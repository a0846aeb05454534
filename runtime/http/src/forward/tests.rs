//! What is carried along, where to, and what is not.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, json};
use toolwright_core::HttpBinding;

use super::{ForwardedHeaders, why_not};
use crate::config::{Config, Secret};
use crate::context::CallContext;
use crate::testing::{GET, Server, Setting, json_answer, tool};

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

fn context(names: &[&str], given: &[(&'static str, &'static str)]) -> CallContext {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let forwarded = ForwardedHeaders::pick(&names, &headers(given));
    CallContext { forwarded, ..CallContext::within(Duration::from_secs(10)) }
}

#[tokio::test]
async fn only_headers_that_are_named_go_along() {
    let server = Server::with(json_answer("{}")).await;
    let context = context(&["X-User"], &[("x-user", "ada"), ("x-other", "1"), ("cookie", "a=b")]);
    Setting::for_server(&server).upstream().execute(&tool(GET), Map::new(), &context).await;
    let request = server.only_request();
    assert_eq!(request.header("x-user"), Some("ada"));
    assert_eq!((request.header("x-other"), request.header("cookie")), (None, None));
}

#[tokio::test]
async fn they_replace_the_configured_credential_of_their_name() {
    let server = Server::with(json_answer("{}")).await;
    let setting = Setting::for_server(&server).with(|config| config.api_key = Some(Secret::new("configured")));
    let context = context(&["authorization"], &[("authorization", "Bearer callers-own")]);
    setting.upstream().execute(&tool(GET), Map::new(), &context).await;
    assert_eq!(server.only_request().header("authorization"), Some("Bearer callers-own"));
}

#[tokio::test]
async fn they_go_to_the_upstreams_own_origin_alone() {
    let (own, other) = (Server::with(json_answer("{}")).await, Server::with(json_answer("{}")).await);
    let host = format!("127.0.0.1:{}", other.url.port().unwrap());
    let elsewhere: &'static str = Box::leak(format!("http://{host}/").into_boxed_str());
    let setting = Setting::for_server(&own).with(|config: &mut Config| {
        config.base_url_configured = false;
        config.upstream_hosts = vec![host];
    });
    let spec = tool(HttpBinding { server: Some(elsewhere), ..GET });
    setting.upstream().execute(&spec, Map::new(), &context(&["x-user"], &[("x-user", "ada")])).await;
    assert_eq!(other.only_request().header("x-user"), None);
}

#[tokio::test]
async fn an_answer_does_not_repeat_them() {
    let server = Server::with(json_answer(r#"{"seen":"callers-own","whole":"Bearer callers-own"}"#)).await;
    let context = context(&["authorization"], &[("authorization", "Bearer callers-own")]);
    let envelope = Setting::for_server(&server).upstream().execute(&tool(GET), Map::new(), &context).await;
    assert!(!json!(envelope.to_json()).to_string().contains("callers-own"));
    assert!(!format!("{context:?}").contains("callers-own"));
}

#[test]
fn what_belongs_to_the_connection_or_to_mcp_is_never_forwarded() {
    for name in ["Host", "connection", "Transfer-Encoding", "Mcp-Session-Id", "content-length", "a b", ""] {
        assert!(why_not(name).is_some(), "{name}");
        let kept = ForwardedHeaders::pick(&[name.to_owned()], &headers(&[("host", "h"), ("connection", "close")]));
        assert!(kept.headers().is_empty(), "{name}");
    }
    for name in ["Authorization", "X-Tenant", "cookie"] {
        assert_eq!(why_not(name), None, "{name}");
    }
}
