//! A small API for tests: it echoes, and notices when a caller goes away.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;

/// The running API.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    /// What came in and went wrong.
    pub(crate) seen: Arc<Seen>,
}

/// Counts of what came in.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Requests to `/slow`.
    pub(crate) slow_begun: AtomicUsize,
    /// Requests to `/slow` whose connection was closed before the answer.
    pub(crate) slow_dropped: AtomicUsize,
    /// Requests that change state.
    pub(crate) changes: AtomicUsize,
    /// The header `x-user` of each request for the list.
    pub(crate) users: Mutex<Vec<Option<String>>>,
}

impl Upstream {
    /// Starts it on a free port of this machine.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let router = Router::new()
            .route("/items", get(list).post(add))
            .route("/items/{id}", get(item).delete(delete))
            .route("/stream", get(stream))
            .route("/slow", get(slow))
            .with_state(Arc::clone(&seen));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Upstream { address, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn json(text: String) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], text)
}

async fn list(State(seen): State<Arc<Seen>>, headers: HeaderMap) -> impl IntoResponse {
    let user = headers.get("x-user").and_then(|value| value.to_str().ok()).map(str::to_owned);
    seen.users.lock().unwrap().push(user);
    json(r#"[{"id":1}]"#.into())
}

async fn item(Path(id): Path<String>) -> impl IntoResponse {
    if id == "404" {
        return (axum::http::StatusCode::NOT_FOUND, json(r#"{"error":"no such item"}"#.into())).into_response();
    }
    json(format!(r#"{{"id":{id}}}"#)).into_response()
}

async fn delete(State(seen): State<Arc<Seen>>) -> impl IntoResponse {
    seen.changes.fetch_add(1, Ordering::SeqCst);
    axum::http::StatusCode::NO_CONTENT
}

async fn add(State(seen): State<Arc<Seen>>, body: String) -> impl IntoResponse {
    seen.changes.fetch_add(1, Ordering::SeqCst);
    json(body)
}

/// Two chunks of a chat completion, as OpenAI streams it.
async fn stream() -> impl IntoResponse {
    let chunk = |word: &str| {
        format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}}}}]}}\n\n")
    };
    let body = format!("{}{}data: [DONE]\n\n", chunk("Hello"), chunk(" world"));
    ([(header::CONTENT_TYPE, "text/event-stream")], body)
}

/// Never answers. Its future is dropped when the connection closes.
async fn slow(State(seen): State<Arc<Seen>>) {
    struct OnDrop(Arc<Seen>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.slow_dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
    seen.slow_begun.fetch_add(1, Ordering::SeqCst);
    let _guard = OnDrop(seen);
    std::future::pending::<()>().await;
}
