//! Compiling and running.

use jaq_core::load::{self, Arena, File, Loader, parse::Def};
use jaq_core::{Compiler, Ctx, Vars, compile, data};
use jaq_json::Val;
use serde_json::Value;

use crate::{bounds, budget, guard, json_text, value};

/// Stack of a thread that reads or runs filters, in bytes: both recur, over what the text nests, and over values where the
/// author wrote it so. Memory is taken only as it is used.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;

pub(crate) type Data = data::JustLut<Val>;

/// Native functions that reach beyond the input: the process, its environment, its clock, its zone, its log.
const OUTSIDE: [&str; 8] =
    ["env", "now", "halt", "localtime", "strflocaltime", "debug_empty", "stderr_empty", "input_line_number"];

/// Definitions of the standard library that need one of those.
const NEEDS_OUTSIDE: [&str; 4] = ["halt", "halt_error", "debug", "stderr"];

/// Name of the definition that holds the filter.
const MAIN: &str = "filter_of_the_tool";
/// Of a message of a failed run, in bytes.
const LONGEST_MESSAGE: usize = 1_000;

/// A compiled filter.
pub struct Filter {
    compiled: jaq_core::Filter<Data>,
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Filter")
    }
}

/// What one run may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Values that may come out.
    pub outputs: usize,
    /// Size of all of them together as compact JSON, in bytes.
    pub bytes: u64,
    /// Stack that the thread has which runs it, in bytes; [`STACK_BYTES`] is what filters are made for.
    pub stack_bytes: usize,
}

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, without a full stop.
    pub message: String,
    /// Where in the text, in bytes from its start.
    pub offset: usize,
}

/// Why a run came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The filter does not fit the value.
    #[error("{0}")]
    Failed(String),
    /// More values came out than are allowed.
    #[error("it makes more than {0} values")]
    TooMany(usize),
    /// The values are larger than is allowed.
    #[error("it makes more than {0} bytes")]
    TooLarge(u64),
    /// A value nests deeper than JSON readers take.
    #[error("it makes a value that nests too deep")]
    TooDeep,
}

impl Filter {
    /// Reads a filter, on a thread with a stack for all that the bounds of a text let through.
    ///
    /// # Errors
    /// The first fault with its place: a text that does not parse, is longer than 64 KiB or has more than 2,000 brackets,
    /// operators, escapes and keywords, or a name that no function has. Modules cannot be imported.
    pub fn compile(text: &str) -> Result<Self, SyntaxError> {
        bounds::check(text)?;
        let broken = |message: &str| SyntaxError { message: message.to_owned(), offset: 0 };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("filter".to_owned()).stack_size(STACK_BYTES);
            match thread.spawn_scoped(scope, || Self::read(text)) {
                Ok(reading) => reading.join().unwrap_or_else(|_| Err(broken("reading it broke off"))),
                Err(_) => Err(broken("no thread could be started to read it")),
            }
        })
    }

    fn read(text: &str) -> Result<Self, SyntaxError> {
        let arena = Arena::default();
        // For its faults alone: modules cannot be imported, and nothing stands behind the filter.
        Loader::new([])
            .load(&arena, File { code: text, path: () })
            .map_err(|errors| first(errors, |error| unread(text, error)))?;
        let term = load::parse(text, |parser| parser.term()).ok_or_else(nothing)?;
        // The filter is a definition behind those of the library, since a module takes no term that is read already.
        let main = Def { name: MAIN, args: Vec::new(), body: guard::term(term) };
        let modules = Loader::new(library().map(|def| -> Def<&str> { guard::definition(def) }).chain([main]))
            .load(&arena, File { code: MAIN, path: () })
            .map_err(|errors| first(errors, |error| unread(text, error)))?;
        let funs = jaq_core::funs::<Data>().chain(jaq_std::funs()).chain(jaq_json::funs());
        let is_kept = |name: &str| !OUTSIDE.contains(&name) && name != json_text::NAME && name != budget::TOJSON;
        let own = std::iter::once(json_text::function()).chain(budget::functions());
        let compiled = Compiler::default()
            .with_funs(funs.filter(|(name, ..)| is_kept(name)).chain(own))
            .compile(modules)
            .map_err(|errors| first(errors, |error| undefined(text, error)))?;
        Ok(Filter { compiled })
    }

    /// Runs the filter: one output is the result, several are an array of them, and none is null.
    ///
    /// How long that takes is up to the filter: run one that is not trusted where it can be left behind.
    ///
    /// # Errors
    /// When the filter fails, recurs deeper than the stack goes, makes a value of more than 256 MiB or keeps values of more
    /// than 2 GiB in others, or when its outputs break a limit.
    pub fn apply(&self, input: &Value, limits: Limits) -> Result<Value, RunError> {
        budget::begin(limits.stack_bytes);
        let context = Ctx::<Data>::new(&self.compiled.lut, Vars::new([]));
        let mut left = limits.bytes;
        let mut outputs = Vec::new();
        for output in self.compiled.id.run((context, value::from_json(input))) {
            let output = output.map_err(|raised| match raised.get_err() {
                Ok(error) => RunError::Failed(start_of_message(&error)),
                Err(_) => RunError::Failed("it ended itself".to_owned()),
            })?;
            if outputs.len() == limits.outputs {
                return Err(RunError::TooMany(limits.outputs));
            }
            outputs.push(value::to_json(&output, &mut left).map_err(|refused| match refused {
                value::Refused::Bytes => RunError::TooLarge(limits.bytes),
                value::Refused::Depth => RunError::TooDeep,
            })?);
        }
        Ok(match outputs.len() {
            0 | 1 => outputs.pop().unwrap_or(Value::Null),
            _ => Value::Array(outputs),
        })
    }
}

/// What filters may call of the library's own definitions.
fn library() -> impl Iterator<Item = Def<&'static str>> {
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    defs.filter(|def| !NEEDS_OUTSIDE.contains(&def.name))
}

/// As much of a message as anybody reads: it may write out the value that it is about, which may be large without end.
fn start_of_message(error: &impl std::fmt::Display) -> String {
    struct Start(String);
    impl std::fmt::Write for Start {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.extend(text.chars().take(LONGEST_MESSAGE));
            if self.0.len() < LONGEST_MESSAGE { Ok(()) } else { Err(std::fmt::Error) }
        }
    }
    let mut start = Start(String::new());
    // An error is only that there is enough.
    let _ = std::fmt::Write::write_fmt(&mut start, format_args!("{error}"));
    // What a filter raises is a value, and a text is written in quotes.
    serde_json::from_str(&start.0).unwrap_or(start.0)
}

fn nothing() -> SyntaxError {
    SyntaxError { message: "it is no jq filter".to_owned(), offset: 0 }
}

fn first<E>(errors: Vec<(File<&str, ()>, E)>, told: impl Fn(E) -> Option<SyntaxError>) -> SyntaxError {
    errors.into_iter().find_map(|(_, error)| told(error)).unwrap_or_else(nothing)
}

fn unread(text: &str, error: load::Error<&str>) -> Option<SyntaxError> {
    let (expected, found) = match error {
        load::Error::Io(errors) => {
            let (path, _) = errors.into_iter().next()?;
            return Some(SyntaxError { message: "modules cannot be imported".to_owned(), offset: offset(text, path) });
        }
        load::Error::Lex(errors) => {
            let (expected, found) = errors.into_iter().next()?;
            (expected.as_str(), found)
        }
        load::Error::Parse(errors) => {
            let (expected, found) = errors.into_iter().next()?;
            (expected.as_str(), found)
        }
    };
    let message = match found.is_empty() {
        true => format!("{expected} is expected at its end"),
        false => format!("{expected} is expected instead of `{}`", start(found)),
    };
    Some(SyntaxError { message, offset: offset(text, found) })
}

fn undefined(text: &str, errors: Vec<compile::Error<&str>>) -> Option<SyntaxError> {
    let (name, kind) = errors.into_iter().next()?;
    let message = match kind {
        compile::Undefined::Filter(arguments) => format!("there is no function `{name}/{arguments}`"),
        other => format!("there is no {} `{name}`", other.as_str()),
    };
    Some(SyntaxError { message, offset: offset(text, name) })
}

/// The beginning of what was found: its first word, or as much as tells it.
fn start(found: &str) -> String {
    found.split_whitespace().next().unwrap_or_default().chars().take(20).collect()
}

/// Where a part of the text begins; its end for a part of another text.
fn offset(text: &str, part: &str) -> usize {
    let (whole, inner) = (text.as_ptr() as usize, part.as_ptr() as usize);
    inner.checked_sub(whole).filter(|offset| *offset <= text.len()).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const WIDE: Limits = Limits { outputs: 100, bytes: 10_000, stack_bytes: 1024 * 1024 };

    fn applied(filter: &str, input: &Value) -> Result<Value, RunError> {
        Filter::compile(filter).unwrap().apply(input, WIDE)
    }

    fn fault(filter: &str) -> (String, usize) {
        let error = Filter::compile(filter).unwrap_err();
        (error.message, error.offset)
    }

    #[test]
    fn one_output_is_the_result() {
        let input = json!({"items": [{"id": 1, "note": "x"}, {"id": 2}]});
        assert_eq!(applied("[.items[] | {id}]", &input), Ok(json!([{"id": 1}, {"id": 2}])));
    }

    #[test]
    fn several_outputs_are_an_array_and_none_is_null() {
        assert_eq!(applied(".[]", &json!([1, 2])), Ok(json!([1, 2])));
        assert_eq!(applied("empty", &json!(1)), Ok(Value::Null));
    }

    #[test]
    fn the_standard_library_is_there() {
        for (filter, expected) in [
            ("map(select(. > 1)) | add", json!(5)),
            ("map(tostring) | join(\"-\")", json!("1-2-3")),
            ("group_by(. > 1) | map(length)", json!([1, 2])),
            ("map(test(\"2\"; \"\")? // false) | any", json!(false)),
            ("0 | todate", json!("1970-01-01T00:00:00Z")),
        ] {
            assert_eq!(applied(filter, &json!([1, 2, 3])), Ok(expected), "{filter}");
        }
    }

    #[test]
    fn numbers_stay_digit_by_digit() {
        let input: Value = serde_json::from_str("[12345678901234567890123, 1.2345678901234567890123, 0.10]").unwrap();
        assert_eq!(applied(".", &input).unwrap().to_string(), input.to_string());
    }

    #[test]
    fn members_keep_their_order_and_texts_their_letters() {
        let input = json!({"b": "\u{1f600} \"", "a": {"z": null, "y": true}});
        assert_eq!(applied(".", &input).unwrap().to_string(), input.to_string());
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        assert_eq!(fault(".a + | .b").1, 5);
        assert_eq!(fault(".items[ | {id}"), ("closing bracket is expected at its end".to_owned(), 14));
    }

    #[test]
    fn an_unknown_function_is_named_with_its_place() {
        assert_eq!(fault(".a | mpa(.b)"), ("there is no function `mpa/1`".to_owned(), 5));
        assert_eq!(fault("$x"), ("there is no variable `$x`".to_owned(), 0));
    }

    #[test]
    fn nothing_outside_the_input_can_be_reached() {
        for filter in
            ["env", "$ENV", "now", "input", "halt", "debug", "localtime", "import \"a\" as a; .", "$__prog_args"]
        {
            assert!(Filter::compile(filter).is_err(), "{filter}");
        }
    }

    #[test]
    fn a_filter_that_does_not_fit_says_why() {
        let error = applied(".a.b", &json!({"a": 1})).unwrap_err();
        assert!(matches!(&error, RunError::Failed(message) if message.contains("index")), "{error}");
    }

    #[test]
    fn outputs_are_counted_and_measured() {
        let filter = Filter::compile("repeat(.)").unwrap();
        assert_eq!(filter.apply(&json!(1), Limits { outputs: 3, bytes: 100, ..WIDE }), Err(RunError::TooMany(3)));
        let filter = Filter::compile("[range(1000)]").unwrap();
        assert_eq!(filter.apply(&json!(1), Limits { outputs: 3, bytes: 100, ..WIDE }), Err(RunError::TooLarge(100)));
    }

    #[test]
    fn a_value_that_nests_too_deep_is_refused() {
        assert_eq!(applied("reduce range(1000) as $i (0; [.])", &json!(null)), Err(RunError::TooDeep));
    }
}
