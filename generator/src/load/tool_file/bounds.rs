//! Folders and limits of a command that hold nothing back, or let nothing run.

use crate::diagnostic::Diagnostic;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Between these, a limit is one: below, hardly a program starts; above, it protects neither the server nor the machine.
const SENSIBLE: [(&str, u64, u64); 8] = [
    ("timeout_seconds", 1, 3_600),
    ("output_bytes", 1, 256 * MIB),
    ("memory_bytes", 16 * MIB, 64 * GIB),
    ("address_space_bytes", 16 * MIB, 1024 * GIB),
    ("processes", 1, 4_096),
    ("open_files", 8, 65_536),
    ("file_bytes", 1, 64 * GIB),
    ("scratch_bytes", 1, 64 * GIB),
];

/// Folders that hold the system, its state, or the homes of all.
const WIDE: [&str; 13] =
    ["home", "Users", "root", "etc", "proc", "sys", "dev", "var", "run", "boot", "usr", "tmp", "private"];

/// What is told of a limit outside of the sensible.
pub(super) fn of_limit(name: &str, value: u64) -> Option<Diagnostic> {
    let (_, least, most) = SENSIBLE.iter().find(|(known, ..)| *known == name)?;
    let message = match value {
        value if value < *least => format!("with `{name}` of {value}, hardly a program starts"),
        value if value > *most => format!("`{name}` of {value} is hardly a limit"),
        _ => return None,
    };
    let help = format!("write a number from {least} to {most}, or remove the key");
    Some(Diagnostic::warning("unusual-limit", message).help(help))
}

/// What is told of an absolute path that is too wide for a command: the root of all files, a folder of the system, or the
/// whole home of a person, where keys and credentials are.
pub(super) fn of_path(path: &str) -> Option<Diagnostic> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let help = "name the one folder that the command needs, such as `/srv/data`";
    let told = match parts.as_slice() {
        parts if parts.contains(&"..") => {
            let message = format!("`{path}` leads upwards");
            Diagnostic::error("wide-root", message).help("write the path without `..`")
        }
        [] => Diagnostic::error("wide-root", "the command would see every file of the machine").help(help),
        [only] if WIDE.contains(only) => {
            Diagnostic::warning("wide-root", format!("`{path}` is a folder of the whole system")).help(help)
        }
        ["home" | "Users", _] => {
            Diagnostic::warning("wide-root", format!("`{path}` is a home, with its keys and credentials")).help(help)
        }
        _ => return None,
    };
    Some(told)
}
