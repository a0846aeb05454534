//! Headers of the parts of a multipart body: those with one value are sent by themselves, the others are arguments.

use super::super::name::{MAX_ARGUMENT, cut};
use super::spelt_out;
use crate::diagnostic::{Diagnostic, Sink};
use crate::model::Model;
use crate::model::operation::{BodyKind, PartHeader, RequestBody};
use crate::model::schema::Schema;
use crate::model::tool::{Argument, Multipart, Role};

/// An argument for each header that the caller can choose, named after the field and the header.
pub(super) fn arguments(body: &RequestBody, fields: &[Argument]) -> Vec<Argument> {
    let sent = fields.iter().filter_map(|field| Some((field, body.encoding.get(&field.wire_name)?)));
    let headers = sent.flat_map(|(field, encoding)| encoding.headers.iter().map(move |header| (field, header)));
    headers
        .filter(|(_, header)| fixed(&header.schema).is_none())
        .map(|(field, header)| argument(field, header))
        .collect()
}

fn argument(field: &Argument, header: &PartHeader) -> Argument {
    let part = &field.wire_name;
    let text = format!("Header {} of the part `{part}`.", header.wire_name);
    Argument {
        origin: header.origin.clone(),
        name: cut(&format!("{}_{}", spelt_out(part, "part"), spelt_out(&header.wire_name, "header")), MAX_ARGUMENT),
        wire_name: header.wire_name.clone(),
        role: Role::PartHeader { part: part.clone(), explode: header.explode },
        required: header.required && field.required && header.schema.default.is_none(),
        needed_by_body: false,
        shown: true,
        description: Some(header.description.clone().unwrap_or(text)),
        schema: header.schema.clone(),
        send_as: Vec::new(),
    }
}

/// Warns of headers whose part the schema does not declare: nothing can be sent with them.
pub(super) fn strays(model: &Model, body: &RequestBody, is_field: impl Fn(&str) -> bool, sink: &mut Sink) {
    for (part, encoding) in body.encoding.iter().filter(|(part, _)| !is_field(part)) {
        let Some(header) = encoding.headers.first() else { continue };
        let message = format!("the header {} is for a part `{part}`, which the body does not have", header.wire_name);
        let place = model.loaded.document.place(&header.origin);
        let help = "name a property of the body's schema under `encoding`, or add the property, in an overlay";
        sink.push(Diagnostic::warning("part-header", message).at(place).help(help));
    }
}

/// What a multipart body says beyond its fields.
pub(super) fn multipart(body: &RequestBody, arguments: &[&Argument]) -> Option<Multipart> {
    if body.kind != BodyKind::Multipart {
        return None;
    }
    let is_sent = |part: &str| {
        arguments.iter().any(|argument| argument.wire_name == part && matches!(argument.role, Role::Field { .. }))
    };
    let sent = body.encoding.iter().filter(|(part, _)| is_sent(part));
    let headers = sent.flat_map(|(part, encoding)| {
        encoding
            .headers
            .iter()
            .filter_map(|header| Some((part.clone(), header.wire_name.clone(), fixed(&header.schema)?)))
    });
    Some(Multipart { headers: headers.collect(), media_type: essence(&body.media_type) })
}

/// A form that is one argument has a property for each field, and none for the headers of its parts.
pub(super) fn without_headers(model: &Model, body: &RequestBody, sink: &mut Sink) {
    for header in body.encoding.values().flat_map(|encoding| &encoding.headers) {
        let message =
            format!("the header {} of a part is not sent where a form is one of several bodies", header.wire_name);
        let place = model.loaded.document.place(&header.origin);
        let help = "remove the other bodies of the operation in an overlay, or the header";
        sink.push(Diagnostic::warning("part-header", message).at(place).help(help));
    }
}

/// The one value that a schema allows, as text.
fn fixed(schema: &Schema) -> Option<String> {
    let value = match schema.enumeration.as_slice() {
        [only] => only,
        _ => schema.constant.as_ref()?,
    };
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// A media type in lower case, without parameters.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
