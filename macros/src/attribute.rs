//! The attributes of the struct.

use proc_macro2::Span;
use syn::{Attribute, Ident, LitBool, LitInt, LitStr, Type, meta::ParseNestedMeta, spanned::Spanned as _};

use crate::paginate::{self, Paginate};

/// `#[tool(..)]`.
pub(crate) struct ToolAttribute {
    pub(crate) name: LitStr,
    pub(crate) title: LitStr,
    pub(crate) description: Option<LitStr>,
    pub(crate) risk: Ident,
    pub(crate) schema: LitStr,
    pub(crate) advertised: Option<LitStr>,
    pub(crate) result: Option<LitStr>,
    pub(crate) output: Option<Type>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) open_world: bool,
    pub(crate) idempotent: Option<LitBool>,
    pub(crate) deadline_seconds: Option<LitInt>,
    pub(crate) long: bool,
    pub(crate) secrets: Vec<LitStr>,
}

/// `#[http(..)]`, `#[websocket(..)]`, `#[no_route(..)]`, `#[native]`, `#[expression(..)]`, `#[steps(..)]`, `#[llm(..)]` or `#[sandbox(..)]`.
pub(crate) struct RouteAttribute {
    pub(crate) span: Span,
    pub(crate) kind: RouteKind,
    /// The real method and path; for `no_route` the declared ones; empty where the tool is no request.
    pub(crate) method: LitStr,
    pub(crate) path: LitStr,
    /// `METHOD /path` where the document declares another route.
    pub(crate) declared: Option<LitStr>,
    pub(crate) produces: Vec<LitStr>,
    /// Media type of a body whose members are fields.
    pub(crate) body: Option<LitStr>,
    /// Whether such a body may be left out.
    pub(crate) optional_body: Option<LitBool>,
    /// Media type of a multipart body, where it is not `multipart/form-data`.
    pub(crate) multipart: Option<LitStr>,
    /// Headers of parts that have one value: the part, the header, the value.
    pub(crate) part_headers: Vec<Vec<LitStr>>,
    pub(crate) stream: Option<Ident>,
    pub(crate) exchange: Option<Ident>,
    pub(crate) missing: Option<LitStr>,
    pub(crate) instead: Option<LitStr>,
    /// URL of the operation's own server.
    pub(crate) server: Option<LitStr>,
    /// Names of security schemes by alternative, where the server's own do not hold.
    pub(crate) security: Option<Vec<Vec<LitStr>>>,
    /// The filter of `expression`, the file of `steps` and of linked executors.
    pub(crate) plan: Option<LitStr>,
    /// jq filter over a JSON answer.
    pub(crate) project: Option<LitStr>,
    pub(crate) paginate: Option<Paginate>,
}

impl RouteAttribute {
    /// What is no request has no route at all.
    fn own(span: Span, kind: RouteKind, plan: Option<LitStr>) -> Self {
        RouteAttribute {
            span,
            kind,
            plan,
            method: LitStr::new("", span),
            path: LitStr::new("", span),
            declared: None,
            produces: Vec::new(),
            body: None,
            optional_body: None,
            multipart: None,
            part_headers: Vec::new(),
            stream: None,
            exchange: None,
            missing: None,
            instead: None,
            server: None,
            security: None,
            project: None,
            paginate: None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteKind {
    Http,
    WebSocket,
    NoRoute,
    Native,
    Expression,
    Steps,
    /// An executor that servers link, by its word.
    Linked(&'static str),
}

/// `#[search(..)]`.
#[derive(Default)]
pub(crate) struct SearchAttribute {
    pub(crate) en: Vec<LitStr>,
    pub(crate) ko: Vec<LitStr>,
    pub(crate) ja: Vec<LitStr>,
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "patch", "head", "options", "trace"];

pub(crate) fn tool(attributes: &[Attribute], owner: Span) -> syn::Result<ToolAttribute> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("tool"));
    let attribute =
        attribute.ok_or_else(|| syn::Error::new(owner, "add #[tool(name = \"..\", title = \"..\", ..)]"))?;
    let (mut name, mut title, mut description, mut risk, mut schema) = (None, None, None, None, None);
    let (mut advertised, mut result, mut output, mut deadline_seconds) = (None, None, None, None);
    let (mut tags, mut secrets, mut open_world, mut idempotent) = (Vec::new(), Vec::new(), false, None);
    let mut long = false;
    attribute.parse_nested_meta(|meta| {
        match key(&meta).as_str() {
            "name" => name = Some(tool_name(meta.value()?.parse()?)?),
            "title" => title = Some(meta.value()?.parse()?),
            "description" => description = Some(meta.value()?.parse()?),
            "risk" => risk = Some(one_of(meta.value()?.parse()?, &["read_only", "compute", "write", "destructive"])?),
            "schema" => schema = Some(meta.value()?.parse()?),
            "advertised" => advertised = Some(meta.value()?.parse()?),
            "result" => result = Some(meta.value()?.parse()?),
            "output" => output = Some(type_or_text(meta.value()?)?),
            "tags" => tags = strings(&meta)?,
            "secrets" => secrets = strings(&meta)?,
            "open_world" => open_world = flag(&meta)?.value,
            "idempotent" => idempotent = Some(flag(&meta)?),
            "deadline_seconds" => deadline_seconds = Some(meta.value()?.parse()?),
            "long" => long = flag(&meta)?.value,
            _ => return Err(meta.error("not a key of #[tool]")),
        }
        Ok(())
    })?;
    let required = |key: &str| syn::Error::new(attribute.span(), format!("#[tool] needs `{key}`"));
    let risk: Ident = risk.ok_or_else(|| required("risk"))?;
    if let Some(idempotent) = &idempotent
        && risk == "read_only"
        && !idempotent.value
    {
        return Err(syn::Error::new(
            idempotent.span,
            "contradicts `risk = read_only`: reading twice has no further effect",
        ));
    }
    Ok(ToolAttribute {
        name: name.ok_or_else(|| required("name"))?,
        title: title.ok_or_else(|| required("title"))?,
        schema: schema.ok_or_else(|| required("schema"))?,
        risk,
        description,
        advertised,
        result,
        output,
        tags,
        open_world,
        idempotent,
        deadline_seconds,
        long,
        secrets,
    })
}

/// A type, or its text in quotes, which printers leave on one line.
fn type_or_text(input: syn::parse::ParseStream) -> syn::Result<Type> {
    if input.peek(LitStr) { input.parse::<LitStr>()?.parse() } else { input.parse() }
}

pub(crate) fn route(attributes: &[Attribute], owner: Span) -> syn::Result<RouteAttribute> {
    let kinds = [
        ("http", RouteKind::Http),
        ("websocket", RouteKind::WebSocket),
        ("no_route", RouteKind::NoRoute),
        ("native", RouteKind::Native),
        ("expression", RouteKind::Expression),
        ("steps", RouteKind::Steps),
        ("llm", RouteKind::Linked("llm")),
        ("sandbox", RouteKind::Linked("sandbox")),
    ];
    let mut found = attributes.iter().filter_map(|attribute| {
        kinds.iter().find(|(name, _)| attribute.path().is_ident(name)).map(|(_, kind)| (attribute, *kind))
    });
    let (attribute, kind) = found.next().ok_or_else(|| {
        syn::Error::new(owner, "add #[http(get = \"/path\")], #[websocket(..)], #[no_route(..)], #[native], #[expression(..)], #[steps(..)], #[llm(..)] or #[sandbox(..)]")
    })?;
    if let Some((second, _)) = found.next() {
        return Err(syn::Error::new(second.span(), "a tool has one route"));
    }
    if kind == RouteKind::Native {
        attribute.meta.require_path_only()?;
        return Ok(RouteAttribute::own(attribute.span(), kind, None));
    }
    if matches!(kind, RouteKind::Expression | RouteKind::Steps) {
        return Ok(RouteAttribute::own(attribute.span(), kind, Some(attribute.parse_args()?)));
    }
    if let RouteKind::Linked(_) = kind {
        let (plan, project) = attribute.parse_args_with(plan_and_project)?;
        return Ok(RouteAttribute { project, ..RouteAttribute::own(attribute.span(), kind, Some(plan)) });
    }
    let (mut method, mut path, mut declared, mut stream, mut exchange) = (None, None, None, None, None);
    let (mut missing, mut instead, mut produces) = (None, None, Vec::new());
    let (mut server, mut security, mut body, mut optional_body) = (None, None, None, None);
    let (mut multipart, mut part_headers) = (None, Vec::new());
    let (mut project, mut paginate) = (None, None);
    attribute.parse_nested_meta(|meta| {
        match key(&meta).as_str() {
            verb if kind == RouteKind::Http && METHODS.contains(&verb) => {
                method = Some(LitStr::new(&verb.to_uppercase(), meta.path.span()));
                path = Some(meta.value()?.parse()?);
            }
            "method" if kind == RouteKind::Http => method = Some(meta.value()?.parse()?),
            "path" if kind != RouteKind::NoRoute => path = Some(meta.value()?.parse()?),
            "declared" => declared = Some(meta.value()?.parse()?),
            "produces" if kind == RouteKind::Http => produces = strings(&meta)?,
            "body" if kind == RouteKind::Http => body = Some(meta.value()?.parse()?),
            "optional_body" if kind == RouteKind::Http => optional_body = Some(flag(&meta)?),
            "multipart" if kind == RouteKind::Http => multipart = Some(meta.value()?.parse()?),
            "part_headers" if kind == RouteKind::Http => {
                part_headers = lists(&meta)?;
                if part_headers.iter().any(|header| header.len() != 3) {
                    return Err(meta.error("write each as (\"part\", \"Header\", \"value\")"));
                }
            }
            "stream" if kind == RouteKind::Http => {
                let dialects = ["openai", "anthropic", "responses", "transcript"];
                stream = Some(one_of(meta.value()?.parse()?, &dialects)?);
            }
            "server" if kind != RouteKind::NoRoute => server = Some(meta.value()?.parse()?),
            "security" if kind != RouteKind::NoRoute => security = Some(lists(&meta)?),
            "project" if kind == RouteKind::Http => project = Some(meta.value()?.parse()?),
            "paginate" if kind == RouteKind::Http => paginate = Some(paginate::paginate(&meta)?),
            "exchange" if kind == RouteKind::WebSocket => {
                exchange = Some(one_of(meta.value()?.parse()?, &["receive", "session"])?);
            }
            "missing" if kind != RouteKind::WebSocket => missing = Some(meta.value()?.parse()?),
            "instead" if kind != RouteKind::WebSocket => instead = Some(meta.value()?.parse()?),
            _ => return Err(meta.error("not a key of this route")),
        }
        Ok(())
    })?;
    let span = attribute.span();
    if let (RouteKind::NoRoute, Some(declared)) = (kind, &declared) {
        let (verb, route) = split_declared(declared)?;
        (method, path) = (Some(verb), Some(route));
    }
    let required = |what: &str| syn::Error::new(span, format!("this route needs {what}"));
    let path: LitStr = path.ok_or_else(|| required("a path"))?;
    if !path.value().starts_with('/') {
        return Err(syn::Error::new(path.span(), "a path starts with `/`"));
    }
    if kind == RouteKind::WebSocket && exchange.is_none() {
        return Err(required("`exchange = receive` or `exchange = session`"));
    }
    if kind == RouteKind::NoRoute && missing.is_none() {
        return Err(required("`missing`: one sentence that says why"));
    }
    let method = match kind {
        RouteKind::WebSocket => LitStr::new("GET", span),
        _ => method.ok_or_else(|| required("a method"))?,
    };
    Ok(RouteAttribute {
        span,
        kind,
        plan: None,
        method,
        path,
        declared,
        produces,
        body,
        optional_body,
        multipart,
        part_headers,
        stream,
        exchange,
        missing,
        instead,
        server,
        security,
        project,
        paginate,
    })
}

/// `"file"`, or `"file", project = "filter"`.
fn plan_and_project(input: syn::parse::ParseStream) -> syn::Result<(LitStr, Option<LitStr>)> {
    let plan = input.parse()?;
    if input.is_empty() {
        return Ok((plan, None));
    }
    input.parse::<syn::Token![,]>()?;
    let key: Ident = one_of(input.parse()?, &["project"])?;
    input.parse::<syn::Token![=]>().map_err(|error| syn::Error::new(key.span(), error))?;
    Ok((plan, Some(input.parse()?)))
}

pub(crate) fn search(attributes: &[Attribute]) -> syn::Result<SearchAttribute> {
    let mut search = SearchAttribute::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("search")) {
        attribute.parse_nested_meta(|meta| {
            match key(&meta).as_str() {
                "en" => search.en = strings(&meta)?,
                "ko" => search.ko = strings(&meta)?,
                "ja" => search.ja = strings(&meta)?,
                _ => return Err(meta.error("languages are en, ko, ja")),
            }
            Ok(())
        })?;
    }
    Ok(search)
}

/// `METHOD /path`, apart.
pub(crate) fn split_declared(text: &LitStr) -> syn::Result<(LitStr, LitStr)> {
    let value = text.value();
    let (method, path) =
        value.split_once(' ').ok_or_else(|| syn::Error::new(text.span(), "write it as \"METHOD /path\""))?;
    Ok((LitStr::new(method, text.span()), LitStr::new(path, text.span())))
}

/// The doc comment as the description: lines of a paragraph joined, paragraphs on a line each.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let mut paragraphs: Vec<String> = vec![String::new()];
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Ok(pair) = attribute.meta.require_name_value() else { continue };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { continue };
        for line in text.value().lines().map(str::trim).chain(text.value().is_empty().then_some("")) {
            match (line.is_empty(), paragraphs.last_mut()) {
                (true, _) => paragraphs.push(String::new()),
                (false, Some(paragraph)) if paragraph.is_empty() => paragraph.push_str(line),
                (false, Some(paragraph)) => {
                    paragraph.push(' ');
                    paragraph.push_str(line);
                }
                (false, None) => {}
            }
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n")
}

pub(crate) fn key(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

/// `key` alone is true; `key = false` is false.
fn flag(meta: &ParseNestedMeta<'_>) -> syn::Result<LitBool> {
    match meta.input.peek(syn::Token![=]) {
        true => meta.value()?.parse(),
        false => Ok(LitBool::new(true, meta.path.span())),
    }
}

/// `key("a", "b")`.
fn strings(meta: &ParseNestedMeta<'_>) -> syn::Result<Vec<LitStr>> {
    let content;
    syn::parenthesized!(content in meta.input);
    Ok(content.parse_terminated(|input| input.parse::<LitStr>(), syn::Token![,])?.into_iter().collect())
}

/// `key(("a", "b"), ("c"), ())`: lists of strings.
fn lists(meta: &ParseNestedMeta<'_>) -> syn::Result<Vec<Vec<LitStr>>> {
    let content;
    syn::parenthesized!(content in meta.input);
    let lists = content.parse_terminated(
        |input| {
            let list;
            syn::parenthesized!(list in input);
            let names = list.parse_terminated(|input| input.parse::<LitStr>(), syn::Token![,])?;
            Ok(names.into_iter().collect())
        },
        syn::Token![,],
    )?;
    Ok(lists.into_iter().collect())
}

pub(crate) fn one_of(ident: Ident, allowed: &[&str]) -> syn::Result<Ident> {
    match allowed.iter().any(|name| ident == name) {
        true => Ok(ident),
        false => Err(syn::Error::new(ident.span(), format!("must be one of {}", allowed.join(", ")))),
    }
}

/// The limits that clients keep: MCP allows 128 characters, many clients cap at 64 and prefix the server's name.
fn tool_name(name: LitStr) -> syn::Result<LitStr> {
    let value = name.value();
    let letters = value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let starts = value.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if letters && starts && value.len() <= 48 {
        return Ok(name);
    }
    let rule = "a tool's name is snake_case, starts with a letter and has at most 48 characters";
    Err(syn::Error::new(name.span(), rule))
}
