//! Values to YAML text, the same bytes for the same value.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// Writes a value as block YAML, keys in their order.
///
/// A value that the YAML writer cannot say exactly (a number of more digits than a double holds) is
/// written as JSON instead, which every YAML reader takes too.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    if let Ok(text) = serde_yaml::to_string(&Exact(value))
        && super::yaml::read(&text).value.is_some_and(|read| same(&read, value))
    {
        return text;
    }
    format!("{value:#}\n")
}

/// Equal but for the spelling of numbers (`1e3` and `1000.0`).
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (exact_double(b).is_some() && a.as_f64() == b.as_f64()),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((ka, va), (kb, vb))| ka == kb && same(va, vb))
        }
        _ => a == b,
    }
}

/// The double that a number is, when no digit is lost.
fn exact_double(number: &serde_json::Number) -> Option<f64> {
    let text = number.as_str();
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    // 15 significant decimal digits survive a double (IEEE 754 binary64); more do when they are the
    // double's own shortest form.
    let few_digits = mantissa.bytes().filter(u8::is_ascii_digit).count() <= 15;
    number.as_f64().filter(|double| double.is_finite() && (few_digits || double.to_string() == text))
}

/// serde_json's exact numbers serialize as a private struct elsewhere, so they are told apart here.
struct Exact<'a>(&'a Value);

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::String(text) => serializer.serialize_str(text),
            Value::Number(number) => {
                if let Ok(integer) = number.as_str().parse::<i128>() {
                    serializer.serialize_i128(integer)
                } else if let Some(double) = exact_double(number) {
                    serializer.serialize_f64(double)
                } else {
                    Err(serde::ser::Error::custom("a number of too many digits"))
                }
            }
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(&Exact(item))?;
                }
                seq.end()
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, &Exact(value))?;
                }
                map.end()
            }
        }
    }
}
