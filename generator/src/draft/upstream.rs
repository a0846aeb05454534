//! The `upstream` section of a first `server.yaml`: a key only where the document is silent, and comments on what follows
//! from the document by itself.

use serde_json::Value;

use super::{one_line, scalar};
use crate::access::{Access, Scheme, filled};
use crate::invisible::is_invisible;
use crate::model::Model;

pub(super) fn section(model: &Model, prefix: &str) -> String {
    let access = Access::of(&model.loaded.document, &model.loaded.config);
    let address = address(model, &access, prefix);
    let credentials = credentials(&access, prefix);
    format!("upstream:\n{address}  env_prefix: {prefix}\n{credentials}")
}

/// The document's first server is the address by itself, with its variables as settings; a line here would replace them.
fn address(model: &Model, access: &Access, prefix: &str) -> String {
    let first = access.address();
    if is_address(&first) {
        let variables: Vec<String> = access
            .settings
            .iter()
            .filter(|setting| access.base_url.contains(&format!("{{{}}}", setting.key)))
            .map(|setting| format!("{prefix}_{} ({})", setting.key.to_uppercase(), one_line(&setting.default, 40)))
            .collect();
        let variables = match variables.is_empty() {
            true => String::new(),
            false => format!("  # Its variables are settings: {}.\n", variables.join(", ")),
        };
        return format!(
            "  # The address is the document's first server, {first}\n{variables}  # {prefix}_BASE_URL replaces it, and so does a line `base_url: ...` here.\n"
        );
    }
    let others: Vec<String> = servers(model).map(filled).collect();
    let needed = format!("No server starts before {prefix}_BASE_URL or a line `base_url: ...` here says where it is.");
    match others.iter().find(|url| is_address(url) || is_path(url)) {
        Some(url) if is_address(url) => format!(
            "  # The document's first server that can be called; {prefix}_BASE_URL replaces it.\n  base_url: {}\n",
            scalar(url)
        ),
        Some(path) => format!(
            "  # The document names a path and no host. {needed}\n  # A host alone here keeps the path: base_url: https://HOST is https://HOST{}\n",
            one_line(path, 80)
        ),
        None => format!("  # The document names no host. {needed}\n  # base_url: https://HOST\n"),
    }
}

fn servers<'m>(model: &'m Model) -> impl Iterator<Item = &'m Value> {
    model.loaded.document.get("/servers").and_then(Value::as_array).into_iter().flatten()
}

fn is_address(url: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')) && is_bare(url)
}

fn is_path(url: &str) -> bool {
    url.starts_with('/') && !url.starts_with("//") && is_bare(url)
}

/// Nothing is left to fill in, and nothing stands in it that no base URL may have.
fn is_bare(url: &str) -> bool {
    !url.contains(|c: char| c.is_whitespace() || is_invisible(c) || matches!(c, '{' | '}' | '@' | '?' | '#'))
}

fn credentials(access: &Access, prefix: &str) -> String {
    if access.schemes.is_empty() {
        return format!(
            "  # The document declares no credentials. Where {prefix}_API_KEY is set, it is sent as a bearer token.\n"
        );
    }
    let mut out = "  # Credentials follow from the document's security schemes, and no line here is needed. What an operation requires is\n  # sent, of several alternatives the one that is set:\n".to_owned();
    for (name, scheme) in &access.schemes {
        out.push_str(&format!("  #   {}: {}\n", one_line(name, 60), kind(scheme, prefix)));
    }
    out.push_str(&format!(
        "  # Where the document is wrong about them, `auth: {{ bearer: api_key }}` sends {prefix}_API_KEY as a bearer token instead.\n"
    ));
    out
}

/// The variables that a scheme takes its values from, and where they are sent.
fn kind(scheme: &Scheme, prefix: &str) -> String {
    let env = |key: &str| format!("{prefix}_{}", key.to_uppercase());
    match scheme {
        Scheme::ApiKey { location, wire, setting } => {
            format!("{}, sent as `{}` ({})", env(setting), one_line(wire, 60), location.name())
        }
        Scheme::Basic { username, password } => format!("{} and {} (HTTP Basic)", env(username), env(password)),
        Scheme::Bearer { setting } => format!("{}, sent as a bearer token", env(setting)),
        Scheme::ClientCredentials { prefix: own } => {
            let key = |what: &str| env(&format!("{own}_{what}"));
            format!(
                "{} and {} (OAuth2 client credentials), or {} with a token from elsewhere",
                key("client_id"),
                key("client_secret"),
                key("token")
            )
        }
        Scheme::MutualTls => format!("{} (a client certificate)", env("client_cert_file")),
    }
}
