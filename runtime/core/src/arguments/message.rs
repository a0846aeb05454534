//! Violations in words that a model can act on.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use super::{
    MOST_VIOLATIONS, Violation, excerpt, push_segment, schema::Schema, shapes, shown, tag::Tag, unknown::closest,
};

/// Adds what `error` means to `violations`: one entry per unknown argument and per violation of the alternative that is
/// meant, else one.
pub(super) fn explain(error: &ValidationError<'_>, root: Schema<'_>, violations: &mut Vec<Violation>) {
    let pointer = error.instance_path().as_str();
    let place = if pointer.is_empty() { "the arguments".to_owned() } else { format!("`{}`", shown(&dotted(pointer))) };
    let input = excerpt(error.instance());
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                violations.push(unexpected_member(name, error, root));
            }
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let mut at = pointer.to_owned();
            push_segment(&mut at, name);
            violations.push(Violation {
                keyword: "required".into(),
                pointer: at,
                message: format!("`{}` is required in {place}", name),
                input: Value::Null,
            });
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context }
            if explain_by_tag(error, context, root, &place, violations) => {}
        kind => violations.push(Violation {
            keyword: kind.keyword().to_owned(),
            pointer: pointer.to_owned(),
            message: match kind {
                Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => no_shape(error, root, &place, &input),
                kind => sentence(kind, &place, &input),
            },
            input,
        }),
    }
}

/// Where a property tells the alternatives of a union apart, its value says what was meant: what is wrong by that
/// alternative, else which values there are. False where there is no such property.
fn explain_by_tag(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    root: Schema<'_>,
    place: &str,
    violations: &mut Vec<Violation>,
) -> bool {
    let alternatives = root.list_at(error.schema_path().as_str());
    let (Some(tag), Some(members)) = (Tag::of(&alternatives), error.instance().as_object()) else { return false };
    let given = members.get(tag.name);
    if let Some(meant) = given.and_then(|given| tag.alternative(given)) {
        let found = context.get(meant).filter(|found| context.len() == alternatives.len() && !found.is_empty());
        let Some(found) = found else { return false };
        found.iter().take(MOST_VIOLATIONS).for_each(|error| explain(error, root, violations));
        return true;
    }
    let mut pointer = error.instance_path().as_str().to_owned();
    push_segment(&mut pointer, tag.name);
    let allowed = shapes::one_of(&tag.allowed());
    let input = given.map_or(Value::Null, excerpt);
    let (keyword, message) = match given {
        None => ("required", format!("`{}` is required in {place}: {allowed}", tag.name)),
        Some(_) => ("enum", format!("`{}` must be {allowed}; {input} was given", shown(&dotted(&pointer)))),
    };
    violations.push(Violation { keyword: keyword.into(), pointer, message, input });
    true
}

fn unexpected_member(name: &str, error: &ValidationError<'_>, root: Schema<'_>) -> Violation {
    let mut pointer = error.instance_path().as_str().to_owned();
    // Inside of a union, only the place of the keyword leads to the alternative.
    let named = root.descend(&pointer).filter(|schema| schema.property_names().next().is_some());
    let schema = named.or_else(|| root.around(error.schema_path().as_str()));
    let given = error.instance().as_object();
    let known: Vec<&str> = schema.into_iter().flat_map(Schema::property_names).collect();
    let absent = known.iter().copied().filter(|known| given.is_none_or(|given| !given.contains_key(*known)));
    let advice = match closest(name, absent) {
        Some(known) => format!("did you mean `{known}`?"),
        None if known.is_empty() => "none are taken".to_owned(),
        None => format!("known are {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    let input = given.and_then(|given| given.get(name)).map_or(Value::Null, excerpt);
    push_segment(&mut pointer, name);
    Violation {
        keyword: "additionalProperties".into(),
        pointer,
        message: format!("`{}` is not a known argument; {advice}", shown(name)),
        input,
    }
}

/// The shapes that the value could have had, spelt out: a model cannot act on their absence.
fn no_shape(error: &ValidationError<'_>, root: Schema<'_>, place: &str, input: &Value) -> String {
    match shapes::in_words(&root.list_at(error.schema_path().as_str())) {
        Some(allowed) => format!("{place} must be {allowed}; {input} was given"),
        None => format!("{place} matches none of the shapes that its schema allows; {input} was given"),
    }
}

fn sentence(kind: &Kind, place: &str, input: &Value) -> String {
    match kind {
        Kind::Type { kind } => format!("{place} must be {}, and {input} was given", expected(kind)),
        Kind::Enum { options } => format!("{place} must be one of {options}, and {input} was given"),
        Kind::Constant { expected_value } => format!("{place} must be {expected_value}, and {input} was given"),
        Kind::Minimum { limit } => format!("{place} must be at least {limit}, and {input} was given"),
        Kind::Maximum { limit } => format!("{place} must be at most {limit}, and {input} was given"),
        Kind::ExclusiveMinimum { limit } => format!("{place} must be more than {limit}, and {input} was given"),
        Kind::ExclusiveMaximum { limit } => format!("{place} must be less than {limit}, and {input} was given"),
        Kind::MinLength { limit } => format!("{place} must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("{place} must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("{place} must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("{place} must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("{place} must have at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("{place} must have at most {limit} fields"),
        Kind::Pattern { pattern } => format!("{place} must match the pattern {pattern}, and {input} was given"),
        Kind::Format { format } => format!("{place} must have the format {format}, and {input} was given"),
        Kind::OneOfMultipleValid { .. } => format!("{place} matches more than one of the shapes where one is allowed"),
        Kind::UniqueItems => format!("{place} must not hold the same item twice"),
        Kind::FalseSchema => format!("{place} must be left out"),
        other => format!("{place} violates `{}` of its schema", other.keyword()),
    }
}

fn expected(kind: &jsonschema::error::TypeKind) -> String {
    use jsonschema::error::TypeKind;
    match kind {
        TypeKind::Single(name) => format!("of type {name}"),
        TypeKind::Multiple(names) => {
            format!("of type {}", names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" or "))
        }
    }
}

/// `/request/messages/0` reads `request.messages[0]`.
fn dotted(pointer: &str) -> String {
    let mut out = String::new();
    for segment in pointer.split('/').skip(1) {
        if segment.bytes().all(|byte| byte.is_ascii_digit()) && !segment.is_empty() {
            out.push_str(&format!("[{segment}]"));
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&super::unescape(segment));
        }
    }
    out
}
