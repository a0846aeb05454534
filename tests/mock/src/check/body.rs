//! Bodies: JSON, forms and parts.

use super::text::{self, Sent, Shape};
use super::{Call, Report, essence, schema};
use crate::document::{Body, Field, FieldKind, Form, Media, Operation, Style};
use crate::record::Part;
use crate::violation::{Finding, Kind};
use bytes::Bytes;
use serde_json::Value;

pub(super) fn check(root: &Value, operation: &Operation, call: &Call, report: &mut Report) {
    let Some(body) = &operation.body else {
        if !call.body.is_empty() {
            report.findings.push(Finding::new(Kind::BodyPresence, "body", "is sent, but the operation declares none"));
        }
        return;
    };
    if call.body.is_empty() {
        if body.required {
            report.findings.push(Finding::new(Kind::BodyPresence, "body", "is required"));
        }
        return;
    }
    match declared_media(body, call) {
        Ok(media) => check_media(root, media, call, report),
        Err(finding) => report.findings.push(finding),
    }
}

/// Exact name before `type/*` before `*/*`.
fn declared_media<'a>(body: &'a Body, call: &Call) -> Result<&'a Media, Finding> {
    let declared = || body.media.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(sent) = call.media_type().filter(|m| !m.is_empty()) else {
        return Err(Finding::new(
            Kind::ContentType,
            "header content-type",
            format!("is missing; declared: {}", declared()),
        ));
    };
    let family = sent.split_once('/').map(|(top, _)| format!("{top}/*")).unwrap_or_default();
    let by_name = |wanted: &str| body.media.iter().find(|m| essence(&m.name) == wanted);
    by_name(&sent).or_else(|| by_name(&family)).or_else(|| by_name("*/*")).ok_or_else(|| {
        Finding::new(Kind::ContentType, "header content-type", format!("is {sent}; declared: {}", declared()))
    })
}

pub(crate) fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type == "text/json" || media_type.ends_with("+json")
}

fn check_media(root: &Value, media: &Media, call: &Call, report: &mut Report) {
    let sent = call.media_type().unwrap_or_default();
    match &media.form {
        Some(form) if sent.starts_with("multipart/") => match &call.parts {
            Ok(parts) => check_form(root, form, parts.clone(), true, report),
            Err(why) => report.findings.push(Finding::new(Kind::BadBody, "body", format!("is not multipart: {why}"))),
        },
        Some(form) => check_form(root, form, urlencoded_fields(&call.body), false, report),
        None if is_json(&sent) => check_json(root, &media.schema, call, report),
        None => {}
    }
}

fn check_json(root: &Value, wanted: &Value, call: &Call, report: &mut Report) {
    match serde_json::from_slice::<Value>(&call.body) {
        Err(error) => report.findings.push(Finding::new(Kind::BadBody, "body", format!("is not JSON: {error}"))),
        Ok(value) => {
            let found = schema::check(root, wanted, &value);
            let finding =
                |(at, what): (String, String)| Finding::new(Kind::BadBody, format!("body {at}").trim_end(), what);
            report.findings.extend(found.errors.into_iter().map(finding));
            report.extra_fields.extend(found.extra);
        }
    }
}

fn urlencoded_fields(body: &Bytes) -> Vec<Part> {
    let text = String::from_utf8_lossy(body);
    let part = |(name, raw): (String, String)| Part {
        name,
        filename: None,
        content_type: None,
        headers: Vec::new(),
        bytes: Bytes::from(text::decode_form(&raw)),
    };
    text::pairs(&text).into_iter().map(part).collect()
}

fn check_form(root: &Value, form: &Form, parts: Vec<Part>, multipart: bool, report: &mut Report) {
    for field in &form.fields {
        let own: Vec<&Part> = parts.iter().filter(|part| belongs(field, &part.name)).collect();
        let place = format!("{} {}", if multipart { "part" } else { "form" }, field.name);
        if own.is_empty() {
            if field.required {
                report.findings.push(Finding::new(Kind::Missing, place, "is required"));
            }
            continue;
        }
        report.findings.extend(check_field(root, field, &own, &place));
    }
    for part in &parts {
        if !form.open && !form.fields.iter().any(|field| belongs(field, &part.name)) {
            report.findings.push(Finding::new(Kind::Undeclared, format!("part {}", part.name), "is not declared"));
        }
    }
}

fn belongs(field: &Field, name: &str) -> bool {
    if field.keyed {
        name.strip_prefix(field.name.as_str()).is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
    } else {
        name == field.name
    }
}

fn check_field(root: &Value, field: &Field, own: &[&Part], place: &str) -> Vec<Finding> {
    let mut found = check_content(root, field, own, place);
    found.extend(own.iter().flat_map(|part| check_headers(root, field, part, place)));
    found
}

/// Headers beyond those of every part (`headers` of an Encoding Object).
fn check_headers(root: &Value, field: &Field, part: &Part, place: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for header in &field.headers {
        let place = format!("{place} header {}", header.name);
        let sent = part.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(&header.name));
        match sent {
            None if header.required => found.push(Finding::new(Kind::Missing, place, "is required")),
            None => {}
            Some((_, text)) => {
                let style = Style::Joined { by: ',', decoded_first: false };
                let readings = text::shapes(root, &header.schema).into_iter().map(|shape| {
                    let sent = text::read_single(text, shape, style, header.explode, str::to_owned);
                    schema_findings(root, &header.schema, &text::to_json(root, &header.schema, &sent), &place)
                });
                found.extend(readings.min_by_key(Vec::len).unwrap_or_default());
            }
        }
    }
    found
}

fn check_content(root: &Value, field: &Field, own: &[&Part], place: &str) -> Vec<Finding> {
    match &field.kind {
        FieldKind::File { many } => check_files(own, *many, place),
        FieldKind::Json { schema } => own.iter().flat_map(|part| check_json_part(root, schema, part, place)).collect(),
        FieldKind::Text { schema, style } => check_texts(root, schema, *style, own, place, field.keyed),
    }
}

fn check_files(own: &[&Part], many: bool, place: &str) -> Vec<Finding> {
    let nameless = own.iter().filter(|part| part.filename.as_deref().is_none_or(str::is_empty));
    let mut found: Vec<Finding> =
        nameless.map(|_| Finding::new(Kind::BadValue, place, "is a file, but has no file name")).collect();
    if own.len() > 1 && !many {
        found.push(Finding::new(Kind::BadValue, place, format!("is sent {} times", own.len())));
    }
    found
}

fn check_json_part(root: &Value, wanted: &Value, part: &Part, place: &str) -> Vec<Finding> {
    match serde_json::from_slice::<Value>(&part.bytes) {
        Err(error) => vec![Finding::new(Kind::BadValue, place, format!("is not JSON: {error}"))],
        Ok(value) => schema_findings(root, wanted, &value, place),
    }
}

fn check_texts(root: &Value, wanted: &Value, style: Style, own: &[&Part], place: &str, keyed: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    if own.iter().any(|part| part.filename.is_some()) {
        found.push(Finding::new(Kind::BadValue, place, "is a plain field, but is sent as a file"));
    }
    let texts: Vec<String> = own.iter().map(|part| String::from_utf8_lossy(&part.bytes).into_owned()).collect();
    if keyed {
        found.extend(
            texts
                .into_iter()
                .flat_map(|text| schema_findings(root, wanted, &text::to_json(root, wanted, &Sent::One(text)), place)),
        );
        return found;
    }
    let shapes = text::shapes(root, wanted);
    let is_list = shapes.contains(&Shape::Array);
    let sent = match (is_list, style, texts.as_slice()) {
        (false, Style::Joined { .. }, [one]) if shapes.contains(&Shape::Object) => {
            text::read_single(one, Shape::Object, style, false, str::to_owned)
        }
        (true, Style::Repeated, _) => Sent::Many(texts),
        (true, style, [one]) => Sent::Many(text::split(one, style, str::to_owned)),
        (false, _, [one]) => Sent::One(one.clone()),
        _ => {
            found.push(Finding::new(
                Kind::BadValue,
                place,
                format!("is sent {} times, but is declared to come once", texts.len()),
            ));
            return found;
        }
    };
    found.extend(schema_findings(root, wanted, &text::to_json(root, wanted, &sent), place));
    found
}

fn schema_findings(root: &Value, wanted: &Value, value: &Value, place: &str) -> Vec<Finding> {
    let errors = schema::check(root, wanted, value).errors;
    errors
        .into_iter()
        .map(|(at, what)| Finding::new(Kind::BadValue, format!("{place} {at}").trim_end(), what))
        .collect()
}
