//! Credentials: which alternative of a call's requirements is configured, and what it adds to the request.

mod shown;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use shown::{header as header_placeholder, placeholders};
pub(crate) use token::Tokens;

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{
    Client, Url,
    header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue},
};
use toolwright_core::{Code, Location, Requirements, SchemeKind, SecurityScheme, ToolError};

use crate::{config::Config, context::CallContext, encode::percent_value, forward::ForwardedHeaders};

/// What the chosen credentials add to a request. Requests to the upstream's own origin alone are made with it.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    headers: HeaderMap,
    cookies: Vec<String>,
    query: Vec<String>,
    /// Schemes whose token was fetched, to be forgotten where the upstream refuses it.
    fetched: Vec<&'static str>,
}

/// The schemes to use: those of the first alternative whose settings are all there. None where no alternative is; the
/// upstream then says what it wants. Without requirements of its own, a call has the server's.
pub(crate) fn chosen(config: &Config, own: Option<Requirements>) -> Vec<&'static SecurityScheme> {
    let requirements = own.unwrap_or(config.access.security);
    let alternatives = requirements.iter().filter_map(|names| {
        let schemes: Option<Vec<_>> = names.iter().map(|name| scheme(config, name)).collect();
        schemes.filter(|schemes| schemes.iter().all(|scheme| is_configured(config, scheme)))
    });
    // An alternative without credentials is taken only where no other can be.
    let (with, without): (Vec<_>, Vec<_>) = alternatives.partition(|schemes| !schemes.is_empty());
    with.into_iter().chain(without).next().unwrap_or_default()
}

fn scheme(config: &Config, name: &str) -> Option<&'static SecurityScheme> {
    config.access.schemes.iter().find(|scheme| scheme.name == name)
}

fn is_configured(config: &Config, scheme: &SecurityScheme) -> bool {
    let has = |key: &str| config.setting(key).is_some();
    match scheme.kind {
        SchemeKind::ApiKey { setting, .. } | SchemeKind::Bearer { setting } => has(setting),
        SchemeKind::Basic { username, .. } => has(username),
        SchemeKind::ClientCredentials { token, client_id, client_secret, token_url, .. } => {
            has(token) || [client_id, client_secret, token_url].into_iter().all(has)
        }
        SchemeKind::MutualTls => config.client_cert_file.is_some(),
    }
}

/// True where the operator's one key is sent as a bearer token: no scheme of the document takes it.
pub(crate) fn is_plain_bearer(config: &Config, own: Option<Requirements>) -> bool {
    let takes_it = |scheme: &SecurityScheme| match scheme.kind {
        SchemeKind::ApiKey { setting, .. } | SchemeKind::Bearer { setting } => setting == "api_key",
        _ => false,
    };
    let needs_none = own.is_some_and(<[_]>::is_empty);
    config.api_key.is_some() && !needs_none && !config.access.schemes.iter().any(takes_it)
}

/// Obtains the credentials of a call, a token from its endpoint included.
///
/// # Errors
/// Where a credential cannot be sent, or a token cannot be had.
pub(crate) async fn obtain(
    config: &Config,
    client: &Client,
    tokens: &Tokens,
    own: Option<Requirements>,
    context: &CallContext,
) -> Result<Credentials, ToolError> {
    let mut credentials = Credentials::default();
    let schemes = chosen(config, own);
    if schemes.is_empty() && is_plain_bearer(config, own) {
        credentials.bearer(config.setting("api_key").unwrap_or_default())?;
    }
    for scheme in schemes {
        if let SchemeKind::ClientCredentials { token, .. } = scheme.kind
            && config.setting(token).is_none()
        {
            let fetched = tokens.of(config, client, scheme, context).await?;
            credentials.bearer(&fetched)?;
            credentials.fetched.push(scheme.name);
            continue;
        }
        credentials.add(config, scheme.kind)?;
    }
    Ok(credentials)
}

impl Credentials {
    fn add(&mut self, config: &Config, kind: SchemeKind) -> Result<(), ToolError> {
        let value = |key: &str| config.setting(key).unwrap_or_default();
        match kind {
            SchemeKind::ApiKey { location, wire, setting } => self.key(location, wire, value(setting)),
            SchemeKind::Bearer { setting } | SchemeKind::ClientCredentials { token: setting, .. } => {
                self.bearer(value(setting))
            }
            SchemeKind::Basic { username, password } => {
                let pair = STANDARD.encode(format!("{}:{}", value(username), value(password)));
                self.header(AUTHORIZATION, &format!("Basic {pair}"))
            }
            SchemeKind::MutualTls => Ok(()),
        }
    }

    fn key(&mut self, location: Location, wire: &str, key: &str) -> Result<(), ToolError> {
        let pair = || format!("{}={}", percent_value(wire), percent_value(key));
        match location {
            Location::Query => self.query.push(pair()),
            Location::Cookie => self.cookies.push(format!("{wire}={}", percent_value(key))),
            Location::Header | Location::Path => {
                let name = HeaderName::from_bytes(wire.as_bytes()).map_err(|_| unsendable())?;
                return self.header(name, key);
            }
        }
        Ok(())
    }

    fn bearer(&mut self, token: &str) -> Result<(), ToolError> {
        self.header(AUTHORIZATION, &format!("Bearer {token}"))
    }

    fn header(&mut self, name: HeaderName, text: &str) -> Result<(), ToolError> {
        let mut value = HeaderValue::from_str(text).map_err(|_| unsendable())?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(())
    }

    /// Puts a caller's own headers in the place of what is configured under their names.
    pub(crate) fn forward(&mut self, forwarded: &ForwardedHeaders) {
        let headers = forwarded.headers();
        if let Some(cookies) = headers.get(COOKIE).and_then(|value| value.to_str().ok()) {
            self.cookies = vec![cookies.to_owned()];
        }
        let others = headers.keys().filter(|name| *name != COOKIE);
        for name in others {
            self.headers.remove(name);
            for value in headers.get_all(name) {
                self.headers.append(name.clone(), value.clone());
            }
        }
    }

    /// Adds them to a request's address. A redirect often repeats the query, and a key that is there is not added again.
    pub(crate) fn add_to_url(&self, url: &mut Url) {
        let given: Vec<&str> = url.query().into_iter().flat_map(|query| query.split('&')).collect();
        let missing: Vec<&str> = self.query.iter().map(String::as_str).filter(|pair| !given.contains(pair)).collect();
        if missing.is_empty() {
            return;
        }
        let query = url.query().into_iter().chain(missing).collect::<Vec<_>>().join("&");
        url.set_query(Some(&query));
    }

    /// Adds them to a request's headers; no argument can stand in their place.
    pub(crate) fn add_to_headers(&self, headers: &mut HeaderMap) {
        headers.extend(self.headers.clone());
        if self.cookies.is_empty() {
            return;
        }
        let given = headers.get(COOKIE).and_then(|value| value.to_str().ok());
        let all: Vec<&str> = given.into_iter().chain(self.cookies.iter().map(String::as_str)).collect();
        if let Ok(mut value) = HeaderValue::from_str(&all.join("; ")) {
            value.set_sensitive(true);
            headers.insert(COOKIE, value);
        }
    }

    /// Schemes whose token was fetched.
    pub(crate) fn fetched(&self) -> &[&'static str] {
        &self.fetched
    }
}

fn unsendable() -> ToolError {
    ToolError::new(
        Code::NotAllowed,
        "a credential of this server has characters that cannot be sent; check its settings",
    )
}

/// Every secret that an upstream could repeat, in each form in which it is sent.
pub(crate) fn secrets(config: &Config) -> Vec<String> {
    let mut found: Vec<String> = config.api_key.iter().map(|key| key.expose().to_owned()).collect();
    for setting in config.access.settings.iter().filter(|setting| setting.secret) {
        found.extend(config.setting(setting.key).map(str::to_owned));
    }
    for scheme in config.access.schemes {
        if let SchemeKind::Basic { username, password } = scheme.kind
            && let Some(username) = config.setting(username)
        {
            let password = config.setting(password).unwrap_or_default();
            found.push(STANDARD.encode(format!("{username}:{password}")));
        }
    }
    let encoded: Vec<String> = found.iter().map(|secret| percent_value(secret)).collect();
    found.extend(encoded.into_iter().filter(|form| form.contains('%')));
    found
}
