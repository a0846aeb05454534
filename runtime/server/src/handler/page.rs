//! Pages of lists. A list of a usual size is one page: some clients never ask for a second.

use rmcp::model::ErrorData;

/// Most entries on a page.
const SIZE: usize = 200;

/// In front of the number of the first entry of a page.
const PREFIX: &str = "from-";

/// Some of the entries, and the cursor of the rest.
#[derive(Debug)]
pub(super) struct Page<'a, T> {
    pub(super) entries: &'a [T],
    pub(super) next: Option<String>,
}

/// The page that a cursor names; the first one without.
///
/// # Errors
/// A cursor that was never given out (MCP, Pagination).
pub(super) fn of<'a, T>(entries: &'a [T], cursor: Option<&str>) -> Result<Page<'a, T>, ErrorData> {
    let unknown = || ErrorData::invalid_params("Unknown cursor: begin again without one", None);
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let number = cursor.strip_prefix(PREFIX).and_then(|number| number.parse::<usize>().ok());
            number.filter(|at| *at > 0 && at % SIZE == 0 && *at < entries.len()).ok_or_else(unknown)?
        }
    };
    let end = entries.len().min(start + SIZE);
    let next = (end < entries.len()).then(|| format!("{PREFIX}{end}"));
    Ok(Page { entries: entries.get(start..end).unwrap_or_default(), next })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: usize) -> Vec<usize> {
        (0..count).collect()
    }

    #[test]
    fn pages_hold_every_tool_once_and_end() {
        let entries = entries(450);
        let (mut seen, mut cursor) = (0, None);
        for size in [200, 200, 50] {
            let page = of(&entries, cursor.as_deref()).unwrap();
            assert_eq!((page.entries.len(), page.entries[0]), (size, seen));
            seen += size;
            cursor = page.next;
        }
        assert_eq!(cursor, None);
    }

    #[test]
    fn a_usual_list_is_one_page() {
        assert_eq!(of(&entries(200), None).unwrap().next, None);
    }

    #[test]
    fn cursors_that_were_never_given_out_are_refused() {
        for cursor in ["", "200", "from-0", "from-1", "from-400", "from-99999999999999999999"] {
            assert!(of(&entries(300), Some(cursor)).is_err(), "{cursor}");
        }
    }
}
