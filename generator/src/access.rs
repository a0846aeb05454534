//! Credentials and addresses: security schemes and server variables of a document become settings.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::load::config::ServerConfig;
use crate::load::{Document, LoadedServer};
use crate::model::operation::Location;
use crate::pass::{join, name::snake};

/// Keys of settings that every server has. `api_key` is not among them: a scheme of that name takes it over.
const TAKEN: [&str; 43] = [
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
    "otlp_endpoint",
    "upstream_hosts",
    "profiles",
    "server",
    "secrets",
];

/// What a document says about credentials and addresses.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) settings: Vec<Setting>,
    pub(crate) schemes: Vec<(String, Scheme)>,
    /// What operations need that say nothing of their own.
    pub(crate) security: Vec<Vec<String>>,
    /// Base URL of the document's first server, the variables' names in braces replaced by keys of settings.
    pub(crate) base_url: String,
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

/// The alternatives that an operation declares; `None` where the document's hold, or where `server.yaml` says how to
/// authenticate.
pub(crate) fn security_of(loaded: &LoadedServer, operation: &str) -> Option<Vec<Vec<String>>> {
    if loaded.config.upstream.auth.is_some() {
        return None;
    }
    loaded.document.get(&join(operation, "security")).map(alternatives)
}

/// The server of an operation, else of its path (OpenAPI 3.1 section 4.8.5).
pub(crate) fn server_of(document: &Document, item: &str, operation: &str) -> Option<String> {
    let declared = [operation, item].into_iter().find_map(|owner| first_server(document, owner))?;
    Some(template(&declared))
}

fn alternatives(value: &Value) -> Vec<Vec<String>> {
    let lists = value.as_array().into_iter().flatten().filter_map(Value::as_object);
    lists.map(|schemes| schemes.keys().cloned().collect()).collect()
}

fn first_server(document: &Document, owner: &str) -> Option<Value> {
    document.get(&join(owner, "servers"))?.as_array()?.first().cloned()
}

/// The URL with `{variable}` as `{server_variable}`, the key of the variable's setting. A variable that the server does
/// not declare stays and makes the URL unusable, which is reported when it is called.
fn template(server: &Value) -> String {
    let url = server.get("url").and_then(Value::as_str).unwrap_or_default().trim();
    let url = if url == "/" { "" } else { url.trim_end_matches('/') };
    variables(server).fold(url.to_owned(), |url, (name, _)| {
        url.replace(&format!("{{{name}}}"), &format!("{{{}}}", variable_key(name)))
    })
}

/// The URL with the defaults of its variables (OpenAPI 3.1 section 4.8.6).
pub(crate) fn filled(server: &Value) -> String {
    let url = server.get("url").and_then(Value::as_str).unwrap_or_default().trim().trim_end_matches('/');
    variables(server).fold(url.to_owned(), |url, (name, variable)| {
        let default = variable.get("default").map(text).unwrap_or_default();
        url.replace(&format!("{{{name}}}"), &default)
    })
}

/// Variables are texts; documents write numbers, too.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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

fn variables(server: &Value) -> impl Iterator<Item = (&String, &Value)> {
    server.get("variables").and_then(Value::as_object).into_iter().flatten()
}

/// A scheme's name in snake case; `OAuth2` is one word.
fn key_of(name: &str) -> String {
    let key = snake(name);
    let key = key.strip_prefix("o_auth").map_or_else(|| key.clone(), |rest| format!("oauth{rest}"));
    key.replace("_o_auth", "_oauth")
}

fn variable_key(name: &str) -> String {
    format!("server_{}", snake(name))
}

impl Access {
    /// Reads a document. Where `server.yaml` says how to authenticate, the schemes of the document are left aside.
    pub(crate) fn of(document: &Document, config: &ServerConfig) -> Self {
        let mut access = Access::default();
        access.servers(document, config);
        let schemes = document.get("/components/securitySchemes").and_then(Value::as_object);
        if let Some(schemes) = schemes.filter(|_| config.upstream.auth.is_none()) {
            for (name, node) in schemes {
                access.scheme(name, node);
            }
            let declared = document.get("/security").map(alternatives);
            // Many documents declare schemes and forget to require them; what is configured is sent then.
            let each = || access.schemes.iter().map(|(name, _)| vec![name.clone()]).collect();
            access.security = declared.unwrap_or_else(each);
        }
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

    fn servers(&mut self, document: &Document, config: &ServerConfig) {
        let first = first_server(document, "").unwrap_or_default();
        self.base_url = base_url(config.upstream.base_url.as_deref(), &template(&first), &filled(&first));
        let mut owners = vec![String::new()];
        let paths = document.get("/paths").and_then(Value::as_object);
        for (path, item) in paths.into_iter().flatten() {
            let item_at = join("/paths", path);
            let members = item.as_object().into_iter().flat_map(Map::keys);
            let operations: Vec<String> = members.map(|member| join(&item_at, member)).collect();
            owners.push(item_at);
            owners.extend(operations);
        }
        for server in owners.iter().filter_map(|owner| first_server(document, owner)) {
            for (name, variable) in variables(&server) {
                self.variable(name, variable);
            }
        }
    }

    fn variable(&mut self, name: &str, variable: &Value) {
        let allowed = variable.get("enum").and_then(Value::as_array).into_iter().flatten().map(text).collect();
        self.add(Setting {
            key: variable_key(name),
            default: variable.get("default").map(text).unwrap_or_default(),
            help: format!("Variable `{name}` of the API's address, unless a base URL is set."),
            secret: false,
            allowed,
        });
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

    fn scheme(&mut self, name: &str, node: &Value) {
        let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default();
        let prefix = self.prefix(name);
        let scheme = match text("type") {
            "apiKey" => self.api_key(name, prefix, text("in"), text("name")),
            "http" if text("scheme").eq_ignore_ascii_case("basic") => Some(self.basic(name, &prefix)),
            "oauth2" => Some(self.oauth2(name, prefix, node)),
            "http" | "openIdConnect" => {
                let help = format!("Token of the scheme `{name}`, sent in Authorization as a bearer token.");
                Some(Scheme::Bearer { setting: self.secret(prefix, help) })
            }
            "mutualTLS" => Some(Scheme::MutualTls),
            _ => None,
        };
        if let Some(scheme) = scheme {
            self.schemes.push((name.to_owned(), scheme));
        }
    }

    /// The key of a scheme's settings: its name, unless a setting of every server, or another scheme, has that.
    fn prefix(&self, name: &str) -> String {
        let plain = Some(key_of(name)).filter(|key| !key.is_empty()).unwrap_or_else(|| "credential".to_owned());
        let taken: BTreeSet<&str> = self.settings.iter().map(|setting| setting.key.as_str()).chain(TAKEN).collect();
        let is_free = |key: &String| {
            ![String::new(), "_username".into(), "_token".into()]
                .iter()
                .any(|end| taken.contains(&*format!("{key}{end}")))
        };
        // Variables of common settings begin so: `mcp_read_only` would share one with `read_only`.
        let is_ours = TAKEN.contains(&plain.as_str()) || plain.starts_with("mcp_");
        let first = (!is_ours).then(|| plain.clone());
        let own = if plain.starts_with("mcp_") { format!("api_{plain}") } else { format!("{plain}_credential") };
        let numbered = (2..100).map(|number| format!("{own}_{number}"));
        let mut candidates = first.into_iter().chain([own.clone()]).chain(numbered);
        candidates.find(is_free).unwrap_or(plain)
    }

    fn api_key(&mut self, name: &str, key: String, place: &str, wire: &str) -> Option<Scheme> {
        let location = match place {
            "header" => Location::Header,
            "query" => Location::Query,
            "cookie" => Location::Cookie,
            _ => return None,
        };
        let help = format!("Key of the scheme `{name}`, sent as `{wire}` in {}.", location.name());
        Some(Scheme::ApiKey { location, wire: wire.to_owned(), setting: self.secret(key, help) })
    }

    fn basic(&mut self, name: &str, prefix: &str) -> Scheme {
        let username = format!("{prefix}_username");
        self.open(username.clone(), "", format!("User name of the scheme `{name}` (HTTP Basic)."), &[]);
        let help = format!("Password of the scheme `{name}` (HTTP Basic).");
        Scheme::Basic { username, password: self.secret(format!("{prefix}_password"), help) }
    }

    /// Flows that need a browser take a token that was obtained elsewhere.
    fn oauth2(&mut self, name: &str, prefix: String, node: &Value) -> Scheme {
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
        self.open(format!("{prefix}_scopes"), "", of("Scopes to ask for, separated by spaces,"), &[]);
        let help = of("Where the client's secret stands: header, body, or nothing to try both,");
        self.open(format!("{prefix}_client_auth"), "", help, &["header", "body"]);
        Scheme::ClientCredentials { prefix }
    }
}
