//! A log file that begins anew each day, at midnight UTC, and keeps the files of the last days beside it.
//!
//! Several processes may write to one file, as where each client starts a server of its own. Whoever is first on a new day
//! renames the file; the others see that theirs is no longer the one of that name, and open the new one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::{Timestamp, tz::TimeZone};

/// How often the file of that name may turn out to be another's before the old one is written on.
const MOST_TURNS: usize = 4;

/// A day in UTC, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Day(u64);

impl Day {
    fn of(time: SystemTime) -> Self {
        Day(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400))
    }
}

/// As `2026-11-30`, so that names sort by age.
impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = i64::try_from(self.0.saturating_mul(86_400)).unwrap_or(i64::MAX);
        // Beyond the year 9999, the last day of the calendar.
        let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        write!(f, "{}", time.to_zoned(TimeZone::UTC).date())
    }
}

/// The file of today, and what turns it into that of a day.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    /// Files of earlier days that stay.
    keep: usize,
    now: fn() -> SystemTime,
    file: File,
    /// The day whose lines the file holds.
    day: Day,
}

impl LogFile {
    /// Opens the file, made with its folder where it is not there.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(super) fn open(path: &Path, keep: usize) -> io::Result<Self> {
        LogFile::with_clock(path, keep, SystemTime::now)
    }

    fn with_clock(path: &Path, keep: usize, now: fn() -> SystemTime) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = append(path)?;
        let day = last_day(&file)?.unwrap_or_else(|| Day::of(now()));
        let mut log = LogFile { path: path.to_owned(), keep, now, file, day };
        log.turn();
        Ok(log)
    }

    /// Goes on to the file of today. Where that cannot be, the old one is written on, and the next line tries again.
    fn turn(&mut self) {
        let today = Day::of((self.now)());
        if self.day >= today || !self.is_regular() {
            return;
        }
        if let Ok(file) = self.file_of(today) {
            self.file = file;
            self.day = today;
            self.remove_old();
        }
    }

    /// What is no regular file, such as `/dev/stderr` or `/dev/null`, holds no days and is not ours to rename.
    fn is_regular(&self) -> bool {
        self.file.metadata().is_ok_and(|known| known.is_file())
    }

    fn file_of(&self, today: Day) -> io::Result<File> {
        for _ in 0..MOST_TURNS {
            let file = append(&self.path)?;
            let lock = Lock::take(&file)?;
            if !is_same(&file, &append(&self.path)?)? {
                continue;
            }
            // Our own last line says more than the file's time: another process may have been late for midnight.
            let day = if is_same(&file, &self.file)? { Some(self.day) } else { last_day(&file)? };
            let aside = day.filter(|day| *day < today).map(|day| self.aside(day)).filter(|aside| !aside.exists());
            let Some(aside) = aside else {
                drop(lock);
                return Ok(file);
            };
            std::fs::rename(&self.path, aside)?;
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Where the lines of that day go.
    fn aside(&self, day: Day) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{day}"));
        name.into()
    }

    /// Removes files of days before those that are kept. One that cannot be removed stays: the log itself works.
    fn remove_old(&self) {
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else { return };
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let prefix = format!("{}.", name.to_string_lossy());
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut days: Vec<String> = names.filter(|name| name.strip_prefix(&prefix).is_some_and(is_day)).collect();
        days.sort();
        days.truncate(days.len().saturating_sub(self.keep));
        for name in days {
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.turn();
        self.file.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Opens a file that only its owner reads.
fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The day of the last line; nothing where there is none.
fn last_day(file: &File) -> io::Result<Option<Day>> {
    let known = file.metadata()?;
    Ok(if known.len() == 0 { None } else { Some(Day::of(known.modified()?)) })
}

fn is_day(text: &str) -> bool {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.split('-');
    [4, 2, 2].iter().all(|count| parts.next().is_some_and(|part| digits(part, *count))) && parts.next().is_none()
}

#[cfg(unix)]
fn is_same(left: &File, right: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (left, right) = (left.metadata()?, right.metadata()?);
    Ok((left.dev(), left.ino()) == (right.dev(), right.ino()))
}

/// Where files cannot be told apart, one process has the log for itself.
#[cfg(not(unix))]
fn is_same(_: &File, _: &File) -> io::Result<bool> {
    Ok(true)
}

/// Holds off other processes that would rename the same file.
struct Lock<'a> {
    #[cfg(unix)]
    file: &'a File,
    #[cfg(not(unix))]
    file: std::marker::PhantomData<&'a File>,
}

impl<'a> Lock<'a> {
    #[cfg(unix)]
    fn take(file: &'a File) -> io::Result<Self> {
        rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
        Ok(Lock { file })
    }

    #[cfg(not(unix))]
    #[allow(clippy::unnecessary_wraps)]
    fn take(_: &'a File) -> io::Result<Self> {
        Ok(Lock { file: std::marker::PhantomData })
    }
}

#[cfg(unix)]
impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked with its descriptor.
        let _ = rustix::fs::flock(self.file, rustix::fs::FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    thread_local!(static NOW: Cell<u64> = const { Cell::new(0) });

    fn clock() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(NOW.get())
    }

    /// 2030-01-01, after any time that a file of a test can have.
    const NEW_YEAR: u64 = 21_915 * 86_400;

    fn at(day: u64) {
        NOW.set(NEW_YEAR + day * 86_400);
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn days_are_written_as_in_calendars() {
        for (days, written) in
            [(0, "1970-01-01"), (11_016, "2000-02-29"), (20_786, "2026-11-29"), (21_914, "2029-12-31")]
        {
            assert_eq!(Day(days).to_string(), written);
        }
    }

    #[test]
    fn each_day_has_a_file_and_old_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.log");
        std::fs::write(folder.path().join("s.log.notes"), "mine").unwrap();
        at(0);
        let mut log = LogFile::with_clock(&path, 2, clock).unwrap();
        for day in 0..5 {
            at(day);
            log.write_all(format!("day {day}\n").as_bytes()).unwrap();
            log.write_all(b"more\n").unwrap();
        }
        assert_eq!(names(folder.path()), ["s.log", "s.log.2030-01-03", "s.log.2030-01-04", "s.log.notes"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "day 4\nmore\n");
        assert_eq!(std::fs::read_to_string(folder.path().join("s.log.2030-01-03")).unwrap(), "day 2\nmore\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_never_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.log");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        at(0);
        let mut log = LogFile::with_clock(&path, 7, clock).unwrap();
        log.write_all(b"old\n").unwrap();
        at(1);
        log.write_all(b"new\n").unwrap();
        assert_eq!(names(folder.path()), ["s.log"]);
    }

    #[test]
    fn a_file_of_an_earlier_day_is_put_aside_at_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.log");
        std::fs::write(&path, "old\n").unwrap();
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(UNIX_EPOCH).unwrap();
        at(0);
        LogFile::with_clock(&path, 7, clock).unwrap().write_all(b"new\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new\n");
        assert_eq!(std::fs::read_to_string(folder.path().join("s.log.1970-01-01")).unwrap(), "old\n");
    }

    #[test]
    fn processes_that_share_a_file_lose_no_line_at_midnight() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.log");
        at(0);
        let mut logs = [(); 3].map(|()| LogFile::with_clock(&path, 7, clock).unwrap());
        for day in 0..2 {
            at(day);
            for (number, log) in logs.iter_mut().enumerate() {
                log.write_all(format!("{day} of {number}\n").as_bytes()).unwrap();
                // The time of a file is the system's, which the clock of this test is ahead of.
                log.file.set_modified(clock()).unwrap();
            }
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1 of 0\n1 of 1\n1 of 2\n");
        let before = std::fs::read_to_string(folder.path().join("s.log.2030-01-01")).unwrap();
        assert_eq!(before, "0 of 0\n0 of 1\n0 of 2\n");
    }

    #[test]
    fn a_folder_that_takes_no_new_file_costs_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/s.log");
        at(0);
        let mut log = LogFile::with_clock(&path, 7, clock).unwrap();
        std::fs::rename(folder.path().join("a"), folder.path().join("b")).unwrap();
        at(1);
        log.write_all(b"line\n").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("b/s.log")).unwrap(), "line\n");
    }

    #[test]
    #[cfg(unix)]
    fn a_log_file_is_made_with_its_folder_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.log");
        LogFile::open(&path, 7).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
