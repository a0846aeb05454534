//! Path, query, header and cookie parameters.

use super::text::{self, Sent, Shape};
use super::{Call, Report, schema};
use crate::document::{Operation, Parameter, Place, Style};
use crate::violation::{Finding, Kind};
use serde_json::Value;

/// Headers that OpenAPI leaves out of parameters (OpenAPI 3.1 section 4.8.12.1).
const NOT_PARAMETERS: [&str; 3] = ["accept", "content-type", "authorization"];

pub(super) fn check(root: &Value, operation: &Operation, call: &Call, report: &mut Report) {
    for raw in &call.path_values {
        if text::decode(&raw.1).is_empty() {
            report.findings.push(Finding::new(Kind::BadValue, format!("path {}", raw.0), "is empty"));
        }
    }
    let mut pairs: Vec<(String, String, bool)> =
        text::pairs(call.query.as_deref().unwrap_or("")).into_iter().map(|(n, v)| (n, v, false)).collect();
    for parameter in &operation.parameters {
        check_one(root, operation, parameter, call, &mut pairs, report);
    }
    let in_path = operation.template.split('#').next().and_then(|route| route.split_once('?')).map(|(_, query)| query);
    let declared: Vec<(String, String)> = text::pairs(in_path.unwrap_or(""));
    let is_in_path = |name: &str| declared.iter().any(|(declared, _)| declared == name);
    for (name, _, _) in pairs.iter().filter(|(name, _, claimed)| !claimed && !is_in_path(name)) {
        report.findings.push(Finding::new(Kind::Undeclared, format!("query {name}"), "is not declared"));
    }
}

fn check_one(
    root: &Value,
    operation: &Operation,
    parameter: &Parameter,
    call: &Call,
    pairs: &mut [(String, String, bool)],
    report: &mut Report,
) {
    let place = format!("{} {}", parameter.place.word(), parameter.name);
    if parameter.place == Place::Header && NOT_PARAMETERS.contains(&parameter.name.to_ascii_lowercase().as_str()) {
        return;
    }
    let readings = read(root, parameter, call, pairs);
    match readings {
        Err(what) => report.findings.push(Finding::new(Kind::BadValue, place, what)),
        Ok(readings) if readings.is_empty() => {
            // A parameter without a place in its path cannot be sent.
            let has_place =
                parameter.place != Place::Path || operation.template.contains(&format!("{{{}}}", parameter.name));
            if parameter.required && has_place {
                report.findings.push(Finding::new(Kind::Missing, place, "is required"));
            }
        }
        Ok(readings) => report.findings.extend(judge(root, parameter, &place, &readings)),
    }
}

/// One reading for each shape that the schema allows; the value is right when any of them fits.
fn judge(root: &Value, parameter: &Parameter, place: &str, readings: &[Sent]) -> Vec<Finding> {
    let mut first_errors = None;
    for sent in readings {
        let nested = is_nested(root, parameter);
        let read: Result<Value, _> = match (parameter.style, sent) {
            (style, Sent::One(text)) if style == Style::Json || nested => serde_json::from_str(text),
            (_, Sent::Many(texts)) if nested => texts.iter().map(|text| serde_json::from_str::<Value>(text)).collect(),
            _ => Ok(text::to_json(root, &parameter.schema, sent)),
        };
        let value = match read {
            Ok(value) => value,
            Err(error) => return vec![Finding::new(Kind::BadValue, place, format!("is not JSON: {error}"))],
        };
        let errors = schema::check(root, &parameter.schema, &value).errors;
        if errors.is_empty() {
            return Vec::new();
        }
        first_errors.get_or_insert(errors);
    }
    let at = |pointer: &str| if pointer.is_empty() { place.to_owned() } else { format!("{place} {pointer}") };
    first_errors.into_iter().flatten().map(|(pointer, what)| Finding::new(Kind::BadValue, at(&pointer), what)).collect()
}

/// Objects in a list: no style says how they are written, and JSON is what such servers read.
fn is_nested(root: &Value, parameter: &Parameter) -> bool {
    let items = text::part_of(root, &parameter.schema, "items");
    let inner = items.map(|items| text::shapes(root, items)).unwrap_or_default();
    inner.contains(&Shape::Object)
}

fn read(
    root: &Value,
    parameter: &Parameter,
    call: &Call,
    pairs: &mut [(String, String, bool)],
) -> Result<Vec<Sent>, String> {
    let single = |raw: &str, decode: fn(&str) -> String| {
        let shapes =
            if parameter.style == Style::Json { vec![Shape::Scalar] } else { text::shapes(root, &parameter.schema) };
        shapes
            .into_iter()
            .map(|shape| text::read_single(raw, shape, parameter.style, parameter.explode, decode))
            .collect()
    };
    match parameter.place {
        Place::Path => {
            let raw = call.path_values.iter().find(|(name, _)| *name == parameter.name).map(|(_, raw)| raw.as_str());
            raw.map_or(Ok(Vec::new()), |raw| read_path(root, parameter, raw))
        }
        Place::Header => Ok(call
            .header(&parameter.name.to_ascii_lowercase())
            .map(|raw| single(raw, str::to_owned))
            .unwrap_or_default()),
        Place::Cookie => {
            let decode: fn(&str) -> String = if parameter.bare { str::to_owned } else { text::decode };
            Ok(cookie(call, &parameter.name).map(|raw| single(&raw, decode)).unwrap_or_default())
        }
        Place::Query => read_query(root, parameter, pairs),
    }
}

fn read_path(root: &Value, parameter: &Parameter, raw: &str) -> Result<Vec<Sent>, String> {
    let mut readings = Vec::new();
    for shape in text::shapes(root, &parameter.schema) {
        readings.push(match parameter.style {
            Style::Label => {
                read_prefixed(raw, ".", if parameter.explode { '.' } else { ',' }, shape, parameter.explode)?
            }
            Style::Matrix => read_matrix(raw, &parameter.name, shape, parameter.explode)?,
            style => text::read_single(raw, shape, style, parameter.explode, text::decode),
        });
    }
    Ok(readings)
}

fn read_prefixed(raw: &str, prefix: &str, by: char, shape: Shape, explode: bool) -> Result<Sent, String> {
    let rest = raw.strip_prefix(prefix).ok_or_else(|| format!("does not start with `{prefix}`"))?;
    let comma = rest.replace(by, ",");
    Ok(text::read_single(&comma, shape, Style::Joined { by: ',', decoded_first: false }, explode, text::decode))
}

fn read_matrix(raw: &str, name: &str, shape: Shape, explode: bool) -> Result<Sent, String> {
    let bare = raw.strip_prefix(';').ok_or("does not start with `;`")?;
    if shape == Shape::Object && explode {
        return read_prefixed(raw, ";", ';', shape, true);
    }
    let values: Vec<&str> =
        bare.split(';').map(|item| item.strip_prefix(name).and_then(|v| v.strip_prefix('=')).unwrap_or(item)).collect();
    let comma = Style::Joined { by: ',', decoded_first: false };
    Ok(text::read_single(&values.join(","), shape, comma, false, text::decode))
}

fn cookie(call: &Call, name: &str) -> Option<String> {
    let all = call.header("cookie")?;
    all.split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(n, _)| *n == name)
        .map(|(_, value)| value.to_owned())
}

fn read_query(root: &Value, parameter: &Parameter, pairs: &mut [(String, String, bool)]) -> Result<Vec<Sent>, String> {
    let shapes = text::shapes(root, &parameter.schema);
    if parameter.style == Style::Deep {
        return Ok(read_deep(&parameter.name, pairs).into_iter().collect());
    }
    if parameter.style == Style::Repeated && shapes.contains(&Shape::Object) {
        let spread = read_spread(root, &parameter.schema, pairs);
        if spread.is_some() {
            return Ok(spread.into_iter().collect());
        }
    }
    let mut raws = Vec::new();
    for pair in pairs.iter_mut().filter(|(name, _, _)| *name == parameter.name) {
        pair.2 = true;
        raws.push(pair.1.clone());
    }
    let Some(first) = raws.first() else { return Ok(Vec::new()) };
    let repeats = parameter.style == Style::Repeated && shapes.contains(&Shape::Array);
    if raws.len() > 1 && !repeats {
        return Err(format!("is sent {} times, but is declared to come once", raws.len()));
    }
    let is_joined = matches!(parameter.style, Style::Joined { .. });
    if parameter.style == Style::Json || is_joined && is_nested(root, parameter) {
        return Ok(vec![Sent::One(text::decode_form(first))]);
    }
    let single = |shape: &Shape| match shape {
        Shape::Array if repeats => Sent::Many(raws.iter().map(|raw| text::decode_form(raw)).collect()),
        shape => text::read_single(first, *shape, parameter.style, false, text::decode_form),
    };
    Ok(shapes.iter().map(single).collect())
}

fn read_deep(name: &str, pairs: &mut [(String, String, bool)]) -> Option<Sent> {
    let mut fields = Vec::new();
    for pair in pairs.iter_mut() {
        let inner =
            pair.0.strip_prefix(name).and_then(|rest| rest.strip_prefix('[')).and_then(|rest| rest.strip_suffix(']'));
        if let Some(inner) = inner {
            fields.push((inner.to_owned(), text::decode_form(&pair.1)));
            pair.2 = true;
        }
    }
    (!fields.is_empty()).then_some(Sent::Fields(fields))
}

/// An exploded object: its properties are pairs of their own; with open properties it takes every pair that is left.
fn read_spread(root: &Value, schema: &Value, pairs: &mut [(String, String, bool)]) -> Option<Sent> {
    let listed = text::part_of(root, schema, "properties").and_then(Value::as_object);
    let open = text::part_of(root, schema, "additionalProperties").is_some_and(|a| a != &Value::Bool(false));
    let mut fields = Vec::new();
    for pair in pairs.iter_mut().filter(|(_, _, claimed)| !claimed) {
        if open || listed.is_some_and(|l| l.contains_key(&pair.0)) {
            fields.push((pair.0.clone(), text::decode_form(&pair.1)));
            pair.2 = true;
        }
    }
    (!fields.is_empty()).then_some(Sent::Fields(fields))
}
