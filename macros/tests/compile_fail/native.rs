use toolwright_macros::Tool;

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "greet", title = "Greet", risk = compute, schema = "s.json")]
#[native]
struct Greet {
    #[query]
    name: String,
}

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "get", title = "Get", risk = read_only, schema = "s.json")]
#[http(get = "/w")]
struct Get {
    #[input]
    id: String,
}

fn main() {}
