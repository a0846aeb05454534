//! Tools of large documents: a constant row each, and no types. Structs would take most of the compile time there.

mod body;
mod extras;

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{doc, names::Names, print};
use crate::load::extension::{MissingRoute, Risk, StreamDialect, WebSocketExchange};
use crate::model::Model;
use crate::model::operation::{Location, Style};
use crate::model::tool::{Argument, Binding, HttpBinding, Role, Tool};

/// Documents with more operations get rows only, where `structs` in `server.yaml` does not ask for more.
const MAX_STRUCTS: usize = 200;

/// Whether a tool is a row alone, by its area.
pub(super) fn is_row(model: &Model, tool: &Tool) -> bool {
    // A handler takes the struct.
    if matches!(tool.binding, Binding::Native { .. }) {
        return false;
    }
    match &model.loaded.config.structs {
        Some(tags) => !tags.iter().any(|tag| tag == "*" || tag == tool.area()),
        None => model.operations.len() > MAX_STRUCTS,
    }
}

/// Whether any tool is a row alone.
pub(super) fn uses_rows(model: &Model) -> bool {
    model.tools.iter().any(|tool| is_row(model, tool))
}

/// `list_items` -> `LIST_ITEMS`.
pub(super) fn ident(tool: &Tool) -> proc_macro2::Ident {
    super::names::ident(&tool.name.to_uppercase())
}

/// The row.
pub(super) fn item(tool: &Tool) -> TokenStream {
    let Tool { name, title, description, tags, secrets, search, .. } = tool;
    let ident = ident(tool);
    let text = doc::attributes(if title.trim().is_empty() { name } else { title });
    let summary = description.lines().next().unwrap_or_default();
    let risk = format_ident!(
        "{}",
        match tool.hints.risk {
            Risk::ReadOnly => "ReadOnly",
            Risk::Compute => "Compute",
            Risk::Write => "Write",
            Risk::Destructive => "Destructive",
        }
    );
    let (idempotent, open_world, long) = (tool.hints.idempotent, tool.hints.open_world, tool.long);
    let input = schema(name, "");
    let listed = option(tool.frozen.listed.as_ref().map(|_| schema(name, ".listed")));
    let result = option(tool.frozen.result.as_ref().map(|_| schema(name, ".result")));
    let (en, ko, ja) = (&search.en, &search.ko, &search.ja);
    let search = match en.is_empty() && ko.is_empty() && ja.is_empty() {
        true => quote!(SearchTerms { en: &[], ko: &[], ja: &[] }),
        false => quote!(SearchTerms { en: &[#(#en),*], ko: &[#(#ko),*], ja: &[#(#ja),*] }),
    };
    let (method, path) = &tool.declared;
    let binding = binding(tool);
    let deadline = option(tool.deadline_seconds.map(|seconds| {
        let seconds = Literal::u64_unsuffixed(seconds);
        quote!(#seconds)
    }));
    quote! {
        #text
        pub const #ident: ToolSpec = ToolSpec {
            name: #name,
            title: #title,
            description: #description,
            summary: #summary,
            tags: &[#(#tags),*],
            risk: Risk::#risk,
            idempotent: #idempotent,
            open_world: #open_world,
            input_schema: #input,
            advertised_schema: #listed,
            result_schema: #result,
            search: #search,
            declared: Declared { method: #method, path: #path },
            binding: #binding,
            deadline_seconds: #deadline,
            long: #long,
            secrets: &[#(#secrets),*],
        };
    }
}

/// What rows name of the runtime.
pub(super) fn imports(items: &[TokenStream]) -> TokenStream {
    const KNOWN: [&str; 26] = [
        "Alternative",
        "Binding",
        "Body",
        "Declared",
        "Exchange",
        "Field",
        "FieldKind",
        "Hidden",
        "HiddenValue",
        "HttpBinding",
        "LinkedBinding",
        "Location",
        "Member",
        "Method",
        "NextPage",
        "NoRoute",
        "Paginate",
        "Parameter",
        "PartHeader",
        "PartHeaderValue",
        "Risk",
        "SearchTerms",
        "StreamDialect",
        "Style",
        "ToolSpec",
        "WebSocketBinding",
    ];
    let used = print::mentioned(items);
    let used = KNOWN.iter().filter(|name| used.contains(**name)).map(|name| format_ident!("{name}"));
    quote!(use toolwright_core::{#(#used),*};)
}

/// The catalog over rows and, where some areas have them, structs.
pub(super) fn catalog(model: &Model, names: &Names) -> TokenStream {
    let rows = model.tools.iter().map(|tool| {
        let named = names.tool(tool);
        let (module, ident) = (format_ident!("{}", named.module), named.ident);
        match is_row(model, tool) {
            true => quote!(#module::#ident),
            false => quote!(<#module::#ident as Tool>::SPEC),
        }
    });
    quote! {
        /// Every tool, sorted by name.
        pub static TOOLS: Catalog = {
            const ROWS: &[ToolSpec] = &[#(#rows),*];
            const _: () = toolwright_core::assert_sorted_and_unique(ROWS);
            Catalog::new(ROWS)
        };
    }
}

fn schema(name: &str, kind: &str) -> TokenStream {
    let path = format!("../schemas/{name}{kind}.json");
    quote!(include_str!(#path))
}

fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

fn binding(tool: &Tool) -> TokenStream {
    match &tool.binding {
        Binding::Native { .. } => quote!(Binding::Native),
        Binding::Expression(filter) => quote!(Binding::Expression(#filter)),
        Binding::Steps(_) => {
            let plan = schema(&tool.name, ".steps");
            quote!(Binding::Steps(#plan))
        }
        Binding::Linked(linked) => {
            let (executor, plan) = (linked.executor, schema(&tool.name, &format!(".{}", linked.executor)));
            let project = option_text(linked.project.as_ref());
            quote!(Binding::Linked(LinkedBinding { executor: #executor, plan: #plan, project: #project }))
        }
        Binding::NoRoute(route) => {
            let route = no_route(route);
            quote!(Binding::NoRoute(#route))
        }
        Binding::WebSocket { path, exchange, security, server } => {
            let exchange = match exchange {
                WebSocketExchange::Receive => quote!(Receive),
                WebSocketExchange::Session => quote!(Session),
            };
            let (parameters, hidden) = (parameters(tool), extras::hidden(tool));
            let (security, server) = (self::security(security.as_ref()), option_text(server.as_ref()));
            quote! {
                Binding::WebSocket(WebSocketBinding {
                    path: #path,
                    parameters: #parameters,
                    exchange: Exchange::#exchange,
                    security: #security,
                    server: #server,
                    hidden: #hidden,
                })
            }
        }
        Binding::Http(http) => {
            let http = http_binding(tool, http);
            quote!(Binding::Http(#http))
        }
    }
}

fn http_binding(tool: &Tool, http: &HttpBinding) -> TokenStream {
    let HttpBinding { path, produces, .. } = http;
    let method = method(&http.method);
    let parameters = parameters(tool);
    let body = body::body(tool, http);
    let stream = option(http.stream.map(|dialect| match dialect {
        StreamDialect::Openai => quote!(StreamDialect::OpenAi),
        StreamDialect::Anthropic => quote!(StreamDialect::Anthropic),
        StreamDialect::Responses => quote!(StreamDialect::Responses),
        StreamDialect::Transcript => quote!(StreamDialect::Transcript),
    }));
    let extras = extras::fields(tool, http);
    let stand_in = option(http.stand_in.as_ref().map(no_route));
    let (security, server) = (security(http.security.as_ref()), option_text(http.server.as_ref()));
    quote! {
        HttpBinding {
            method: #method,
            path: #path,
            parameters: #parameters,
            body: #body,
            produces: &[#(#produces),*],
            stream: #stream,
            stand_in: #stand_in,
            security: #security,
            server: #server,
            #extras
        }
    }
}

fn security(own: Option<&Vec<Vec<String>>>) -> TokenStream {
    option(own.map(|alternatives| {
        let lists = alternatives.iter().map(|names| quote!(&[#(#names),*]));
        quote!(&[#(#lists),*])
    }))
}

fn option_text(text: Option<&String>) -> TokenStream {
    option(text.map(|text| quote!(#text)))
}

fn no_route(route: &MissingRoute) -> TokenStream {
    let missing = &route.missing;
    let instead = option(route.instead.as_ref().map(|instead| quote!(#instead)));
    quote!(NoRoute { missing: #missing, instead: #instead })
}

fn method(token: &str) -> TokenStream {
    match token {
        "GET" => quote!(Method::Get),
        "PUT" => quote!(Method::Put),
        "POST" => quote!(Method::Post),
        "DELETE" => quote!(Method::Delete),
        "PATCH" => quote!(Method::Patch),
        "HEAD" => quote!(Method::Head),
        "OPTIONS" => quote!(Method::Options),
        "TRACE" => quote!(Method::Trace),
        other => quote!(Method::Other(#other)),
    }
}

fn parameters(tool: &Tool) -> TokenStream {
    let rows = tool.sent().filter_map(|argument| {
        let Role::Parameter { location, style, explode, reserved } = &argument.role else { return None };
        let location = match location {
            Location::Path => quote!(Path),
            Location::Query => quote!(Query),
            Location::Header => quote!(Header),
            Location::Cookie => quote!(Cookie),
        };
        let written = written(argument, *style, *explode, *reserved);
        Some(quote!(Parameter { location: Location::#location, #written }))
    });
    quote!(&[#(#rows),*])
}

/// What parameters and form fields share.
fn written(argument: &Argument, style: Style, explode: bool, reserved: bool) -> TokenStream {
    let Argument { name, wire_name, .. } = argument;
    let style = self::style(style);
    let pairs = argument.send_as.iter().map(|(accepted, sent)| quote!((#accepted, #sent)));
    quote! {
        argument: #name,
        wire: #wire_name,
        style: Style::#style,
        explode: #explode,
        reserved: #reserved,
        send_as: &[#(#pairs),*],
    }
}

fn style(style: Style) -> proc_macro2::Ident {
    format_ident!(
        "{}",
        match style {
            Style::Simple => "Simple",
            Style::Form => "Form",
            Style::Label => "Label",
            Style::Matrix => "Matrix",
            Style::Spaces => "Spaces",
            Style::Pipes => "Pipes",
            Style::Tabs => "Tabs",
            Style::Deep => "Deep",
            Style::Cookie => "Cookie",
            Style::Json => "Json",
        }
    )
}
