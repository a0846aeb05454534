//! One struct per tool, with the attributes that make its row.

mod hidden;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::doc;
use super::names::{self, Names};
use super::types::{is_nullable, rust_type, serde_attributes};
use crate::load::extension::{MissingRoute, Risk, StreamDialect, WebSocketExchange};
use crate::model::Model;
use crate::model::operation::{Location, Style};
use crate::model::tool::{AlternativeField, Argument, Binding, FormKind, HttpBinding, Role, Tool};

pub(super) fn item(model: &Model, names: &Names, tool: &Tool) -> TokenStream {
    let ident = names.tool(tool).ident;
    let text = doc::attributes(&tool.description);
    let attribute = attribute(model, names, tool);
    let search = search(tool);
    let route = route(tool);
    let hidden = hidden::attributes(tool);
    let idents = names::fields(tool.arguments.iter().map(|argument| argument.name.as_str()));
    let fields = tool.arguments.iter().zip(idents).map(|(argument, ident)| field(model, names, tool, argument, &ident));
    quote! {
        #text
        #[derive(Debug, Clone, Serialize, Deserialize, Tool)]
        #[tool(#attribute)]
        #search
        #[#route]
        #(#hidden)*
        pub struct #ident { #(#fields)* }
    }
}

fn attribute(model: &Model, names: &Names, tool: &Tool) -> TokenStream {
    let Tool { name, title, tags, .. } = tool;
    let risk = format_ident!(
        "{}",
        match tool.hints.risk {
            Risk::ReadOnly => "read_only",
            Risk::Compute => "compute",
            Risk::Write => "write",
            Risk::Destructive => "destructive",
        }
    );
    let schema = format!("schemas/{name}.json");
    let mut keys = vec![quote!(name = #name), quote!(title = #title), quote!(risk = #risk)];
    if !doc::reads_back(&tool.description) {
        let description = &tool.description;
        keys.push(quote!(description = #description));
    }
    if !tags.is_empty() {
        keys.push(quote!(tags(#(#tags),*)));
    }
    keys.push(quote!(schema = #schema));
    if tool.frozen.listed.is_some() {
        let listed = format!("schemas/{name}.listed.json");
        keys.push(quote!(advertised = #listed));
    }
    if tool.frozen.result.is_some() {
        let result = format!("schemas/{name}.result.json");
        keys.push(quote!(result = #result));
    }
    if let Some(output) = &tool.output {
        let output = rust_type(model, names, output);
        let text = output.to_string();
        if text.contains(',') {
            // A printer of attributes breaks the line inside the generic.
            let text = text.replace(" :: ", "::").replace(" < ", "<").replace(" >", ">").replace(" ,", ",");
            keys.push(quote!(output = #text));
        } else if text != "Value" {
            keys.push(quote!(output = #output));
        }
    }
    if tool.hints.open_world {
        keys.push(quote!(open_world));
    }
    match (tool.hints.risk == Risk::ReadOnly, tool.hints.idempotent) {
        (false, true) => keys.push(quote!(idempotent)),
        (true, false) => keys.push(quote!(idempotent = false)),
        _ => {}
    }
    if let Some(seconds) = tool.deadline_seconds {
        let seconds = proc_macro2::Literal::u64_unsuffixed(seconds);
        keys.push(quote!(deadline_seconds = #seconds));
    }
    if tool.long {
        keys.push(quote!(long));
    }
    if !tool.secrets.is_empty() {
        let secrets = &tool.secrets;
        keys.push(quote!(secrets(#(#secrets),*)));
    }
    quote!(#(#keys),*)
}

fn search(tool: &Tool) -> TokenStream {
    let languages = [("en", &tool.search.en), ("ko", &tool.search.ko), ("ja", &tool.search.ja)];
    let keys: Vec<TokenStream> = languages
        .into_iter()
        .filter(|(_, phrases)| !phrases.is_empty())
        .map(|(language, phrases)| {
            let language = format_ident!("{language}");
            quote!(#language(#(#phrases),*))
        })
        .collect();
    if keys.is_empty() { TokenStream::new() } else { quote!(#[search(#(#keys),*)]) }
}

fn route(tool: &Tool) -> TokenStream {
    let (method, path) = &tool.declared;
    let declared = format!("{method} {path}");
    match &tool.binding {
        Binding::Native { .. } => quote!(native),
        Binding::Expression(filter) => quote!(expression(#filter)),
        Binding::Steps(_) => {
            let plan = format!("schemas/{}.steps.json", tool.name);
            quote!(steps(#plan))
        }
        Binding::Linked(linked) => {
            let (executor, plan) = (linked.executor, format!("schemas/{}.{}.json", tool.name, linked.executor));
            let project = linked.project.iter().map(|filter| quote!(, project = #filter));
            let executor = format_ident!("{executor}");
            quote!(#executor(#plan #(#project)*))
        }
        Binding::NoRoute(route) => {
            let note = note(route);
            quote!(no_route(declared = #declared, #note))
        }
        Binding::WebSocket { path: real, exchange, security, server } => {
            let exchange = format_ident!(
                "{}",
                match exchange {
                    WebSocketExchange::Receive => "receive",
                    WebSocketExchange::Session => "session",
                }
            );
            let declared = (real != path || method != "GET").then(|| quote!(, declared = #declared));
            let reached = reached(security.as_ref(), server.as_ref()).into_iter().map(|key| quote!(, #key));
            quote!(websocket(path = #real, exchange = #exchange #declared #(#reached)*))
        }
        Binding::Http(http) => http_route(http, &declared, path),
    }
}

fn http_route(http: &HttpBinding, declared: &str, declared_path: &str) -> TokenStream {
    const METHODS: [&str; 8] = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"];
    let HttpBinding { method, path, produces, .. } = http;
    let mut keys = vec![match METHODS.contains(&method.as_str()) {
        true => {
            let verb = format_ident!("{}", method.to_lowercase());
            quote!(#verb = #path)
        }
        false => quote!(method = #method, path = #path),
    }];
    if path != declared_path {
        keys.push(quote!(declared = #declared));
    }
    if !produces.is_empty() && produces != &["application/json".to_owned()] {
        keys.push(quote!(produces(#(#produces),*)));
    } else if !produces.is_empty() {
        keys.push(quote!(produces("application/json")));
    }
    if let Some(object) = &http.object {
        let media_type = &object.media_type;
        if media_type != "application/json" {
            keys.push(quote!(body = #media_type));
        }
        if !object.required {
            keys.push(quote!(optional_body));
        }
    }
    keys.extend(multipart_keys(http));
    if let Some(dialect) = http.stream {
        let dialect = format_ident!(
            "{}",
            match dialect {
                StreamDialect::Openai => "openai",
                StreamDialect::Anthropic => "anthropic",
                StreamDialect::Responses => "responses",
                StreamDialect::Transcript => "transcript",
            }
        );
        keys.push(quote!(stream = #dialect));
    }
    if let Some(route) = &http.stand_in {
        keys.push(note(route));
    }
    keys.extend(reached(http.security.as_ref(), http.server.as_ref()));
    if let Some(filter) = &http.project {
        keys.push(quote!(project = #filter));
    }
    if let Some(pages) = &http.pages {
        keys.push(hidden::paginate(pages));
    }
    quote!(http(#(#keys),*))
}

/// Server and credentials of an operation's own.
fn reached(security: Option<&Vec<Vec<String>>>, server: Option<&String>) -> Vec<TokenStream> {
    let security = security.map(|alternatives| {
        let lists = alternatives.iter().map(|names| quote!((#(#names),*)));
        quote!(security(#(#lists),*))
    });
    server.map(|server| quote!(server = #server)).into_iter().chain(security).collect()
}

/// A multipart body's media type where it is not the usual one, and the headers of its parts that have one value.
fn multipart_keys(http: &HttpBinding) -> Vec<TokenStream> {
    let Some(multipart) = &http.multipart else { return Vec::new() };
    let media_type = &multipart.media_type;
    let mut keys = Vec::new();
    if media_type != FormKind::Multipart.media_type() {
        keys.push(quote!(multipart = #media_type));
    }
    if !multipart.headers.is_empty() {
        let headers = multipart.headers.iter().map(|(part, wire, value)| quote!((#part, #wire, #value)));
        keys.push(quote!(part_headers(#(#headers),*)));
    }
    keys
}

fn note(route: &MissingRoute) -> TokenStream {
    let missing = &route.missing;
    match &route.instead {
        Some(instead) => quote!(missing = #missing, instead = #instead),
        None => quote!(missing = #missing),
    }
}

fn field(model: &Model, names: &Names, tool: &Tool, argument: &Argument, ident: &proc_macro2::Ident) -> TokenStream {
    let fallback = match argument.role {
        Role::Body { .. } | Role::Alternative { .. } => "The body of the request.".to_owned(),
        _ => format!("`{}` on the wire.", argument.wire_name.replace('`', "'")),
    };
    let referred = || model.resolve(&argument.schema).description.as_deref();
    let is_text = |text: &&str| !text.trim().is_empty();
    let told = argument.description.as_deref().filter(is_text).or_else(|| referred().filter(is_text));
    let text = told.unwrap_or(&fallback);
    let text = doc::attributes(text);
    let place = place(tool, argument);
    let serde = serde_attributes(&argument.name, ident, !argument.required);
    let mut kind = match argument.role {
        Role::Field { file: true, .. } if model.resolve(&argument.schema).items.is_some() => quote!(Vec<String>),
        Role::ContentType => quote!(String),
        ref role if role.is_file() => quote!(String),
        _ => rust_type(model, names, &argument.schema),
    };
    let has_null = is_nullable(&argument.schema) && !argument.role.is_file();
    if !argument.required && !has_null {
        kind = quote!(Option<#kind>);
    }
    quote! {
        #text
        #place
        #serde
        pub #ident: #kind,
    }
}

/// The attribute that says where the argument goes.
fn place(tool: &Tool, argument: &Argument) -> TokenStream {
    let (word, keys) = place_keys(tool, argument);
    let place = format_ident!("{word}");
    if keys.is_empty() { quote!(#[#place]) } else { quote!(#[#place(#(#keys),*)]) }
}

/// The place, and what does not follow from it.
fn place_keys(tool: &Tool, argument: &Argument) -> (&'static str, Vec<TokenStream>) {
    let form = match &tool.binding {
        Binding::Http(http) => http.form,
        _ => None,
    };
    let (word, written) = match &argument.role {
        Role::Parameter { location, style, explode, .. } => (location_word(*location), Some((*style, *explode))),
        Role::Body { .. } => ("body", None),
        Role::Member => ("member", None),
        Role::Field { file: true, style, explode, .. } => ("file", Some((*style, *explode))),
        Role::Field { style, explode, .. } => match form {
            Some(FormKind::Urlencoded) => ("form", Some((*style, *explode))),
            Some(FormKind::Multipart) | None => ("part", Some((*style, *explode))),
        },
        Role::Alternative { .. } => ("alternative", None),
        Role::ContentType => ("content_type", None),
        Role::PartHeader { .. } => ("part_header", None),
        Role::Exchange => ("exchange", None),
        Role::Extra => ("extra", None),
        Role::Paging => ("paging", None),
        Role::Input => ("input", None),
    };
    let mut keys: Vec<TokenStream> = Vec::new();
    let wire = &argument.wire_name;
    let has_wire_name = written.is_some() || matches!(argument.role, Role::Member | Role::PartHeader { .. });
    if has_wire_name && *wire != argument.name {
        keys.push(quote!(wire = #wire));
    }
    if let Some((style, explode)) = written {
        keys.extend(style_keys(word, style, explode));
    }
    if let Role::PartHeader { part, explode } = &argument.role {
        keys.push(quote!(part = #part));
        keys.extend(explode.then(|| quote!(explode = true)));
    }
    if let Role::Parameter { reserved: true, .. } | Role::Field { reserved: true, .. } = argument.role {
        keys.push(quote!(reserved));
    }
    if argument.role == Role::Extra && form == Some(FormKind::Urlencoded) {
        keys.push(quote!(urlencoded));
    }
    keys.extend(media_keys(tool, argument));
    if !argument.send_as.is_empty() {
        let pairs = argument.send_as.iter().map(|(accepted, sent)| quote!((#accepted, #sent)));
        keys.push(quote!(send_as(#(#pairs),*)));
    }
    (word, keys)
}

/// Media types, and what the choice among several bodies needs to know.
fn media_keys(tool: &Tool, argument: &Argument) -> Vec<TokenStream> {
    let mut keys = Vec::new();
    match &argument.role {
        Role::Body { media_type, .. } if media_type != "application/json" => {
            keys.push(quote!(media_type = #media_type));
        }
        Role::Field { content_type: Some(content_type), .. } => keys.push(quote!(content_type = #content_type)),
        Role::Alternative { media_type, fields, .. } => {
            keys.push(quote!(media_type = #media_type));
            keys.extend(fields.iter().map(alternative_field));
        }
        _ => {}
    }
    let is_choice = tool.arguments.iter().any(|argument| argument.role == Role::ContentType);
    if (is_choice || argument.role == Role::Member) && argument.needed_by_body {
        keys.push(quote!(required));
    }
    keys
}

fn alternative_field(field: &AlternativeField) -> TokenStream {
    let AlternativeField { wire_name, style, explode, file, content_type, reserved } = field;
    let mut keys = vec![quote!(wire = #wire_name)];
    if *file {
        keys.push(quote!(file));
    }
    keys.extend(style_keys("form", *style, *explode));
    if *reserved {
        keys.push(quote!(reserved));
    }
    if let Some(content_type) = content_type {
        keys.push(quote!(content_type = #content_type));
    }
    quote!(field(#(#keys),*))
}

fn location_word(location: Location) -> &'static str {
    match location {
        Location::Path => "segment",
        Location::Query => "query",
        Location::Header => "header",
        Location::Cookie => "cookie",
    }
}

/// Style and explode where they differ from OpenAPI's defaults for the place (OpenAPI 3.1 section 4.8.12.2).
fn style_keys(word: &str, style: Style, explode: bool) -> Vec<TokenStream> {
    let default = if matches!(word, "segment" | "header") { Style::Simple } else { Style::Form };
    let mut keys = Vec::new();
    if style != default {
        let name = format_ident!("{}", style.name());
        keys.push(quote!(style = #name));
    }
    if explode != style.explodes() {
        keys.push(quote!(explode = #explode));
    }
    keys
}
