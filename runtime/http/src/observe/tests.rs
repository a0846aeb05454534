//! What is told of a call's requests.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Map, json};
use toolwright_core::HttpBinding;

use super::{Observed, ObservedRequest, Observer, RequestStart};
use crate::{
    CallContext,
    config::Config,
    testing::{GET, POST_JSON, Server, Setting, answer, json_answer, object, tool},
};

/// Writes down what it is told.
#[derive(Debug, Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn context(&self) -> CallContext {
        let observed = Observed::by(Arc::new(self.clone()));
        CallContext { observed, ..CallContext::within(Duration::from_secs(10)) }
    }
}

impl Observer for Notes {
    fn request(&self, start: &RequestStart<'_>) -> Box<dyn ObservedRequest> {
        let RequestStart { method, scheme, host, resend, body_bytes, is_own_origin, .. } = start;
        self.add(format!("{method} {scheme} {host} resend {resend}, {body_bytes} bytes, own {is_own_origin}"));
        Box::new(self.clone())
    }

    fn part(&self, name: &str) -> Arc<dyn Observer> {
        self.add(format!("part {name}"));
        Arc::new(self.clone())
    }

    fn failed(&self, kind: &'static str) {
        self.add(format!("failed {kind}"));
    }
}

impl ObservedRequest for Notes {
    fn headers(&self) -> Vec<(&'static str, String)> {
        vec![("traceparent", "mine".to_owned())]
    }

    fn answered(&mut self, status: u16) {
        self.add(format!("answered {status}"));
    }

    fn received(&mut self, bytes: u64) {
        self.add(format!("received {bytes}"));
    }

    fn failed(&mut self, kind: &'static str) {
        self.add(format!("failed {kind}"));
    }
}

#[tokio::test]
async fn a_request_is_told_with_its_answer_and_carries_what_its_observer_wants() {
    let (server, notes) = (Server::with(json_answer("[1,2]")).await, Notes::default());
    let arguments = object(json!({"request": {"a": 1}}));
    Setting::for_server(&server).upstream().execute(&tool(POST_JSON), arguments, &notes.context()).await;
    assert_eq!(notes.taken(), ["POST http 127.0.0.1 resend 0, 7 bytes, own true", "answered 200", "received 5"]);
    assert_eq!(server.only_request().header("traceparent"), Some("mine"));
}

#[tokio::test]
async fn attempts_and_redirects_are_requests_of_their_own() {
    let moved = answer("302 Found", &[("location", "/other")], "");
    let busy = answer("503 Service Unavailable", &[("retry-after", "0")], "");
    let (server, notes) = (Server::in_turn(vec![moved, busy, json_answer("1")]).await, Notes::default());
    Setting::for_server(&server).upstream().execute(&tool(GET), Map::new(), &notes.context()).await;
    let taken = notes.taken();
    let requests: Vec<&str> = taken.iter().filter_map(|note| note.strip_prefix("GET http 127.0.0.1 ")).collect();
    assert_eq!(requests, ["resend 0, 0 bytes, own true", "resend 1, 0 bytes, own true", "resend 2, 0 bytes, own true"]);
    let answers: Vec<&str> = taken.iter().filter_map(|note| note.strip_prefix("answered ")).collect();
    assert_eq!(answers, ["302", "503", "200"]);
}

#[tokio::test]
async fn a_request_without_an_answer_or_its_end_is_told_as_failed() {
    let notes = Notes::default();
    let nobody = Setting::for_server(&Server::with("").await).with(|config: &mut Config| {
        config.base_url = "http://127.0.0.1:9".parse().unwrap();
    });
    nobody.upstream().execute(&tool(GET), Map::new(), &notes.context()).await;
    assert_eq!(notes.taken().last().unwrap(), "failed connect");
    let cut = Server::with("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await;
    Setting::for_server(&cut).upstream().execute(&tool(GET), Map::new(), &notes.context()).await;
    assert_eq!(notes.taken().last().unwrap(), "failed broke_off");
}

#[tokio::test]
async fn a_request_to_another_origin_is_told_as_such() {
    let (own, other) = (Server::with("").await, Server::with(json_answer("{}")).await);
    let host = format!("127.0.0.1:{}", other.url.port().unwrap());
    let elsewhere: &'static str = Box::leak(format!("http://{host}/").into_boxed_str());
    let setting = Setting::for_server(&own).with(|config: &mut Config| {
        config.base_url_configured = false;
        config.upstream_hosts = vec![host];
    });
    let notes = Notes::default();
    let spec = tool(HttpBinding { server: Some(elsewhere), ..GET });
    setting.upstream().execute(&spec, Map::new(), &notes.context()).await;
    assert_eq!(notes.taken()[0], "GET http 127.0.0.1 resend 0, 0 bytes, own false");
}
