//! The second layer around files: Landlock says again what the private root says, and what a mount cannot say.

use super::plan::Plan;
use crate::Access;
use crate::layout::Place;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use std::path::{Path, PathBuf};

/// The newest set of rights that is asked for. An older kernel enforces those that it knows.
const RIGHTS: ABI = ABI::V6;

/// What may be done at and below a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    List,
    Read,
    Run,
    UseDevice,
    Change,
}

impl Right {
    fn bits(self) -> BitFlags<AccessFs> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        match self {
            Self::List => AccessFs::ReadDir.into(),
            Self::Read => read,
            Self::Run => read | AccessFs::Execute,
            Self::UseDevice => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev,
            Self::Change => {
                AccessFs::from_all(RIGHTS)
                    & !(AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
            }
        }
    }
}

/// The rules inside the private root, where everything that exists may be listed.
pub(super) fn rules_of_the_private_root(plan: &Plan) -> Vec<(PathBuf, Right)> {
    let mut rules = vec![(PathBuf::from("/"), Right::List)];
    rules.extend(plan.programs.files.iter().map(|grant| (grant.target.clone(), reading(grant.runs))));
    for path in ["/etc/passwd", "/etc/group", "/proc"] {
        rules.push((path.into(), Right::Read));
    }
    rules.push(("/dev".into(), Right::UseDevice));
    if plan.ipc {
        rules.push(("/dev/shm".into(), Right::Change));
    }
    rules.extend(rules_of_data(plan));
    rules
}

/// The rules where the machine's own root stays visible.
pub(super) fn rules_of_the_whole_machine(plan: &Plan) -> Vec<(PathBuf, Right)> {
    let mut rules: Vec<_> =
        plan.programs.files.iter().map(|grant| (grant.source.clone(), reading(grant.runs))).collect();
    for path in ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"] {
        rules.push((path.into(), Right::UseDevice));
    }
    rules.extend(rules_of_data(plan));
    rules
}

fn reading(runs: bool) -> Right {
    if runs { Right::Run } else { Right::Read }
}

fn rules_of_data(plan: &Plan) -> Vec<(PathBuf, Right)> {
    let mut rules: Vec<_> = plan
        .places
        .iter()
        .filter_map(|(path, place)| match place {
            Place::Root(Access::ReadOnly) => Some((path.clone(), Right::Read)),
            Place::Root(Access::ReadWrite) => Some((path.clone(), Right::Change)),
            Place::Pin | Place::DeniedFolder | Place::DeniedFile => None,
        })
        .collect();
    rules.push((plan.scratch.clone(), if plan.writes { Right::Change } else { Right::Read }));
    rules
}

/// Enforces the rules for this process and its children: nothing else of the file system, no TCP without a network, and no
/// signals or abstract sockets to processes outside. Returns what the kernel enforces, in words, or None for nothing.
pub(super) fn enforce(rules: &[(PathBuf, Right)], network: bool) -> Result<Option<String>, String> {
    let problem = |error: landlock::RulesetError| format!("setting up Landlock: {error}");
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(RIGHTS)).map_err(problem)?;
    if !network {
        ruleset = ruleset.handle_access(AccessNet::from_all(RIGHTS)).map_err(problem)?;
    }
    let mut created = ruleset.scope(Scope::from_all(RIGHTS)).map_err(problem)?.create().map_err(problem)?;
    for (path, right) in rules {
        // What does not exist needs no right.
        let Ok(place) = PathFd::new(path) else { continue };
        let bits = if is_folder(path) { right.bits() } else { right.bits() & AccessFs::from_file(RIGHTS) };
        created = created.add_rule(PathBeneath::new(place, bits)).map_err(problem)?;
    }
    let status = created.restrict_self().map_err(problem)?;
    Ok(match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(format!("Landlock {}", effective_abi as i32)),
        _ => None,
    })
}

/// Whether the kernel also keeps signals inside: without a process namespace nothing else does.
pub(super) fn keeps_signals_inside(level: &str) -> bool {
    level
        .rsplit(' ')
        .next()
        .and_then(|number| number.parse::<i32>().ok())
        .is_some_and(|number| number >= ABI::V6 as i32)
}

fn is_folder(path: &Path) -> bool {
    path.is_dir()
}
