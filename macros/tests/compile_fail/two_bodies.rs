use toolwright_macros::Tool;

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "put", title = "Put", risk = write, schema = "s.json", colour = "red")]
#[http(put = "/w")]
struct Put {
    #[body]
    a: String,
    #[body]
    b: String,
    #[exchange]
    c: String,
}

fn main() {}
