//! Writes the row.

// By its path, since a test compiles this file as a module of its own.
#[path = "row/body.rs"]
mod body;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, LitStr};

use crate::{
    attribute::{RouteAttribute, RouteKind, SearchAttribute, ToolAttribute, split_declared},
    field::{Argument, HiddenValue, Place},
    paginate,
};

/// Everything that was read and checked.
pub(crate) struct Parts {
    pub(crate) tool: ToolAttribute,
    pub(crate) route: RouteAttribute,
    pub(crate) search: SearchAttribute,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) documentation: String,
}

pub(crate) fn emit(input: &DeriveInput, parts: &Parts) -> syn::Result<TokenStream> {
    let Parts { tool, route, search, arguments, documentation } = parts;
    let ident = &input.ident;
    let (generics, type_generics, bounds) = input.generics.split_for_impl();
    let ToolAttribute { name, title, tags, open_world, deadline_seconds, long, secrets, .. } = tool;
    let description = tool.description.as_ref().map_or_else(|| documentation.clone(), LitStr::value);
    let summary = description.lines().next().unwrap_or_default();
    let risk = variant(&tool.risk.to_string());
    let idempotent = tool.idempotent.as_ref().map_or(tool.risk == "read_only", |flag| flag.value);
    let schema = included(&tool.schema);
    let advertised = option(tool.advertised.as_ref().map(included));
    let result = option(tool.result.as_ref().map(included));
    let deadline = option(deadline_seconds.as_ref().map(|seconds| quote!(#seconds)));
    let output = tool.output.as_ref().map_or_else(|| quote!(::serde_json::Value), |output| quote!(#output));
    let SearchAttribute { en, ko, ja } = search;
    let (declared_method, declared_path) = match &route.declared {
        Some(declared) => split_declared(declared)?,
        None => (route.method.clone(), route.path.clone()),
    };
    let binding = binding(route, arguments);
    Ok(quote! {
        impl #generics ::toolwright_core::Tool for #ident #type_generics #bounds {
            const SPEC: ::toolwright_core::ToolSpec = ::toolwright_core::ToolSpec {
                name: #name,
                title: #title,
                description: #description,
                summary: #summary,
                tags: &[#(#tags),*],
                risk: ::toolwright_core::Risk::#risk,
                idempotent: #idempotent,
                open_world: #open_world,
                input_schema: #schema,
                advertised_schema: #advertised,
                result_schema: #result,
                search: ::toolwright_core::SearchTerms { en: &[#(#en),*], ko: &[#(#ko),*], ja: &[#(#ja),*] },
                declared: ::toolwright_core::Declared { method: #declared_method, path: #declared_path },
                binding: #binding,
                deadline_seconds: #deadline,
                long: #long,
                secrets: &[#(#secrets),*],
            };
            type Output = #output;
        }
    })
}

fn binding(route: &RouteAttribute, arguments: &[Argument]) -> TokenStream {
    let path = &route.path;
    let parameters = arguments.iter().filter(|argument| argument.place.is_parameter()).map(parameter);
    let parameters = quote!(&[#(#parameters),*]);
    let note = route.missing.as_ref().map(|missing| {
        let instead = option(route.instead.as_ref().map(|instead| quote!(#instead)));
        quote!(::toolwright_core::NoRoute { missing: #missing, instead: #instead })
    });
    let server = option(route.server.as_ref().map(|server| quote!(#server)));
    let security = option(route.security.as_ref().map(|alternatives| {
        let lists = alternatives.iter().map(|names| quote!(&[#(#names),*]));
        quote!(&[#(#lists),*])
    }));
    match route.kind {
        RouteKind::Native => quote!(::toolwright_core::Binding::Native),
        RouteKind::Expression => {
            let filter = &route.plan;
            quote!(::toolwright_core::Binding::Expression(#filter))
        }
        RouteKind::Steps => {
            let plan = route.plan.as_ref().map(included);
            quote!(::toolwright_core::Binding::Steps(#plan))
        }
        RouteKind::Linked(executor) => {
            let plan = route.plan.as_ref().map(included);
            let project = option(route.project.as_ref().map(|filter| quote!(#filter)));
            quote! {
                ::toolwright_core::Binding::Linked(::toolwright_core::LinkedBinding {
                    executor: #executor,
                    plan: #plan,
                    project: #project,
                })
            }
        }
        RouteKind::NoRoute => quote!(::toolwright_core::Binding::NoRoute(#note)),
        RouteKind::WebSocket => {
            let hidden = hidden(arguments);
            let exchange = route.exchange.as_ref().map(|exchange| variant(&exchange.to_string()));
            quote! {
                ::toolwright_core::Binding::WebSocket(::toolwright_core::WebSocketBinding {
                    path: #path,
                    parameters: #parameters,
                    exchange: ::toolwright_core::Exchange::#exchange,
                    security: #security,
                    server: #server,
                    hidden: #hidden,
                })
            }
        }
        RouteKind::Http => {
            let method = method(&route.method);
            let body = body(route, arguments);
            let produces = &route.produces;
            let stream = option(route.stream.as_ref().map(|dialect| {
                let dialect = dialect.to_string();
                let dialect = if dialect == "openai" { format_ident!("OpenAi") } else { variant(&dialect) };
                quote!(::toolwright_core::StreamDialect::#dialect)
            }));
            let extras = extras(route, arguments);
            let stand_in = option(note);
            quote! {
                ::toolwright_core::Binding::Http(::toolwright_core::HttpBinding {
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
                })
            }
        }
    }
}

/// What only some bindings have, and the plain one for the others.
fn extras(route: &RouteAttribute, arguments: &[Argument]) -> TokenStream {
    let hidden = arguments.iter().any(|argument| argument.hidden.is_some()).then(|| {
        let hidden = hidden(arguments);
        quote!(hidden: #hidden,)
    });
    let project = route.project.as_ref().map(|filter| {
        let filter = option(Some(quote!(#filter)));
        quote!(project: #filter,)
    });
    let wanted = arguments.iter().find(|argument| argument.place == Place::Paging);
    let pages = route.paginate.as_ref().zip(wanted).map(|(paginate, wanted)| {
        let paginate = option(Some(paginate::value(paginate, &wanted.name)));
        quote!(paginate: #paginate,)
    });
    let is_full = hidden.is_some() && project.is_some() && pages.is_some();
    let others = (!is_full).then(|| quote!(..::toolwright_core::HttpBinding::PLAIN));
    quote!(#hidden #project #pages #others)
}

fn hidden(arguments: &[Argument]) -> TokenStream {
    let rows = arguments.iter().filter_map(|argument| {
        let name = &argument.name;
        let value = match argument.hidden.as_ref()? {
            HiddenValue::Constant(text) => quote!(Constant(#text)),
            HiddenValue::Setting { key, schema } => quote!(Setting { key: #key, schema: #schema }),
        };
        Some(quote!(::toolwright_core::Hidden { argument: #name, value: ::toolwright_core::HiddenValue::#value }))
    });
    quote!(&[#(#rows),*])
}

fn parameter(argument: &Argument) -> TokenStream {
    let location = match argument.place {
        Place::Path => quote!(Path),
        Place::Header => quote!(Header),
        Place::Cookie => quote!(Cookie),
        _ => quote!(Query),
    };
    let common = common(argument);
    quote!(::toolwright_core::Parameter { location: ::toolwright_core::Location::#location, #common })
}

fn body(route: &RouteAttribute, arguments: &[Argument]) -> TokenStream {
    if arguments.iter().any(|argument| argument.place == Place::Member) {
        return body::object(route, arguments);
    }
    match arguments.iter().find(|argument| argument.place == Place::ContentType) {
        Some(choice) => body::choice(choice, route, arguments),
        None => first_body(route, arguments),
    }
}

/// The one body, or the first of several.
fn first_body(route: &RouteAttribute, arguments: &[Argument]) -> TokenStream {
    if let Some(body) = arguments.iter().find(|argument| argument.place == Place::Body) {
        return body::whole(body);
    }
    let fields: Vec<TokenStream> =
        arguments.iter().filter(|argument| argument.place.is_form()).map(form_field).collect();
    let extra = arguments.iter().find(|argument| argument.place == Place::Extra).map(|argument| &argument.name);
    if fields.is_empty() && extra.is_none() {
        return quote!(::toolwright_core::Body::None);
    }
    let is_urlencoded = arguments.iter().any(|argument| argument.place == Place::Form || argument.urlencoded);
    let extra = option(extra.map(|name| quote!(#name)));
    if is_urlencoded {
        return quote!(::toolwright_core::Body::Form { fields: &[#(#fields),*], extra: #extra });
    }
    body::multipart(route, arguments, &fields, &extra)
}

fn form_field(argument: &Argument) -> TokenStream {
    let kind = if argument.place == Place::File { quote!(File) } else { quote!(Value) };
    let common = common(argument);
    let content_type = option(argument.content_type.as_ref().map(|media_type| quote!(#media_type)));
    quote! {
        ::toolwright_core::Field {
            kind: ::toolwright_core::FieldKind::#kind,
            content_type: #content_type,
            #common
        }
    }
}

/// What parameters and form fields share. The defaults of style and explode are OpenAPI 3.2's (section 4.12.2.2).
fn common(argument: &Argument) -> TokenStream {
    let Argument { name, wire, reserved, .. } = argument;
    let default = if matches!(argument.place, Place::Path | Place::Header) { "simple" } else { "form" };
    let style = argument.style.as_ref().map_or_else(|| default.to_owned(), ToString::to_string);
    let explode = argument.explode.as_ref().map_or(matches!(style.as_str(), "form" | "cookie"), |flag| flag.value);
    let style = variant(&style);
    let (from, to): (Vec<&LitStr>, Vec<&LitStr>) = argument.send_as.iter().map(|(from, to)| (from, to)).unzip();
    quote! {
        argument: #name,
        wire: #wire,
        style: ::toolwright_core::Style::#style,
        explode: #explode,
        reserved: #reserved,
        send_as: &[#((#from, #to)),*]
    }
}

fn method(token: &LitStr) -> TokenStream {
    let known = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"];
    match known.contains(&token.value().as_str()) {
        true => {
            let name = variant(&token.value().to_lowercase());
            quote!(::toolwright_core::Method::#name)
        }
        false => quote!(::toolwright_core::Method::Other(#token)),
    }
}

/// `read_only` as `ReadOnly`.
fn variant(name: &str) -> syn::Ident {
    let camel: String = name
        .split('_')
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters.collect::<Vec<_>>())
        })
        .collect();
    format_ident!("{camel}")
}

fn included(path: &LitStr) -> TokenStream {
    quote!(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", #path)))
}

pub(crate) fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}
