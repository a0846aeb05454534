//! The upstream's HTTP client: TLS, proxy, and its making on first use.

mod client;
pub(crate) mod tls;

pub(crate) use client::LazyClient;
