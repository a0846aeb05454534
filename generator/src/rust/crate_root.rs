//! `lib.rs` of the tools crate: modules, the server's row, the registration.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::names::{Named, Names};
use super::{content, native, rows};
use crate::access::{Access, Scheme, Setting};
use crate::load::config::FixedTool;
use crate::load::tool_file::is_of_file;
use crate::model::Model;
use crate::model::operation::Location;
use crate::model::tool::{Role, Tool};

/// What is computed over all files before the root is written.
#[derive(Debug)]
pub(crate) struct Facts {
    /// SHA-256 over the catalog.
    pub(crate) catalog_sha256: String,
}

/// The crate's documentation, with an example that is compiled.
pub(super) fn about(model: &Model, names: &Names) -> String {
    let config = &model.loaded.config;
    let package = format!("{}_tools", config.server.replace('-', "_"));
    let title = plain(&config.title);
    if rows::uses_rows(model) {
        return about_rows(model, &package, &title);
    }
    let mut lines = vec![
        format!("Tools for {title}: one struct and one row per operation."),
        String::new(),
        "[`TOOLS`] is the catalog that a server serves. Rust programs can use the structs as a typed client: a struct turns"
            .to_owned(),
        "into the same arguments as a call from a model, and takes the same path.".to_owned(),
        String::new(),
    ];
    lines.extend(example(model, names, &package));
    lines.push(String::new());
    lines.push("With the feature `client`, the module `client` sends such arguments to the upstream.".to_owned());
    lines.join("\n")
}

/// The documentation of a crate of rows: structs are left out where there would be very many.
fn about_rows(model: &Model, package: &str, title: &str) -> String {
    let mut lines = vec![
        format!("Tools for {title}: one row per operation."),
        String::new(),
        "[`TOOLS`] is the catalog that a server serves. Each area is a module with a constant per tool; areas that the spec"
            .to_owned(),
        "lists under `structs` have a struct per tool as well.".to_owned(),
    ];
    if let Some(tool) = model.tools.first() {
        lines.extend([
            String::new(),
            "```".to_owned(),
            format!("let tool = {package}::TOOLS.find({:?});", tool.name),
            format!("assert_eq!(tool.map(|tool| tool.declared.method), Some({:?}));", tool.declared.0),
            "```".to_owned(),
        ]);
    }
    lines.push(String::new());
    lines.push("With the feature `client`, the module `client` sends arguments to the upstream.".to_owned());
    lines.join("\n")
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '.' | ',')).collect()
}

/// The first tool whose call needs no more than strings, and the Rust expression that makes the call.
fn simple_call<'m>(model: &'m Model, names: &Names) -> Option<(&'m Tool, String)> {
    let exposed = &model.exposed;
    let simple = |tool: &&Tool| {
        !tool.binding.is_own()
            && tool
                .arguments
                .iter()
                .all(|argument| !argument.required || matches!(argument.role, Role::Parameter { .. }))
            && tool.arguments.iter().filter(|argument| argument.required).all(|argument| {
                argument.schema.reference.is_none()
                    && argument.schema.enumeration.is_empty()
                    && argument.schema.is(crate::model::schema::JsonType::String)
            })
            && tool.arguments.iter().all(|argument| argument.required || argument.shown)
    };
    let preferred = model.tools.iter().filter(|tool| exposed.contains(&tool.name) && !tool.arguments.is_empty());
    let tool = preferred.chain(&model.tools).find(simple)?;
    let idents = super::names::fields(tool.arguments.iter().map(|argument| argument.name.as_str()));
    let fields: Vec<String> = tool
        .arguments
        .iter()
        .zip(idents)
        .map(|(argument, ident)| match argument.required {
            true => format!("{ident}: \"example\".to_owned()"),
            false => format!("{ident}: None"),
        })
        .collect();
    let ident = names.tool(tool).ident;
    let fields = if fields.is_empty() { String::new() } else { format!(" {} ", fields.join(", ")) };
    Some((tool, format!("{ident} {{{fields}}}")))
}

fn example(model: &Model, names: &Names, package: &str) -> Vec<String> {
    let Some((tool, call)) = simple_call(model, names) else { return Vec::new() };
    let Named { module, ident } = names.tool(tool);
    vec![
        "```".to_owned(),
        format!("use {package}::{module}::{ident};"),
        "use toolwright_core::Tool;".to_owned(),
        String::new(),
        "# fn main() -> Result<(), toolwright_core::ToolError> {".to_owned(),
        format!("let call = {call};"),
        format!("assert_eq!({ident}::SPEC.name, {:?});", tool.name),
        "let arguments = call.arguments()?;".to_owned(),
        format!("assert!({package}::TOOLS.find({ident}::SPEC.name).is_some());"),
        "# let _ = arguments;".to_owned(),
        "# Ok(())".to_owned(),
        "# }".to_owned(),
        "```".to_owned(),
    ]
}

pub(super) fn items(model: &Model, names: &Names, facts: &Facts) -> Vec<TokenStream> {
    let mut modules = names.modules();
    if native::is_needed(model) {
        modules.push(native::MODULE.to_owned());
    }
    modules.extend(content::modules(model).into_iter().map(str::to_owned));
    modules.sort();
    let modules: Vec<TokenStream> = modules
        .into_iter()
        .map(|module| {
            let module = format_ident!("{module}");
            quote!(pub mod #module;)
        })
        .collect();
    let version = compatible(crate::VERSION);
    vec![
        quote!(#![cfg_attr(rustfmt, rustfmt_skip)]),
        quote!(toolwright_core::generated_for!(#version);),
        quote!(#(#modules)*),
        client(model, names),
        imports(model),
        server(model, facts),
        catalog(model, names),
    ]
}

/// The part of a version that says what fits together: `0.1` of `0.1.2`, `1` of `1.2.3` (Cargo's caret requirements).
fn compatible(version: &str) -> String {
    let parts = if version.starts_with("0.") { 2 } else { 1 };
    version.split('.').take(parts).collect::<Vec<_>>().join(".")
}

fn imports(model: &Model) -> TokenStream {
    let has_texts = !model.loaded.config.fixed_tools.is_empty();
    let has_rows = rows::uses_rows(model);
    let has_structs = model.tools.iter().any(|tool| !rows::is_row(model, tool));
    let names = [
        (true, "Access"),
        (true, "Catalog"),
        (true, "DocumentFacts"),
        (has_texts, "FixedTool"),
        (true, "ServerSpec"),
        (has_rows && has_structs, "Tool"),
        (has_rows, "ToolSpec"),
    ];
    let names = names.into_iter().filter(|(used, _)| *used).map(|(_, name)| format_ident!("{name}"));
    let register = (!has_rows).then(|| {
        quote!(
            use toolwright_macros::register_tools;
        )
    });
    quote! {
        use toolwright_core::{#(#names),*};
        #register
    }
}

/// The client, with an example that sends a call. It is compiled where the feature is on.
fn client(model: &Model, names: &Names) -> TokenStream {
    let package = format!("{}_tools", model.loaded.config.server.replace('-', "_"));
    let server = &model.loaded.config.server;
    let mut lines = vec!["Sends calls to the API.".to_owned()];
    if let Some((tool, call)) = simple_call(model, names) {
        let Named { module, ident } = names.tool(tool);
        let base_url = model.loaded.config.upstream.base_url.as_deref();
        let base_url = base_url.filter(|url| is_plain_url(url)).unwrap_or("http://127.0.0.1:8080");
        lines.extend([
            String::new(),
            "```no_run".to_owned(),
            format!("use {package}::client::{{Client, Config, parse_base_url}};"),
            format!("use {package}::{module}::{ident};"),
            String::new(),
            "# async fn example() -> Result<(), Box<dyn std::error::Error>> {".to_owned(),
            format!("let client = Client::new(Config::new({server:?}, parse_base_url({base_url:?})?))?;"),
            format!("let reply = client.call(&{call}).await?;"),
            "println!(\"{:?}\", reply.data);".to_owned(),
            "# Ok(())".to_owned(),
            "# }".to_owned(),
            "```".to_owned(),
        ]);
    }
    let lines = lines.iter().map(|line| format!(" {line}").trim_end().to_owned());
    quote! {
        #(#[doc = #lines])*
        #[cfg(feature = "client")]
        pub use toolwright_http as client;
    }
}

/// Whether a URL can stand in an example as it is.
fn is_plain_url(url: &str) -> bool {
    url.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'/' | b'.' | b'-' | b'_'))
}

fn catalog(model: &Model, names: &Names) -> TokenStream {
    if rows::uses_rows(model) {
        return rows::catalog(model, names);
    }
    let tools = model.tools.iter().map(|tool| {
        let named = names.tool(tool);
        let (module, ident) = (format_ident!("{}", named.module), named.ident);
        quote!(#module::#ident)
    });
    quote! {
        /// Every tool, sorted by name.
        #[register_tools]
        pub static TOOLS: Catalog = [#(#tools),*];
    }
}

fn server(model: &Model, facts: &Facts) -> TokenStream {
    let config = &model.loaded.config;
    let document = &model.loaded.document.facts;
    let (name, title, description, version) = (&config.server, &config.title, &config.description, &config.version);
    let (instructions, prefix) = (config.instructions.trim_end(), &config.upstream.env_prefix);
    let mut access = Access::of(&model.loaded.document, config);
    access.settings.extend(model.hidden_settings.iter().cloned());
    let base_url = access.base_url.clone();
    let access = self::access(&access, prefix);
    let (preset, health) = (&model.exposed, &config.health);
    let fixed = config.fixed_tools.iter().map(|(name, tool)| fixed_tool(name, tool));
    let dialect = if config.document.is_empty() { "" } else { document.dialect.name() };
    let (api, api_version, sha256) = (&document.title, &document.version, &document.sha256);
    let count = |number: usize| Literal::usize_unsuffixed(number);
    let (paths, operations, definitions) =
        (count(document.paths), count(document.operations), count(document.definitions));
    let calls_api = |tool: &&Tool| is_of_file(&tool.origin) && !tool.binding.is_own();
    let of_files = model.tools.iter().filter(calls_api).map(|tool| &tool.name);
    let catalog_sha256 = &facts.catalog_sha256;
    let (prompts, resources) = (content::list(model, content::PROMPTS), content::list(model, content::RESOURCES));
    quote! {
        /// What the server is, and what it lists by default.
        pub static SERVER: ServerSpec = ServerSpec {
            name: #name,
            title: #title,
            description: #description,
            version: #version,
            instructions: #instructions,
            env_prefix: #prefix,
            default_base_url: #base_url,
            access: #access,
            preset: &[#(#preset),*],
            health: &[#(#health),*],
            fixed_tools: &[#(#fixed),*],
            prompts: #prompts,
            resources: #resources,
            document: DocumentFacts {
                dialect: #dialect,
                title: #api,
                version: #api_version,
                sha256: #sha256,
                paths: #paths,
                operations: #operations,
                definitions: #definitions,
                tools_of_files: &[#(#of_files),*],
            },
            catalog_sha256: #catalog_sha256,
        };
    }
}

/// Credentials and variables of the address.
fn access(access: &Access, prefix: &str) -> TokenStream {
    if access.is_plain() {
        return quote!(Access::NONE);
    }
    let settings = access.settings.iter().map(|setting| self::setting(setting, prefix));
    let schemes = access.schemes.iter().map(|(name, kind)| scheme(name, kind));
    let security = access.security.iter().map(|names| quote!(&[#(#names),*]));
    quote! {
        Access {
            settings: &[#(#settings),*],
            schemes: &[#(#schemes),*],
            security: &[#(#security),*],
        }
    }
}

fn setting(setting: &Setting, prefix: &str) -> TokenStream {
    let Setting { key, default, help, secret, allowed } = setting;
    let env = format!("{prefix}_{}", key.to_uppercase());
    quote! {
        toolwright_core::Setting {
            key: #key,
            env: #env,
            default: #default,
            help: #help,
            secret: #secret,
            allowed: &[#(#allowed),*],
        }
    }
}

fn scheme(name: &str, scheme: &Scheme) -> TokenStream {
    let kind = match scheme {
        Scheme::ApiKey { location, wire, setting } => {
            let location = format_ident!(
                "{}",
                match location {
                    Location::Query => "Query",
                    Location::Cookie => "Cookie",
                    Location::Header | Location::Path => "Header",
                }
            );
            quote!(ApiKey { location: toolwright_core::Location::#location, wire: #wire, setting: #setting })
        }
        Scheme::Basic { username, password } => quote!(Basic { username: #username, password: #password }),
        Scheme::Bearer { setting } => quote!(Bearer { setting: #setting }),
        Scheme::ClientCredentials { prefix } => {
            let key = |what: &str| format!("{prefix}_{what}");
            let (token, client_id, client_secret) = (key("token"), key("client_id"), key("client_secret"));
            let (token_url, scopes, client_auth) = (key("token_url"), key("scopes"), key("client_auth"));
            quote! {
                ClientCredentials {
                    token: #token,
                    client_id: #client_id,
                    client_secret: #client_secret,
                    token_url: #token_url,
                    scopes: #scopes,
                    client_auth: #client_auth,
                }
            }
        }
        Scheme::MutualTls => quote!(MutualTls),
    };
    quote!(toolwright_core::SecurityScheme { name: #name, kind: toolwright_core::SchemeKind::#kind })
}

fn fixed_tool(name: &str, tool: &FixedTool) -> TokenStream {
    let FixedTool { title, description, arguments } = tool;
    let arguments = arguments.iter().map(|(name, text)| quote!((#name, #text)));
    quote! {
        FixedTool { name: #name, title: #title, description: #description, arguments: &[#(#arguments),*] }
    }
}

#[cfg(test)]
mod tests {
    use super::compatible;

    #[test]
    fn what_fits_is_the_minor_version_below_one_and_else_the_major() {
        assert_eq!(["0.1.2", "0.10.0", "1.2.3", "10.0.0"].map(compatible), ["0.1", "0.10", "1", "10"]);
    }
}
