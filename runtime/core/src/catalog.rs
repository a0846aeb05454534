//! The frozen table of a server's tools.

use crate::ToolSpec;

/// A sorted table of rows. Built at compile time by `register_tools`, read by binary search.
#[derive(Debug, Clone, Copy)]
pub struct Catalog {
    tools: &'static [ToolSpec],
}

impl Catalog {
    /// A catalog over rows sorted by name. The generated and the hand-written registration both go through
    /// [`assert_sorted_and_unique`] at compile time.
    #[must_use]
    pub const fn new(tools: &'static [ToolSpec]) -> Self {
        Catalog { tools }
    }

    /// All rows, sorted by name.
    #[must_use]
    pub const fn tools(&self) -> &'static [ToolSpec] {
        self.tools
    }

    /// The row of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static ToolSpec> {
        let index = self.tools.binary_search_by(|tool| tool.name.cmp(name)).ok()?;
        self.tools.get(index)
    }
}

/// Stops the compilation where rows are out of order or share a name.
///
/// # Panics
/// In a `const` context this is the compile error.
#[allow(clippy::panic, clippy::indexing_slicing)] // The one way a const fn can report.
pub const fn assert_sorted_and_unique(tools: &[ToolSpec]) {
    let mut index = 1;
    while index < tools.len() {
        if !less(tools[index - 1].name.as_bytes(), tools[index].name.as_bytes()) {
            panic!("register_tools: names must be sorted and unique");
        }
        index += 1;
    }
}

#[allow(clippy::indexing_slicing)] // Bounds are the loop's; const fns have no iterators.
const fn less(left: &[u8], right: &[u8]) -> bool {
    let mut index = 0;
    while index < left.len() && index < right.len() {
        if left[index] != right[index] {
            return left[index] < right[index];
        }
        index += 1;
    }
    left.len() < right.len()
}
