use std::io::Write;

use super::{Config, ConfigError, Secret, parse_base_url};
use crate::Upstream;

fn config() -> Config {
    Config::new("demo", parse_base_url("http://127.0.0.1:8080").unwrap())
}

fn refusal(text: &str) -> String {
    parse_base_url(text).unwrap_err().to_string()
}

#[test]
fn a_base_url_is_http_with_a_host_and_perhaps_a_path() {
    for text in ["http://127.0.0.1:8080", "https://host/proxy/", " http://[::1]:8080 "] {
        assert!(parse_base_url(text).is_ok(), "{text}");
    }
    assert_eq!(refusal("localhost:8080"), "the base URL must begin with http:// or https://, not localhost://");
    assert_eq!(refusal("host"), "the base URL \"host\" is not a URL: write it like http://127.0.0.1:8080");
    assert_eq!(refusal("http://h/?a=1"), "the base URL must not hold a query string");
    assert_eq!(refusal("http://h/#a"), "the base URL must not hold a fragment (#…)");
}

#[test]
fn a_password_in_a_base_url_is_refused_and_not_repeated() {
    assert!(!refusal("http://user:hunter2@h").contains("hunter2"));
    assert!(!refusal("http://user:hunter2@h:port").contains("hunter2"));
}

#[test]
fn secrets_do_not_show_themselves() {
    let mut config = config();
    config.api_key = Some(Secret::new("hunter2"));
    config.https_proxy = Some("http://user:hunter2@proxy".into());
    assert!(!format!("{config:?} {:?}", Upstream::new(config.clone()).unwrap()).contains("hunter2"));
}

#[test]
fn what_cannot_be_a_header_is_refused_at_the_start() {
    let mut key = config();
    key.api_key = Some("a\nb".into());
    assert!(matches!(Upstream::new(key), Err(ConfigError::ApiKey)));
    let mut agent = config();
    agent.user_agent = "a\nb".to_owned();
    assert!(matches!(Upstream::new(agent), Err(ConfigError::UserAgent)));
}

#[test]
fn a_proxy_that_is_no_url_is_refused_and_not_repeated() {
    let mut config = config();
    config.https_proxy = Some("http://user:hunter2@:bad".into());
    let error = Upstream::new(config).unwrap_err();
    assert!(matches!(error, ConfigError::Proxy));
    assert!(!error.to_string().contains("hunter2"));
}

#[test]
fn a_file_without_certificates_is_refused_at_the_start() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"not a certificate").unwrap();
    let mut config = config();
    config.ca_file = Some(file.path().to_owned());
    let error = Upstream::new(config).unwrap_err().to_string();
    assert!(error.starts_with("the CA file ") && error.ends_with("no certificate found in it"), "{error}");
}

#[test]
fn a_missing_certificate_file_is_named() {
    let mut config = config();
    config.client_cert_file = Some("/nowhere/client.pem".into());
    let error = Upstream::new(config).unwrap_err().to_string();
    assert!(error.starts_with("the client certificate file /nowhere/client.pem: "), "{error}");
}
