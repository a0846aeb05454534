//! What this program is called by the person who runs it.

/// `cargo xtask` where cargo started it from its own package, as the alias does, else `toolwright`.
pub(crate) fn name() -> &'static str {
    // `cargo run` says in the environment whose program it starts; an installed program is started without that.
    let from_package = std::env::var_os("CARGO_PKG_NAME").is_some_and(|package| package == env!("CARGO_PKG_NAME"));
    if from_package { "cargo xtask" } else { "toolwright" }
}
