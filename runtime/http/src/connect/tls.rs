//! TLS with bundled roots: nothing is read from the system, so it works in an empty root folder.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
};

use crate::config::{Config, ConfigError};

/// Certificates of the operator's own.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    authorities: Vec<CertificateDer<'static>>,
    trusts_any: bool,
    client: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
}

impl Certificates {
    /// Reads the configured PEM files, so that a mistake shows at the start.
    pub(crate) fn read(config: &Config) -> Result<Self, ConfigError> {
        let authorities = match &config.ca_file {
            Some(path) => chain("the CA file", path)?,
            None => Vec::new(),
        };
        let client = match &config.client_cert_file {
            Some(path) => Some((chain("the client certificate file", path)?, key(path)?)),
            None => None,
        };
        let certificates = Certificates { authorities, trusts_any: false, client };
        if let Err(error) = certificates.client_config() {
            let path = config.client_cert_file.as_ref().or(config.ca_file.as_ref()).cloned().unwrap_or_default();
            return Err(ConfigError::Pem { what: "the certificates of", path, reason: error.to_string() });
        }
        Ok(certificates)
    }

    /// From here on, any certificate of the other side will do.
    pub(crate) fn trust_any(&mut self) {
        self.trusts_any = true;
    }

    /// A client configuration with the public roots, the private authorities and the client certificate.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, rustls::Error> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for authority in &self.authorities {
            roots.add(authority.clone())?;
        }
        let builder = builder()?.with_root_certificates(roots);
        let mut config = match &self.client {
            Some((chain, key)) => builder.with_client_auth_cert(chain.clone(), key.clone_key())?,
            None => builder.with_no_client_auth(),
        };
        if self.trusts_any {
            let verifier = AnyCertificate(config.crypto_provider().clone());
            config.dangerous().set_certificate_verifier(Arc::new(verifier));
        }
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// Takes any certificate, but still wants the other side to own it.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Checks a PEM file of certificate authorities.
///
/// # Errors
/// What is wrong with it.
pub fn check_ca_file(path: &Path) -> Result<(), ConfigError> {
    chain("the CA file", path).map(drop)
}

/// Checks a PEM file of a client certificate and its key.
///
/// # Errors
/// What is wrong with it.
pub fn check_client_cert_file(path: &Path) -> Result<(), ConfigError> {
    chain("the client certificate file", path)?;
    key(path).map(drop)
}

/// A client configuration with the public roots alone.
pub(crate) fn public_client() -> Result<ClientConfig, rustls::Error> {
    Certificates::default().client_config()
}

fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}

fn chain(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let fault = |reason: String| ConfigError::Pem { what, path: path.to_owned(), reason };
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(|found| found.collect::<Result<_, _>>())
        .map_err(|error| fault(error.to_string()))?;
    if certificates.is_empty() {
        return Err(fault("no certificate found in it".to_owned()));
    }
    Ok(certificates)
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, ConfigError> {
    PrivateKeyDer::from_pem_file(path).map_err(|_| ConfigError::Pem {
        what: "the client certificate file",
        path: path.to_owned(),
        reason: "no private key found in it".to_owned(),
    })
}
