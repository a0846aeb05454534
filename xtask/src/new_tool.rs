//! `toolwright new-tool`: one more tool of a server, and the server around it where there is none.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use toolwright_generator::load::{config::FIXED_TOOLS, is_server_name, is_tool_name};

use crate::regenerate::Regenerate;
use crate::{invoked, members, schema, workspace};

/// Start a tool file, and the server around it where there is none.
#[derive(Debug, Args)]
pub(crate) struct NewTool {
    /// The server: a folder below specs/, which is made where it is not there.
    server: String,
    /// The tool: snake_case, first a letter, at most 48 characters. It names the file.
    name: String,
    #[command(flatten)]
    kind: Kind,
}

/// What carries the tool out; without any of them, one request of an API.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Kind {
    /// The tool is several requests as one, each of which can use what came before.
    #[arg(long)]
    steps: bool,
    /// The tool is a jq filter over its arguments.
    #[arg(long)]
    expression: bool,
    /// The tool is Rust: a handler in the crate specs/SERVER/native, which is started where it is not there.
    #[arg(long)]
    native: bool,
    /// The tool asks a language model, which the configuration file of the server names.
    #[arg(long)]
    llm: bool,
    /// The tool runs a command in a sandbox.
    #[arg(long)]
    sandbox: bool,
}

impl NewTool {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let root = workspace::root()?;
        self.check_names()?;
        let file = format!("specs/{}/tools/{}.yaml", self.server, self.name);
        if root.join(&file).exists() {
            bail!("{file} is there already");
        }
        schema::write(&root)?;
        self.start_server(&root)?;
        let text = self.file();
        workspace::write_file(&root.join(&file), text.as_bytes())?;
        let mut crates: Vec<String> =
            ["server", "tools"].map(|kind| format!("generated/{}-{kind}", self.server)).into();
        if self.kind.native {
            self.start_handlers(&root)?;
            crates.push(format!("specs/{}/native", self.server));
        }
        let code = Regenerate::one(&self.server).run()?;
        if code != ExitCode::SUCCESS {
            eprintln!("correct {file}, then run `{} regenerate {}`", invoked::name(), self.server);
            return Ok(code);
        }
        for folder in members::add(&root, &crates)? {
            eprintln!("Cargo.toml: added the member {folder}");
        }
        self.next(&file);
        Ok(ExitCode::SUCCESS)
    }

    fn check_names(&self) -> Result<()> {
        if !is_server_name(&self.server) {
            bail!("`{}` cannot name a server: small letters, digits and `-`, first a letter", self.server);
        }
        if !is_tool_name(&self.name) {
            bail!("`{}` cannot name a tool: snake_case, first a letter, at most 48 characters", self.name);
        }
        if FIXED_TOOLS.iter().any(|(fixed, _)| *fixed == self.name) {
            bail!("every server has a tool `{}` of its own: choose another name", self.name);
        }
        Ok(())
    }

    fn start_server(&self, root: &Path) -> Result<()> {
        let path = root.join(format!("specs/{}/server.yaml", self.server));
        if path.exists() {
            return Ok(());
        }
        let prefix = self.server.to_uppercase().replace('-', "_");
        let upstream = match self.calls_an_api() {
            false => String::new(),
            true => format!(
                "# The API that tools with `http` call; {prefix}_BASE_URL replaces the address.\n\
                 upstream: {{ base_url: \"http://127.0.0.1:8080\", env_prefix: {prefix} }}\n"
            ),
        };
        let text = format!(
            "{}# A server of tool files: each YAML file below tools/ is a tool. docs/spec-format.md explains every key.\n\
             server: {server}\ntitle: {server}\ndescription: Tools of {server}.\nversion: 0.1.0\n{upstream}",
            schema::line("server", 2),
            server = self.server,
        );
        workspace::write_file(&path, text.as_bytes())
    }

    fn calls_an_api(&self) -> bool {
        let Kind { expression, native, llm, sandbox, .. } = self.kind;
        !(expression || native || llm || sandbox)
    }

    fn file(&self) -> String {
        match self.kind {
            Kind { steps: true, .. } => self.steps_file(),
            Kind { expression: true, .. } => self.expression_file(),
            Kind { native: true, .. } => self.native_file(),
            Kind { llm: true, .. } => self.llm_file(),
            Kind { sandbox: true, .. } => self.sandbox_file(),
            _ => self.http_file(),
        }
    }

    /// What all kinds of file begin with.
    fn head(&self, description: &str, returns: &str, risk: &str) -> String {
        format!(
            "{}name: {name}\ntitle: {title}\ndescription: {description}\nhints: {{ risk: {risk} }}\nreturns: \"{returns}\"\n",
            schema::line("tool", 3),
            name = self.name,
            title = title(&self.name),
        )
    }

    fn http_file(&self) -> String {
        format!(
            "{}# Arguments: name, JSON Schema. A `?` after the name makes it optional.\n\
             input:\n  id: {{ type: string, description: Which one to get. }}\n\
             \x20 limit?: {{ type: integer, minimum: 1, default: 10, description: Most entries to return. }}\n\
             # One request. Names in braces, and on the right of query, headers and body, are inputs.\n\
             http:\n  method: GET\n  path: /things/{{id}}\n  query: {{ limit: limit }}\n",
            self.head("Get one thing by its id.", "The thing, as the API answers.", "read-only"),
        )
    }

    fn steps_file(&self) -> String {
        format!(
            "{}# Arguments: name, JSON Schema. A `?` after the name makes it optional.\n\
             input:\n  id: {{ type: string, description: Which thing it is about. }}\n\
             # Calls in their order. A step can also call a tool of this server: `tool: NAME`, with `parameters`.\n\
             steps:\n  - stepId: thing\n    http: {{ method: GET, path: \"/things/{{$inputs.id}}\" }}\n\
             \x20   outputs: {{ owner: $response.body#/owner_id }}\n\
             \x20 - stepId: owner\n    http: {{ method: GET, path: \"/people/{{$steps.thing.outputs.owner}}\" }}\n\
             \x20   outputs: {{ name: $response.body#/name }}\n\
             # What the tool answers.\noutputs: {{ owner: $steps.owner.outputs.name }}\n",
            self.head("Say whose a thing is.", "`owner`, a name.", "read-only"),
        )
    }

    fn expression_file(&self) -> String {
        format!(
            "{}# Arguments: name, JSON Schema. A `?` after the name makes it optional.\n\
             input:\n  values: {{ type: array, minItems: 1, items: {{ type: number }}, description: Numbers. }}\n\
             # What comes back.\n\
             output: {{ type: number, description: Their mean. }}\n\
             # A jq filter, whose input is the arguments.\nexpression: (.values | add) / (.values | length)\n",
            self.head("Work out the mean of numbers.", "The mean.", "compute"),
        )
    }

    fn native_file(&self) -> String {
        format!(
            "{}# Arguments: name, JSON Schema. A `?` after the name makes it optional.\n\
             input:\n  text: {{ type: string, description: What to work on. }}\n\
             # What comes back, which becomes a Rust type.\n\
             output:\n  type: object\n  required: [text]\n  properties:\n    text: {{ type: string, description: What came of it. }}\n\
             # A method `{}` of the trait that specs/{}/native implements.\nnative: {{}}\n",
            self.head("Say what this tool does.", "`text`.", "compute"),
            self.name,
            self.server,
        )
    }

    fn llm_file(&self) -> String {
        format!(
            "{}# Arguments: name, JSON Schema. A `?` after the name makes it optional.\n\
             input:\n  text: {{ type: string, description: What to work on. }}\n\
             # What the model must answer with. Without it the answer is text.\n\
             output:\n  type: object\n  required: [topic]\n  properties:\n    topic: {{ type: string, description: What the text is about. }}\n\
             settings:\n  {name}_model: {{ description: Model that {name} asks. }}\n\
             # Where models are served stands in the table [llm] of the configuration file. Inputs are marked off as data.\n\
             llm:\n  model: {{ setting: {name}_model }}\n  system: You answer briefly.\n\
             \x20 prompt: |\n    Say what this text is about:\n    {{$inputs.text}}\n",
            self.head("Say what a text is about.", "`topic`.", "compute"),
            name = self.name,
        )
    }

    fn sandbox_file(&self) -> String {
        format!(
            "{}# Arguments: name, JSON Schema. A `?` after the name makes it optional.\n\
             input:\n  text: {{ type: string, minLength: 1, description: Text to find. }}\n\
             settings:\n  {name}_dir: {{ description: Folder that {name} looks in. }}\n\
             # The program and its arguments, which no shell reads. Behind `--` an input is no option.\n\
             sandbox:\n  command: [grep, --recursive, --line-number, --, \"{{$inputs.text}}\", .]\n\
             \x20 # What the command sees; the first is its working folder.\n\
             \x20 roots: [{{ setting: {name}_dir, access: read_only }}]\n\
             \x20 # grep ends with 1 where it finds nothing.\n  exit_codes: [0, 1]\n",
            self.head("Find the lines that hold a text.", "`stdout`, the lines.", "read-only"),
            name = self.name,
        )
    }

    /// Starts the crate of handlers. One that is there is never touched.
    fn start_handlers(&self, root: &Path) -> Result<()> {
        let folder = root.join(format!("specs/{}/native", self.server));
        if folder.join("Cargo.toml").exists() {
            eprintln!("add this method to `impl Handlers` in specs/{}/native:\n{}", self.server, self.method());
            return Ok(());
        }
        workspace::write_file(&folder.join("Cargo.toml"), self.handlers_manifest().as_bytes())?;
        workspace::write_file(&folder.join("src/lib.rs"), self.handlers_source().as_bytes())
    }

    fn handlers_manifest(&self) -> String {
        format!(
            "[package]\nname = \"{server}-native\"\ndescription = \"Handlers of {server}'s own tools\"\nversion = \"0.1.0\"\n\
             edition = \"2024\"\nrust-version = \"1.88\"\npublish = false\n\n\
             [lints]\nworkspace = true\n\n[dependencies]\n{server}-tools = {{ path = \"../../../generated/{server}-tools\" }}\n\
             toolwright-core.workspace = true\n",
            server = self.server,
        )
    }

    fn handlers_source(&self) -> String {
        let (tools, input) = (format!("{}_tools", self.server.replace('-', "_")), camel(&self.name));
        let mut imports = [
            "use toolwright_core::{Context, ToolError};".to_owned(),
            format!("use {tools}::general::{{{input}, {input}Result}};"),
            format!("use {tools}::native::Handlers;"),
        ];
        imports.sort();
        let imports = imports.join("\n");
        format!(
            "//! Handlers of the tools of {server} that are Rust.\n\n{imports}\n\n\
             /// The handlers, as the server's binary takes them.\n#[must_use]\npub fn handlers() -> impl Handlers {{\n    Tools\n}}\n\n\
             /// What the handlers share: a pool, a client, a cache.\nstruct Tools;\n\n\
             impl Handlers for Tools {{\n{}}}\n",
            self.method(),
            server = self.server,
        )
    }

    fn method(&self) -> String {
        let input = camel(&self.name);
        format!(
            "    async fn {}(&self, input: {input}, _context: &Context) -> Result<{input}Result, ToolError> {{\n\
             \x20       Ok({input}Result {{ text: input.text }})\n    }}\n",
            self.name
        )
    }

    fn next(&self, file: &str) {
        let (server, program) = (&self.server, invoked::name());
        let handler = if self.kind.native { format!("specs/{server}/native/src/lib.rs, ") } else { String::new() };
        eprintln!(
            "\nNext: edit {handler}{file}, then\n\
             \x20 {program} regenerate {server}                what a changed file makes of the tool\n\
             \x20 cargo run -p {server}-server -- call {}       one call from the shell",
            self.name
        );
    }
}

/// `release_notes` -> `Release notes`.
fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// `release_notes` -> `ReleaseNotes`.
fn camel(name: &str) -> String {
    name.split('_').map(title).collect()
}
