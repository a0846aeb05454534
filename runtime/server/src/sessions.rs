//! What clients of 2025-11-25 asked for once and for all: which log messages they want, and which resources they follow.
//! Later eras say it with each request, and nothing is kept for them.

#![allow(deprecated)] // 2026-07-28 deprecates messages for a client's log, and both eras still have them.

use std::sync::{Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, LoggingLevel, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RequestContext};

use crate::client::session;

/// Levels of sessions and followed resources at most; the level used longest ago goes first, and so does the resource that
/// was followed longest ago.
const MOST: usize = 1000;

/// The longest URI that can be followed.
const LONGEST_URI: usize = 2048;

/// What sessions asked for.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// The level of each session, the one used last at the end.
    levels: Mutex<Vec<(String, LoggingLevel)>>,
    followed: Mutex<Vec<Followed>>,
}

#[derive(Debug)]
struct Followed {
    session: String,
    uri: String,
    peer: Peer<RoleServer>,
}

impl Sessions {
    /// The level from which on a session wants messages; `None` where it never said so.
    pub(crate) fn level(&self, session: &str) -> Option<LoggingLevel> {
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        let at = levels.iter().position(|(of, _)| of == session)?;
        levels.get_mut(at..)?.rotate_left(1);
        levels.last().map(|(_, level)| *level)
    }

    /// Keeps the level of a session.
    ///
    /// # Errors
    /// Where HTTP keeps no sessions.
    pub(crate) fn set_level(&self, context: &RequestContext<RoleServer>, level: LoggingLevel) -> Result<(), ErrorData> {
        self.keep(session(context).ok_or_else(no_session)?, level);
        Ok(())
    }

    fn keep(&self, session: String, level: LoggingLevel) {
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        levels.retain(|(of, _)| *of != session);
        if levels.len() >= MOST {
            levels.remove(0);
        }
        levels.push((session, level));
    }

    /// Tells this session from now on when the resource changes.
    ///
    /// # Errors
    /// Where HTTP keeps no sessions, or the URI is none.
    pub(crate) fn follow(&self, context: &RequestContext<RoleServer>, uri: String) -> Result<(), ErrorData> {
        let session = session(context).ok_or_else(no_session)?;
        if uri.len() > LONGEST_URI {
            return Err(ErrorData::invalid_params(format!("a URI has at most {LONGEST_URI} bytes here"), None));
        }
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.retain(|it| !(it.peer.is_transport_closed() || it.session == session && it.uri == uri));
        if followed.len() >= MOST {
            followed.remove(0);
        }
        followed.push(Followed { session, uri, peer: context.peer.clone() });
        Ok(())
    }

    /// No longer does so.
    ///
    /// # Errors
    /// Where HTTP keeps no sessions.
    pub(crate) fn leave(&self, context: &RequestContext<RoleServer>, uri: &str) -> Result<(), ErrorData> {
        let session = session(context).ok_or_else(no_session)?;
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.retain(|it| !(it.session == session && it.uri == uri));
        Ok(())
    }

    /// Tells whoever follows the resource that it has changed.
    pub(crate) fn changed(&self, uri: &str) {
        let followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        for peer in followed.iter().filter(|it| it.uri == uri).map(|it| it.peer.clone()) {
            let update = ResourceUpdatedNotificationParam::new(uri);
            // A client that went away needs no word.
            tokio::spawn(async move { drop(peer.notify_resource_updated(update).await) });
        }
    }
}

fn no_session() -> ErrorData {
    let message = "this needs a session, and over HTTP this server keeps none (setting MCP_SESSIONS)";
    ErrorData::invalid_request(message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_drops_the_session_that_was_not_used_for_the_longest_time() {
        let sessions = Sessions::default();
        for number in 0..MOST {
            sessions.keep(format!("{number:04}"), LoggingLevel::Info);
        }
        assert_eq!(sessions.level("0000"), Some(LoggingLevel::Info));
        sessions.keep("0001".to_owned(), LoggingLevel::Error);
        sessions.keep("new".to_owned(), LoggingLevel::Info);
        let levels = ["0000", "0001", "0002", "0003", "new"].map(|session| sessions.level(session));
        let (info, error) = (Some(LoggingLevel::Info), Some(LoggingLevel::Error));
        assert_eq!(levels, [info, error, None, info, info]);
    }
}
