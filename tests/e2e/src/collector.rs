//! A receiver of OTLP on this machine, which behaves well or badly, as it is told to.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
};

/// What a collector does with what it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Answers with this status.
    Answers(u16),
    /// Reads and never answers.
    Hangs,
}

/// One request that came.
#[derive(Debug, Clone)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Everything before its body.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// A running receiver. Its threads end with the process of the test.
#[derive(Debug)]
pub struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Collector {
    /// Starts one on a free port.
    ///
    /// # Errors
    /// When there is no port.
    pub fn start(manner: Manner) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let collector = Collector { address: listener.local_addr()?, received: Arc::default() };
        let received = Arc::clone(&collector.received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let received = Arc::clone(&received);
                std::thread::spawn(move || converse(stream, manner, &received));
            }
        });
        Ok(collector)
    }

    /// Its base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came so far to that path.
    #[must_use]
    pub fn received(&self, path: &str) -> Vec<Received> {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.iter().filter(|request| request.path == path).cloned().collect()
    }

    /// Everything that came so far, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.iter().map(|request| format!("{}{}", request.head, String::from_utf8_lossy(&request.body))).collect()
    }
}

/// Reads requests until the other side closes.
fn converse(stream: TcpStream, manner: Manner, received: &Mutex<Vec<Received>>) -> Option<()> {
    let mut answers = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let request = read(&mut reader)?;
        received.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        match manner {
            Manner::Answers(status) => write!(answers, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n").ok()?,
            // Until the other side gives up, which ends the read.
            Manner::Hangs => drop(reader.read(&mut [0])),
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { path, head, body })
}
