//! The address guard: which addresses a URL input may be fetched from.

use std::{
    error::Error,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

/// Decides on addresses. The rule is a function so that tests can reach their own servers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    admits: fn(IpAddr) -> bool,
}

/// An address or host that the guard refused. The text does not say which address: a caller must not learn what names
/// inside the network resolve to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the URL leads to an address that is not public, which is never fetched")
    }
}

impl Error for Refused {}

impl Guard {
    /// Public addresses only.
    pub(crate) fn public() -> Self {
        Guard { admits: is_public }
    }

    /// A rule of a test's own.
    #[cfg(test)]
    pub(crate) fn admitting(admits: fn(IpAddr) -> bool) -> Self {
        Guard { admits }
    }

    /// Checks the host of a URL where it is an address; a name is checked when it is resolved.
    pub(crate) fn check_literal(self, url: &Url) -> Result<(), Refused> {
        let host = url.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address {
            Ok(address) if !(self.admits)(address) => Err(Refused),
            _ => Ok(()),
        }
    }
}

/// The resolver of the client that fetches URL inputs. The connection is made to the very addresses that were checked, so
/// a name cannot resolve to another address between check and use.
impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = *self;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let admitted: Vec<SocketAddr> = found.filter(|address| (guard.admits)(address.ip())).collect();
            if admitted.is_empty() {
                return Err(Box::new(Refused) as Box<dyn Error + Send + Sync>);
            }
            Ok(Box::new(admitted.into_iter()) as Addrs)
        })
    }
}

/// True for addresses of the public internet (IANA special-purpose registries).
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    // The wire server of one cloud has a public address.
    !special && address != Ipv4Addr::new(168, 63, 129, 16)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let [a, b, c, d, e, f, g, h] = address.segments();
    // NAT64 (RFC 6052): the last 32 bits are an IPv4 address.
    if (a, b, c, d, e, f) == (0x64, 0xff9b, 0, 0, 0, 0) {
        let [g1, g2] = g.to_be_bytes();
        let [h1, h2] = h.to_be_bytes();
        return is_public_v4(Ipv4Addr::new(g1, g2, h1, h2));
    }
    let is_global_unicast = a & 0xe000 == 0x2000;
    let is_protocol_or_documentation = a == 0x2001 && (b < 0x0200 || b == 0x0db8) || a == 0x3fff && b < 0x1000;
    let is_6to4 = a == 0x2002;
    is_global_unicast && !is_protocol_or_documentation && !is_6to4
}
