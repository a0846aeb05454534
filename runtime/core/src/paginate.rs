//! How the further pages of an answer are asked for.

/// A list that comes in pages. Where a call says how many items it wants, the pages are followed and joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paginate {
    /// The argument that says how many items are wanted; without it, one page is asked for.
    pub argument: &'static str,
    /// JSON pointer (RFC 6901) of the list in an answer; empty where the answer is the list.
    pub items: &'static str,
    /// What asks for the page after one.
    pub next: NextPage,
}

/// What asks for the page after one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextPage {
    /// The URL of a `Link` header with the relation `next` (RFC 8288 section 3), on the same origin.
    Link,
    /// A value of the answer, given back as an argument. The last page has none, or an empty one.
    Cursor {
        /// JSON pointer of the value in an answer.
        answer: &'static str,
        /// The argument that takes it.
        argument: &'static str,
    },
    /// How many items to leave out.
    Offset {
        /// The argument that says so.
        argument: &'static str,
        /// The argument that says how many items a page has.
        size: Option<&'static str>,
    },
    /// The number of the page.
    Page {
        /// The argument that says so.
        argument: &'static str,
        /// The argument that says how many items a page has.
        size: Option<&'static str>,
        /// The number of the first page.
        first: u32,
    },
}
