use toolwright_macros::Tool;

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "get", title = "Get", risk = harmless, schema = "s.json")]
#[http(get = "/w/{id}")]
struct Get {
    id: String,
    #[segment]
    name: String,
}

fn main() {}
