//! `toolwright schema`: JSON Schemas of our own files, by which editors complete and check them.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::Value;
use toolwright_generator::load::{prompt_file_schema, resource_file_schema, server_file_schema, tool_file_schema};

use crate::workspace;

/// Where the schemas stand, from the root.
const FOLDER: &str = "docs/schema";

/// Write the JSON Schemas of our own files, for editors.
#[derive(Debug, Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(self) -> Result<ExitCode> {
        write(&workspace::root()?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The schemas by the kind of file.
fn schemas() -> [(&'static str, Value); 4] {
    [
        ("server", server_file_schema()),
        ("tool", tool_file_schema()),
        ("prompt", prompt_file_schema()),
        ("resource", resource_file_schema()),
    ]
}

/// Writes the schemas that are not there or not as this program has them.
pub(crate) fn write(root: &Path) -> Result<()> {
    for (name, schema) in schemas() {
        let path = format!("{FOLDER}/{name}.schema.json");
        let text = text(&schema);
        if std::fs::read(root.join(&path)).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        workspace::write_file(&root.join(&path), text.as_bytes())?;
        eprintln!("{path}: written");
    }
    Ok(())
}

fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// The line by which editors find the schema of a file that stands so many folders below the root.
pub(crate) fn line(name: &str, depth: usize) -> String {
    format!("# yaml-language-server: $schema={}{FOLDER}/{name}.schema.json\n", "../".repeat(depth))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_checked_in_schemas_are_those_of_the_reader() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for (name, schema) in schemas() {
            let path = root.join(FOLDER).join(format!("{name}.schema.json"));
            let there = std::fs::read_to_string(&path).unwrap();
            assert!(there == text(&schema), "{name}: run `cargo xtask schema`");
        }
    }

    #[test]
    fn a_file_names_its_schema_from_where_it_stands() {
        assert_eq!(line("tool", 3), "# yaml-language-server: $schema=../../../docs/schema/tool.schema.json\n");
    }
}
