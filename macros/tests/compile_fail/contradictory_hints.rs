use toolwright_macros::Tool;

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "get", title = "Get", risk = read_only, idempotent = false, schema = "s.json")]
#[http(get = "/w")]
struct Get {}

fn main() {}
