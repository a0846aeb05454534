//! The upstream's HTTP client: TLS, proxy, and its making on first use.

mod client;
#[cfg(test)]
mod tests;
pub(crate) mod tls;

pub use client::LazyClient;
pub use tls::{check_ca_file, check_client_cert_file};
