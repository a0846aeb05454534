//! `main.rs` of the server crate: everything it does is in the runtime.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::native;
use crate::model::Model;
use crate::model::operation::LINKED;
use crate::model::tool::Binding;

pub(super) fn about(model: &Model) -> String {
    let config = &model.loaded.config;
    let name = &config.server;
    [
        format!("The MCP server `{name}-server`. Without a subcommand it serves over stdio."),
        String::new(),
        "- `stdio`, `http`: serve over a transport".to_owned(),
        "- `tools`, `call`: look at a tool, or run one".to_owned(),
        "- `prompts`, `resources`: what there is beside tools".to_owned(),
        "- `doctor`, `config`, `completions`: settings, examples, shell completion".to_owned(),
        String::new(),
        format!("Its tools are the crate `{name}-tools`; `--help` says the rest."),
    ]
    .join("\n")
}

pub(super) fn items(model: &Model) -> Vec<TokenStream> {
    let tools = format_ident!("{}_tools", model.loaded.config.server.replace('-', "_"));
    vec![
        quote!(#![cfg_attr(rustfmt, rustfmt_skip)]),
        quote!(
            use std::process::ExitCode;
        ),
        main(model, &tools),
    ]
}

/// The executors that the server links: those of its tools, and no others.
pub(crate) fn executors(model: &Model) -> Vec<&'static str> {
    let used = |name: &&str| {
        model.tools.iter().any(|tool| matches!(&tool.binding, Binding::Linked(linked) if linked.executor == *name))
    };
    LINKED.into_iter().filter(used).collect()
}

/// Handlers are handed over here, where the compiler sees that none is missing, and executors, so that no server holds one
/// that it does not need.
fn main(model: &Model, tools: &Ident) -> TokenStream {
    let executors = executors(model);
    // The sandbox starts this program again as its support process, which is nothing else from its first line.
    let support = executors.contains(&"sandbox").then(|| quote!(toolwright_sandbox::run_support_if_asked();));
    let native = native::is_needed(model).then(|| {
        let handlers = format_ident!("{}_native", model.loaded.config.server.replace('-', "_"));
        quote!(.native(#tools::native::Native(#handlers::handlers())))
    });
    let linked = executors.iter().map(|name| {
        let (package, executor) = match *name {
            "llm" => (format_ident!("toolwright_llm"), format_ident!("LlmExecutor")),
            _ => (format_ident!("toolwright_sandbox"), format_ident!("SandboxExecutor")),
        };
        quote!(.executor(#package::#executor::new()))
    });
    let tasks = has_long_tools(model).then(|| quote!(.durable_tasks()));
    quote! {
        fn main() -> ExitCode {
            #support
            toolwright_server::Program::new(&#tools::SERVER, &#tools::TOOLS) #native #(#linked)* #tasks .run()
        }
    }
}

/// Whether some tools are long, so that the server needs a store of tasks.
pub(crate) fn has_long_tools(model: &Model) -> bool {
    model.tools.iter().any(|tool| tool.long)
}
