//! Which server a request goes to: the configured one, or the one that the operation declares.

use reqwest::Url;
use toolwright_core::{Code, ToolError};

use crate::config::{self, Config};

/// The base URL of a request. A base URL that the operator has configured replaces every server of the document.
///
/// # Errors
/// `not_allowed` where the operation's server is another host and no setting allows it.
pub(crate) fn base(config: &Config, declared: Option<&str>) -> Result<Url, ToolError> {
    let Some(template) = declared.filter(|_| !config.base_url_configured) else {
        return Ok(config.base_url.clone());
    };
    let unusable = || {
        ToolError::new(
            Code::NotAllowed,
            "the document declares a server for this operation that is no http or https URL",
        )
    };
    // Relative to the upstream's origin: the document lies there (OpenAPI 3.1 section 4.8.5).
    let url = config.base_url.join(&filled(config, template)).map_err(|_| unusable())?;
    config::check_base_url(&url).map_err(|_| unusable())?;
    if url.origin() == config.base_url.origin() || is_allowed(config, &url) {
        return Ok(url);
    }
    let host = url.host_str().unwrap_or_default();
    Err(ToolError::new(
        Code::NotAllowed,
        format!("this operation is served by {host}, which this server may not call (setting UPSTREAM_HOSTS)"),
    ))
}

/// Names in braces are keys of settings.
fn filled(config: &Config, template: &str) -> String {
    config.access.settings.iter().filter(|setting| !setting.secret).fold(template.to_owned(), |text, setting| {
        let value = config.setting(setting.key).unwrap_or(setting.default);
        text.replace(&format!("{{{}}}", setting.key), value)
    })
}

/// True where a setting names the host, with its port where that is not the scheme's own.
fn is_allowed(config: &Config, url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let full = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    config.upstream_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(&full))
}
