//! Commands, flags and their help.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright_core::ServerSpec;

use crate::settings::{Declared, Flags, TomlForm, declared};

/// The name of the binary.
pub(super) fn binary(server: &ServerSpec) -> String {
    format!("{}-server", server.name)
}

/// The address of the document, else one that shows the form.
fn example_url(server: &ServerSpec) -> &'static str {
    match server.default_base_url {
        "" => "https://api.example.com",
        url => url,
    }
}

/// The whole command line.
pub(super) fn command(server: &ServerSpec) -> Command {
    let name = binary(server);
    let catalog: String = server.catalog_sha256.chars().take(12).collect();
    let document = server.document;
    let version = format!("{} (catalog {catalog})", server.version);
    let long_version = format!(
        "{version}\ncatalog  sha256 {}\ndocument {} {} ({}), sha256 {}",
        server.catalog_sha256, document.title, document.version, document.dialect, document.sha256
    );
    Command::new(name.clone())
        .bin_name(name.clone())
        .about(server.description)
        .version(version)
        .long_version(long_version)
        .after_help(examples(&name))
        .after_long_help(format!("{}\n\n{}", environment_only(server), examples(&name)))
        .arg(global("config", "FILE", "Configuration file [env: TOOLWRIGHT_CONFIG]"))
        .arg(global("profile", "NAME", &format!("Instance to use [env: {}_PROFILE]", server.env_prefix)))
        .args(
            declared(server).iter().filter(|declared| !declared.kind.secret).map(|declared| setting(declared, server)),
        )
        .subcommand(
            Command::new("stdio")
                .about("Serve over stdin and stdout (the default)")
                .after_help(format!("Example:\n  {name} stdio")),
        )
        .subcommand(
            Command::new("http").about("Serve over streamable HTTP").after_help(format!(
                "Examples:\n  {name} http --port 8000\n  MCP_AUTH_TOKEN=… {name} http --host 0.0.0.0"
            )),
        )
        .subcommand(tools(&name))
        .subcommand(Command::new("prompts").about("Print the prompts with their arguments"))
        .subcommand(Command::new("resources").about("Print the resources and the templates of their URIs"))
        .subcommand(call(server, &name))
        .subcommand(
            Command::new("doctor")
                .about("Check settings and reach the API")
                .after_help(format!("Example:\n  {name} doctor --base-url {}", example_url(server))),
        )
        .subcommand(config(&name))
        .subcommand(
            Command::new("completions")
                .about("Print a completion script for a shell")
                .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell)))
                .after_help(format!("Example:\n  {name} completions bash > {name}.bash")),
        )
}

/// Settings that are no flags, since everybody on the machine sees command lines.
fn environment_only(server: &ServerSpec) -> String {
    let secret = declared(server).into_iter().filter(|declared| declared.kind.secret);
    let lines = secret.map(|declared| format!("  {:20} {}", declared.env(server), declared.help()));
    format!(
        "Secrets, from the environment, the configuration file or the system's keyring:\n{}",
        lines.collect::<Vec<_>>().join("\n")
    )
}

fn examples(name: &str) -> String {
    format!(
        "Examples:\n  {name}                 serve a client over stdin and stdout\n  \
         {name} http            serve at http://127.0.0.1:8000/mcp\n  \
         {name} tools --all     show the catalog\n  \
         {name} config clients  show how to connect a client\n  \
         {name} doctor          check the settings"
    )
}

fn global(name: &'static str, value: &'static str, help: &str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help.to_owned()).global(true)
}

/// Flags of settings carry the names of their keys; values are read where the other sources are.
fn setting(declared: &Declared, server: &ServerSpec) -> Arg {
    let env = declared.env(server);
    let help = match declared.shown_default(server) {
        default if default.is_empty() => format!("{} [env: {env}]", declared.help()),
        default => format!("{} [env: {env}] [default: {default}]", declared.help()),
    };
    let flag = Arg::new(declared.key)
        .long(declared.flag())
        .value_name(declared.kind.placeholder)
        .help(help)
        .help_heading("Settings")
        .hide_short_help(true)
        .global(true);
    match declared.kind.toml {
        // A value needs `=`, or the command after the flag would be taken for it.
        TomlForm::Boolean => flag.num_args(0..=1).require_equals(true).default_missing_value("true"),
        TomlForm::Text | TomlForm::Number | TomlForm::List => flag.allow_hyphen_values(true),
    }
}

/// The settings given as flags.
pub(super) fn setting_flags(server: &ServerSpec, matches: &ArgMatches) -> Flags {
    let given = declared(server).into_iter().filter(|declared| !declared.kind.secret);
    given.filter_map(|declared| Some((declared.key, matches.get_one::<String>(declared.key)?.clone()))).collect()
}

fn tools(name: &str) -> Command {
    let switch = |id: &'static str, help: &'static str| Arg::new(id).long(id).help(help).action(ArgAction::SetTrue);
    Command::new("tools")
        .about("Print the catalog, or one tool with its arguments")
        .arg(Arg::new("tool").value_name("TOOL").help("Only this tool, with its description and input schema"))
        .arg(switch("all", "Hidden tools too"))
        .arg(switch("json", "As JSON, with schemas and the shapes of results"))
        .arg(switch("markdown", "As a Markdown table").conflicts_with("json"))
        .after_help(format!("Examples:\n  {name} tools\n  {name} tools list_additional_tools\n  {name} tools --all --json | jq '.[].name'"))
}

fn call(server: &ServerSpec, name: &str) -> Command {
    let tool = server.preset.first().copied().unwrap_or("TOOL");
    Command::new("call")
        .about("Call a tool once, listed or hidden, and print its result")
        .arg(Arg::new("tool").value_name("TOOL").required(true).help("Name of the tool"))
        .arg(
            Arg::new("args")
                .long("args")
                .value_name("JSON|@FILE")
                .default_value("{}")
                .help("Arguments: a JSON object, @FILE, or @- for stdin"),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Print the request as a curl command instead of sending it"),
        )
        .after_help(format!(
            "Examples:\n  {name} call {tool}\n  {name} call {tool} --dry-run\n  {name} call {tool} --args @arguments.json"
        ))
}

fn config(name: &str) -> Command {
    let known = PossibleValuesParser::new(super::clients::NAMES);
    Command::new("config")
        .about("Print configuration to start from, or keep a secret")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("example")
                .about("Print an example of the configuration file")
                .after_help(format!("Example:\n  {name} config example > ~/.config/toolwright/config.toml")),
        )
        .subcommand(
            Command::new("clients")
                .about("Print how to connect MCP clients to this server")
                .arg(Arg::new("client").value_parser(known).help("Only this client"))
                .after_help(format!(
                    "Settings given here, in the environment or by --profile go into what is printed.\n\n\
                     Example:\n  {name} config clients claude-code --base-url http://gpu.local:8080"
                )),
        )
        .subcommand(
            Command::new("secret")
                .about("Keep a secret in the system's keyring; its value comes from stdin")
                .arg(
                    Arg::new("name")
                        .value_name("NAME")
                        .required(true)
                        .help("A secret setting, or one declared as [secrets.NAME]"),
                )
                .after_help(format!("Example:\n  {name} config secret api_key")),
        )
        .subcommand(
            Command::new("table")
                .about("Print all settings as a Markdown table")
                .after_help(format!("Example:\n  {name} config table > settings.md")),
        )
        .after_help(format!("Examples:\n  {name} config example\n  {name} config clients claude-code"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SERVER;

    #[test]
    fn the_command_line_is_consistent() {
        command(&SERVER).debug_assert();
    }

    #[test]
    fn every_command_has_help_with_an_example() {
        let mut whole = command(&SERVER);
        whole.build();
        let mut open: Vec<&mut Command> = whole.get_subcommands_mut().collect();
        while let Some(sub) = open.pop().filter(|sub| sub.get_name() != "help") {
            let help = sub.render_long_help().to_string();
            assert!(help.contains("Example"), "{}", sub.get_name());
            open.extend(sub.get_subcommands_mut());
        }
    }

    #[test]
    fn the_version_names_the_catalog() {
        assert!(command(&SERVER).render_version().contains("1.2.3 (catalog abcdef012345)"));
    }

    #[test]
    fn settings_are_flags_after_the_command_too() {
        let matches = command(&SERVER).try_get_matches_from(["demo-server", "http", "--port", "9"]).unwrap();
        assert_eq!(setting_flags(&crate::testing::SERVER, &matches).get("port").map(String::as_str), Some("9"));
    }

    #[test]
    fn a_switch_needs_no_value_and_takes_none_that_follows() {
        let given = |arguments: &[&str]| {
            let matches = command(&SERVER).try_get_matches_from([&["demo-server"], arguments].concat()).unwrap();
            (
                setting_flags(&crate::testing::SERVER, &matches).get("read_only").cloned(),
                matches.subcommand_name().map(str::to_owned),
            )
        };
        assert_eq!(given(&["--read-only", "http"]), (Some("true".into()), Some("http".into())));
        assert_eq!(given(&["--read-only=false"]), (Some("false".into()), None));
    }

    #[test]
    fn secrets_are_no_flags() {
        let given = command(&SERVER).try_get_matches_from(["demo-server", "--api-key", "k"]);
        assert_eq!(given.unwrap_err().exit_code(), 2);
    }
}
