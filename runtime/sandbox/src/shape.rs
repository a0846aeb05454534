//! Long output as head and tail.

/// `text` in at most `budget` bytes of its own, and whether anything was left out. A line in between says how much.
///
/// Half of the budget is the head, half the tail: the first lines say what a listing is, the last ones how a run ended.
pub(crate) fn shape(text: &str, budget: usize) -> (String, bool) {
    if text.len() <= budget {
        return (text.to_owned(), false);
    }
    let head = head(text, budget / 2);
    let tail = tail(text, budget - budget / 2);
    let left_out = &text.get(head.len()..text.len() - tail.len()).unwrap_or_default();
    let lines = left_out.lines().count();
    let separator = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    (format!("{head}{separator}[… {} bytes in {lines} lines left out …]\n{tail}", left_out.len()), true)
}

/// The first `limit` bytes, without a broken character, and without a broken line if a whole one fits.
fn head(text: &str, limit: usize) -> &str {
    let part = (0..=limit).rev().find_map(|end| text.get(..end)).unwrap_or_default();
    part.rfind('\n').and_then(|end| part.get(..=end)).unwrap_or(part)
}

/// The last `limit` bytes, in the same way.
fn tail(text: &str, limit: usize) -> &str {
    let start = text.len().saturating_sub(limit);
    let part = (start..=text.len()).find_map(|start| text.get(start..)).unwrap_or_default();
    if text.get(..start).is_some_and(|before| before.ends_with('\n')) {
        return part;
    }
    let whole = part.find('\n').and_then(|end| part.get(end + 1..)).unwrap_or_default();
    if whole.is_empty() { part } else { whole }
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(shape("one\ntwo\n", 8), ("one\ntwo\n".to_owned(), false));
    }

    #[test]
    fn what_does_not_fit_keeps_its_first_and_last_whole_lines() {
        let (text, cut) = shape("11\n22\n33\n44\n55\n", 8);
        assert!(cut);
        assert_eq!(text, "11\n[… 9 bytes in 3 lines left out …]\n55\n");
    }

    #[test]
    fn a_line_longer_than_the_budget_is_cut_between_characters() {
        let (text, cut) = shape("äöüßäöüß", 5);
        assert!(cut);
        assert_eq!(text, "ä\n[… 12 bytes in 1 lines left out …]\nß");
    }
}
