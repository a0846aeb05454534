//! Any bytes as an upstream's answer. What a result says does not depend on how the network cut the answer, limits hold,
//! and no credential comes out.
//!
//! An input reads like an answer: a status, headers, an empty line, the body. The header `cuts` holds the lengths of the
//! pieces in which the body comes, repeated until its end. Status 101 makes the body the frames of a WebSocket.

#![no_main]

use std::{sync::LazyLock, time::Duration};

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use reqwest::StatusCode;
use tokio::runtime::{Builder, Runtime};
use toolwright_core::{Binding, Declared, Envelope, HttpBinding, Payload, Risk, SearchTerms, StreamDialect, ToolSpec};
use toolwright_http::{CallContext, Config, Upstream, Url};

/// A credential that upstreams may repeat.
const KEY: &str = "sk-planted-0123456789";
/// The answer that the small configuration takes at most.
const SMALL: u64 = 512;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));
static ROOMY: LazyLock<Upstream> = LazyLock::new(|| upstream(16 << 20));
static NARROW: LazyLock<Upstream> = LazyLock::new(|| upstream(SMALL));

fn upstream(limit: u64) -> Upstream {
    let mut config = Config::new("demo", Url::parse("http://127.0.0.1:9").expect("a URL"));
    config.api_key = Some(KEY.into());
    config.save_binary = false;
    config.inline_base64 = true;
    config.max_response_bytes = limit;
    config.inline_binary_limit = limit / 2;
    Upstream::new(config).expect("settings that can be used")
}

const fn tool(stream: Option<StreamDialect>) -> ToolSpec {
    let produces: &[&str] = &["application/json", "text/event-stream"];
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
        result_schema: Some(r#"{"type":"object","properties":{"id":{"type":"integer"},"choices":{"type":"array"}}}"#),
        search: SearchTerms { en: &[], ko: &[], ja: &[] },
        declared: Declared { method: "GET", path: "/thing" },
        binding: Binding::Http(HttpBinding { produces, stream, ..HttpBinding::PLAIN }),
        deadline_seconds: None,
        long: false,
        secrets: &["/token", "/items/*/password"],
    }
}

static TOOLS: [ToolSpec; 5] = [
    tool(None),
    tool(Some(StreamDialect::OpenAi)),
    tool(Some(StreamDialect::Anthropic)),
    tool(Some(StreamDialect::Responses)),
    tool(Some(StreamDialect::Transcript)),
];

fuzz_target!(|input: &[u8]| {
    let Some(answer) = Answer::read(input) else { return };
    RUNTIME.block_on(async {
        if answer.status == StatusCode::SWITCHING_PROTOCOLS {
            let (whole, cut) = (answer.frames(&ROOMY, false).await, answer.frames(&ROOMY, true).await);
            assert_eq!(shown(&whole), shown(&cut), "the pieces change what is received");
            check(&answer, &answer.frames(&NARROW, true).await);
            return;
        }
        for tool in answer.tools() {
            let (whole, cut) = (answer.call(&ROOMY, tool, false).await, answer.call(&ROOMY, tool, true).await);
            assert_eq!(shown(&whole), shown(&cut), "the pieces change the result");
            check(&answer, &cut);
            check_limit(&answer, &answer.call(&NARROW, tool, true).await);
        }
    });
});

/// All of a result that is not time.
fn shown(envelope: &Envelope) -> String {
    format!("{:?}", Envelope { elapsed_ms: 0.0, ..envelope.clone() })
}

fn check(answer: &Answer<'_>, envelope: &Envelope) {
    assert_eq!(envelope.ok, envelope.error.is_none(), "a failure says why: {envelope:?}");
    let text = serde_json::Value::Object(envelope.to_json()).to_string();
    assert!(!text.contains(KEY), "the credential comes out of {answer:?}: {text}");
}

fn check_limit(answer: &Answer<'_>, envelope: &Envelope) {
    check(answer, envelope);
    // Text may grow where what cannot be read is replaced, by three bytes for one.
    let size = match &envelope.payload {
        Payload::Data(data) => data.to_string().len(),
        Payload::Text(text) => text.len(),
        Payload::Binary(binary) => binary.base64.as_ref().map_or(0, String::len),
        Payload::Empty | Payload::Events { .. } | Payload::Messages { .. } | Payload::Content(_) => 0,
    };
    // A JSON text grows where what it writes short is written out, as a control character is.
    assert!(size as u64 <= SMALL * 8, "{size} bytes of a body that may have {SMALL}");
}

/// An answer as the input says it.
#[derive(Debug)]
struct Answer<'a> {
    status: StatusCode,
    headers: Vec<(&'a str, &'a [u8])>,
    cuts: Vec<usize>,
    body: &'a [u8],
}

impl<'a> Answer<'a> {
    fn read(input: &'a [u8]) -> Option<Self> {
        let end = input.windows(2).position(|window| window == b"\n\n")?;
        let (head, body) = (&input[..end], &input[end + 2..]);
        let mut lines = head.split(|byte| *byte == b'\n');
        let status = StatusCode::from_bytes(lines.next()?).ok()?;
        let (mut headers, mut cuts) = (Vec::new(), Vec::new());
        for line in lines {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = (std::str::from_utf8(&line[..colon]).ok()?, line[colon + 1..].trim_ascii());
            match name {
                "cuts" => {
                    cuts = std::str::from_utf8(value).ok()?.split(' ').filter_map(|cut| cut.parse().ok()).collect()
                }
                _ => headers.push((name, value)),
            }
        }
        Some(Answer { status, headers, cuts, body })
    }

    /// Only a stream is read differently from tool to tool.
    fn tools(&self) -> &'static [ToolSpec] {
        let is_stream = |(_, value): &(&str, &[u8])| value.starts_with(b"text/event-stream");
        if self.headers.iter().any(is_stream) { &TOOLS } else { &TOOLS[..1] }
    }

    async fn call(&self, upstream: &Upstream, tool: &ToolSpec, cut: bool) -> Envelope {
        // The address of content that is saved nowhere is made up.
        fastrand::seed(1);
        upstream.read_answer(tool, self.status, &self.headers, self.pieces(cut)).await
    }

    async fn frames(&self, upstream: &Upstream, cut: bool) -> Envelope {
        upstream.read_frames(self.pieces(cut), &CallContext::within(Duration::from_secs(60))).await
    }

    fn pieces(&self, cut: bool) -> Vec<Bytes> {
        let mut rest = Bytes::copy_from_slice(self.body);
        let mut pieces = Vec::new();
        let lengths = self.cuts.iter().filter(|length| cut && **length > 0);
        for length in lengths.cycle() {
            if rest.is_empty() {
                break;
            }
            pieces.push(rest.split_to(rest.len().min(*length)));
        }
        if !rest.is_empty() {
            pieces.push(rest);
        }
        pieces
    }
}
