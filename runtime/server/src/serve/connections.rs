//! The connections of the HTTP server.

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

use crate::telemetry::Chain;

/// The longest wait for the head of a request. Without it, a client that sends half of one holds its connection, and
/// the end of the server, for as long as it likes.
const HEAD_TIMEOUT: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(15) };

/// The wait after an accept that failed for want of something of ours, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// Serves every connection until `stop`, then until the requests in flight are answered.
pub(super) async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let service = TowerToHyperService::new(router);
    let open = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = &mut stop => break,
        };
        let service = service.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            service.call(request)
        });
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(target: "toolwright::server", error = %Chain(&error), %peer, "a connection ended early");
            }
        });
    }
    drop(listener);
    open.shutdown().await;
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Without this, Nagle's algorithm holds each part of an event stream back for 40 ms.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(target: "toolwright::server", %error, "TCP_NODELAY was refused");
                }
                return (stream, peer);
            }
            Err(error) => {
                tracing::warn!(target: "toolwright::server", %error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
