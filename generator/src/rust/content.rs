//! `prompts.rs` and `resources.rs` of the tools crate: a constant row each.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::doc;
use crate::load::content::{
    Annotations, Answer, Attached, Completion, Fixed, Given, Message, MessageContent, Piece, Prompt, PromptArgument,
    Resource, ResourceContent, Role, template,
};
use crate::model::Model;

/// Names of the modules.
pub(super) const PROMPTS: &str = "prompts";
pub(super) const RESOURCES: &str = "resources";

/// The modules that a server has.
pub(super) fn modules(model: &Model) -> Vec<&'static str> {
    let content = &model.loaded.content;
    let all = [(PROMPTS, content.prompts.is_empty()), (RESOURCES, content.resources.is_empty())];
    all.into_iter().filter(|(_, is_empty)| !is_empty).map(|(module, _)| module).collect()
}

/// A module's documentation.
pub(super) fn about(model: &Model, module: &str) -> String {
    format!("The {module} of {}: a row each, sorted by name.", doc::code_span(&model.loaded.config.server))
}

/// What `SERVER` says of a list: the module's, or none.
pub(super) fn list(model: &Model, module: &str) -> TokenStream {
    if !modules(model).contains(&module) {
        return quote!(&[]);
    }
    let (module, name) = (format_ident!("{module}"), format_ident!("{}", module.to_uppercase()));
    quote!(#module::#name)
}

pub(super) fn items(model: &Model, module: &str) -> Vec<TokenStream> {
    let skip = quote!(#![cfg_attr(rustfmt, rustfmt_skip)]);
    let content = &model.loaded.content;
    let (rows, list) = if module == PROMPTS {
        let names = content.prompts.iter().map(|prompt| constant(&prompt.name));
        let list = quote! {
            /// All of them.
            pub static PROMPTS: &[Prompt] = &[#(#names),*];
        };
        (content.prompts.iter().map(prompt).collect::<Vec<_>>(), list)
    } else {
        let names = content.resources.iter().map(|resource| constant(&resource.name));
        let list = quote! {
            /// All of them.
            pub static RESOURCES: &[Resource] = &[#(#names),*];
        };
        (content.resources.iter().map(resource).collect(), list)
    };
    let mut items = vec![list];
    items.extend(rows);
    let imports = imports(&items);
    [skip, imports].into_iter().chain(items).collect()
}

fn imports(items: &[TokenStream]) -> TokenStream {
    const KNOWN: [&str; 13] = [
        "Annotations",
        "Answer",
        "Completion",
        "Content",
        "Fixed",
        "Given",
        "MessageContent",
        "Piece",
        "Prompt",
        "PromptArgument",
        "PromptMessage",
        "Resource",
        "Role",
    ];
    let used = super::print::mentioned(items);
    let names = KNOWN.iter().filter(|name| used.contains(**name)).map(|name| format_ident!("{name}"));
    quote!(use toolwright_core::content::{#(#names),*};)
}

/// The constant of a name: no name of a row is one of the type's or the list's, which are told apart by their letters.
fn constant(name: &str) -> TokenStream {
    let name = name.to_uppercase();
    let name = match name.as_str() {
        "PROMPTS" | "RESOURCES" => format_ident!("{name}_"),
        _ => format_ident!("{name}"),
    };
    quote!(#name)
}

fn optional(text: Option<&String>) -> TokenStream {
    match text {
        Some(text) => quote!(Some(#text)),
        None => quote!(None),
    }
}

fn prompt(prompt: &Prompt) -> TokenStream {
    let Prompt { name, title, description, arguments, messages } = prompt;
    let (text, constant, title) = (doc::attributes(description), constant(name), optional(title.as_ref()));
    let arguments = arguments.iter().map(argument);
    let messages = messages.iter().map(message);
    quote! {
        #text
        pub const #constant: Prompt = Prompt {
            name: #name,
            title: #title,
            description: #description,
            arguments: &[#(#arguments),*],
            messages: &[#(#messages),*],
        };
    }
}

fn argument(argument: &PromptArgument) -> TokenStream {
    let PromptArgument { name, description, required, .. } = argument;
    let (title, default) = (optional(argument.title.as_ref()), optional(argument.default.as_ref()));
    let ask = optional(argument.ask.as_ref());
    let completion = match &argument.completion {
        Some(source) => {
            let source = completion(source);
            quote!(Some(#source))
        }
        None => quote!(None),
    };
    quote! {
        PromptArgument {
            name: #name,
            title: #title,
            description: #description,
            required: #required,
            default: #default,
            completion: #completion,
            ask: #ask,
        }
    }
}

fn message(message: &Message) -> TokenStream {
    let role = role(message.role);
    let content = match &message.content {
        MessageContent::Text(Fixed::Text(text)) => {
            let text = pieces(text);
            quote!(Text(#text))
        }
        MessageContent::Text(Fixed::File(file)) => {
            let text = included(file);
            quote!(Text(&[Piece::Text(#text)]))
        }
        MessageContent::Read(uri, _) => {
            let uri = pieces(uri);
            quote!(Read(#uri))
        }
        MessageContent::Embedded { uri, mime_type, content } => {
            let (uri, content) = (pieces(uri), fixed(content));
            quote!(Embedded { uri: #uri, mime_type: #mime_type, content: #content })
        }
        MessageContent::Media(file) => {
            let (mime_type, path) = (&file.mime_type, path(file));
            quote!(Media { mime_type: #mime_type, bytes: include_bytes!(#path) })
        }
    };
    quote!(PromptMessage { role: #role, content: MessageContent::#content })
}

fn resource(resource: &Resource) -> TokenStream {
    let Resource { name, description, .. } = resource;
    let text = doc::attributes(&format!("{description}\n\nURI: {}", doc::code_span(&template(&resource.uri))));
    let constant = constant(name);
    let (title, mime_type) = (optional(resource.title.as_ref()), optional(resource.mime_type.as_ref()));
    let (uri, annotations) = (pieces(&resource.uri), annotations(&resource.annotations));
    let content = match &resource.content {
        ResourceContent::Fixed(content) => {
            let content = fixed(content);
            quote!(Fixed(#content))
        }
        ResourceContent::Answer(source) => {
            let answer = answer(source);
            quote!(Answer(#answer))
        }
    };
    let completions = resource.completions.iter().map(|(variable, source)| {
        let source = completion(source);
        quote!((#variable, #source))
    });
    quote! {
        #text
        pub const #constant: Resource = Resource {
            name: #name,
            title: #title,
            description: #description,
            uri: #uri,
            mime_type: #mime_type,
            annotations: #annotations,
            content: Content::#content,
            completions: &[#(#completions),*],
        };
    }
}

fn role(role: Role) -> TokenStream {
    match role {
        Role::User => quote!(Role::User),
        Role::Assistant => quote!(Role::Assistant),
    }
}

fn annotations(annotations: &Annotations) -> TokenStream {
    if *annotations == Annotations::default() {
        return quote!(Annotations::NONE);
    }
    let audience = annotations.audience.iter().copied().map(role);
    let last_modified = optional(annotations.last_modified.as_ref());
    let priority = match annotations.priority {
        Some(number) => {
            let number = Literal::f32_unsuffixed(number);
            quote!(Some(#number))
        }
        None => quote!(None),
    };
    quote!(Annotations { audience: &[#(#audience),*], priority: #priority, last_modified: #last_modified })
}

fn pieces(pieces: &[Piece]) -> TokenStream {
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => quote!(Piece::Text(#text)),
        Piece::Place(name) => quote!(Piece::Place(#name)),
    });
    quote!(&[#(#pieces),*])
}

fn fixed(content: &Fixed) -> TokenStream {
    match content {
        Fixed::Text(text) => {
            let text = pieces(text);
            quote!(Fixed::Text(#text))
        }
        Fixed::File(file) if file.is_text => {
            let text = included(file);
            quote!(Fixed::Text(&[Piece::Text(#text)]))
        }
        Fixed::File(file) => {
            let path = path(file);
            quote!(Fixed::Bytes(include_bytes!(#path)))
        }
    }
}

fn included(file: &Attached) -> TokenStream {
    let path = path(file);
    quote!(include_str!(#path))
}

fn path(file: &Attached) -> String {
    format!("../{}", file.path)
}

fn answer(answer: &Answer) -> TokenStream {
    let Answer { tool, project, .. } = answer;
    let project = optional(project.as_ref());
    let arguments = answer.arguments.iter().map(|(name, given)| match given {
        Given::Text(text) => {
            let text = pieces(text);
            quote!((#name, Given::Text(#text)))
        }
        Given::Json(value) => {
            let text = value.to_string();
            quote!((#name, Given::Json(#text)))
        }
    });
    quote!(Answer { tool: #tool, arguments: &[#(#arguments),*], project: #project })
}

fn completion(completion: &Completion) -> TokenStream {
    match completion {
        Completion::Listed(texts) => quote!(Completion::Listed(&[#(#texts),*])),
        Completion::Answer(source) => {
            let answer = answer(source);
            quote!(Completion::Answer(#answer))
        }
    }
}
