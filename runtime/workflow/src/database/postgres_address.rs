//! Whom to connect to, and how much to trust the way there.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Error;

/// The schema's name, which stands in statements: a lower-case letter, then lower-case letters, digits, underscores.
pub(super) fn check_schema(schema: &str) -> Result<(), Error> {
    let starts = schema.starts_with(|first: char| first.is_ascii_lowercase());
    let goes_on = schema.chars().all(|next| next.is_ascii_lowercase() || next.is_ascii_digit() || next == '_');
    if starts && goes_on && schema.len() <= 63 {
        return Ok(());
    }
    let problem =
        format!("{schema:?} must be a lower-case letter and up to 62 lower-case letters, digits or underscores");
    Err(Error::Setting { name: "schema", problem })
}

/// Reads the URL. Messages never hold it, since it has a password.
///
/// Where it does not say `sslmode`, a connection within the machine is plain and any other is encrypted. "Prefer", what
/// PostgreSQL's own tools do, would go on in plain text whenever somebody in between says that there is no encryption.
pub(super) fn configuration(url: &str) -> Result<Config, Error> {
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(" ({cause})"));
        Error::Setting {
            name: "database",
            problem: format!("no connection URL of PostgreSQL{cause}: write postgres://user:password@host/database"),
        }
    })?;
    if config.get_ssl_mode() == SslMode::Prefer {
        config.ssl_mode(if is_local(&config) { SslMode::Disable } else { SslMode::Require });
    }
    Ok(config)
}

/// True where no connection leaves the machine.
fn is_local(config: &Config) -> bool {
    let named = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    // An address outranks the name that stands beside it.
    let addressed = config.get_hostaddrs().iter().all(IpAddr::is_loopback);
    (named || !config.get_hostaddrs().is_empty()) && addressed
}

/// How certificates are checked: against the public authorities, or only those of a file.
pub(super) fn tls(authorities: Option<&Path>) -> Result<MakeRustlsConnect, Error> {
    let mut roots = RootCertStore::empty();
    match authorities {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(file) => {
            let refuse = |problem: String| Error::Setting {
                name: "authorities",
                problem: format!("{}: {problem}", file.display()),
            };
            for certificate in CertificateDer::pem_file_iter(file).map_err(|fault| refuse(fault.to_string()))? {
                let certificate = certificate.map_err(|fault| refuse(fault.to_string()))?;
                roots.add(certificate).map_err(|fault| refuse(fault.to_string()))?;
            }
            if roots.is_empty() {
                return Err(refuse("holds no certificate: it must be a PEM file".to_owned()));
            }
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|fault| Error::Setting { name: "authorities", problem: fault.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        configuration(url).unwrap().get_ssl_mode()
    }

    #[test]
    fn a_connection_to_another_host_is_encrypted() {
        assert_eq!(mode("postgres://u:p@db.example/x"), SslMode::Require);
        assert_eq!(mode("postgres://u:p@localhost,db.example/x"), SslMode::Require);
        assert_eq!(mode("host=localhost hostaddr=192.0.2.1"), SslMode::Require);
    }

    #[test]
    fn a_connection_within_the_machine_is_plain() {
        assert_eq!(mode("postgres://u:p@127.0.0.1/x"), SslMode::Disable);
        assert_eq!(mode("postgres:///x?host=/run/postgresql"), SslMode::Disable);
        assert_eq!(mode("host=name hostaddr=127.0.0.1"), SslMode::Disable);
    }

    #[test]
    fn what_the_url_says_is_done() {
        assert_eq!(mode("postgres://u:p@db.example/x?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://u:p@localhost/x?sslmode=require"), SslMode::Require);
    }

    #[test]
    fn a_bad_url_is_refused_without_its_password() {
        let text = configuration("postgres://u:geheim@db.example/x?portt=geheim").unwrap_err().to_string();
        assert!(text.contains("portt") && !text.contains("geheim"), "{text}");
    }

    #[test]
    fn a_schema_that_could_end_its_quotes_is_refused() {
        for bad in ["", "a\"b", "Upper", "1a", "_a", &"a".repeat(64)] {
            assert!(check_schema(bad).is_err(), "{bad:?}");
        }
        check_schema("toolwright_localai_2").unwrap();
    }
}
