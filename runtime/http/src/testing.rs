//! A server that shows a request as it is on the wire, and answers with given bytes.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use reqwest::Url;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use toolwright_core::{Binding, Body, Declared, Envelope, HttpBinding, Method, Parameter, Risk, SearchTerms, ToolSpec};

use crate::{CallContext, Config, Upstream};

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

type Answering = Arc<dyn Fn(Request, TcpStream) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A running server and what it has received.
pub(crate) struct Server {
    pub(crate) url: Url,
    received: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// A server that writes the same bytes to everyone and closes.
    pub(crate) async fn with(answer: impl Into<Vec<u8>>) -> Self {
        Server::in_turn(vec![answer.into()]).await
    }

    /// A server whose answers change from request to request; the last one stays.
    pub(crate) async fn in_turn(answers: Vec<Vec<u8>>) -> Self {
        let turn = Arc::new(Mutex::new(0));
        Server::running(move |_, mut stream| {
            let mut turn = turn.lock().unwrap();
            let answer = answers[(*turn).min(answers.len() - 1)].clone();
            *turn += 1;
            async move {
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            }
        })
        .await
    }

    /// A server of any behaviour, one request a connection.
    pub(crate) async fn running<F, R>(answering: F) -> Self
    where
        F: Fn(Request, TcpStream) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let answering: Answering = Arc::new(move |request, stream| Box::pin(answering(request, stream)));
        tokio::spawn(accept(listener, received.clone(), answering));
        Server { url, received }
    }

    /// A server that answers as soon as the head has come, and leaves the body unread.
    pub(crate) async fn with_head_only(answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_u8().await.unwrap();
            stream.write_all(&answer).await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
        Server { url, received: Arc::default() }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn only_request(&self) -> Request {
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "one request was expected: {requests:?}");
        requests[0].clone()
    }
}

async fn accept(listener: TcpListener, received: Arc<Mutex<Vec<Request>>>, answering: Answering) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let (received, answering) = (received.clone(), answering.clone());
        tokio::spawn(async move {
            let Some(request) = read_request(&mut stream).await else { return };
            received.lock().unwrap().push(request.clone());
            answering(request, stream).await;
        });
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, v)| v.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { line, headers, body })
}

/// An HTTP answer with its length.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut out = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut out = (out + "\r\n").into_bytes();
    out.extend_from_slice(body);
    out
}

pub(crate) fn json_answer(body: &str) -> Vec<u8> {
    answer("200 OK", &[("content-type", "application/json")], body)
}

/// A configuration with folders of its own.
pub(crate) struct Setting {
    pub(crate) config: Config,
    pub(crate) folder: TempDir,
}

impl Setting {
    pub(crate) fn for_server(server: &Server) -> Self {
        let folder = TempDir::new().unwrap();
        let mut config = Config::new("demo", server.url.clone());
        config.output_dir = folder.path().join("output");
        config.file_root = folder.path().join("files");
        std::fs::create_dir(&config.file_root).unwrap();
        Setting { config, folder }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    pub(crate) fn upstream(&self) -> Upstream {
        Upstream::new(self.config.clone()).unwrap()
    }

    pub(crate) async fn call(&self, spec: &ToolSpec, arguments: Value) -> Envelope {
        self.upstream().execute(spec, object(arguments), &CallContext::within(Duration::from_secs(10))).await
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}

pub(crate) const GET: HttpBinding = HttpBinding { path: "/thing", ..HttpBinding::PLAIN };

pub(crate) const POST_JSON: HttpBinding = HttpBinding {
    method: Method::Post,
    body: Body::Json { argument: "request", media_type: "application/json" },
    ..GET
};

/// A row that matters only by its binding.
pub(crate) const fn tool(binding: HttpBinding) -> ToolSpec {
    bound(Binding::Http(binding))
}

pub(crate) const fn bound(binding: Binding) -> ToolSpec {
    ToolSpec {
        name: "thing",
        title: "Thing",
        description: "A thing.",
        summary: "A thing.",
        tags: &[],
        risk: Risk::ReadOnly,
        idempotent: true,
        open_world: false,
        input_schema: "{}",
        advertised_schema: None,
        result_schema: None,
        search: SearchTerms { en: &[], ko: &[], ja: &[] },
        declared: Declared { method: "GET", path: "/thing" },
        binding,
        deadline_seconds: None,
        long: false,
        secrets: &[],
    }
}

pub(crate) const fn parameter(
    wire: &'static str,
    location: toolwright_core::Location,
    style: toolwright_core::Style,
    explode: bool,
) -> Parameter {
    Parameter { argument: wire, wire, location, style, explode, reserved: false, send_as: &[] }
}
