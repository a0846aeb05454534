//! Over streamable HTTP. Without sessions, as is the default, any process behind the port may answer any request.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;

use super::{connections, request_body, stop_signal, traced};
use crate::App;
use crate::serve::guard;
use crate::settings::Settings;

/// Stack of a worker. The default of 2 MiB leaves little room in a build without optimisation, whose futures are large.
const STACK_BYTES: usize = 8 << 20;

/// How long what was cut off may take to say so.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until a signal to stop, then lets calls in flight finish.
pub(crate) fn serve(app: &Arc<App>) -> ExitCode {
    let workers = app.settings.workers.0;
    let mut builder = match workers {
        // One thread needs no queues between threads.
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(workers).thread_stack_size(STACK_BYTES).enable_all().build();
    let served = runtime.and_then(|runtime| {
        let served = runtime.block_on(traced(app, listen(app)));
        // A name that is being looked up, of a receiver that is gone, must not keep the process.
        runtime.shutdown_timeout(LAST_WORDS);
        served
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (host, port) = (app.settings.host.0, app.settings.port);
            let hint = match error.kind() {
                std::io::ErrorKind::AddrInUse => "; choose another port with --port or MCP_PORT",
                _ => "",
            };
            eprintln!("{}-server: cannot serve at {}: {error}{hint}", app.server.name, SocketAddr::new(host, port));
            ExitCode::FAILURE
        }
    }
}

async fn listen(app: &Arc<App>) -> std::io::Result<()> {
    let stop = stop_signal()?;
    let listener = bind(&app.settings)?;
    let address = listener.local_addr()?;
    tracing::info!(
        target: "toolwright::server",
        url = format!("http://{address}{}", app.settings.path.0),
        version = app.server.version,
        catalog = app.server.catalog_sha256,
        "listening"
    );
    run(app, listener, stop).await;
    Ok(())
}

/// Serves on that listener until `stop`, then until calls in flight have finished or had their time.
pub(crate) async fn run(app: &Arc<App>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let drain = Drain::default();
    let router = router(app, &drain);
    let stopping = drain.clone();
    let stop = async move {
        stop.await;
        stopping.begin();
    };
    tokio::select! {
        () = connections::serve(listener, router, stop) => {}
        () = drain.overdue(app) => {}
    }
}

fn bind(settings: &Settings) -> std::io::Result<TcpListener> {
    let address = SocketAddr::new(settings.host.0, settings.port);
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    #[cfg(all(unix, not(target_os = "solaris")))]
    if settings.reuse_port.0 {
        socket.set_reuseport(true)?;
    }
    socket.bind(address)?;
    socket.listen(1024)
}

/// The way from serving to stopped.
#[derive(Debug, Clone, Default)]
struct Drain {
    draining: Arc<AtomicBool>,
    begun: CancellationToken,
    /// Ends what even then is open, such as a stream that nobody reads.
    cut_off: CancellationToken,
}

impl Drain {
    fn begin(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.begun.cancel();
    }

    /// Resolves when calls have had their time after the begin, and those cut off have answered that they were.
    async fn overdue(&self, app: &App) {
        self.begun.cancelled().await;
        tracing::info!(target: "toolwright::server", running = app.metrics.running(), "stopping");
        tokio::time::sleep(app.settings.shutdown_grace.0).await;
        tracing::warn!(target: "toolwright::server", running = app.metrics.running(), "cut off what was running");
        app.cut_off.cancel();
        tokio::time::sleep(LAST_WORDS).await;
        self.cut_off.cancel();
    }
}

fn router(app: &Arc<App>, drain: &Drain) -> Router {
    let endpoint = app.settings.path.0.clone();
    let protocol = match app.settings.sessions.0 {
        true => protocol(app, drain, LocalSessionManager::default()),
        false => protocol(app, drain, NeverSessionManager::default()),
    };
    let guarded = protocol
        .layer(middleware::from_fn_with_state(Arc::clone(app), request_body::read))
        .route("/metrics", get(metrics).with_state(Arc::clone(app)))
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard::check));
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready).with_state(drain.clone()))
        .merge(guarded)
        .fallback(async move || (StatusCode::NOT_FOUND, format!("nothing is here; the MCP endpoint is {endpoint}\n")))
}

/// The MCP endpoint, with sessions or without.
fn protocol(app: &Arc<App>, drain: &Drain, sessions: impl SessionManager) -> Router {
    let service_app = Arc::clone(app);
    let service = StreamableHttpService::new(
        move || Ok(Arc::clone(&service_app)),
        Arc::new(sessions),
        protocol_config(&app.settings, drain.cut_off.clone()),
    );
    Router::new().route_service(&app.settings.path.0, service)
}

fn protocol_config(settings: &Settings, cut_off: CancellationToken) -> StreamableHttpServerConfig {
    let limit = usize::try_from(settings.max_request_bytes.0).unwrap_or(usize::MAX);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(settings.sessions.0)
        .with_json_response(true)
        .with_cancellation_token(cut_off)
        .with_max_request_body_bytes(limit)
        .with_allowed_origins(guard::allowed_origins(settings))
        .enforce_origin_validation();
    match guard::allowed_hosts(settings) {
        Some(hosts) => config.with_allowed_hosts(hosts),
        None => config.disable_allowed_hosts(),
    }
}

async fn ready(State(drain): State<Drain>) -> Response {
    if drain.draining.load(Ordering::Relaxed) {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response()
    } else {
        "ready\n".into_response()
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (content_type, app.metrics.render(app.server)).into_response()
}

#[cfg(test)]
mod tests;
