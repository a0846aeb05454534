//! The body of a row: one argument, an object of arguments, a form, or a choice among several. `#[derive(Tool)]` makes the same of the attributes
//! of a struct.

use proc_macro2::TokenStream;
use quote::quote;

use super::{option, style, written};
use crate::model::tool::{AlternativeField, Argument, FormKind, HttpBinding, ObjectBody, Role, Tool};

pub(super) fn body(tool: &Tool, http: &HttpBinding) -> TokenStream {
    if let Some(object) = &http.object {
        return self::object(object, tool);
    }
    match tool.arguments.iter().find(|argument| argument.role == Role::ContentType) {
        Some(choice) => self::choice(choice, tool, http),
        None => first_body(tool, http),
    }
}

/// The one body, or the first of several.
fn first_body(tool: &Tool, http: &HttpBinding) -> TokenStream {
    for argument in &tool.arguments {
        if let Role::Body { media_type, .. } = &argument.role {
            return whole(&argument.name, media_type);
        }
    }
    let fields: Vec<TokenStream> = tool.sent().filter_map(field).collect();
    let extra = tool.arguments.iter().find(|argument| argument.role == Role::Extra).map(|argument| &argument.name);
    match http.form {
        Some(FormKind::Multipart) if !fields.is_empty() || extra.is_some() => multipart(tool, http, &fields, extra),
        Some(FormKind::Urlencoded) if !fields.is_empty() || extra.is_some() => urlencoded(&fields, extra),
        _ => quote!(Body::None),
    }
}

/// A JSON object, each of whose members is an argument.
fn object(object: &ObjectBody, tool: &Tool) -> TokenStream {
    let ObjectBody { media_type, required } = object;
    let members = tool.sent().filter(|argument| argument.role == Role::Member).map(|argument| {
        let Argument { name, wire_name, needed_by_body, .. } = argument;
        quote!(Member { argument: #name, wire: #wire_name, required: #needed_by_body })
    });
    quote!(Body::Object { media_type: #media_type, required: #required, members: &[#(#members),*] })
}

/// One argument as the whole body.
fn whole(name: &str, media_type: &str) -> TokenStream {
    match is_json(media_type) {
        true => quote!(Body::Json { argument: #name, media_type: #media_type }),
        false => quote!(Body::Raw { argument: #name, media_type: #media_type }),
    }
}

/// Whether a value is written as one JSON text. JSON lines are not: they are sent as they are.
fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    matches!(essence.as_str(), "application/json" | "text/json") || essence.ends_with("+json")
}

/// A media type in lower case, without parameters.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn urlencoded(fields: &[TokenStream], extra: Option<&String>) -> TokenStream {
    let extra = option(extra.map(|name| quote!(#name)));
    quote!(Body::Form { fields: &[#(#fields),*], extra: #extra })
}

fn multipart(tool: &Tool, http: &HttpBinding, fields: &[TokenStream], extra: Option<&String>) -> TokenStream {
    let extra = option(extra.map(|name| quote!(#name)));
    let media_type = http.multipart.as_ref().map_or(FormKind::Multipart.media_type(), |it| &it.media_type);
    let fixed = http.multipart.iter().flat_map(|multipart| &multipart.headers);
    let fixed = fixed.map(
        |(part, wire, value)| quote!(PartHeader { part: #part, wire: #wire, value: PartHeaderValue::Fixed(#value) }),
    );
    let chosen = tool.arguments.iter().filter_map(|argument| {
        let Role::PartHeader { part, explode } = &argument.role else { return None };
        let Argument { name, wire_name, .. } = argument;
        let value = quote!(PartHeaderValue::Argument { name: #name, explode: #explode });
        Some(quote!(PartHeader { part: #part, wire: #wire_name, value: #value }))
    });
    let headers = fixed.chain(chosen);
    quote! {
        Body::Multipart {
            media_type: #media_type,
            fields: &[#(#fields),*],
            headers: &[#(#headers),*],
            extra: #extra,
        }
    }
}

fn field(argument: &Argument) -> Option<TokenStream> {
    let Role::Field { style, explode, file, content_type, reserved } = &argument.role else { return None };
    let kind = kind(*file);
    let content_type = option(content_type.as_ref().map(|media_type| quote!(#media_type)));
    let written = written(argument, *style, *explode, *reserved);
    Some(quote!(Field { kind: FieldKind::#kind, content_type: #content_type, #written }))
}

fn kind(is_file: bool) -> TokenStream {
    if is_file { quote!(File) } else { quote!(Value) }
}

fn choice(choice: &Argument, tool: &Tool, http: &HttpBinding) -> TokenStream {
    let name = &choice.name;
    let first = first_alternative(tool, http);
    let others = tool.arguments.iter().filter_map(alternative);
    quote!(Body::Choice { argument: #name, alternatives: &[#first, #(#others),*] })
}

fn first_alternative(tool: &Tool, http: &HttpBinding) -> TokenStream {
    let whole = tool.arguments.iter().find_map(|argument| match &argument.role {
        Role::Body { media_type, .. } => Some(media_type.as_str()),
        _ => None,
    });
    let form = || http.form.unwrap_or(FormKind::Multipart).media_type();
    let media_type = whole.or(http.multipart.as_ref().map(|it| it.media_type.as_str())).unwrap_or_else(form);
    let is_of_body = |argument: &&Argument| matches!(argument.role, Role::Body { .. } | Role::Field { .. });
    let of_body = tool.arguments.iter().filter(is_of_body);
    let required = of_body.filter(|argument| argument.needed_by_body).map(|argument| &argument.name);
    let body = first_body(tool, http);
    quote! {
        Alternative { media_type: #media_type, inside: None, required: &[#(#required),*], body: #body }
    }
}

fn alternative(argument: &Argument) -> Option<TokenStream> {
    let Role::Alternative { media_type, fields, .. } = &argument.role else { return None };
    let name = &argument.name;
    let essence = essence(media_type);
    let kind = FormKind::of(&essence);
    let fields: Vec<TokenStream> = fields.iter().map(inner_field).collect();
    let inside = option(kind.map(|_| quote!(#name)));
    let body = match kind {
        None => whole(name, media_type),
        Some(FormKind::Urlencoded) => urlencoded(&fields, None),
        Some(FormKind::Multipart) => quote! {
            Body::Multipart { media_type: #essence, fields: &[#(#fields),*], headers: &[], extra: None }
        },
    };
    let required = argument.needed_by_body.then_some(name).into_iter();
    Some(quote! {
        Alternative { media_type: #media_type, inside: #inside, required: &[#(#required),*], body: #body }
    })
}

/// A field of a form that is one argument.
fn inner_field(field: &AlternativeField) -> TokenStream {
    let AlternativeField { wire_name, style: chosen, explode, file, content_type, reserved } = field;
    let (kind, style) = (kind(*file), style(*chosen));
    let content_type = option(content_type.as_ref().map(|media_type| quote!(#media_type)));
    quote! {
        Field {
            kind: FieldKind::#kind,
            content_type: #content_type,
            argument: #wire_name,
            wire: #wire_name,
            style: Style::#style,
            explode: #explode,
            reserved: #reserved,
            send_as: &[],
        }
    }
}
