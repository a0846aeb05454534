use toolwright_macros::Tool;

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "put", title = "Put", risk = write, schema = "s.json")]
#[http(put = "/w")]
struct Put {
    #[member(style = deep)]
    a: String,
    #[form]
    b: String,
}

/// Text.
#[derive(serde::Serialize, Tool)]
#[tool(name = "post", title = "Post", risk = write, schema = "s.json")]
#[http(post = "/w", optional_body)]
struct Post {
    #[query]
    a: String,
}

fn main() {}
