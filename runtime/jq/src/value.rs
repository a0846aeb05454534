//! JSON values into those of the filters, and back.

use jaq_core::ValT as _;
use jaq_json::{Map, Val};
use serde_json::{Number, Value};

/// As deep as the JSON reader takes; whatever stands deeper was made by a filter.
const MAX_DEPTH: usize = 128;

/// Why a value is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    Bytes,
    Depth,
}

/// Numbers keep their digits.
pub(crate) fn from_json(value: &Value) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(truth) => Val::from(*truth),
        Value::Number(number) => Val::from_num(&number.to_string()).unwrap_or(Val::Null),
        Value::String(text) => text_of(text),
        Value::Array(items) => items.iter().map(from_json).collect(),
        Value::Object(members) => {
            let members: Map = members.iter().map(|(name, member)| (text_of(name), from_json(member))).collect();
            Val::obj(members)
        }
    }
}

fn text_of(text: &str) -> Val {
    Val::utf8_str(text.as_bytes().to_vec())
}

/// What is no JSON becomes what is nearest: a number without digits null, bytes text, and a name its text.
/// `left` is how many bytes may still be made.
pub(crate) fn to_json(value: &Val, left: &mut u64) -> Result<Value, Refused> {
    inner(value, left, MAX_DEPTH)
}

fn inner(value: &Val, left: &mut u64, depth: usize) -> Result<Value, Refused> {
    let deeper = depth.checked_sub(1).ok_or(Refused::Depth)?;
    let mut take = |bytes: usize| {
        *left = left.checked_sub(bytes as u64).ok_or(Refused::Bytes)?;
        Ok(())
    };
    Ok(match value {
        Val::Null => {
            take(4)?;
            Value::Null
        }
        Val::Bool(truth) => {
            take(4)?;
            Value::Bool(*truth)
        }
        Val::Num(_) => {
            let digits = value.to_string();
            take(digits.len())?;
            digits.parse::<Number>().map_or(Value::Null, Value::Number)
        }
        Val::TStr(bytes) | Val::BStr(bytes) => {
            take(bytes.len() + 2)?;
            Value::String(String::from_utf8_lossy(bytes).into_owned())
        }
        Val::Arr(items) => {
            take(2 + items.len())?;
            Value::Array(items.iter().map(|item| inner(item, left, deeper)).collect::<Result<_, _>>()?)
        }
        Val::Obj(members) => {
            take(2 + members.len())?;
            let mut out = serde_json::Map::new();
            for (name, member) in members.iter() {
                let name = match name {
                    Val::TStr(bytes) | Val::BStr(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    other => inner(other, left, deeper)?.to_string(),
                };
                *left = left.checked_sub(name.len() as u64 + 3).ok_or(Refused::Bytes)?;
                out.insert(name, inner(member, left, deeper)?);
            }
            Value::Object(out)
        }
    })
}
