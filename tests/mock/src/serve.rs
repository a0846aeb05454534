//! The listener and its connections.

use crate::exchange::{self, Upstream};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A listening server on threads of its own.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(upstream: Arc<Upstream>) -> std::io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, upstream.options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = runtime(upstream.options.workers)?;
        let thread = std::thread::Builder::new().name("mock upstream".to_owned()).spawn(move || {
            runtime.block_on(listen(listener, upstream, stopped));
            runtime.shutdown_background();
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn stop(mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was printed when it happened; there is nothing left to stop then.
            drop(thread.join());
        }
    }
}

fn runtime(workers: usize) -> std::io::Result<tokio::runtime::Runtime> {
    if workers > 1 {
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
    } else {
        tokio::runtime::Builder::new_current_thread().enable_all().build()
    }
}

/// Accept until the stop sender is dropped.
async fn listen(listener: std::net::TcpListener, upstream: Arc<Upstream>, mut stopped: oneshot::Receiver<()>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => {
                if let Ok((socket, _)) = accepted {
                    tokio::spawn(connection(socket, Arc::clone(&upstream)));
                }
            }
        }
    }
}

async fn connection(socket: TcpStream, upstream: Arc<Upstream>) {
    // Small pieces of a stream are to leave at once.
    drop(socket.set_nodelay(true));
    let service = service_fn(move |request| exchange::handle(Arc::clone(&upstream), request));
    let served =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(socket), service).with_upgrades();
    // An error here is a client that left or a fault that cut the connection: both are wanted.
    drop(served.await);
}
