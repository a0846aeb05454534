//! The sandbox's support process as a program of its own, for callers that cannot be started again themselves.

fn main() {
    toolwright_sandbox::run_support_if_asked();
    eprintln!("This program is started by a sandbox and does nothing by itself.");
    std::process::exit(2);
}
