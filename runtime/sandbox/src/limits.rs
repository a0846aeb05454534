//! How long, how large, how many.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Limits of one command. Each holds for the command with everything that it starts, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Seconds of real time, after which everything is killed. Also the seconds of processor time of each process.
    pub timeout_seconds: u64,
    /// Bytes of standard output and standard error together.
    pub output_bytes: usize,
    /// Bytes of memory, not counting files that are mapped. Measured fifty times a second.
    pub memory_bytes: u64,
    /// Bytes of address space of each process, enforced by the kernel at each allocation.
    pub address_space_bytes: u64,
    /// Number of processes and threads that run at the same time.
    pub processes: u64,
    /// Number of open files of each process.
    pub open_files: u64,
    /// Bytes of the largest file that may be written.
    pub file_bytes: u64,
    /// Bytes of the private temporary folder; shared memory has as many of its own.
    pub scratch_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            timeout_seconds: 30,
            output_bytes: 4 * 1024 * 1024,
            memory_bytes: 1024 * MIB,
            address_space_bytes: 4096 * MIB,
            processes: 256,
            open_files: 256,
            file_bytes: 256 * MIB,
            scratch_bytes: 64 * MIB,
        }
    }
}

impl Limits {
    /// The longest command text, in characters.
    pub const COMMAND_CHARACTERS: usize = 16_000;

    /// How long a command may run.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}
