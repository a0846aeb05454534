//! Procedural macros of Toolwright.
//!
//! [`macro@Tool`] turns the attributes of a struct into its row (`toolwright_core::ToolSpec`), and every mistake into a
//! compile error at the attribute. [`macro@register_tools`] turns a list of tools into a table that is checked to be
//! sorted and unique at compile time. Generated crates and hand-written tools use the same two.

mod attribute;
mod field;
mod fold;
mod hidden;
mod paginate;
mod register;
mod row;
mod tool;

use proc_macro::TokenStream;

/// Derives `toolwright_core::Tool`: the row of a tool from attributes on a struct and its fields.
///
/// ```text
/// /// Convert token ids back into text.
/// ///
/// /// Returns: `content`, the text.
/// #[derive(Serialize, Deserialize, Tool)]
/// #[tool(name = "detokenize", title = "Detokenize", risk = compute, schema = "schemas/detokenize.json")]
/// #[http(post = "/v1/detokenize")]
/// pub struct Detokenize {
///     #[body]
///     pub request: DetokenizeRequest,
/// }
/// ```
///
/// The doc comment is the description that models read; its first paragraph is the summary.
///
/// - `#[tool(..)]`: `name`, `title`, `risk = read_only | compute | write | destructive` and `schema` (a file below the
///   crate's root) are required; `description`, `tags(..)`, `advertised`, `result`, `output`, `open_world`, `idempotent`,
///   `deadline_seconds`, `long` and `secrets(..)` are not. `output` is a type, or its text in quotes.
/// - `#[http(post = "/path", ..)]` with `declared`, `produces(..)`, `stream`, `missing`, `instead`, `server`,
///   `security(("scheme"), ..)`, `project` (a jq filter over a JSON answer), `paginate(..)` (with a `#[paging]` field), and for the body of `#[member]` fields `body = "application/json"` (the default) and
///   `optional_body`; or
///   `#[websocket(path = "/path", exchange = receive | session, ..)]`; or `#[no_route(declared = "GET /path",
///   missing = "..", instead = "..")]`; or `#[native]` for a handler in Rust,
///   `#[expression("<jq filter>")]`, `#[steps("<file of the plan>")]`, `#[llm("<file of the plan>")]` or
///   `#[sandbox("<file of the plan>")]` (with `, project = "<jq filter>"` where the outcome has one), whose fields are all
///   `#[input]`.
/// - `#[search(en(..), ko(..), ja(..))]`.
/// - `#[hidden(query, name = "..", constant = "..")]` or, in place of the constant, `setting = "..", schema = ".."`, for each
///   argument that callers never see; the place comes first, and then the keys of a field there.
/// - On each field one of `#[segment]` (of the path), `#[query]`, `#[header]`, `#[cookie]`, `#[body]`, `#[member]` (of a JSON object), `#[form]`, `#[part]`, `#[file]`,
///   `#[exchange]`, `#[extra]`, `#[paging]` (how many items are wanted of a list in pages), with `wire`, `style`, `explode`, `send_as((from, to), ..)`, `media_type`, `content_type`, `required` where they apply.
/// - `#[alternative(media_type = "..")]` on a field that is another body, with `field(wire = "..", file, ..)` for each field
///   where it is a form; and one `#[content_type]` field that chooses.
#[proc_macro_derive(
    Tool,
    attributes(
        tool,
        http,
        websocket,
        no_route,
        native,
        expression,
        steps,
        llm,
        sandbox,
        search,
        segment,
        query,
        header,
        cookie,
        body,
        member,
        form,
        part,
        file,
        part_header,
        exchange,
        extra,
        alternative,
        content_type,
        hidden,
        paging,
        input
    )
)]
pub fn derive_tool(input: TokenStream) -> TokenStream {
    finish(syn::parse(input).and_then(|input| tool::expand(&input)))
}

/// Turns `pub static TOOLS: Catalog = [module::Tool, ..];` into a catalog whose rows are checked at compile time to be
/// sorted by name and unique.
#[proc_macro_attribute]
pub fn register_tools(arguments: TokenStream, item: TokenStream) -> TokenStream {
    finish(register::expand(arguments.into(), item.into()))
}

fn finish(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.into_compile_error()).into()
}
