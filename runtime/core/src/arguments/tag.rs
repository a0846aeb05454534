//! Unions whose alternatives are told apart by a property: a discriminator, as the generator writes it.

use serde_json::Value;

use super::schema::Schema;

/// A property that each alternative requires, with values that no other alternative has.
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    /// The values of each alternative; none for one that takes no objects.
    values: Vec<Vec<&'a Value>>,
}

impl<'a> Tag<'a> {
    /// The tag of a union with these alternatives, where it has one.
    pub(super) fn of(alternatives: &[Schema<'a>]) -> Option<Self> {
        let objects: Vec<Schema<'a>> = alternatives.iter().copied().filter(|shape| takes_objects(*shape)).collect();
        let [first, _, ..] = objects.as_slice() else { return None };
        let name = first.property_names().find(|name| tells_apart(&objects, name))?;
        let of_each = |shape: &Schema<'a>| if takes_objects(*shape) { values(*shape, name) } else { Vec::new() };
        Some(Tag { name, values: alternatives.iter().map(of_each).collect() })
    }

    /// The number of the alternative whose tag has this value.
    pub(super) fn alternative(&self, given: &Value) -> Option<usize> {
        self.values.iter().position(|values| values.contains(&given))
    }

    /// The values of all alternatives.
    pub(super) fn allowed(&self) -> Vec<Value> {
        self.values.iter().flatten().map(|value| (*value).clone()).collect()
    }
}

fn takes_objects(shape: Schema<'_>) -> bool {
    let types = shape.types();
    (types.is_empty() || types.contains(&"object")) && !shape.has_enum()
}

fn tells_apart(objects: &[Schema<'_>], name: &str) -> bool {
    let mut known: Vec<&Value> = Vec::new();
    for object in objects {
        let own = values(*object, name);
        if own.is_empty() || own.iter().any(|value| known.contains(value)) {
            return false;
        }
        known.extend(own);
    }
    true
}

/// The values that a property is limited to, where it is required.
fn values<'a>(shape: Schema<'a>, name: &str) -> Vec<&'a Value> {
    let Some(property) = shape.property(name).filter(|_| shape.requires(name)) else { return Vec::new() };
    match property.keyword("const") {
        Some(constant) => vec![constant],
        None => property.keyword("enum").and_then(Value::as_array).into_iter().flatten().collect(),
    }
}
