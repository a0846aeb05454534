//! Following `$ref` inside one document.

use serde_json::Value;

/// Longer chains are a circle of references.
const MOST_HOPS: usize = 64;

/// The node that a reference leads to, through further references; the node itself when it is none or leads nowhere.
pub(crate) fn resolve<'a>(root: &'a Value, node: &'a Value) -> &'a Value {
    let mut here = node;
    for _ in 0..MOST_HOPS {
        let Some(target) = here.get("$ref").and_then(Value::as_str) else { return here };
        let Some(next) = target.strip_prefix('#').and_then(|pointer| locate(root, pointer)) else { return here };
        here = next;
    }
    here
}

/// A JSON pointer as it stands in a URI fragment: percent-encoding around RFC 6901.
fn locate<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    root.pointer(&decoded).or_else(|| root.pointer(pointer))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn follows_references_of_references() {
        let root = json!({"a": {"$ref": "#/b"}, "b": {"$ref": "#/c~1d"}, "c/d": {"type": "string"}});
        assert_eq!(resolve(&root, root.get("a").unwrap()), &json!({"type": "string"}));
    }

    #[test]
    fn a_circle_ends() {
        let root = json!({"a": {"$ref": "#/a"}});
        assert_eq!(resolve(&root, root.get("a").unwrap()), &json!({"$ref": "#/a"}));
    }
}
