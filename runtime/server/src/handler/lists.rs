//! What all lists have in common: pages, and from 2026-07-28 on how long and by whom they may be kept.

use rmcp::RoleServer;
use rmcp::model::{CacheScope, ErrorData, MetaObject, PaginatedRequestParams};
use rmcp::service::RequestContext;

use super::{STATIC_TTL_MS, is_modern, page};
use crate::App;
use crate::content::Freshness;

/// A page of a list, as the results of rmcp have it.
pub(super) struct List<T> {
    pub(super) entries: Vec<T>,
    pub(super) next_cursor: Option<String>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) cache_scope: Option<CacheScope>,
    pub(super) meta: Option<MetaObject>,
}

impl App {
    /// The page of a list that a request asks for.
    ///
    /// # Errors
    /// A cursor that was never given out.
    pub(super) fn list<T: Clone>(
        &self,
        entries: &[T],
        request: Option<PaginatedRequestParams>,
        freshness: Freshness,
        context: &RequestContext<RoleServer>,
    ) -> Result<List<T>, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let page = page::of(entries, cursor.as_deref())?;
        let kept = is_modern(context).then(|| self.kept(freshness));
        Ok(List {
            entries: page.entries.to_vec(),
            next_cursor: page.next,
            ttl_ms: kept.map(|(ttl, _)| ttl),
            cache_scope: kept.map(|(_, scope)| scope),
            meta: kept.map(|_| self.result_meta()),
        })
    }

    /// How long a client may keep what is that fresh, in milliseconds, and who shares it.
    pub(super) fn kept(&self, freshness: Freshness) -> (u64, CacheScope) {
        match freshness {
            Freshness::Static => (STATIC_TTL_MS, self.cache_scope()),
            Freshness::Saved => (STATIC_TTL_MS, CacheScope::Private),
            Freshness::Now => (0, CacheScope::Private),
        }
    }
}
