//! The keys of the executors that a server links only where one of its tools needs them.

use super::{Key, Kind, key, required};

/// How long a model thinks.
pub(in crate::load) const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// What a command may do below a folder.
pub(in crate::load) const ACCESS: &[&str] = &["read_only", "read_write"];

/// How much the system must enforce.
pub(in crate::load) const LEVELS: &[&str] = &["full", "reduced"];

/// A model that a setting names.
pub(in crate::load) const MODEL: &[Key] =
    &[required("setting", Kind::Text, "The setting of this file that names the model.")];

/// `llm`.
pub(in crate::load) const LLM: &[Key] = &[
    required(
        "model",
        Kind::Either(&[Kind::Text, Kind::Keys(MODEL)]),
        "The model's id, or the setting that names it. Where it is served is the operator's business.",
    ),
    key("system", Kind::Text, "The system prompt. It holds no inputs: what callers say is no instruction."),
    required("prompt", Kind::Text, "The question, with inputs in it: `{$inputs.text}`."),
    key("max_output_tokens", Kind::Whole(10_000_000), "The most tokens of an answer."),
    key("effort", Kind::Words(EFFORTS), "How long the model thinks first; not every model takes every word."),
];

const EXIT_CODES: Kind = Kind::List(&Kind::Count(255));

/// `sandbox`.
pub(in crate::load) const SANDBOX: &[Key] = &[
    key(
        "command",
        Kind::List(&Kind::Either(&[Kind::Text, Kind::Texts])),
        "The program and its arguments, with inputs in them: `{$inputs.name}`. A list inside it is left out where an input of it is not given.",
    ),
    key("shell", Kind::Text, "A command for `sh -c` in place of `command`. Inputs are variables: `\"$name\"`."),
    key(
        "tools",
        Kind::Texts,
        "Programs that may run; with `command`, beside its own. By default none, in a shell those that only look at files.",
    ),
    key("optional_tools", Kind::Texts, "Programs that may run where they are installed."),
    required("roots", Kind::List(&Kind::Keys(ROOT)), "Folders that the command sees; the first is its working folder."),
    key(
        "denied_paths",
        Kind::Texts,
        "Existing files and folders inside the roots that the command cannot reach: absolute, or relative to the first root.",
    ),
    key("network", Kind::Switch, "Whether it may use the network."),
    key("limits", Kind::Keys(LIMITS), "How long, how large, how many."),
    key("minimum_level", Kind::Words(LEVELS), "The least that the system must enforce; full by default."),
    key("exit_codes", EXIT_CODES, "Exit codes of a success; 0 by default."),
    key("json", Kind::Switch, "Whether standard output is JSON, which becomes `data`."),
    key("project", Kind::Text, "A jq filter that makes `data` of the outcome."),
    key(
        "shown_bytes",
        Kind::Whole(10_000_000),
        "How much of each output stream is shown, head and tail; 16384 by default.",
    ),
];

/// One of the `roots`.
pub(in crate::load) const ROOT: &[Key] = &[
    key("path", Kind::Pattern("^/"), "An absolute path."),
    key("setting", Kind::Text, "The setting of this file that holds the path."),
    key("access", Kind::Words(ACCESS), "What the command may do below it; read_only by default."),
];

/// One TiB: more than a command needs, and exact in every reader of JSON.
const MOST_BYTES: u64 = 1 << 40;

/// `limits`, as runtime/sandbox has them.
pub(in crate::load) const LIMITS: &[Key] = &[
    key("timeout_seconds", Kind::Whole(86_400), "Seconds, after which everything is killed; 30 by default."),
    key("output_bytes", Kind::Whole(MOST_BYTES), "Bytes of both output streams; 4 MiB by default."),
    key("memory_bytes", Kind::Whole(MOST_BYTES), "Bytes of memory; 1 GiB by default."),
    key("address_space_bytes", Kind::Whole(MOST_BYTES), "Bytes of address space of each process; 4 GiB by default."),
    key("processes", Kind::Whole(100_000), "Processes and threads at the same time; 256 by default."),
    key("open_files", Kind::Whole(1_000_000), "Open files of each process; 256 by default."),
    key("file_bytes", Kind::Whole(MOST_BYTES), "Bytes of the largest file that may be written; 256 MiB by default."),
    key("scratch_bytes", Kind::Whole(MOST_BYTES), "Bytes of the private temporary folder; 64 MiB by default."),
];
