//! One request, from its first byte to its answer.

use crate::answer::Answer;
use crate::check::{self, Call, Report};
use crate::document::{Document, Operation};
use crate::fault::{self, Fault, Faults};
use crate::localai::LocalAi;
use crate::record::{Log, Outcome, Part, Recorded};
use crate::respond::{self, Body, Cut};
use crate::route::{Routed, Routes};
use crate::sample;
use crate::violation::{Finding, Kind};
use crate::websocket::{self, Exchange};
use crate::{Options, Personality, admin};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::UPGRADE;
use hyper::{Request, Response};
use serde_json::json;
use std::sync::{Arc, OnceLock};

/// Everything that the exchanges of one mock share.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) document: Document,
    pub(crate) options: Options,
    pub(crate) log: Log,
    pub(crate) faults: Faults,
    routes: Routes,
    localai: Option<LocalAi>,
    /// The answer of each operation to a client that accepts anything, made when first needed.
    samples: Vec<OnceLock<Answer>>,
}

impl Upstream {
    pub(crate) fn new(mut document: Document, options: Options) -> Self {
        let localai =
            (options.personality == Personality::LocalAi).then(|| LocalAi::adopt(&mut document, options.pause));
        Self {
            routes: Routes::new(&document.base_path, &document.operations),
            samples: document.operations.iter().map(|_| OnceLock::new()).collect(),
            log: Log::new(options.keep_requests),
            faults: Faults::default(),
            localai,
            document,
            options,
        }
    }

    fn body_limit(&self, path: &str) -> usize {
        self.options.body_limit.unwrap_or(match &self.localai {
            Some(_) => LocalAi::body_limit(path),
            None => 256 << 20,
        })
    }

    /// What a well-behaved upstream answers.
    pub(crate) fn answer(&self, at: usize, operation: &Operation, call: &Call) -> Answer {
        if let Some(special) = self.localai.as_ref().and_then(|l| l.answer(&self.document, operation, call)) {
            return special;
        }
        let accept = call.header("accept").filter(|a| !a.contains("*/*"));
        let make = || sample::answer(&self.document.root, operation, accept);
        match self.samples.get(at).filter(|_| accept.is_none()) {
            Some(cell) => cell.get_or_init(make).clone(),
            None => make(),
        }
    }
}

/// Serve one request.
pub(crate) async fn handle(upstream: Arc<Upstream>, mut request: Request<Incoming>) -> Result<Response<Body>, Cut> {
    if request.uri().path().starts_with("/__mock/") {
        return Ok(admin::handle(&upstream, request).await);
    }
    let upgrade = request.headers().contains_key(UPGRADE).then(|| hyper::upgrade::on(&mut request));
    let limit = upstream.body_limit(request.uri().path());
    let Received { mut call, too_large } = receive(request, limit).await?;
    let routed = upstream.routes.find(&call.method, &call.path, call.query.as_deref());
    let mut found = None;
    if let Routed::Found { operation, values, twins } = &routed {
        call.path_values.clone_from(values);
        let known = |at: &usize| upstream.document.operations.get(*at).map(|o| (*at, o));
        // Of several, the one that was most likely meant.
        let meant = std::iter::once(operation).chain(twins).filter_map(known);
        let wrong = |operation| check::request(&upstream.document.root, operation, &call).findings.len();
        found = match twins.is_empty() {
            true => known(operation),
            false => meant.min_by_key(|(_, operation)| wrong(operation)),
        };
    }
    let operation = found.map(|(_, operation)| operation);
    let admitted = admitted(&upstream, &call);
    let report = if too_large { Report::default() } else { examine(&upstream, operation, &call, admitted) };
    let ticket = upstream.log.add(record(&call, operation, &report));
    let name = operation.map_or_else(|| format!("{} {}", call.method, call.path), |o| o.key.clone());
    upstream.log.violate(report.findings.iter().cloned().map(|finding| finding.of(&name)));
    let fault = match requested_fault(&call) {
        Some(Ok(fault)) => Some(fault),
        Some(Err(refused)) => {
            return Ok(respond::response(&call.method, Answer::error(400, &refused, "mock"), Some(ticket)));
        }
        None => upstream.faults.take(&names(operation)),
    };

    if let (Some(upgrade), Some(exchange), true) = (upgrade, socket(&upstream, operation), admitted)
        && !fault.as_ref().is_some_and(websocket::answers_over_http)
    {
        return websocket::accept(upstream, exchange, upgrade, &call, fault, ticket).await;
    }
    let answer = if too_large {
        Answer::error(413, "Request Entity Too Large", "")
    } else if !admitted {
        Answer::error(401, "An authentication key is required", "invalid_request_error")
    } else {
        match found {
            None => not_routed(&routed),
            Some(_) if upstream.options.refuse && !report.findings.is_empty() => refusal(&report.findings),
            Some((at, operation)) => upstream.answer(at, operation, &call),
        }
    };
    let answer = match fault {
        Some(fault) => respond::bend(fault, answer).await?,
        None => answer,
    };
    Ok(respond::response(&call.method, answer, Some(ticket)))
}

struct Received {
    call: Call,
    too_large: bool,
}

/// Read the whole request. A body beyond the limit is read to its end but not kept, so that the client sees the 413.
async fn receive(request: Request<Incoming>, limit: usize) -> Result<Received, Cut> {
    let (head, mut incoming) = request.into_parts();
    let mut body = BytesMut::new();
    let mut too_large = false;
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(|_| Cut)?.into_data() else { continue };
        too_large |= body.len() + data.len() > limit;
        if too_large {
            body.clear();
        } else {
            body.extend_from_slice(&data);
        }
    }
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let body = body.freeze();
    let content_type = head.headers.get(hyper::header::CONTENT_TYPE).map(text).unwrap_or_default();
    let call = Call {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        headers: head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect(),
        parts: parts(&content_type, &body).await,
        body,
        path_values: Vec::new(),
    };
    Ok(Received { call, too_large })
}

async fn parts(content_type: &str, body: &Bytes) -> Result<Vec<Part>, String> {
    if !check::essence(content_type).starts_with("multipart/") || body.is_empty() {
        return Ok(Vec::new());
    }
    read_parts(content_type, body.clone()).await.map_err(|error| error.to_string())
}

async fn read_parts(content_type: &str, body: Bytes) -> Result<Vec<Part>, multer::Error> {
    // The reader takes no other subtype than that of forms; all of them are written alike (RFC 2046 section 5.1).
    let parameters = content_type.split_once(';').map_or("", |(_, parameters)| parameters);
    let boundary = multer::parse_boundary(format!("multipart/form-data;{parameters}"))?;
    let whole = futures_util::stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let mut reader = multer::Multipart::new(whole, boundary);
    let mut parts = Vec::new();
    while let Some(field) = reader.next_field().await? {
        let name = field.name().unwrap_or("").to_owned();
        let filename = field.file_name().map(str::to_owned);
        let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let content_type = field.headers().get("content-type").map(text);
        let headers = field.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        parts.push(Part { name, filename, content_type, headers, bytes: field.bytes().await? });
    }
    Ok(parts)
}

fn examine(upstream: &Upstream, operation: Option<&Operation>, call: &Call, admitted: bool) -> Report {
    let mut report = match operation {
        Some(operation) => check::request(&upstream.document.root, operation, call),
        None => Report {
            findings: vec![Finding::new(Kind::UnknownRoute, "request line", "no operation has this method and path")],
            ..Report::default()
        },
    };
    if !admitted {
        report.findings.push(Finding::new(Kind::Credentials, "header authorization", "carries no key or a wrong one"));
    }
    if let (Some(localai), Some(operation)) = (&upstream.localai, operation) {
        report.findings.extend(localai.examine(operation, call));
    }
    report
}

fn record(call: &Call, operation: Option<&Operation>, report: &Report) -> Recorded {
    Recorded {
        id: 0,
        method: call.method.clone(),
        path: call.path.clone(),
        query: call.query.clone(),
        headers: call.headers.clone(),
        body: call.body.clone(),
        parts: call.parts.clone().unwrap_or_default(),
        operation: operation.map(|o| o.key.clone()),
        extra_fields: report.extra_fields.clone(),
        frames: Vec::new(),
        outcome: Outcome::Open,
    }
}

/// LocalAI tries both headers; its health routes are public.
fn admitted(upstream: &Upstream, call: &Call) -> bool {
    let Some(key) = upstream.options.bearer.as_deref() else { return true };
    let bearer = call.header("authorization").map(|value| value.strip_prefix("Bearer ").unwrap_or(value));
    bearer == Some(key) || call.header("x-api-key") == Some(key) || matches!(call.path.as_str(), "/healthz" | "/readyz")
}

/// A fault asked for by the request itself, for trying things by hand; or what to say of one that does not exist.
fn requested_fault(call: &Call) -> Option<Result<Fault, String>> {
    let text = call.header("x-mock-fault")?;
    Some(Fault::from_text(text).ok_or_else(|| fault::unknown(text)))
}

fn names(operation: Option<&Operation>) -> Vec<&str> {
    let names = operation.map(|o| [Some(o.key.as_str()), Some(o.template.as_str()), o.id.as_deref()]);
    names.into_iter().flatten().flatten().collect()
}

fn socket(upstream: &Upstream, operation: Option<&Operation>) -> Option<Exchange> {
    upstream.localai.as_ref().and(operation).and_then(|operation| Exchange::of(&operation.key))
}

fn not_routed(routed: &Routed) -> Answer {
    match routed {
        Routed::OtherMethod(methods) => Answer::error(405, "Method Not Allowed", "").with("allow", methods.join(", ")),
        _ => Answer::error(404, "Not Found", ""),
    }
}

fn refusal(findings: &[Finding]) -> Answer {
    let lines: Vec<String> = findings.iter().map(|f| format!("{}: {}", f.place, f.what)).collect();
    Answer::json(
        400,
        &json!({"error": {"message": lines.join("; "), "code": 400, "type": "mock_violation", "violations": lines}}),
    )
}
