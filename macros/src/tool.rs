//! `#[derive(Tool)]`: read the attributes, check them against each other, write the row.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::{Data, DeriveInput, Fields};

use crate::{
    attribute::{self, RouteAttribute, RouteKind},
    field::{self, Argument, Place},
    fold::Errors,
    hidden, row,
};

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let owner = input.ident.span();
    let tool = errors.keep(attribute::tool(&input.attrs, owner));
    let route = errors.keep(attribute::route(&input.attrs, owner));
    let search = errors.keep(attribute::search(&input.attrs));
    let mut arguments = arguments(input, &mut errors);
    arguments.extend(hidden::arguments(&input.attrs, &mut errors));
    if let Some(route) = &route {
        check_path(route, &arguments, &mut errors);
        check_places(route, &arguments, &mut errors);
    }
    let documentation = attribute::documentation(&input.attrs);
    if documentation.is_empty() && tool.as_ref().is_some_and(|tool| tool.description.is_none()) {
        errors.push(syn::Error::new(owner, "a tool needs a doc comment: models read it as the tool's description"));
    }
    let parts = tool.zip(route).zip(search);
    let ((tool, route), search) = errors.finish(parts)?;
    row::emit(input, &row::Parts { tool, route, search, arguments, documentation })
}

fn arguments(input: &DeriveInput, errors: &mut Errors) -> Vec<Argument> {
    let Data::Struct(data) = &input.data else {
        errors.push(syn::Error::new(input.ident.span(), "a tool is a struct"));
        return Vec::new();
    };
    match &data.fields {
        Fields::Named(fields) => fields.named.iter().filter_map(|field| errors.keep(field::argument(field))).collect(),
        Fields::Unit => {
            errors.push(syn::Error::new(input.ident.span(), "write `{}`: a tool without arguments is an empty object"));
            Vec::new()
        }
        Fields::Unnamed(_) => {
            errors.push(syn::Error::new(input.ident.span(), "a tool's fields have names"));
            Vec::new()
        }
    }
}

/// Every variable of the path has a field, and every `#[segment]` field a variable.
fn check_path(route: &RouteAttribute, arguments: &[Argument], errors: &mut Errors) {
    let path = route.path.value();
    // A query behind the path is sent as it stands.
    let template = path.split(['?', '#']).next().unwrap_or_default();
    let variables: BTreeSet<&str> =
        template.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name)).collect();
    let bound = |name: &str| arguments.iter().any(|argument| argument.place == Place::Path && argument.wire == name);
    for variable in variables.iter().filter(|name| !bound(name)) {
        let message = format!("the path has {{{variable}}}, and no #[segment] field is written there");
        errors.push(syn::Error::new(route.path.span(), message));
    }
    for argument in arguments.iter().filter(|argument| argument.place == Place::Path) {
        if !variables.contains(argument.wire.as_str()) {
            let message = format!("the path has no {{{}}}", argument.wire);
            errors.push(syn::Error::new(argument.span, message));
        }
    }
}

/// Members make a body by themselves, and only they need `body` and `optional_body`.
fn members(route: &RouteAttribute, arguments: &[Argument], errors: &mut Errors) {
    let is_other = |place: Place| {
        matches!(place, Place::Body | Place::Extra | Place::Alternative | Place::ContentType) || place.is_form()
    };
    let first = arguments.iter().find(|argument| argument.place == Place::Member);
    let other = arguments.iter().find(|argument| is_other(argument.place));
    match (first, other) {
        (Some(_), Some(other)) => {
            errors.push(syn::Error::new(other.span, "a request has #[member] fields or another body, not both"));
        }
        (None, _) if route.body.is_some() || route.optional_body.is_some() => {
            let message = "`body` and `optional_body` speak of #[member] fields, and there is none";
            errors.push(syn::Error::new(route.span, message));
        }
        _ => {}
    }
    let styled =
        |argument: &&Argument| argument.style.is_some() || argument.explode.is_some() || !argument.send_as.is_empty();
    for argument in arguments.iter().filter(|argument| argument.place == Place::Member).filter(styled) {
        errors.push(syn::Error::new(argument.span, "a #[member] is sent as JSON; it takes `wire` and `required`"));
    }
}

/// Pages are followed where a `#[paging]` field says how many items are wanted.
fn paging(route: &RouteAttribute, arguments: &[Argument], errors: &mut Errors) {
    let mut fields = arguments.iter().filter(|argument| argument.place == Place::Paging);
    match (&route.paginate, fields.next()) {
        (Some(paginate), None) => {
            let message = "`paginate` needs a #[paging] field, which says how many items are wanted";
            errors.push(syn::Error::new(paginate.span, message));
        }
        (None, Some(field)) if route.kind == RouteKind::Http => {
            errors.push(syn::Error::new(field.span, "a #[paging] field needs `paginate(..)` of the route"));
        }
        _ => {}
    }
    if let Some(second) = fields.next() {
        errors.push(syn::Error::new(second.span, "one field says how many items are wanted"));
    }
}

/// One kind of body, exchange arguments on WebSockets only, names that differ.
fn check_places(route: &RouteAttribute, arguments: &[Argument], errors: &mut Errors) {
    let bodies = arguments.iter().filter(|argument| argument.place == Place::Body);
    for second in bodies.skip(1) {
        errors.push(syn::Error::new(second.span, "a request has one body"));
    }
    let has = |wanted: fn(Place) -> bool| arguments.iter().any(|argument| wanted(argument.place));
    if has(|place| place == Place::Body) && has(Place::is_form) {
        errors.push(syn::Error::new(route.span, "a request has a #[body] or form fields, not both"));
    }
    members(route, arguments, errors);
    paging(route, arguments, errors);
    if has(|place| place == Place::Form) && has(|place| matches!(place, Place::Part | Place::File)) {
        errors.push(syn::Error::new(route.span, "a form is #[form] fields, or #[part] and #[file] fields, not both"));
    }
    let is_part =
        |name: &str| arguments.iter().any(|it| matches!(it.place, Place::Part | Place::File) && it.wire == name);
    for argument in arguments {
        if argument.part.as_ref().is_some_and(|part| !is_part(&part.value())) {
            errors.push(syn::Error::new(argument.span, "no #[part] or #[file] field has this name on the wire"));
        }
    }
    if has(|place| place == Place::Alternative) != has(|place| place == Place::ContentType) {
        let message = "#[alternative] bodies need one #[content_type] field that chooses, and it needs them";
        errors.push(syn::Error::new(route.span, message));
    }
    for argument in arguments {
        let place = argument.place;
        let fits = match route.kind {
            RouteKind::Http => !matches!(place, Place::Exchange | Place::Input),
            RouteKind::WebSocket => place == Place::Exchange || place.is_parameter(),
            RouteKind::NoRoute => place != Place::Input,
            RouteKind::Native | RouteKind::Expression | RouteKind::Steps | RouteKind::Linked(_) => {
                place == Place::Input
            }
        };
        if !fits {
            errors.push(syn::Error::new(argument.span, "this kind of route has no such place"));
        }
    }
    let mut names = BTreeSet::new();
    for argument in arguments {
        if !names.insert(argument.name.as_str()) {
            errors.push(syn::Error::new(argument.span, format!("two arguments are named `{}`", argument.name)));
        }
    }
}
