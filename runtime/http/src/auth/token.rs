//! OAuth2 client credentials (RFC 6749 section 4.4): a token is fetched once, kept, and fetched anew before it ends.

use std::{collections::HashMap, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{
    Client, Method, Request, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use serde_json::Value;
use tokio::{sync::Mutex, time::Instant};
use toolwright_core::{Code, SchemeKind, SecurityScheme, ToolError};

use super::unsendable;
use crate::{config::Config, context::CallContext, encode::percent_value};

/// How long a token is kept whose answer says nothing about it (RFC 6749 section 5.1 leaves it open).
const ASSUMED_LIFETIME: Duration = Duration::from_secs(300);
/// A token is fetched anew this long before it ends, or at nine tenths of a shorter life.
const MARGIN: Duration = Duration::from_secs(30);
/// No answer with a token is larger.
const LARGEST_ANSWER: usize = 256 * 1024;

/// The tokens that were fetched, by scheme. One fetch runs at a time.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    kept: Mutex<HashMap<&'static str, Token>>,
}

struct Token {
    text: String,
    until: Instant,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("until", &self.until).finish_non_exhaustive()
    }
}

impl Tokens {
    /// The token of a scheme, fetched where none is kept.
    ///
    /// # Errors
    /// Where the token endpoint gives none.
    pub(super) async fn of(
        &self,
        config: &Config,
        client: &Client,
        scheme: &'static SecurityScheme,
        context: &CallContext,
    ) -> Result<String, ToolError> {
        let fetching = async {
            let mut kept = self.kept.lock().await;
            if let Some(token) = kept.get(scheme.name).filter(|token| Instant::now() < token.until) {
                return Ok(token.text.clone());
            }
            let part = context.observed.part("oauth2 token");
            let fetched = Grant::of(config, scheme.kind)?.fetch(client).await;
            if let Err(error) = &fetched {
                part.failed(error.code.name());
            }
            let token = fetched?;
            let text = token.text.clone();
            config.known_secrets.learn([text.clone()]);
            kept.insert(scheme.name, token);
            Ok(text)
        };
        context.bound(fetching).await.map_err(|interrupted| interrupted.into_error(true))?
    }

    /// Drops tokens that the upstream has refused.
    pub(crate) async fn forget(&self, schemes: &[&'static str]) {
        let mut kept = self.kept.lock().await;
        schemes.iter().for_each(|scheme| drop(kept.remove(scheme)));
    }

    /// The kept tokens, to be masked in answers.
    pub(crate) async fn texts(&self) -> Vec<String> {
        self.kept.lock().await.values().map(|token| token.text.clone()).collect()
    }
}

/// What a token is asked for with.
struct Grant<'a> {
    endpoint: Url,
    client_id: &'a str,
    client_secret: &'a str,
    scopes: Option<&'a str>,
    client_auth: Option<&'a str>,
}

/// Where the client's secret stands (RFC 6749 section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    Header,
    Body,
}

impl<'a> Grant<'a> {
    fn of(config: &'a Config, kind: SchemeKind) -> Result<Self, ToolError> {
        let SchemeKind::ClientCredentials { client_id, client_secret, token_url, scopes, client_auth, .. } = kind
        else {
            return Err(unsendable());
        };
        let value = |key: &str| config.setting(key);
        let endpoint = value(token_url).and_then(|url| config.base_url.join(url).ok());
        let endpoint = endpoint.filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(|| {
            ToolError::new(Code::NotAllowed, "the token endpoint is not an http or https URL; check its setting")
        })?;
        Ok(Grant {
            endpoint,
            client_id: value(client_id).unwrap_or_default(),
            client_secret: value(client_secret).unwrap_or_default(),
            scopes: value(scopes),
            client_auth: value(client_auth),
        })
    }

    async fn fetch(&self, client: &Client) -> Result<Token, ToolError> {
        let proofs: &[Proof] = match self.client_auth {
            Some("header") => &[Proof::Header],
            Some("body") => &[Proof::Body],
            _ => &[Proof::Header, Proof::Body],
        };
        let mut outcome = Err(self.refused("no answer"));
        for proof in proofs {
            let (status, body) = self.ask(client, *proof).await?;
            outcome = match (status, read(&body)) {
                (200..=299, Some(token)) => return Ok(token),
                (200..=299, None) => Err(self.refused("the answer holds no access_token")),
                _ => Err(self.refused(&format!("status {status}{}", error_code(&body)))),
            };
            // Servers that know one form alone refuse the other with these (RFC 6749 section 5.2).
            if !matches!(status, 400 | 401) {
                break;
            }
        }
        outcome
    }

    async fn ask(&self, client: &Client, proof: Proof) -> Result<(u16, Value), ToolError> {
        let mut form = vec!["grant_type=client_credentials".to_owned()];
        form.extend(self.scopes.map(|scopes| format!("scope={}", percent_value(scopes))));
        let (id, secret) = (percent_value(self.client_id), percent_value(self.client_secret));
        let mut request = Request::new(Method::POST, self.endpoint.clone());
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        match proof {
            Proof::Header => {
                let pair = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
                let mut value = HeaderValue::from_str(&pair).map_err(|_| unsendable())?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            Proof::Body => form.extend([format!("client_id={id}"), format!("client_secret={secret}")]),
        }
        *request.body_mut() = Some(form.join("&").into());
        let broken = |_| self.refused("it cannot be reached");
        let mut response = client.execute(request).await.map_err(broken)?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LARGEST_ANSWER {
                return Err(self.refused("the answer is too large"));
            }
        }
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    fn refused(&self, why: &str) -> ToolError {
        let origin = self.endpoint.origin().ascii_serialization();
        ToolError::new(Code::UpstreamError, format!("no token from the token endpoint at {origin}: {why}"))
    }
}

fn read(body: &Value) -> Option<Token> {
    let text = body.get("access_token")?.as_str().filter(|text| !text.is_empty())?.to_owned();
    let seconds = body.get("expires_in").and_then(|value| value.as_f64().or_else(|| value.as_str()?.parse().ok()));
    let lifetime = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(ASSUMED_LIFETIME);
    // A year is as good as for ever, and clocks cannot overflow by it.
    let lifetime = lifetime.min(Duration::from_secs(365 * 24 * 3600));
    Some(Token { text, until: Instant::now() + (lifetime - MARGIN.min(lifetime / 10)) })
}

/// The error code of a refusal (RFC 6749 section 5.2): letters and underscores alone.
fn error_code(body: &Value) -> String {
    let code = body.get("error").and_then(Value::as_str).unwrap_or_default();
    let is_code = !code.is_empty() && code.len() < 60 && code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match code {
        "invalid_scope" => ", invalid_scope: the scopes to ask for are a setting of the server".to_owned(),
        code if is_code => format!(", {code}"),
        _ => String::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_is_given_up_30_seconds_or_a_tenth_before_its_end() {
        for (told, kept) in [(3600, 3570), (20, 18), (0, 0)] {
            let asked = Instant::now();
            let token = read(&json!({"access_token": "t", "expires_in": told})).unwrap();
            let rest = token.until - asked;
            let (kept, slack) = (Duration::from_secs(kept), Duration::from_secs(1));
            assert!(rest >= kept && rest < kept + slack, "{told}: {rest:?}");
        }
    }
}
