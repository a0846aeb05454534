//! TLS with certificates made for the test.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivatePkcs8KeyDer},
    server::WebPkiClientVerifier,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;
use toolwright_core::{Code, Envelope};

use crate::{
    Config, LazyClient,
    testing::{GET, Server, Setting, json_answer, tool},
};

/// An authority that nobody knows.
fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for `localhost` and its key.
fn issued(authority: &CertifiedIssuer<'static, KeyPair>) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    (parameters.signed_by(&key, authority).unwrap(), key)
}

/// A TLS server of that authority, and its port.
async fn serve(authority: &CertifiedIssuer<'static, KeyPair>, asks_for_client: bool) -> u16 {
    let (certificate, key) = issued(authority);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let builder = match asks_for_client {
        true => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        }
        false => builder.with_no_client_auth(),
    };
    let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
    let config = builder.with_single_cert(chain, PrivatePkcs8KeyDer::from(key.serialize_der()).into()).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(&json_answer("1")).await;
            let _ = stream.shutdown().await;
        }
    });
    port
}

async fn call(port: u16, change: impl FnOnce(&mut Config, &std::path::Path)) -> Envelope {
    let server = Server::with("").await;
    let mut setting = Setting::for_server(&server);
    setting.config.base_url = format!("https://localhost:{port}").parse().unwrap();
    change(&mut setting.config, setting.folder.path());
    setting.call(&tool(GET), json!({})).await
}

fn trust(config: &mut Config, folder: &std::path::Path, authority: &CertifiedIssuer<'static, KeyPair>) {
    let path = folder.join("ca.pem");
    std::fs::write(&path, authority.pem()).unwrap();
    config.ca_file = Some(path);
}

#[tokio::test]
async fn a_private_authority_is_trusted_when_it_is_configured() {
    let authority = authority();
    let port = serve(&authority, false).await;
    let envelope = call(port, |config, folder| trust(config, folder, &authority)).await;
    assert!(envelope.ok, "{:?}", envelope.error);
}

#[tokio::test]
async fn an_unknown_authority_is_refused_with_what_to_do() {
    let port = serve(&authority(), false).await;
    let error = call(port, |_, _| {}).await.error.unwrap();
    assert_eq!(error.code, Code::UpstreamUnreachable);
    assert!(error.message.contains("set the CA file"), "{}", error.message);
}

#[tokio::test]
async fn a_client_certificate_is_shown_when_it_is_asked_for() {
    let authority = authority();
    let port = serve(&authority, true).await;
    let (certificate, key) = issued(&authority);
    let envelope = call(port, |config, folder| {
        trust(config, folder, &authority);
        let path = folder.join("client.pem");
        std::fs::write(&path, format!("{}{}", certificate.pem(), key.serialize_pem())).unwrap();
        config.client_cert_file = Some(path);
    })
    .await;
    assert!(envelope.ok, "{:?}", envelope.error);
    let envelope = call(port, |config, folder| trust(config, folder, &authority)).await;
    assert_eq!(envelope.code(), Some(Code::UpstreamUnreachable));
}

#[tokio::test]
async fn any_certificate_will_do_where_that_was_asked_for() {
    let port = serve(&authority(), false).await;
    let url: reqwest::Url = format!("https://localhost:{port}").parse().unwrap();
    let config = Config::new("demo", url.clone());
    let strict = LazyClient::new(&config).unwrap();
    assert!(strict.get(&config).unwrap().get(url.clone()).send().await.is_err());
    let trusting = LazyClient::new(&config).unwrap().trusting_any_certificate();
    assert!(trusting.get(&config).unwrap().get(url).send().await.is_ok());
}
