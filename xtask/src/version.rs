//! Versions as far as they have to be compared: those of generated packages, and those that a project asks for.

use std::cmp::Ordering;

/// The version of this program. Those of the generator and of all other crates of Toolwright are the same.
pub(crate) const OURS: &str = toolwright_generator::VERSION;

/// How a version, or a requirement of one such as `^0.1`, compares with this program's. None where it holds more than one
/// version, or none.
pub(crate) fn compared(text: &str) -> Option<Ordering> {
    Some(numbers(text)?.cmp(&numbers(OURS)?))
}

fn numbers(text: &str) -> Option<[u64; 3]> {
    let text = text.trim().trim_start_matches(['^', '=', '~']).trim_start();
    let plain = text.split(['-', '+']).next().unwrap_or(text);
    let mut found = [0; 3];
    let parts: Vec<&str> = plain.split('.').collect();
    if parts.len() > found.len() {
        return None;
    }
    for (slot, part) in found.iter_mut().zip(parts) {
        *slot = part.parse().ok()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{OURS, compared, numbers};

    #[test]
    fn requirements_are_compared_by_the_version_that_they_name() {
        assert_eq!(numbers("0.1"), Some([0, 1, 0]));
        assert_eq!(numbers("^1.2.3"), Some([1, 2, 3]));
        assert_eq!(numbers("= 1.2.3-rc.1"), Some([1, 2, 3]));
        assert_eq!(compared(OURS), Some(Ordering::Equal));
        assert_eq!(compared("0.0.1"), Some(Ordering::Less));
        assert_eq!(compared("999.0.0"), Some(Ordering::Greater));
    }

    #[test]
    fn what_allows_several_versions_is_left_alone() {
        for text in ["*", ">=0.1, <0.3", "1.2.3.4", ""] {
            assert_eq!(compared(text), None, "{text}");
        }
    }
}
