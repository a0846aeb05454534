//! The upstream: one configuration, one client, all calls.

#[cfg(feature = "fuzzing")]
mod fuzzing;

#[cfg(feature = "fuzzing")]
pub use fuzzing::WrittenRequest;

use std::{
    sync::{Arc, atomic::AtomicU32},
    time::Duration,
};

use reqwest::header::HeaderValue;
use serde_json::{Map, Value};
use tokio::time::Instant;
use toolwright_core::{Binding, Envelope, HttpBinding, StreamDialect, ToolError, ToolSpec};

use crate::{
    answer::{self, Masks, Reader, Reply, Shapes},
    auth::{self, Tokens},
    body::Payload,
    config::{self, Config, ConfigError},
    connect::LazyClient,
    context::{CallContext, Progress},
    files::{Fetcher, Guard},
    hidden::{self, HiddenValues},
    paginate,
    plan::{self, Part, PartContent, Planned, PlannedBody},
    project::Filters,
    raw::{self, RawRequest},
    saved::SavedFiles,
    send::{self, Attempt},
    websocket,
};

/// Carries out calls to one upstream. Cheap to clone: clones share the connections.
#[derive(Debug, Clone)]
pub struct Upstream {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    client: LazyClient,
    fetcher: Fetcher,
    saved: SavedFiles,
    shapes: Shapes,
    tokens: Tokens,
    hidden: HiddenValues,
    filters: Filters,
}

/// How an answer is to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    produces: &'a [&'a str],
    dialect: Option<StreamDialect>,
    masks: Masks<'a>,
    /// True where the call leaves the upstream's state as it is, whatever its method.
    leaves_state: bool,
}

impl Upstream {
    /// An upstream. Only the settings are checked; the HTTP client is made at the first call.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Upstream::guarded(config, Guard::public())
    }

    pub(crate) fn guarded(config: Config, guard: Guard) -> Result<Self, ConfigError> {
        config::check_base_url(&config.base_url)?;
        if HeaderValue::from_str(&config.user_agent).is_err() {
            return Err(ConfigError::UserAgent);
        }
        if config.api_key.as_ref().is_some_and(|key| HeaderValue::from_str(key.expose()).is_err()) {
            return Err(ConfigError::ApiKey);
        }
        config.known_secrets.keep(auth::secrets(&config));
        let inner = Inner {
            client: LazyClient::new(&config)?,
            fetcher: Fetcher::new(guard),
            saved: SavedFiles::new(&config),
            shapes: Shapes::default(),
            tokens: Tokens::default(),
            hidden: HiddenValues::default(),
            filters: Filters::default(),
            config,
        };
        Ok(Upstream { inner: Arc::new(inner) })
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The saved files of this upstream's answers.
    #[must_use]
    pub fn saved_files(&self) -> &SavedFiles {
        &self.inner.saved
    }

    /// A context for a call of that tool: its own deadline, else the configured one.
    #[must_use]
    pub fn context_for(&self, spec: &ToolSpec) -> CallContext {
        let own = spec.deadline_seconds.map(|seconds| Duration::from_secs(u64::from(seconds)));
        CallContext::within(own.unwrap_or(self.inner.config.request_timeout))
    }

    /// Plans a call for people to see: everything that can be known without opening a file or a connection. The names of
    /// their variables stand for secrets.
    ///
    /// # Errors
    /// When the call cannot be sent; the error is what [`Upstream::execute`] would report.
    pub fn plan(&self, spec: &ToolSpec, arguments: &Map<String, Value>) -> Result<Planned, ToolError> {
        let mut arguments = arguments.clone();
        hidden::add_shown(&self.inner.config, spec, &mut arguments)?;
        let mut planned = plan::plan(&self.inner.config, spec, &arguments)?;
        hidden::show_headers(&self.inner.config, spec, &mut planned);
        Ok(planned)
    }

    /// Plans a request of the caller's own making, as [`Upstream::plan`] does a tool's.
    ///
    /// # Errors
    /// When the request cannot be sent; the error is what [`Upstream::send_raw`] would report.
    pub fn plan_raw(&self, request: &RawRequest) -> Result<Planned, ToolError> {
        raw::plan(&self.inner.config, request)
    }

    /// Carries out a call whose arguments are checked. Every outcome is an envelope.
    pub async fn execute(&self, spec: &ToolSpec, mut arguments: Map<String, Value>, context: &CallContext) -> Envelope {
        let config = &self.inner.config;
        if let Err(error) = self.inner.hidden.add(config, spec, &mut arguments) {
            return Envelope::failure(error);
        }
        let masks = Masks::new(config, spec.secrets);
        // On the heap: a call's state is large, and every future around would hold it again on the stack.
        let mut envelope = match spec.binding {
            Binding::Http(binding) => Box::pin(self.execute_http(spec, &binding, arguments, masks, context)).await,
            Binding::WebSocket(binding) => {
                // Messages go to those who watch as they come, and nothing tells which part of them is the secret.
                let quiet = CallContext { progress: Progress::none(), ..context.clone() };
                let context = if masks.hides_content() { &quiet } else { context };
                let session = websocket::Session { config, saved: &self.inner.saved, context };
                Box::pin(session.run(&self.inner.client, &self.inner.tokens, &binding, &arguments)).await
            }
            Binding::NoRoute(missing) => Envelope::failure(plan::no_route(&missing)),
            Binding::Native | Binding::Expression(_) | Binding::Steps(_) | Binding::Linked(_) => {
                Envelope::failure(plan::own(spec.name))
            }
        };
        self.mask(masks, &mut envelope, context).await;
        // Only now: pointers to secrets speak of the answer, and a projection may move what they point to.
        if let Binding::Http(HttpBinding { project: Some(filter), .. }) = spec.binding {
            self.inner.filters.project(filter, config.max_response_bytes, &mut envelope, context).await;
            self.inner.shapes.compare(spec, &mut envelope);
        }
        envelope
    }

    /// Hides what is secret, and every credential wherever the upstream repeated it.
    async fn mask(&self, masks: Masks<'_>, envelope: &mut Envelope, context: &CallContext) {
        masks.apply(envelope, &context.credentials(&self.inner.config, &self.inner.tokens).await);
    }

    /// Sends a request of the caller's own making. `secrets` are JSON pointers into the answer, as in
    /// [`ToolSpec::secrets`], for a path whose answers hold any; members with the name of a secret are masked in any case.
    pub async fn send_raw(&self, request: &RawRequest, secrets: &[&str], context: &CallContext) -> Envelope {
        let masks = Masks::undescribed(&self.inner.config, secrets);
        let expected = Expected { produces: &[], dialect: None, masks, leaves_state: false };
        let mut envelope = match self.plan_raw(request) {
            Ok(planned) => Box::pin(self.carry_out(planned, expected, context)).await,
            Err(error) => Envelope::failure(error),
        };
        self.mask(masks, &mut envelope, context).await;
        envelope
    }

    async fn execute_http(
        &self,
        spec: &ToolSpec,
        binding: &HttpBinding,
        mut arguments: Map<String, Value>,
        masks: Masks<'_>,
        context: &CallContext,
    ) -> Envelope {
        let (produces, dialect) = (binding.produces, binding.stream);
        let expected = Expected { produces, dialect, masks, leaves_state: spec.risk.leaves_state() };
        let pages = binding.paginate.and_then(|pages| Some((pages, paginate::wanted(&pages, &mut arguments)?)));
        let mut envelope = match (pages, plan::plan_http(&self.inner.config, binding, &arguments)) {
            (Some((pages, wanted)), Ok(_)) => {
                Box::pin(self.follow(binding, pages, wanted, arguments, expected, context)).await
            }
            (None, Ok(planned)) => self.carry_out(planned, expected, context).await,
            (_, Err(error)) => Envelope::failure(error),
        };
        // What is declared of a projected answer is said of what the projection makes.
        if binding.project.is_none() {
            self.inner.shapes.compare(spec, &mut envelope);
        }
        if let Some(stand_in) = &binding.stand_in {
            envelope.warnings.push(plan::missing_text(stand_in));
        }
        envelope
    }

    pub(crate) async fn carry_out(
        &self,
        mut planned: Planned,
        expected: Expected<'_>,
        context: &CallContext,
    ) -> Envelope {
        let body = std::mem::replace(&mut planned.body, PlannedBody::None);
        let payload = match self.open(body, context).await {
            Ok(payload) => payload,
            Err(error) => return Envelope::failure(error),
        };
        let started = Instant::now();
        let mut envelope = match self.answer(&planned, &payload, expected, context).await {
            Ok(envelope) => envelope,
            Err(error) => Envelope::failure(error),
        };
        envelope.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        envelope
    }

    async fn answer(
        &self,
        planned: &Planned,
        payload: &Payload,
        expected: Expected<'_>,
        context: &CallContext,
    ) -> Result<Envelope, ToolError> {
        let config = &self.inner.config;
        let (client, tokens) = (self.inner.client.get(config)?, &self.inner.tokens);
        let mut credentials = Box::pin(auth::obtain(config, client, tokens, planned.security, context)).await?;
        if planned.url.origin() == config.base_url.origin() {
            credentials.forward(&context.forwarded);
            config.known_secrets.learn(context.forwarded.texts());
        }
        let leaves_state = expected.leaves_state;
        let attempt = Attempt {
            config,
            client,
            planned,
            payload,
            credentials: &credentials,
            leaves_state,
            observed: &context.observed,
            sent: AtomicU32::new(0),
        };
        // Only now: a token may have been fetched.
        let context = &context.without_credentials(config, tokens).await;
        let reply = send::exchange(&attempt, context).await?;
        if reply.status.as_u16() == 401 {
            tokens.forget(credentials.fetched()).await;
        }
        Ok(self.read(reply, expected, planned.method.is_safe(), context).await)
    }

    async fn read(
        &self,
        reply: Reply,
        expected: Expected<'_>,
        changes_nothing: bool,
        context: &CallContext,
    ) -> Envelope {
        let reader = Reader {
            config: &self.inner.config,
            saved: &self.inner.saved,
            tokens: &self.inner.tokens,
            context,
            produces: expected.produces,
            dialect: expected.dialect,
            changes_nothing,
            secret: expected.masks.hides_content(),
            masks_names: expected.masks.by_name(),
        };
        answer::read(reader, reply).await
    }

    /// Opens the file inputs of a body.
    async fn open(&self, body: PlannedBody, context: &CallContext) -> Result<Payload, ToolError> {
        let Inner { config, fetcher, .. } = &*self.inner;
        match body {
            PlannedBody::None => Ok(Payload::default()),
            PlannedBody::Bytes { media_type, bytes } => Ok(Payload::bytes(media_type, bytes)),
            PlannedBody::File { media_type, file } => {
                let open = file.clone().open(config, fetcher, context).await?;
                Ok(Payload::file(file.agree(&media_type, &open.media_type)?, open))
            }
            PlannedBody::Multipart { media_type, parts } => {
                let mut open = Vec::with_capacity(parts.len());
                for part in parts {
                    open.push(self.open_part(part, context).await?);
                }
                Ok(Payload::multipart(&media_type, open))
            }
        }
    }

    async fn open_part(
        &self,
        part: Part,
        context: &CallContext,
    ) -> Result<(Part, Option<crate::files::OpenFile>), ToolError> {
        let file = match &part.content {
            PartContent::File { file, media_type } => {
                let mut open = file.clone().open(&self.inner.config, &self.inner.fetcher, context).await?;
                if let Some(declared) = media_type {
                    open.media_type = file.agree(declared, &open.media_type)?;
                }
                Some(open)
            }
            PartContent::Text(_) | PartContent::Typed { .. } => None,
        };
        Ok((part, file))
    }
}
