//! Bodies that are one argument or an object of arguments, and the choice among several bodies.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use super::{first_body, option, variant};
use crate::attribute::RouteAttribute;
use crate::field::{Argument, FormField, Place};

const MULTIPART: &str = "multipart/form-data";
const URLENCODED: &str = "application/x-www-form-urlencoded";

/// One argument as the whole body.
pub(super) fn whole(body: &Argument) -> TokenStream {
    let (name, media_type) = (&body.name, media_type(body));
    let kind = if is_json(&media_type) { quote!(Json) } else { quote!(Raw) };
    quote!(::toolwright_core::Body::#kind { argument: #name, media_type: #media_type })
}

/// A JSON object, each of whose members is an argument.
pub(super) fn object(route: &RouteAttribute, arguments: &[Argument]) -> TokenStream {
    let media_type = route.body.as_ref().map_or_else(|| "application/json".to_owned(), LitStr::value);
    let required = !route.optional_body.as_ref().is_some_and(|flag| flag.value);
    let members = arguments.iter().filter(|argument| argument.place == Place::Member).map(member);
    quote! {
        ::toolwright_core::Body::Object { media_type: #media_type, required: #required, members: &[#(#members),*] }
    }
}

fn member(argument: &Argument) -> TokenStream {
    let Argument { name, wire, required, .. } = argument;
    quote!(::toolwright_core::Member { argument: #name, wire: #wire, required: #required })
}

fn media_type(body: &Argument) -> String {
    body.media_type.as_ref().map_or_else(|| "application/json".to_owned(), LitStr::value)
}

/// A media type in lower case, without parameters.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    matches!(essence.as_str(), "application/json" | "text/json") || essence.ends_with("+json")
}

fn multipart_type(route: &RouteAttribute) -> String {
    route.multipart.as_ref().map_or_else(|| MULTIPART.to_owned(), LitStr::value)
}

/// A multipart body: its fields, and the headers of their parts.
pub(super) fn multipart(
    route: &RouteAttribute,
    arguments: &[Argument],
    fields: &[TokenStream],
    extra: &TokenStream,
) -> TokenStream {
    let media_type = multipart_type(route);
    let header = |part: &LitStr, wire: &str, value: TokenStream| quote!(::toolwright_core::PartHeader { part: #part, wire: #wire, value: ::toolwright_core::PartHeaderValue::#value });
    let fixed = route.part_headers.iter().filter_map(|listed| match listed.as_slice() {
        [part, wire, value] => Some(header(part, &wire.value(), quote!(Fixed(#value)))),
        _ => None,
    });
    let chosen = arguments.iter().filter_map(|argument| {
        let Argument { name, wire, part, explode, .. } = argument;
        let explode = explode.as_ref().is_some_and(|flag| flag.value);
        Some(header(part.as_ref()?, wire, quote!(Argument { name: #name, explode: #explode })))
    });
    let headers = fixed.chain(chosen);
    quote! {
        ::toolwright_core::Body::Multipart {
            media_type: #media_type,
            fields: &[#(#fields),*],
            headers: &[#(#headers),*],
            extra: #extra,
        }
    }
}

/// The first body and its alternatives.
pub(super) fn choice(choice: &Argument, route: &RouteAttribute, arguments: &[Argument]) -> TokenStream {
    let name = &choice.name;
    let others = arguments.iter().filter(|argument| argument.place == Place::Alternative).map(alternative);
    let first = first(route, arguments);
    quote! {
        ::toolwright_core::Body::Choice { argument: #name, alternatives: &[#first, #(#others),*] }
    }
}

fn first(route: &RouteAttribute, arguments: &[Argument]) -> TokenStream {
    let is_of_body = |argument: &&Argument| argument.place == Place::Body || argument.place.is_form();
    let required = arguments.iter().filter(is_of_body).filter(|argument| argument.required).map(|it| &it.name);
    let whole = arguments.iter().find(|argument| argument.place == Place::Body).map(media_type);
    let has_fields = arguments.iter().any(|argument| argument.place == Place::Form || argument.urlencoded);
    let media_type = whole.unwrap_or_else(|| if has_fields { URLENCODED.to_owned() } else { multipart_type(route) });
    let body = first_body(route, arguments);
    quote! {
        ::toolwright_core::Alternative {
            media_type: #media_type,
            inside: ::core::option::Option::None,
            required: &[#(#required),*],
            body: #body,
        }
    }
}

fn alternative(argument: &Argument) -> TokenStream {
    let (name, media_type) = (&argument.name, media_type(argument));
    let fields = argument.fields.iter().map(form_field);
    let (inside, body) = match essence(&media_type).as_str() {
        parts if parts.starts_with("multipart/") => {
            let none = option(None);
            let body = quote! {
                ::toolwright_core::Body::Multipart {
                    media_type: #parts,
                    fields: &[#(#fields),*],
                    headers: &[],
                    extra: #none,
                }
            };
            (true, body)
        }
        URLENCODED => {
            let none = option(None);
            (true, quote!(::toolwright_core::Body::Form { fields: &[#(#fields),*], extra: #none }))
        }
        _ => (false, whole(argument)),
    };
    let inside = option(inside.then(|| quote!(#name)));
    let required = argument.required.then_some(name).into_iter();
    quote! {
        ::toolwright_core::Alternative {
            media_type: #media_type,
            inside: #inside,
            required: &[#(#required),*],
            body: #body,
        }
    }
}

fn form_field(field: &FormField) -> TokenStream {
    let FormField { wire, file, style, explode, content_type, reserved } = field;
    let kind = if *file { quote!(File) } else { quote!(Value) };
    let style = style.as_ref().map_or_else(|| "form".to_owned(), ToString::to_string);
    let explode = explode.as_ref().map_or(style == "form", |flag| flag.value);
    let style = variant(&style);
    let content_type = option(content_type.as_ref().map(|media_type| quote!(#media_type)));
    quote! {
        ::toolwright_core::Field {
            argument: #wire,
            wire: #wire,
            kind: ::toolwright_core::FieldKind::#kind,
            style: ::toolwright_core::Style::#style,
            explode: #explode,
            reserved: #reserved,
            content_type: #content_type,
            send_as: &[],
        }
    }
}
