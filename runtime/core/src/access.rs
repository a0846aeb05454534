//! How an upstream is reached: its credentials and the variables of its address, as static rows.

use crate::Location;

/// Credentials by alternative: one of the lists must be satisfied, and of a list every scheme (OpenAPI 3.1 section
/// 4.8.30). An empty list needs no credential.
pub type Requirements = &'static [&'static [&'static str]];

/// What a server's document says about credentials and addresses.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Settings beyond those that every server has; a row with the key of one of those takes its place.
    pub settings: &'static [Setting],
    /// Security schemes. Where there are none, the setting `api_key` is sent as a bearer token.
    pub schemes: &'static [SecurityScheme],
    /// What operations need that say nothing of their own.
    pub security: Requirements,
}

impl Access {
    /// No schemes and no variables: the setting `api_key` is the only credential.
    pub const NONE: Access = Access { settings: &[], schemes: &[], security: &[] };
}

/// A setting that comes from the spec: a credential or a variable of the server's URL from its document, or what a tool
/// file declares.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// TOML key, snake_case.
    pub key: &'static str,
    /// Environment variable.
    pub env: &'static str,
    /// Default; empty for none.
    pub default: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// True where the value is never shown and no flag exists.
    pub secret: bool,
    /// The only values accepted; empty for any.
    pub allowed: &'static [&'static str],
}

/// A security scheme (OpenAPI 3.1 section 4.8.27).
#[derive(Debug, Clone, Copy)]
pub struct SecurityScheme {
    /// Name in the document, as requirements use it.
    pub name: &'static str,
    /// What is sent.
    pub kind: SchemeKind,
}

/// What a security scheme sends. The texts named `..._setting` or by a credential's name are keys of settings.
#[derive(Debug, Clone, Copy)]
pub enum SchemeKind {
    /// A key in a header, the query or a cookie.
    ApiKey {
        /// Where it goes.
        location: Location,
        /// Name of the header, query parameter or cookie.
        wire: &'static str,
        /// Setting of the key.
        setting: &'static str,
    },
    /// HTTP Basic (RFC 7617).
    Basic {
        /// Setting of the user name.
        username: &'static str,
        /// Setting of the password.
        password: &'static str,
    },
    /// A token in `Authorization` (RFC 6750): `bearer`, OpenID Connect, and OAuth2 flows that need a browser.
    Bearer {
        /// Setting of the token.
        setting: &'static str,
    },
    /// OAuth2 client credentials (RFC 6749 section 4.4); a token that is set is sent as it is.
    ClientCredentials {
        /// Setting of a token that was obtained elsewhere.
        token: &'static str,
        /// Setting of the client's identifier.
        client_id: &'static str,
        /// Setting of the client's secret.
        client_secret: &'static str,
        /// Setting of the token endpoint; its default is the document's.
        token_url: &'static str,
        /// Setting of the scopes to ask for, separated by spaces.
        scopes: &'static str,
        /// Setting of how the client proves itself: `header`, `body`, or nothing for both in turn.
        client_auth: &'static str,
    },
    /// A client certificate, which is a setting of every server.
    MutualTls,
}
