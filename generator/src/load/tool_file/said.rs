//! Texts with inputs in them (`{$inputs.name}`), as prompts and commands have: each must name an input that there is.

use std::collections::BTreeSet;

use serde_json::Value;
use toolwright_steps::{Expression, expressions, unclosed};

use super::Author;
use crate::diagnostic::{Diagnostic, Sink};
use crate::load::strict::did_you_mean;

/// The inputs that texts speak of, and what is wrong with them.
pub(super) struct Said<'a, 'f, 's> {
    author: &'a Author<'f>,
    sink: &'s mut Sink,
    named: BTreeSet<String>,
}

impl<'a, 'f, 's> Said<'a, 'f, 's> {
    pub(super) fn new(author: &'a Author<'f>, sink: &'s mut Sink) -> Self {
        Said { author, sink, named: BTreeSet::new() }
    }

    /// Reads the texts of a value at a pointer of the file.
    pub(super) fn read(&mut self, value: &Value, at: &str) {
        let mut found = Vec::new();
        expressions(value, at, &mut |pointer, expression| found.push((pointer.to_owned(), expression)));
        for (pointer, expression) in found {
            match expression {
                Ok(Expression::Input { name, .. }) => self.input(name, &pointer),
                Ok(_) => {
                    let message = "this speaks of steps, and there are none";
                    self.report("bad-expression", message.to_owned(), &pointer, "write `{$inputs.name}`");
                }
                // What is never closed has its own remedy. The forms that steps have are none here.
                Err(error) if error.is_unclosed => {
                    self.report("bad-expression", error.message, &pointer, error.help);
                }
                Err(error) => {
                    let help = "write `{$inputs.name}`; a text that begins with `$` and a letter is an expression";
                    self.report("bad-expression", error.message, &pointer, help);
                }
            }
        }
        self.braces(value, at);
    }

    /// The input of that name, where there is one.
    fn input(&mut self, name: String, at: &str) {
        let inputs = &self.author.inputs;
        if inputs.find(&name).is_none() {
            let known = inputs.0.iter().map(|input| input.name.as_str());
            let help = did_you_mean(&name, known).unwrap_or_else(|| "declare it under `input`".to_owned());
            self.report("unknown-name", format!("there is no input `{name}`"), at, help);
        }
        self.named.insert(name);
    }

    /// `{name}`, which paths of `http` have, stays as it is in a text: hardly what its author meant.
    fn braces(&mut self, value: &Value, at: &str) {
        match value {
            Value::String(text) => {
                // That it has no end is told already.
                self.named.extend(unclosed(text).and_then(|text| text.strip_prefix("$inputs.")).map(str::to_owned));
                let inputs = self.author.inputs;
                let slips: Vec<&str> = inputs.0.iter().map(|input| input.name.as_str()).collect();
                for name in slips.into_iter().filter(|name| text.contains(&format!("{{{name}}}"))) {
                    let help = format!("write `{{$inputs.{name}}}`");
                    self.report("bad-expression", format!("`{{{name}}}` is text here"), at, help);
                    self.named.insert(name.to_owned());
                }
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| self.braces(item, &format!("{at}/{index}")));
            }
            _ => {}
        }
    }

    /// An input that a call takes and nothing uses.
    pub(super) fn unused(self, help: &str) {
        let Said { author, sink, named } = self;
        for input in author.inputs.0.iter().filter(|input| !named.contains(&input.name)) {
            let error = Diagnostic::error("unused-input", format!("nothing uses the input `{}`", input.name));
            sink.push(error.at((author.places)(&input.pointer)).help(help.replace("NAME", &input.name)));
        }
    }

    fn report(&mut self, code: &'static str, message: String, at: &str, help: impl Into<String>) {
        self.sink.push(Diagnostic::error(code, message).at((self.author.places)(at)).help(help));
    }
}

/// Reports a setting that the file does not declare.
pub(super) fn check_setting(author: &Author<'_>, name: &str, at: &str, sink: &mut Sink) {
    if !author.settings.contains_key(name) {
        let known = author.settings.keys().map(String::as_str);
        let help = did_you_mean(name, known)
            .unwrap_or_else(|| format!("declare it: `settings: {{ {name}: {{ description: <what it is for> }} }}`"));
        let error = Diagnostic::error("unknown-name", format!("there is no setting `{name}`"));
        sink.push(error.at((author.places)(at)).help(help));
    }
}
