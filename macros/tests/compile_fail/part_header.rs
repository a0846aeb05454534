use toolwright_macros::Tool;

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "put", title = "Put", risk = write, schema = "s.json")]
#[http(put = "/w")]
struct Put {
    #[part]
    meta: String,
    #[part_header(part = "mata")]
    digest: String,
}

fn main() {}
