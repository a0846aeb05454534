//! One running server: its tables, its settings, and what is made on first use.

use std::sync::{Arc, OnceLock};

use rmcp::model::Tool;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use toolwright_core::arguments::Checker;
use toolwright_core::{Catalog, Code, Profile, ServerSpec, ToolError, ToolSpec};
use toolwright_http::{Filters, KnownSecrets, Upstream};

use crate::client::Sealer;
use crate::content::Suggestions;
use crate::executors::Executors;
use crate::exposure::Exposure;
use crate::gateway::Gateway;
use crate::native::{Native, Surrounding};
use crate::own::OwnResults;
use crate::program::Program;
use crate::sessions::Sessions;
use crate::settings::{self, Problem, Settings};
use crate::steps::Plans;
use crate::tasks::Tasks;
use crate::telemetry::{Metrics, Tracing};
use crate::{listing, upstream};

/// One running server. It implements [`rmcp::ServerHandler`], so `Arc<App>` can be served over any transport.
pub struct App {
    pub(crate) server: &'static ServerSpec,
    pub(crate) catalog: &'static Catalog,
    pub(crate) settings: Settings,
    pub(crate) exposure: Exposure,
    pub(crate) metrics: Arc<Metrics>,
    /// What no line of the log holds.
    pub(crate) known_secrets: KnownSecrets,
    pub(crate) gateway: Gateway,
    /// The handlers of the tools that are Rust.
    pub(crate) native: Option<Native>,
    /// What carries out tools by a plan, one a kind.
    pub(crate) executors: Executors,
    /// What results that no API made are held against.
    pub(crate) own: OwnResults,
    /// The jq filters of tools that are one, or end with one.
    pub(crate) filters: Filters,
    /// Seals what travels through a client while a person is asked.
    pub(crate) sealer: Arc<Sealer>,
    /// What clients of 2025-11-25 asked for once and for all.
    pub(crate) sessions: Arc<Sessions>,
    /// The plans of tools that make several calls.
    pub(crate) plans: Plans,
    /// What tools suggested for arguments of prompts, for a little while.
    pub(crate) suggestions: Suggestions,
    /// Cancelled when the time of calls in flight is over at the end.
    pub(crate) cut_off: CancellationToken,
    /// Calls that may still start.
    pub(crate) slots: Semaphore,
    /// One compiled schema a row, in the catalog's order.
    checkers: Box<[OnceLock<Checker>]>,
    /// What handlers and executors see of the settings.
    surrounding: Surrounding,
    /// The settings with the credentials that only the keyring has, which is asked by the first call that needs them.
    complete: OnceCell<Settings>,
    /// The HTTP client, made by the first call that needs it: reading certificates takes longer than starting.
    upstream: OnceLock<Result<Upstream, ToolError>>,
    listed: Listed,
    /// The way of traces to their collector, once serving has begun and where one is configured.
    pub(crate) tracing: OnceLock<Arc<Tracing>>,
    /// The tasks, where the server links a store of them and has tools that are long.
    pub(crate) tasks: Option<Tasks>,
}

/// The list of tools in each profile that was asked for.
#[derive(Default)]
struct Listed {
    standard: OnceLock<Vec<Tool>>,
    inlined: OnceLock<Vec<Tool>>,
    plain: OnceLock<Vec<Tool>>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("server", &self.server.name).field("settings", &self.settings).finish()
    }
}

impl App {
    /// A server over its tables, all of whose tools are requests.
    ///
    /// # Errors
    /// Every setting that does not fit the catalog or cannot be used, such as unknown tool names.
    pub fn new(
        server: &'static ServerSpec,
        catalog: &'static Catalog,
        settings: Settings,
    ) -> Result<Arc<App>, Vec<Problem>> {
        App::assemble(Program::new(server, catalog), settings)
    }

    pub(crate) fn assemble(program: Program, settings: Settings) -> Result<Arc<App>, Vec<Problem>> {
        let Program { server, catalog, native, executors, open_tasks } = program;
        let mut problems = settings::check_names(server, catalog, &settings);
        let known_secrets = settings.secret_sources.known().clone();
        known_secrets.keep(settings.secrets(server));
        // Files of certificates are read at start, since a fault in them is a fault of the configuration.
        let has_files = settings.ca_file.is_some() || settings.client_cert_file.is_some();
        if has_files && !settings.base_url.as_str().is_empty() {
            problems.extend(upstream::open(server, &settings, &known_secrets).err());
        }
        let sealer = Sealer::new(settings.state_key.as_ref()).map_err(|problem| vec![problem])?;
        if !problems.is_empty() {
            return Err(problems);
        }
        let sessions = Arc::new(Sessions::default());
        let surrounding = Surrounding::new(&settings, Arc::clone(&sessions));
        let exposure = Exposure::new(server, catalog, &settings);
        Ok(Arc::new_cyclic(|me| App {
            server,
            catalog,
            tasks: open_tasks.and_then(|open| Tasks::new(open, me, catalog, &exposure)),
            exposure,
            metrics: Arc::new(Metrics::new(catalog)),
            known_secrets,
            gateway: Gateway::default(),
            native: native.map(|tools| Native::new(tools, surrounding.clone())),
            executors: Executors::new(executors, surrounding.clone()),
            surrounding,
            sealer: Arc::new(sealer),
            sessions,
            own: OwnResults::new(server, catalog, &settings),
            filters: Filters::default(),
            plans: Plans::default(),
            suggestions: Suggestions::default(),
            cut_off: CancellationToken::new(),
            slots: Semaphore::new(settings.max_concurrency.0),
            checkers: catalog.tools().iter().map(|_| OnceLock::new()).collect(),
            complete: OnceCell::new(),
            upstream: OnceLock::new(),
            listed: Listed::default(),
            tracing: OnceLock::new(),
            settings,
        }))
    }

    /// Whether there is an API behind the server.
    pub(crate) fn has_upstream(&self) -> bool {
        !self.settings.base_url.as_str().is_empty()
    }

    /// The settings with all credentials. The first to ask waits for the keyring, where one may hold any.
    ///
    /// # Errors
    /// `deadline` where that takes until then.
    pub(crate) async fn complete_settings(&self, deadline: Instant) -> Result<&Settings, ToolError> {
        if let Some(complete) = self.complete.get() {
            return Ok(complete);
        }
        let completed = self.complete.get_or_init(async || {
            if self.settings.unsaid(self.server).is_empty() {
                return self.settings.clone();
            }
            let (settings, server) = (self.settings.clone(), self.server);
            let asked = tokio::task::spawn_blocking(move || settings.with_keyring(server)).await;
            let settings = asked.unwrap_or_else(|_| self.settings.clone());
            self.known_secrets.keep(settings.secrets(self.server));
            self.surrounding.complete(&settings);
            settings
        });
        timeout_at(deadline, completed).await.map_err(|_| {
            let message = "the system's keyring did not answer before the deadline; unlock it, or set the credentials of \
                           this server in its environment";
            ToolError::new(Code::Deadline, message)
        })
    }

    /// The client of the API, made on first use.
    ///
    /// # Errors
    /// `upstream_unreachable` where it cannot be made, or where there is no API; `deadline` as for
    /// [`App::complete_settings`].
    pub(crate) async fn upstream(&self, deadline: Instant) -> Result<&Upstream, ToolError> {
        if !self.has_upstream() {
            let message = "this server has no API to call: the setting `base_url` is empty";
            return Err(ToolError::new(Code::UpstreamUnreachable, message));
        }
        let settings = self.complete_settings(deadline).await?;
        let open = || {
            upstream::open(self.server, settings, &self.known_secrets)
                .map_err(|problem| ToolError::new(Code::UpstreamUnreachable, problem.to_string()))
        };
        self.upstream.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// The compiled schema of a row, made on first use.
    ///
    /// # Errors
    /// Where the schema cannot be compiled, which the generator rules out.
    pub(crate) fn checker(&self, row: &ToolSpec) -> Result<&Checker, ToolError> {
        let broken =
            |message: String| ToolError::new(Code::NotAllowed, format!("{} cannot be called: {message}", row.name));
        let index = self.catalog.tools().binary_search_by(|known| known.name.cmp(row.name));
        let cell = index.ok().and_then(|index| self.checkers.get(index));
        let cell = cell.ok_or_else(|| broken("it is not in the catalog".to_owned()))?;
        if let Some(checker) = cell.get() {
            return Ok(checker);
        }
        let checker = Checker::new(row).map_err(|error| broken(error.to_string()))?;
        Ok(cell.get_or_init(|| checker))
    }

    /// The tools of `tools/list`, in their fixed order, made once.
    pub(crate) fn listed(&self) -> &[Tool] {
        self.listed_in(Profile::Standard)
    }

    /// The same with input schemas in a profile.
    pub(crate) fn listed_in(&self, profile: Profile) -> &[Tool] {
        let cell = match profile {
            Profile::Standard => &self.listed.standard,
            Profile::Inlined => &self.listed.inlined,
            Profile::Plain => &self.listed.plain,
        };
        cell.get_or_init(|| listing::tools(self, profile))
    }
}
