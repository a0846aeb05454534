//! Credentials in printed requests: the names of variables, never their values.

use toolwright_core::{Location, Requirements, SchemeKind};

use super::{chosen, is_plain_bearer};
use crate::{config::Config, curl::quoted};

/// Options of `curl` that stand for the credentials of a call.
pub(crate) fn placeholders(config: &Config, own: Option<Requirements>) -> Vec<String> {
    let schemes = chosen(config, own);
    if schemes.is_empty() && is_plain_bearer(config, own) {
        return vec![bearer(&variable(config, "api_key"))];
    }
    let option = |kind: SchemeKind| match kind {
        SchemeKind::ApiKey { location, wire, setting } => Some(key(location, wire, &variable(config, setting))),
        SchemeKind::Bearer { setting } | SchemeKind::ClientCredentials { token: setting, .. } => {
            Some(bearer(&variable(config, setting)))
        }
        SchemeKind::Basic { username, password } => {
            Some(format!("--user \"${}:${}\"", variable(config, username), variable(config, password)))
        }
        SchemeKind::MutualTls => None,
    };
    schemes.into_iter().filter_map(|scheme| option(scheme.kind)).collect()
}

// Double quotes around variables, so that the shell fills them in.
fn bearer(variable: &str) -> String {
    format!("--header \"Authorization: Bearer ${variable}\"")
}

/// A header whose value is a variable's. Other signs of a token (RFC 9110 section 5.6.2) mean something to a shell.
pub(crate) fn header(wire: &str, variable: &str) -> String {
    let is_plain = wire.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    match is_plain {
        true => format!("--header \"{wire}: ${variable}\""),
        false => key(Location::Header, wire, variable),
    }
}

fn key(location: Location, wire: &str, variable: &str) -> String {
    match location {
        Location::Query => format!("--url-query {}\"${variable}\"", quoted(&format!("{wire}="))),
        Location::Cookie => format!("--cookie {}\"${variable}\"", quoted(&format!("{wire}="))),
        Location::Header | Location::Path => format!("--header {}\"${variable}\"", quoted(&format!("{wire}: "))),
    }
}

/// The environment variable of a setting: `LOCALAI_API_KEY` for `api_key` of a server named `localai`.
fn variable(config: &Config, key: &str) -> String {
    if let Some(setting) = config.access.settings.iter().find(|setting| setting.key == key) {
        return setting.env.to_owned();
    }
    let name = format!("{}_{key}", config.server_name);
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}
