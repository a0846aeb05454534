//! `/__mock/...`: the mock's own doors, for people with curl and for tests in other processes.
//!
//! - `POST /__mock/faults` with `{"operation": "GET /a", "fault": {"delay": 200}, "times": 2}`, or a list of such;
//!   a fault may also be a word such as `"delay:200"`
//! - `GET /__mock/requests`, `GET /__mock/violations`, `GET /__mock/operations`, `POST /__mock/clear`
//! - `GET /__mock/big?bytes=N`: N bytes, made while they are sent; with `&length=1` under a declared length

use crate::answer::Answer;
use crate::exchange::Upstream;
use crate::fault::Planned;
use crate::record::Recorded;
use crate::respond::{self, Body};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::{Value, json};

/// Bodies of this many bytes are enough for a list of faults.
const MOST_BYTES: usize = 1 << 20;

pub(crate) async fn handle(upstream: &Upstream, request: Request<Incoming>) -> Response<Body> {
    let method = request.method().as_str().to_owned();
    let path = request.uri().path().to_owned();
    let answer = match (method.as_str(), path.as_str()) {
        ("GET", "/__mock/requests") => Answer::json(200, &upstream.log.requests().iter().map(request_json).collect()),
        ("GET", "/__mock/violations") => Answer::json(200, &json!(upstream.log.violations())),
        ("GET", "/__mock/operations") => {
            Answer::json(200, &upstream.document.operations.iter().map(|o| json!(o.key)).collect())
        }
        ("GET", "/__mock/big") => big(request.uri().query().unwrap_or("")),
        ("POST", "/__mock/clear") => {
            upstream.log.clear();
            upstream.faults.clear();
            Answer::empty(204)
        }
        ("POST", "/__mock/faults") => plan(upstream, request).await,
        _ => Answer::error(404, "the mock has no such door", "mock"),
    };
    respond::response(&method, answer, None)
}

fn big(query: &str) -> Answer {
    let value = |name: &str| {
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(n, _)| *n == name).map(|(_, value)| value)
    };
    let bytes = value("bytes").and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let answer = Answer::endless("application/octet-stream", bytes);
    if value("length").is_some() { answer.with("content-length", bytes.to_string()) } else { answer }
}

async fn plan(upstream: &Upstream, request: Request<Incoming>) -> Answer {
    let Ok(collected) = Limited::new(request.into_body(), MOST_BYTES).collect().await else {
        return Answer::error(400, "the body is too large or was cut off", "mock");
    };
    match read_plans(&collected.to_bytes()) {
        Ok(plans) => {
            plans.into_iter().filter(|plan| plan.times > 0).for_each(|plan| upstream.faults.plan(plan));
            Answer::empty(204)
        }
        Err(error) => Answer::error(400, &error.to_string(), "mock"),
    }
}

fn read_plans(body: &[u8]) -> Result<Vec<Planned>, serde_json::Error> {
    match serde_json::from_slice(body)? {
        list @ Value::Array(_) => serde_json::from_value(list),
        one => serde_json::from_value(one).map(|plan| vec![plan]),
    }
}

fn request_json(request: &Recorded) -> Value {
    let text_or_base64 = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!({"base64": STANDARD.encode(bytes)}),
    };
    let part = |part: &crate::Part| json!({"name": part.name, "filename": part.filename, "content_type": part.content_type, "size": part.bytes.len()});
    json!({
        "id": request.id,
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "headers": request.headers,
        "body": text_or_base64(&request.body),
        "parts": request.parts.iter().map(part).collect::<Vec<_>>(),
        "operation": request.operation,
        "extra_fields": request.extra_fields,
        "outcome": request.outcome,
    })
}
