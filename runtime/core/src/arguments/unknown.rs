//! Members that no schema declares, in objects that the document left open.

use serde_json::Value;

use super::{Violation, excerpt, push_segment, schema::Schema, shown};

/// Refuses a member that looks like a misspelt one, and warns of any other.
pub(super) fn find(
    value: &Value,
    schema: Schema<'_>,
    pointer: &mut String,
    violations: &mut Vec<Violation>,
    warnings: &mut Vec<String>,
) {
    let length = pointer.len();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                push_segment(pointer, name);
                match schema.member(name) {
                    Some(property) => find(member, property, pointer, violations, warnings),
                    None if schema.is_open_object() => {
                        let absent = schema.property_names().filter(|known| !members.contains_key(*known));
                        match closest(name, absent) {
                            Some(known) => violations.push(Violation {
                                keyword: "unknown_field".into(),
                                pointer: pointer.clone(),
                                message: format!("`{}` is not a known field; did you mean `{known}`?", shown(name)),
                                input: excerpt(member),
                            }),
                            None => warnings.push(format!("{}: not a declared field; sent as it is", shown(pointer))),
                        }
                    }
                    None => {}
                }
                pointer.truncate(length);
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.items() {
                for (index, item) in items.iter().enumerate() {
                    push_segment(pointer, &index.to_string());
                    find(item, schema, pointer, violations, warnings);
                    pointer.truncate(length);
                }
            }
        }
        _ => {}
    }
}

/// How many edits away a misspelling may be.
const MOST_EDITS: usize = 2;

/// The known name that `name` is most likely a misspelling of: at most two edits away, or the same but for case,
/// `-` and `_`. Short names need to be closer, or every letter would be a misspelling of every other.
pub(super) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (folded, length) = (fold(name), name.chars().count());
    known
        .filter_map(|candidate| {
            let candidate_length = candidate.chars().count();
            let distance = match fold(candidate) == folded {
                true => 0,
                // Counting edits takes the product of the lengths, and a name may be as long as a request.
                false if length.abs_diff(candidate_length) > MOST_EDITS => return None,
                false => strsim::osa_distance(name, candidate),
            };
            let near = distance <= MOST_EDITS && distance * 2 < candidate_length + 1;
            near.then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}
