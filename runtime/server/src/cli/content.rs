//! `prompts` and `resources`: what the server offers beside its tools, for people.

use std::fmt::Write as _;
use std::process::ExitCode;

use toolwright_core::ServerSpec;
use toolwright_core::content::{Content, Prompt, Resource, template};

/// Prints the prompts, each with its arguments.
pub(super) fn print_prompts(server: &ServerSpec) -> ExitCode {
    let text: String = server.prompts.iter().map(prompt).collect();
    super::print(if text.is_empty() { "this server has no prompts\n" } else { &text })
}

/// Prints the resources and templates of resources. Saved answers are not among them.
pub(super) fn print_resources(server: &ServerSpec) -> ExitCode {
    let width = server.resources.iter().map(|resource| template(resource.uri).chars().count()).max().unwrap_or(0);
    let text: String = server.resources.iter().map(|row| resource(row, width)).collect();
    super::print(if text.is_empty() { "this server has no resources of its own\n" } else { &text })
}

fn prompt(prompt: &Prompt) -> String {
    let mut out = format!("{}  {}\n", prompt.name, prompt.description);
    let width = prompt.arguments.iter().map(|argument| argument.name.len() + 1).max().unwrap_or(0);
    for argument in prompt.arguments {
        let name = format!("{}{}", argument.name, if argument.required { "" } else { "?" });
        let default = argument.default.map(|default| format!(" (default: {default})")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    {name:width$}  {}{default}", argument.description);
    }
    out
}

fn resource(resource: &Resource, width: usize) -> String {
    let uri = template(resource.uri);
    let source = match &resource.content {
        Content::Fixed(_) => String::new(),
        Content::Answer(answer) => format!(" (from {})", answer.tool),
    };
    format!("{uri:width$}  {}{source}\n", resource.description)
}

#[cfg(test)]
mod tests {
    use toolwright_core::content::Piece::{Place, Text};
    use toolwright_core::content::{Annotations, Answer, PromptArgument};

    use super::*;

    const TEXT: PromptArgument = PromptArgument {
        name: "text",
        title: None,
        description: "What to read.",
        required: true,
        default: None,
        completion: None,
        ask: None,
    };

    #[test]
    fn a_prompt_is_shown_with_its_arguments_and_defaults() {
        let style = PromptArgument { name: "style", required: false, default: Some("kind"), ..TEXT };
        let arguments: &'static [PromptArgument] = Box::leak(Box::new([TEXT, style]));
        let review = Prompt { name: "review", title: None, description: "Review a text.", arguments, messages: &[] };
        let shown = "review  Review a text.\n    text    What to read.\n    style?  What to read. (default: kind)\n";
        assert_eq!(prompt(&review), shown);
    }

    #[test]
    fn a_resource_is_shown_with_the_tool_behind_it() {
        let item = Resource {
            name: "item",
            title: None,
            description: "An item.",
            uri: &[Text("x://items/"), Place("id")],
            mime_type: None,
            annotations: Annotations::NONE,
            content: Content::Answer(Answer { tool: "get_item", arguments: &[], project: None }),
            completions: &[],
        };
        assert_eq!(resource(&item, 16), "x://items/{id}    An item. (from get_item)\n");
    }
}
