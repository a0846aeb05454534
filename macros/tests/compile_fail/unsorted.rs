use toolwright_core::Catalog;
use toolwright_macros::{Tool, register_tools};

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "b", title = "B", risk = write, schema = "Cargo.toml")]
#[http(put = "/b")]
struct B {}

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "a", title = "A", risk = write, schema = "Cargo.toml")]
#[http(put = "/a")]
struct A {}

#[register_tools]
static TOOLS: Catalog = [B, A];

fn main() {
    let _ = TOOLS;
}
