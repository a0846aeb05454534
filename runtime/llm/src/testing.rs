//! A server on loopback that plays upstreams, and a transport that plays them without a network.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use toolwright_http::{CallContext, Secret, Url};

use crate::{
    Connect, LlmConfig, Model, Models, NoSecrets, RetryPolicy, SecretFault, Secrets, Sending, Transport, WireError,
    WireReply, WireRequest,
};

/// One move of an upstream.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Write(Vec<u8>),
    Pause(Duration),
    /// Comments for as long as the connection is there.
    KeepAlive(Duration),
}

/// A running upstream and what it was asked.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Connections that the other side closed while the answer was going on.
    pub(crate) left: Arc<Mutex<usize>>,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Server {
    /// Plays those answers in turn; the last one stays.
    pub(crate) async fn playing(answers: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let left: Arc<Mutex<usize>> = Arc::default();
        let (seen, gone) = (asked.clone(), left.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, gone, answers) = (seen.clone(), gone.clone(), answers.clone());
                tokio::spawn(async move {
                    let Some(request) = read(&mut stream).await else { return };
                    let turn = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(request);
                        seen.len() - 1
                    };
                    if play(&mut stream, &answers[turn.min(answers.len() - 1)]).await.is_none() {
                        *gone.lock().unwrap() += 1;
                    }
                });
            }
        });
        Server { url, asked, left }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// A model behind this server as a gateway, with further settings.
    pub(crate) fn model(&self, id: &str, mut settings: Value) -> Model {
        settings["backend"] = json!("openai_compatible");
        settings["base_url"] = json!(self.url);
        let models = Models::new(LlmConfig::from_value(&settings).unwrap(), Arc::new(Key("key-1")));
        models.model(id).unwrap().with_retry(RetryPolicy::new(3, 0.0, 0.01).unwrap())
    }
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let mut body = vec![0; length.trim().parse().unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    Some(Asked { head, body: serde_json::from_slice(&body).unwrap() })
}

async fn play(stream: &mut TcpStream, steps: &[Step]) -> Option<()> {
    for step in steps {
        match step {
            Step::Write(bytes) => stream.write_all(bytes).await.ok()?,
            Step::Pause(time) => tokio::time::sleep(*time).await,
            Step::KeepAlive(pause) => loop {
                stream.write_all(b": keep-alive\n\n").await.ok()?;
                tokio::time::sleep(*pause).await;
            },
        }
    }
    stream.shutdown().await.ok()
}

/// The head of an answer without a length: it ends with the connection.
pub(crate) fn head(status: &str, headers: &str) -> Step {
    Step::Write(format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n").into_bytes())
}

pub(crate) fn event_stream() -> Step {
    head("200 OK", "content-type: text/event-stream\r\n")
}

pub(crate) fn write(text: &str) -> Step {
    Step::Write(text.as_bytes().to_vec())
}

/// An answer of a JSON body.
pub(crate) fn json_answer(status: &str, headers: &str, body: &Value) -> Vec<Step> {
    vec![head(status, &format!("content-type: application/json\r\n{headers}")), write(&body.to_string())]
}

/// A chunk of an OpenAI stream.
pub(crate) fn chunk(delta: Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

/// The end of an OpenAI stream.
pub(crate) fn done(reason: &str) -> String {
    format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

/// A whole OpenAI stream of a text.
pub(crate) fn said(text: &str) -> String {
    chunk(json!({"content": text})) + &done("stop")
}

/// A whole OpenAI stream of calls: id, name, arguments as a text.
pub(crate) fn called(calls: &[(&str, &str, &str)]) -> String {
    let call = |(index, (id, name, arguments)): (usize, &(&str, &str, &str))| json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    chunk(json!({"tool_calls": calls})) + &done("tool_calls")
}

/// A secret for every name.
pub(crate) struct Key(pub(crate) &'static str);

impl Secrets for Key {
    fn get(&self, _name: &str) -> Result<Option<Secret>, SecretFault> {
        Ok(Some(Secret::new(self.0)))
    }

    fn place(&self, name: &str) -> String {
        format!("the place of {name}")
    }
}

/// An upstream without a network: streams in turn, and what it was asked.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<(u16, String)>>,
    asked: Mutex<Vec<Value>>,
    origins: Mutex<Vec<String>>,
}

impl Scripted {
    pub(crate) fn answering(answers: impl IntoIterator<Item = (u16, String)>) -> Arc<Self> {
        Arc::new(Scripted { answers: Mutex::new(answers.into_iter().collect()), ..Scripted::default() })
    }

    /// Streams with status 200.
    pub(crate) fn streaming(answers: impl IntoIterator<Item = String>) -> Arc<Self> {
        Scripted::answering(answers.into_iter().map(|text| (200, text)))
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    /// The addresses that it was connected to by.
    pub(crate) fn origins(&self) -> Vec<String> {
        self.origins.lock().unwrap().clone()
    }

    /// A model of that id behind it.
    pub(crate) fn model(self: &Arc<Self>, id: &str) -> Model {
        let settings = json!({"backend": "openai_compatible", "base_url": "http://gateway.test"});
        let models = Models::new(LlmConfig::from_value(&settings).unwrap(), Arc::new(NoSecrets));
        models.with_connect(Arc::new(Dialled(self.clone()))).model(id).unwrap()
    }
}

/// Connects to a script.
pub(crate) struct Dialled(pub(crate) Arc<Scripted>);

impl Connect for Dialled {
    fn connect(&self, origin: &Url, _config: &LlmConfig) -> Result<Arc<dyn Transport>, String> {
        self.0.origins.lock().unwrap().push(origin.to_string());
        Ok(self.0.clone())
    }
}

impl Transport for Scripted {
    fn send(&self, request: WireRequest) -> Sending<'_> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(serde_json::from_slice(&request.body).unwrap());
            let next = self.answers.lock().unwrap().pop_front();
            let Some((status, text)) = next else { return Err(WireError::NoAnswer("the script is at its end".into())) };
            let media_type = if status == 200 { "text/event-stream" } else { "application/json" };
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
            Ok(WireReply { status, headers, body: stream::iter([Ok(Bytes::from(text))]).boxed() })
        })
    }
}

pub(crate) fn context() -> CallContext {
    CallContext::within(Duration::from_secs(20))
}
