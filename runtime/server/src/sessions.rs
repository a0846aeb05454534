//! What clients of 2025-11-25 asked for once and for all: which log messages they want, and which resources they follow.
//! Later eras say it with each request, and nothing is kept for them.

#![allow(deprecated)] // 2026-07-28 deprecates messages for a client's log, and both eras still have them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, LoggingLevel, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RequestContext};

use crate::client::session;

/// Sessions and followed resources at most; the oldest go first.
const MOST: usize = 1000;

/// The longest URI that can be followed.
const LONGEST_URI: usize = 2048;

/// What sessions asked for.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    levels: Mutex<BTreeMap<String, LoggingLevel>>,
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
        self.levels.lock().unwrap_or_else(PoisonError::into_inner).get(session).copied()
    }

    /// Keeps the level of a session.
    ///
    /// # Errors
    /// Where HTTP keeps no sessions.
    pub(crate) fn set_level(&self, context: &RequestContext<RoleServer>, level: LoggingLevel) -> Result<(), ErrorData> {
        let session = session(context).ok_or_else(no_session)?;
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= MOST {
            levels.pop_first();
        }
        levels.insert(session, level);
        Ok(())
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
