//! Opens the client of the API from the settings.

use toolwright_core::ServerSpec;
use toolwright_http::{Config, KnownSecrets, Secret, Upstream};

use crate::settings::{Problem, Settings};

/// Opens the client. What it learns of credentials goes to `known`.
///
/// # Errors
/// The setting that cannot be used.
pub(crate) fn open(server: &ServerSpec, settings: &Settings, known: &KnownSecrets) -> Result<Upstream, Problem> {
    let problem = |error: toolwright_http::ConfigError| Problem::new(server.name, error.to_string());
    let config = config(server, settings).map_err(problem)?;
    Upstream::new(Config { known_secrets: known.clone(), ..config }).map_err(problem)
}

fn config(server: &ServerSpec, settings: &Settings) -> Result<Config, toolwright_http::ConfigError> {
    let base_url = toolwright_http::parse_base_url(settings.base_url.as_str())?;
    let no_proxy = &settings.no_proxy.0;
    Ok(Config {
        base_url_configured: settings.base_url_configured,
        upstream_hosts: settings.upstream_hosts.0.clone(),
        access: server.access,
        settings: (*settings.document.0).clone(),
        api_key: settings.api_key.clone(),
        request_timeout: settings.request_timeout.0,
        connect_timeout: settings.connect_timeout.0,
        max_upload_bytes: settings.max_upload_bytes.0,
        max_response_bytes: settings.max_response_bytes.0,
        inline_binary_limit: settings.inline_binary_limit.0,
        save_binary: settings.save_binary,
        output_dir: settings.output_dir.clone(),
        file_root: settings.file_root.clone(),
        file_urls: settings.file_urls.0,
        output_quota_bytes: settings.output_quota_bytes.0,
        stream_events: settings.stream_events.0,
        inline_base64: settings.inline_base64.0,
        loading_wait: settings.loading_wait.0,
        reveal_secrets: settings.reveal_secrets.0,
        https_proxy: settings.https_proxy.as_ref().map(|url| Secret::new(url.expose())),
        no_proxy: (!no_proxy.is_empty()).then(|| no_proxy.join(",")),
        ca_file: settings.ca_file.clone(),
        client_cert_file: settings.client_cert_file.clone(),
        user_agent: format!("{}-server/{}", server.name, server.version),
        ..Config::new(server.name, base_url)
    })
}
