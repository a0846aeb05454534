//! Credentials and addresses: security schemes and server variables of a document become settings.

mod keys;
mod requirements;
mod servers;

use std::collections::BTreeSet;

use serde_json::Value;

pub(crate) use self::requirements::security_of;
pub(crate) use self::servers::{Servers, filled};
use crate::diagnostic::Diagnostic;
use crate::load::config::ServerConfig;
use crate::load::{Document, percent_decoded};
use crate::model::operation::Location;
use crate::pass::{join, name::snake};

/// Where a document declares its schemes.
pub(crate) const SCHEMES: &str = "/components/securitySchemes";

/// Keys of settings that every server has. `api_key` is not among them: a scheme of that name takes it over.
const TAKEN: &[&str] = &[
    "base_url",
    "request_timeout",
    "connect_timeout",
    "max_upload_bytes",
    "max_response_bytes",
    "inline_binary_limit",
    "save_binary",
    "output_dir",
    "file_root",
    "exposed_tools",
    "read_only",
    "allow",
    "deny",
    "file_urls",
    "max_concurrency",
    "output_quota_bytes",
    "stream_events",
    "inline_base64",
    "loading_wait",
    "reveal_secrets",
    "https_proxy",
    "no_proxy",
    "ca_file",
    "client_cert_file",
    "host",
    "port",
    "path",
    "stateless_http",
    "sessions",
    "state_key",
    "confirm",
    "workers",
    "reuse_port",
    "auth_token",
    "allowed_hosts",
    "allowed_origins",
    "max_request_bytes",
    "shutdown_grace",
    "log_level",
    "log_format",
    "log_file",
    "log_keep",
    "otlp_endpoint",
    "otlp_headers",
    "otlp_protocol",
    "otlp_metrics",
    "otlp_service_name",
    "otlp_resource_attributes",
    "trace_upstream",
    "langfuse_enabled",
    "langfuse_base_url",
    "langfuse_public_key",
    "langfuse_secret_key",
    "langfuse_capture_payloads",
    "task_dir",
    "task_store",
    "task_ttl",
    "task_timeout",
    "upstream_hosts",
    "forward_headers",
    "schema_profile",
    "profiles",
    "server",
    "secrets",
    "llm",
    "schema_version",
    "observability",
    "tool",
];

/// Whether a setting of this key would share its name, or its variable, with one that every server has.
pub(crate) fn is_taken(key: &str) -> bool {
    matches!(key, "api_key" | "profile") || key.starts_with("mcp_") || TAKEN.contains(&key)
}

/// What a document says about credentials and addresses.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) settings: Vec<Setting>,
    pub(crate) schemes: Vec<(String, Scheme)>,
    /// What operations need that say nothing of their own.
    pub(crate) security: Vec<Vec<String>>,
    /// Base URL of the document's first server, the variables' names in braces replaced by keys of settings.
    pub(crate) base_url: String,
    /// What is wrong with schemes and with the document's own requirements.
    pub(crate) findings: Vec<Diagnostic>,
    /// Names of schemes that a finding names.
    pub(crate) refused: BTreeSet<String>,
}

/// A setting that a scheme or a variable becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) default: String,
    pub(crate) help: String,
    pub(crate) secret: bool,
    pub(crate) allowed: Vec<String>,
}

/// A security scheme; texts are keys of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scheme {
    ApiKey {
        location: Location,
        wire: String,
        setting: String,
    },
    Basic {
        username: String,
        password: String,
    },
    Bearer {
        setting: String,
    },
    /// The prefix of its settings.
    ClientCredentials {
        prefix: String,
    },
    MutualTls,
}

/// Whether a text is a token: the name of a method or of a header (RFC 9110 section 5.6.2), or of a cookie (RFC 6265
/// section 4.1.1).
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The node of a scheme, through `$ref` (OpenAPI 3.1 section 4.8.7).
fn scheme_node<'d>(document: &'d Document, node: &'d Value) -> Option<&'d Value> {
    let mut node = node;
    for _ in 0..16 {
        let Some(reference) = node.get("$ref").and_then(Value::as_str) else { return Some(node) };
        node = document.get(&percent_decoded(reference.strip_prefix('#')?))?;
    }
    None
}

/// Where the API is: as `server.yaml` says, else as the document does. A `server.yaml` that names a host alone leaves the
/// path to a document that names a path alone. Nothing where neither names a host: the operator then has to. What
/// `declared` is with its variables filled in decides, since the scheme may be one of them.
fn base_url(configured: Option<&str>, declared: &str, filled: &str) -> String {
    let host_alone = |url: &str| url.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
    match configured.map(|url| url.trim_end_matches('/')) {
        Some(url) if host_alone(url) && declared.starts_with('/') => format!("{url}{declared}"),
        Some(_) => configured.unwrap_or_default().to_owned(),
        None if filled.starts_with("http://") || filled.starts_with("https://") => declared.to_owned(),
        None => String::new(),
    }
}

/// What a scheme's node says that it is (OpenAPI 3.1 section 4.8.27).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    ApiKey(Location),
    Basic,
    Bearer,
    OAuth2,
    MutualTls,
    Unknown,
}

impl Kind {
    fn of(node: &Value) -> Self {
        let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default();
        match (text("type"), text("in")) {
            ("apiKey", "header") => Self::ApiKey(Location::Header),
            ("apiKey", "query") => Self::ApiKey(Location::Query),
            ("apiKey", "cookie") => Self::ApiKey(Location::Cookie),
            ("http", _) if text("scheme").eq_ignore_ascii_case("basic") => Self::Basic,
            ("http", _) if text("scheme").eq_ignore_ascii_case("bearer") => Self::Bearer,
            ("openIdConnect", _) => Self::Bearer,
            ("oauth2", _) => Self::OAuth2,
            ("mutualTLS", _) => Self::MutualTls,
            _ => Self::Unknown,
        }
    }
}

/// Names in a query are escaped; those of headers and cookies stand as they are.
fn can_be_named(location: Location, name: &str) -> bool {
    if location == Location::Query { !name.is_empty() } else { is_token(name) }
}

/// A scheme's name in snake case; `OAuth2` is one word.
fn key_of(name: &str) -> String {
    let key = snake(name);
    let key = key.strip_prefix("o_auth").map_or_else(|| key.clone(), |rest| format!("oauth{rest}"));
    key.replace("_o_auth", "_oauth")
}

impl Access {
    /// Reads a document. Where `server.yaml` says how to authenticate, the schemes of the document are left aside.
    pub(crate) fn of(document: &Document, config: &ServerConfig) -> Self {
        let mut access = Access::default();
        let servers = Servers::of(document);
        let declared = servers.template("").unwrap_or_default();
        access.base_url = base_url(config.upstream.base_url.as_deref(), &declared, &servers.address());
        servers.settings().for_each(|setting| access.add(setting.clone()));
        access.of_tools(config);
        if config.upstream.auth.is_some() {
            return access;
        }
        let schemes = document.get(SCHEMES).and_then(Value::as_object);
        let nodes = schemes.into_iter().flatten();
        let nodes: Vec<(&str, &Value)> =
            nodes.map(|(name, node)| (name.as_str(), scheme_node(document, node).unwrap_or(&Value::Null))).collect();
        let taken: BTreeSet<String> = access.settings.iter().map(|setting| setting.key.clone()).collect();
        for ((name, node), prefix) in nodes.iter().zip(keys::prefixes(&nodes, &taken)) {
            access.scheme(document, name, node, prefix);
        }
        let declared = requirements::of(document, "/security", &mut access.findings);
        // Many documents declare schemes and forget to require them; what is configured is sent then.
        let each = || access.schemes.iter().map(|(name, _)| vec![name.clone()]).collect();
        access.security = declared.unwrap_or_else(each);
        access
    }

    /// True where neither schemes nor variables need a word.
    pub(crate) fn is_plain(&self) -> bool {
        self.settings.is_empty() && self.schemes.is_empty()
    }

    /// The base URL with the defaults of its variables.
    pub(crate) fn address(&self) -> String {
        let open = self.settings.iter().filter(|setting| !setting.secret);
        open.fold(self.base_url.clone(), |url, setting| url.replace(&format!("{{{}}}", setting.key), &setting.default))
    }

    /// The settings that tool files declare.
    fn of_tools(&mut self, config: &ServerConfig) {
        for (key, setting) in &config.settings {
            // Variables of common settings begin with `<PREFIX>_MCP_`.
            let is_taken = TAKEN.contains(&key.as_str()) || key == "api_key" || key.starts_with("mcp_");
            if is_taken || self.settings.iter().any(|known| known.key == *key) {
                let message = format!("the setting `{key}` is there already, with another meaning");
                let finding = Diagnostic::error("setting-name", message).at(setting.place.clone());
                self.findings.push(finding.help("give it another name, such as one that begins with the tool's"));
                continue;
            }
            self.settings.push(Setting {
                key: key.clone(),
                default: setting.default.clone(),
                help: setting.description.trim().to_owned(),
                secret: setting.secret,
                allowed: Vec::new(),
            });
        }
    }

    fn add(&mut self, setting: Setting) {
        if !self.settings.iter().any(|known| known.key == setting.key) {
            self.settings.push(setting);
        }
    }

    fn secret(&mut self, key: String, help: String) -> String {
        self.add(Setting { key: key.clone(), default: String::new(), help, secret: true, allowed: Vec::new() });
        key
    }

    fn open(&mut self, key: String, default: &str, help: String, allowed: &[&str]) {
        let allowed = allowed.iter().map(|word| (*word).to_owned()).collect();
        self.add(Setting { key, default: default.to_owned(), help, secret: false, allowed });
    }

    fn scheme(&mut self, document: &Document, name: &str, node: &Value, prefix: String) {
        let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default();
        let scheme = match Kind::of(node) {
            Kind::ApiKey(location) if !can_be_named(location, text("name")) => {
                self.refuse_name(document, name, text("name"), location);
                None
            }
            Kind::ApiKey(location) => Some(self.api_key(name, prefix, location, text("name"))),
            Kind::Basic => Some(self.basic(name, &prefix)),
            Kind::OAuth2 => Some(self.oauth2(name, prefix, node, &requirements::scopes(document, name))),
            Kind::Bearer => {
                let help = format!("Token of the scheme `{name}`, sent in Authorization as a bearer token.");
                Some(Scheme::Bearer { setting: self.secret(prefix, help) })
            }
            Kind::MutualTls => Some(Scheme::MutualTls),
            Kind::Unknown => None,
        };
        if let Some(scheme) = scheme {
            self.schemes.push((name.to_owned(), scheme));
        }
    }

    fn refuse_name(&mut self, document: &Document, scheme: &str, wire: &str, location: Location) {
        let message = format!(
            "the security scheme `{scheme}` has the name {wire:?}, which cannot be sent in {}; nothing is sent for it",
            location.name()
        );
        let help = "names of headers and cookies have letters, digits and `-`, no spaces; correct it in an overlay";
        let place = document.place(&join(SCHEMES, scheme));
        self.findings.push(Diagnostic::warning("bad-name", message).at(place).help(help));
        self.refused.insert(scheme.to_owned());
    }

    fn api_key(&mut self, name: &str, key: String, location: Location, wire: &str) -> Scheme {
        let help = format!("Key of the scheme `{name}`, sent as `{wire}` in {}.", location.name());
        Scheme::ApiKey { location, wire: wire.to_owned(), setting: self.secret(key, help) }
    }

    fn basic(&mut self, name: &str, prefix: &str) -> Scheme {
        let username = format!("{prefix}_username");
        self.open(username.clone(), "", format!("User name of the scheme `{name}` (HTTP Basic)."), &[]);
        let help = format!("Password of the scheme `{name}` (HTTP Basic).");
        Scheme::Basic { username, password: self.secret(format!("{prefix}_password"), help) }
    }

    /// Flows that need a browser take a token that was obtained elsewhere.
    fn oauth2(&mut self, name: &str, prefix: String, node: &Value, scopes: &str) -> Scheme {
        let help = format!("Access token of the scheme `{name}`, obtained elsewhere and sent as a bearer token.");
        let token = self.secret(format!("{prefix}_token"), help);
        let Some(flow) = node.pointer("/flows/clientCredentials") else {
            return Scheme::Bearer { setting: token };
        };
        let endpoint = flow.get("tokenUrl").and_then(Value::as_str).unwrap_or_default();
        let of = |what: &str| format!("{what} of the scheme `{name}` (OAuth2 client credentials).");
        self.open(format!("{prefix}_client_id"), "", of("Identifier of the client"), &[]);
        self.secret(format!("{prefix}_client_secret"), of("Secret of the client"));
        self.open(format!("{prefix}_token_url"), endpoint, of("Token endpoint"), &[]);
        let help = format!(
            "Scopes to ask for with the scheme `{name}` (OAuth2 client credentials), separated by spaces. By default all that operations need."
        );
        self.open(format!("{prefix}_scopes"), scopes, help, &[]);
        let help = of("Where the client's secret stands: header, body, or nothing to try both,");
        self.open(format!("{prefix}_client_auth"), "", help, &["header", "body"]);
        Scheme::ClientCredentials { prefix }
    }
}
