//! The system's keyring: Secret Service, Keychain, or Credential Manager.

use std::fmt;

use toolwright_core::Secret;

/// Keeps secrets by service and account.
pub(crate) trait Keyring: fmt::Debug + Send + Sync {
    /// The secret there. It may wait for a person who unlocks the keyring.
    ///
    /// # Errors
    /// Where the keyring fails, or there is none.
    fn get(&self, service: &str, account: &str) -> Result<Option<Secret>, KeyringFault>;

    /// Keeps a secret, in the place of one that is there.
    ///
    /// # Errors
    /// Where the keyring fails, or there is none.
    fn set(&self, service: &str, account: &str, secret: &Secret) -> Result<(), KeyringFault>;
}

/// What went wrong with the keyring. Only the kind: details may hold what nobody should read.
#[cfg_attr(not(feature = "keyring"), allow(dead_code, reason = "without one, only its absence is told"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyringFault {
    /// The system has none, or this program was built without it.
    #[error("there is no keyring here")]
    Absent,
    /// It refused, as one that is locked does.
    #[error("access denied")]
    Denied,
    /// It said nothing in time.
    #[error("no answer within {} s", WAIT.as_secs())]
    Silent,
    /// Several entries have this service and account.
    #[error("several entries")]
    Ambiguous,
    /// The entry is no text.
    #[error("not a text")]
    NotText,
    /// Anything else.
    #[error("platform failure")]
    Failed,
}

/// How long a person may take to unlock it.
const WAIT: std::time::Duration = std::time::Duration::from_secs(30);

/// No keyring: what programs have that were given none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoKeyring;

impl Keyring for NoKeyring {
    fn get(&self, _service: &str, _account: &str) -> Result<Option<Secret>, KeyringFault> {
        Err(KeyringFault::Absent)
    }

    fn set(&self, _service: &str, _account: &str, _secret: &Secret) -> Result<(), KeyringFault> {
        Err(KeyringFault::Absent)
    }
}

#[cfg(not(feature = "keyring"))]
pub(crate) use NoKeyring as SystemKeyring;
#[cfg(feature = "keyring")]
pub(crate) use system::SystemKeyring;

#[cfg(feature = "keyring")]
mod system {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;

    use keyring::v1::{Entry, Error};
    use toolwright_core::Secret;

    use super::{Keyring, KeyringFault, WAIT};

    /// The keyring of this system. Nothing is opened before the first question.
    #[derive(Debug, Clone, Copy, Default)]
    pub(crate) struct SystemKeyring;

    /// Set by the first question that got no answer. Each further one would wait behind it.
    static SILENT: AtomicBool = AtomicBool::new(false);

    impl Keyring for SystemKeyring {
        fn get(&self, service: &str, account: &str) -> Result<Option<Secret>, KeyringFault> {
            match asked(service, account, |entry| entry.get_password()) {
                Ok(text) => Ok(Some(Secret::new(text))),
                Err(Asked::NoEntry) => Ok(None),
                Err(Asked::Fault(fault)) => Err(fault),
            }
        }

        fn set(&self, service: &str, account: &str, secret: &Secret) -> Result<(), KeyringFault> {
            let secret = secret.clone();
            match asked(service, account, move |entry| entry.set_password(secret.expose())) {
                Ok(()) => Ok(()),
                Err(Asked::NoEntry) => Err(KeyringFault::Failed),
                Err(Asked::Fault(fault)) => Err(fault),
            }
        }
    }

    enum Asked {
        NoEntry,
        Fault(KeyringFault),
    }

    /// Asks from a thread of its own, which is left behind where no answer comes: a question cannot be taken back.
    fn asked<T: Send + 'static>(
        service: &str,
        account: &str,
        question: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Asked> {
        if SILENT.load(Ordering::Relaxed) {
            return Err(Asked::Fault(KeyringFault::Silent));
        }
        let (service, account) = (service.to_owned(), account.to_owned());
        let (sender, answer) = channel();
        let ask = move || {
            // Nobody may be left to hear it.
            let _ = sender.send(Entry::new(&service, &account).and_then(|entry| question(&entry)));
        };
        let started = thread::Builder::new().name("keyring".to_owned()).spawn(ask);
        started.map_err(|_| Asked::Fault(KeyringFault::Failed))?;
        match answer.recv_timeout(WAIT) {
            Ok(answer) => answer.map_err(|error| kind(&error)),
            Err(RecvTimeoutError::Timeout) => {
                SILENT.store(true, Ordering::Relaxed);
                Err(Asked::Fault(KeyringFault::Silent))
            }
            Err(RecvTimeoutError::Disconnected) => Err(Asked::Fault(KeyringFault::Failed)),
        }
    }

    fn kind(error: &Error) -> Asked {
        Asked::Fault(match error {
            Error::NoEntry => return Asked::NoEntry,
            Error::NoDefaultStore => KeyringFault::Absent,
            Error::NoStorageAccess(_) => KeyringFault::Denied,
            Error::Ambiguous(_) => KeyringFault::Ambiguous,
            Error::BadEncoding(_) => KeyringFault::NotText,
            _ => KeyringFault::Failed,
        })
    }
}
