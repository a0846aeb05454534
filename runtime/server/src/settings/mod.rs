//! Every setting of a server, each declared once: `--help`, `doctor`, the example file, the README's table and the
//! typed [`Settings`] all come from the declaration below.
//!
//! A value comes from a flag, else the environment, else the configuration file (profile over server over shared
//! defaults), else its default. All faults are collected, never just the first.

mod check;
mod declaration;
mod document;
mod environment;
mod file;
mod hidden;
mod identifier;
mod keyring;
mod report;
mod resolve;
mod secret_sources;
mod secrets;
mod tables;
mod text;
mod value;

use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use check::{check, check_names};
pub use document::DocumentSettings;
pub(crate) use document::declared;
pub(crate) use environment::Environment;
pub(crate) use file::{ConfigFile, nearest};
pub(crate) use hidden::missing;
pub(crate) use report::{example, table};
pub(crate) use resolve::{Flags, Resolution, Resolved, Source, lookalikes, resolution, resolve};
pub use secret_sources::SecretSources;
pub(crate) use secret_sources::{Places, SecretSource};
pub use tables::Tables;
pub use text::{Pairs, SecretPairs, Text};
pub use value::{
    BaseUrl, BindHost, ByteSize, Confirm, Count, Exposed, HttpPath, LogFormat, LogLevel, Names, ProxyUrl,
    SchemaProfile, Seconds, Secret, Switch,
};
pub(crate) use value::{Kind, SettingValue, TomlForm};

use toolwright_core::ServerSpec;

/// One fault of the configuration: where it was written and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    /// The variable, flag, or file and key.
    pub place: String,
    /// What is wrong and what is accepted.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Problem { place: place.into(), message: message.into() }
    }
}

/// The declaration of one setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declared {
    /// TOML key; the flag is the same in kebab case.
    pub(crate) key: &'static str,
    /// Environment variable; `{P}` stands for the server's prefix.
    env: &'static str,
    /// Default in its textual form; `{state}` stands for the server's state folder. Empty means none.
    default: &'static str,
    /// What it does.
    help: &'static str,
    /// What it accepts.
    pub(crate) kind: &'static Kind,
    /// The only values accepted; empty for any.
    pub(crate) allowed: &'static [&'static str],
}

impl Declared {
    /// The environment variable of that server.
    pub(crate) fn env(&self, server: &ServerSpec) -> String {
        self.env.replace("{P}", server.env_prefix)
    }

    /// The flag, without dashes.
    pub(crate) fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Whether it may be in the system's keyring: what is sent as a credential, from callers, to the API, or to receivers of
    /// traces.
    pub(crate) fn is_in_keyring(&self) -> bool {
        let is_of_every_server = DECLARED.iter().any(|declared| declared.key == self.key);
        self.kind.secret && (!is_of_every_server || IN_KEYRING.contains(&self.key))
    }

    /// What it does, in one paragraph.
    pub(crate) fn help(&self) -> &'static str {
        self.help.trim()
    }

    /// The default as people write it, with the state folder by its short name.
    pub(crate) fn shown_default(&self, server: &ServerSpec) -> String {
        if self.key == "base_url" {
            return server.default_base_url.to_owned();
        }
        self.default.replace("{state}", &format!("~/.local/state/toolwright/{}", server.name))
    }
}

/// Settings of every server that may be in the system's keyring.
const IN_KEYRING: [&str; 4] = ["api_key", "auth_token", "langfuse_secret_key", "otlp_headers"];

macro_rules! settings {
    ($( $(#[doc = $help:literal])+ $key:ident : $type:ty = $default:literal, $env:literal; )+) => {
        /// Every setting, typed and validated.
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct Settings {
            $( $(#[doc = $help])+ pub $key: $type, )+
            /// Credentials and variables that the server's document declares.
            pub document: DocumentSettings,
            /// Whether the base URL was set, and is not the document's.
            pub base_url_configured: bool,
            /// The tables of the configuration file that are no settings, such as `[llm]`.
            pub tables: Tables,
            /// Where secrets are looked for that are not said here.
            pub secret_sources: Arc<SecretSources>,
        }

        /// The declarations, in the order of the documentation.
        pub(crate) static DECLARED: &[Declared] = &[
            $( Declared {
                key: stringify!($key),
                env: $env,
                default: $default,
                help: concat!($($help),+),
                kind: &<$type as SettingValue>::KIND,
                allowed: &[],
            }, )+
        ];

        impl Settings {
            pub(crate) fn parse(texts: &Resolution, problems: &mut Vec<Problem>) -> Option<Settings> {
                $( let $key = texts.parse::<$type>(stringify!($key), problems); )+
                let document = DocumentSettings::read(texts, problems);
                let base_url_configured = texts.is_set("base_url");
                Some(Settings {
                    $( $key: $key?, )+
                    document,
                    base_url_configured,
                    tables: texts.tables.clone(),
                    secret_sources: Arc::clone(&texts.secrets),
                })
            }
        }
    };
}

settings! {
    /// Base URL of the API: scheme, host, and a path prefix where it has one.
    base_url: BaseUrl = "", "{P}_BASE_URL";
    /// Key of the API, sent as a bearer token. Not a flag, since command lines are public.
    api_key: Option<Secret> = "", "{P}_API_KEY";
    /// Hosts beside the base URL's that the document's operations may be sent to, as `host` or `host:port`.
    upstream_hosts: Names = "", "{P}_UPSTREAM_HOSTS";
    /// Headers of a caller's HTTP request that its calls carry to the API's own origin, in place of configured credentials of
    /// the same name. MCP forbids to pass on tokens that were issued for this server, so that none is by default.
    forward_headers: Names = "", "{P}_MCP_FORWARD_HEADERS";
    /// Deadline of one call in seconds, from its arrival to its last byte.
    request_timeout: Seconds = "300", "{P}_REQUEST_TIMEOUT";
    /// How long a connection to the API may take to open, in seconds.
    connect_timeout: Seconds = "10", "{P}_CONNECT_TIMEOUT";
    /// Largest file that a call may send.
    max_upload_bytes: ByteSize = "104857600", "{P}_MCP_MAX_UPLOAD_BYTES";
    /// Largest answer that is read.
    max_response_bytes: ByteSize = "104857600", "{P}_MCP_MAX_RESPONSE_BYTES";
    /// Largest binary answer that also comes as a content block.
    inline_binary_limit: ByteSize = "1048576", "{P}_MCP_INLINE_BINARY_LIMIT";
    /// Whether binary answers are saved to files.
    save_binary: bool = "true", "{P}_MCP_SAVE_BINARY";
    /// Folder of saved answers.
    output_dir: PathBuf = "{state}/output", "{P}_MCP_OUTPUT_DIR";
    /// Folder below which calls may name files to send.
    file_root: PathBuf = "{state}/files", "{P}_MCP_FILE_ROOT";
    /// Tools that are listed: names, `*`, `none`, or nothing for the server's own selection.
    exposed_tools: Exposed = "", "{P}_MCP_EXPOSED_TOOLS";
    /// Words of listed input schemas: standard (JSON Schema 2020-12), inlined (no `$defs`), plain (few keywords, for clients
    /// that refuse the rest), or auto (by the client's name).
    schema_profile: SchemaProfile = "standard", "{P}_MCP_SCHEMA_PROFILE";
    /// Whether calls that change the API's state are refused.
    read_only: Switch = "false", "{P}_MCP_READ_ONLY";
    /// The only tools that may be called; nothing for all.
    allow: Names = "", "{P}_MCP_ALLOW";
    /// Tools that may not be called.
    deny: Names = "", "{P}_MCP_DENY";
    /// Calls that a person is asked about first, through the client: off, destructive, or writes (every call that changes
    /// something). A client that cannot ask is refused.
    confirm: Confirm = "off", "{P}_MCP_CONFIRM";
    /// Whether calls may name files by URL. Private and local addresses stay refused.
    file_urls: Switch = "false", "{P}_MCP_FILE_URLS";
    /// Calls that run at a time; further ones wait within their deadline.
    max_concurrency: Count = "16", "{P}_MCP_MAX_CONCURRENCY";
    /// Folder of the file that keeps tasks, where `task_store` names no database. Servers that share it share their tasks.
    task_dir: PathBuf = "{state}/tasks", "{P}_MCP_TASK_DIR";
    /// PostgreSQL database that keeps tasks, for servers of which several run at once: a URL such as
    /// `postgres://user:password@host/database`. Certificates are checked against `ca_file` where that is set.
    task_store: Option<Secret> = "", "{P}_MCP_TASK_STORE";
    /// How long the result of a task is kept, in seconds.
    task_ttl: Seconds = "86400", "{P}_MCP_TASK_TTL";
    /// Deadline of a call that runs as a task, in seconds; a tool's own counts where it is later.
    task_timeout: Seconds = "3600", "{P}_MCP_TASK_TIMEOUT";
    /// Total size of saved answers; the oldest go first.
    output_quota_bytes: ByteSize = "1073741824", "{P}_MCP_OUTPUT_QUOTA_BYTES";
    /// Whether a streamed answer also carries its events.
    stream_events: Switch = "true", "{P}_MCP_STREAM_EVENTS";
    /// Whether binary answers also come as base64 inside the result.
    inline_base64: Switch = "false", "{P}_MCP_INLINE_BASE64";
    /// Whether a call waits while the API loads a model.
    loading_wait: Switch = "true", "{P}_MCP_LOADING_WAIT";
    /// Whether secrets in answers are shown.
    reveal_secrets: Switch = "false", "{P}_MCP_REVEAL_SECRETS";
    /// Proxy for requests to the API over https.
    https_proxy: Option<ProxyUrl> = "", "HTTPS_PROXY";
    /// Hosts that are reached without a proxy. Loopback never uses one.
    no_proxy: Names = "", "NO_PROXY";
    /// PEM file with certificate authorities to trust beside the public ones.
    ca_file: Option<PathBuf> = "", "{P}_CA_FILE";
    /// PEM file with the client certificate and its key.
    client_cert_file: Option<PathBuf> = "", "{P}_CLIENT_CERT_FILE";
    /// Address that `http` listens on.
    host: BindHost = "127.0.0.1", "MCP_HOST";
    /// Port that `http` listens on; 0 takes a free one.
    port: u16 = "8000", "MCP_PORT";
    /// Path of the MCP endpoint.
    path: HttpPath = "/mcp", "MCP_PATH";
    /// Kept for compatibility: every request stands for itself, and false is refused.
    stateless_http: bool = "true", "MCP_STATELESS_HTTP";
    /// Whether HTTP keeps sessions for clients of MCP 2025-11-25, which can only then be asked back. A session lives in one
    /// process; later clients need none.
    sessions: Switch = "false", "MCP_SESSIONS";
    /// Key, of 32 bytes or more, that seals what clients bring back with an answer. Processes that share a port need the same;
    /// without one, each makes its own.
    state_key: Option<Secret> = "", "MCP_STATE_KEY";
    /// Threads of the HTTP server.
    workers: Count = "2", "MCP_WORKERS";
    /// Whether several processes may share the port.
    reuse_port: Switch = "false", "MCP_REUSE_PORT";
    /// Bearer token that clients must send over HTTP; required where `host` is not loopback.
    auth_token: Option<Secret> = "", "MCP_AUTH_TOKEN";
    /// Host names that clients may use, beside loopback and `host`; an entry without a port allows any.
    allowed_hosts: Names = "", "MCP_ALLOWED_HOSTS";
    /// Web origins that may call, as `https://app.example.com:443` or `http://localhost:*`.
    allowed_origins: Names = "", "MCP_ALLOWED_ORIGINS";
    /// Largest message of a client; the default holds one upload of the default size in base64.
    max_request_bytes: ByteSize = "150994944", "MCP_MAX_REQUEST_BYTES";
    /// How long calls in flight may take to finish after a signal to stop, in seconds.
    shutdown_grace: Seconds = "30", "MCP_SHUTDOWN_GRACE";
    /// What is logged: off, error, warn, info, debug, trace, or directives such as `warn,toolwright=debug`.
    log_level: LogLevel = "info", "TOOLWRIGHT_LOG_LEVEL";
    /// Form of the log: text or json.
    log_format: LogFormat = "text", "TOOLWRIGHT_LOG_FORMAT";
    /// Log file; over stdio the default is a file in the state folder, over HTTP it is stderr.
    log_file: Option<PathBuf> = "", "TOOLWRIGHT_LOG_FILE";
    /// Days whose log files stay beside today's. A log file begins anew at midnight UTC.
    log_keep: Count = "7", "TOOLWRIGHT_LOG_KEEP";
    /// Collector of traces and metrics over OTLP, such as http://127.0.0.1:4318; nothing sends none.
    otlp_endpoint: Option<BaseUrl> = "", "OTEL_EXPORTER_OTLP_ENDPOINT";
    /// Headers for the collector, as `name=value` with values percent-encoded and commas between them.
    otlp_headers: Option<SecretPairs> = "", "OTEL_EXPORTER_OTLP_HEADERS";
    /// How the collector is spoken to: http/protobuf, and nothing is sent where it is another.
    otlp_protocol: Text = "http/protobuf", "OTEL_EXPORTER_OTLP_PROTOCOL";
    /// Whether the collector gets metrics beside traces.
    otlp_metrics: Switch = "true", "TOOLWRIGHT_OTLP_METRICS";
    /// Name of this server in traces and metrics; nothing for that of its program.
    otlp_service_name: Option<Text> = "", "OTEL_SERVICE_NAME";
    /// What else they say of it, as `name=value` with commas between them.
    otlp_resource_attributes: Option<Pairs> = "", "OTEL_RESOURCE_ATTRIBUTES";
    /// Whether requests to the API's own origin say which trace they belong to (`traceparent`), where traces are sent.
    trace_upstream: Switch = "true", "{P}_MCP_TRACE_UPSTREAM";
    /// Whether traces go to Langfuse, which `langfuse_base_url` and both keys are needed for.
    langfuse_enabled: bool = "false", "TOOLWRIGHT_LANGFUSE_ENABLED";
    /// Address of Langfuse, such as `https://cloud.langfuse.com`.
    langfuse_base_url: Option<Text> = "", "LANGFUSE_BASE_URL";
    /// Public key of the project in Langfuse.
    langfuse_public_key: Option<Text> = "", "LANGFUSE_PUBLIC_KEY";
    /// Secret key of the project in Langfuse.
    langfuse_secret_key: Option<Secret> = "", "LANGFUSE_SECRET_KEY";
    /// Whether Langfuse also gets arguments and results of calls. They may hold whatever users and the API say, personal data
    /// and secrets that nobody declared among it; known credentials are masked.
    langfuse_capture_payloads: bool = "false", "TOOLWRIGHT_LANGFUSE_CAPTURE_PAYLOADS";
}

impl Settings {
    /// The settings of a server where nothing is configured, with its state folder below `state`.
    ///
    /// # Errors
    /// When the server's own defaults are not valid.
    pub fn defaults(server: &ServerSpec, state: &std::path::Path) -> Result<Settings, Vec<Problem>> {
        Settings::read(server, None, [("XDG_STATE_HOME", &*state.to_string_lossy())])
    }

    /// The settings that a configuration file and these environment variables give, as a server reads them at its start.
    /// The process's own environment and the system's keyring have no part in them.
    ///
    /// # Errors
    /// Every fault of the file and of single settings.
    pub fn read<'v>(
        server: &ServerSpec,
        file: Option<&std::path::Path>,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<Settings, Vec<Problem>> {
        let file = file.map(|path| ConfigFile::read(path, true, server)).transpose()?.unwrap_or_default();
        if !file.problems.is_empty() {
            return Err(file.problems);
        }
        let (settings, _) = resolve(server, &Environment::fixed(variables), &Flags::default(), &file, None)?;
        Ok(settings)
    }

    /// The credentials of the API that are not said here, and may be in the keyring.
    pub(crate) fn unsaid(&self, server: &ServerSpec) -> Vec<&'static str> {
        let is_unsaid = |key: &str| !self.document.0.contains_key(key) && (key != "api_key" || self.api_key.is_none());
        let is_of_use = |key: &str| match key {
            "auth_token" | "langfuse_secret_key" | "otlp_headers" => false,
            // It is sent to an API alone.
            "api_key" => !self.base_url.as_str().is_empty(),
            _ => true,
        };
        let keys = declared(server).into_iter().filter(Declared::is_in_keyring).map(|declared| declared.key);
        keys.filter(|key| is_unsaid(key) && is_of_use(key)).collect()
    }

    /// The credentials of receivers of traces that are not said here, and may be in the keyring. Many collectors need none, so
    /// that their headers are looked for only where the file declares them.
    pub(crate) fn unsaid_to_receivers(&self) -> Vec<&'static str> {
        let has_collector = self.otlp_endpoint.as_ref().is_some_and(|url| !url.as_str().is_empty());
        let wants_headers = has_collector && self.secret_sources.places("otlp_headers").is_declared;
        let of_langfuse = self.langfuse_enabled && self.langfuse_secret_key.is_none();
        let of_collector = wants_headers && self.otlp_headers.is_none();
        let keys = [(of_langfuse, "langfuse_secret_key"), (of_collector, "otlp_headers")];
        keys.into_iter().filter_map(|(is_unsaid, key)| is_unsaid.then_some(key)).collect()
    }

    /// These settings with the credentials of receivers that only the keyring has. It may wait for a person who unlocks it.
    pub(crate) fn with_keys_of_receivers(&self) -> Settings {
        let mut settings = self.clone();
        for key in self.unsaid_to_receivers() {
            let Some(found) = self.secret_sources.find(key) else { continue };
            let text = found.secret.expose().trim();
            if key == "langfuse_secret_key" {
                settings.langfuse_secret_key = Some(Secret::new(text));
                continue;
            }
            match Option::<SecretPairs>::read(text) {
                Ok(headers) => settings.otlp_headers = headers,
                Err(accepted) => {
                    let source = found.source;
                    tracing::error!(target: "toolwright::telemetry", "{key} from {source} must be {accepted}");
                }
            }
        }
        settings
    }

    /// These settings with the credentials that only the keyring has. It may wait for a person who unlocks it.
    pub(crate) fn with_keyring(&self, server: &ServerSpec) -> Settings {
        let mut settings = self.clone();
        for key in self.unsaid(server) {
            let Some(found) = self.secret_sources.find(key) else { continue };
            let secret = Secret::new(found.secret.expose().trim());
            if key == "api_key" {
                settings.api_key = Some(secret.clone());
            }
            Arc::make_mut(&mut settings.document.0).insert(key.to_owned(), secret);
        }
        settings
    }
}
