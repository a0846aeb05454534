//! A fast upstream: fixed answers, one of them large.

use axum::serve::ListenerExt as _;
use axum::{
    Router,
    body::Body,
    http::header,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use bytes::Bytes;

/// Size of the large answer in bytes.
pub(crate) const LARGE: usize = 64 << 20;

/// Starts it on loopback and returns its base URL. It lives as long as this process.
pub(crate) async fn start() -> anyhow::Result<String> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let router = Router::new()
        .route("/v1/detokenize", post(async || json(r#"{"content":"hello"}"#)))
        .route("/system", get(async || json(r#"{"backends":[],"loaded_models":[]}"#)))
        .route("/v1/audio/speech", post(large));
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

fn json(text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn large() -> Response {
    let chunk = Bytes::from(vec![0_u8; 64 << 10]);
    let chunks = (0..LARGE / chunk.len()).map(move |_| Ok::<_, std::io::Error>(chunk.clone()));
    ([(header::CONTENT_TYPE, "audio/x-wav")], Body::from_stream(futures_util::stream::iter(chunks))).into_response()
}
