//! A plain HTTP client for the tests.
#![allow(dead_code)]

use serde_json::Value;
use toolwright_mock::{Kind, Mock, Options, Personality};

pub(crate) fn client() -> reqwest::Client {
    // A second test of the same process finds the provider installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

pub(crate) fn serve(document: Value) -> Mock {
    Mock::start(&document, Options::default()).unwrap()
}

pub(crate) fn serve_localai(document: Value) -> Mock {
    Mock::start(&document, Options { personality: Personality::LocalAi, ..Options::default() }).unwrap()
}

/// Kinds and places of all violations.
pub(crate) fn violations(mock: &Mock) -> Vec<(Kind, String)> {
    mock.violations().into_iter().map(|v| (v.kind, v.place)).collect()
}

/// A Swagger 2.0 document with one operation.
pub(crate) fn swagger(path: &str, method: &str, operation: Value) -> Value {
    serde_json::json!({"swagger": "2.0", "paths": {path: {method: operation}}})
}

/// An OpenAPI 3.1 document with one operation.
pub(crate) fn openapi(path: &str, method: &str, operation: Value) -> Value {
    serde_json::json!({"openapi": "3.1.0", "paths": {path: {method: operation}}})
}

/// The JSON data of every event.
pub(crate) fn events(stream: &str) -> Vec<Value> {
    stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

/// A multipart body that is written by hand: what goes over the wire is exactly what the test says.
#[derive(Default)]
pub(crate) struct Form(Vec<u8>);

impl Form {
    pub(crate) const TYPE: &str = "multipart/form-data; boundary=EDGE";

    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.part(&format!("name=\"{name}\""), value.as_bytes())
    }

    pub(crate) fn file(self, name: &str, filename: &str, content_type: &str, bytes: &[u8]) -> Self {
        self.part(&format!("name=\"{name}\"; filename=\"{filename}\"\r\nContent-Type: {content_type}"), bytes)
    }

    fn part(mut self, disposition: &str, bytes: &[u8]) -> Self {
        self.0.extend(format!("--EDGE\r\nContent-Disposition: form-data; {disposition}\r\n\r\n").bytes());
        self.0.extend(bytes);
        self.0.extend(b"\r\n");
        self
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.extend(b"--EDGE--\r\n");
        self.0
    }
}

/// Post a form.
pub(crate) async fn post_form(url: String, form: Form) -> reqwest::Response {
    client().post(url).header("content-type", Form::TYPE).body(form.end()).send().await.unwrap()
}
