use toolwright_macros::Tool;

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "GetWidget", title = "Get", risk = read_only, schema = "s.json")]
#[http(get = "/w")]
struct GetWidget {}

fn main() {}
