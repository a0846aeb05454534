//! The server's side of MCP, once over the static tables, for both eras of the protocol.

mod caller;
mod calls;
mod lists;
mod page;
mod parameters;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetTaskParams, GetTaskResult, Icon, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, PromptsCapability, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ResourcesCapability, ServerCapabilities, ServerConfig, SubscribeRequestParams, TASKS_EXTENSION_ID, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use toolwright_core::Profile;

use crate::client::{Asking, Caller};
use crate::content::Freshness;
use crate::progress::Relay;
use crate::settings::SchemaProfile;
use crate::{App, answer, content, tasks};
pub(crate) use caller::{forwarded, headers};
use lists::List;
pub(crate) use parameters::malformed;

/// How long a client may keep what does not change while the server runs, in milliseconds.
const STATIC_TTL_MS: u64 = 300_000;

/// A wrench. Tools have none: their list is read by models, which pay for each byte.
const ICON: &str = concat!(
    "data:image/svg+xml;base64,",
    "PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHZpZXdCb3g9JzAgMCAxNiAxNic+PHBhdGggZD0nTTEz",
    "IDFhNCA0IDAgMCAwLTQgNUwyIDEzYTEgMSAwIDAgMCAxIDFsNy03YTQgNCAwIDAgMCA1LTVsLTIgMi0yLTEtMS0yeicvPjwv",
    "c3ZnPg==",
);

/// The methods with parameters that every server has.
const METHODS: [&str; 3] = ["initialize", "tools/list", "tools/call"];
const PROMPT_METHODS: [&str; 2] = ["prompts/list", "prompts/get"];
const RESOURCE_METHODS: [&str; 3] = ["resources/list", "resources/templates/list", "resources/read"];
const COMPLETE: &str = "completion/complete";
const SET_LEVEL: &str = "logging/setLevel";
const FOLLOW_METHODS: [&str; 2] = ["resources/subscribe", "resources/unsubscribe"];
const TASK_METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

impl ServerHandler for App {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        capabilities.prompts = self.has_prompts().then(PromptsCapability::default);
        capabilities.resources = self.has_resources().then(ResourcesCapability::default);
        capabilities.completions = self.has_completions().then(Default::default);
        if self.tasks.is_some() {
            capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        // Only code of the server's own writes to a client's log, and knows when a resource changes.
        capabilities.logging = self.native.is_some().then(Default::default);
        if let Some(resources) = capabilities.resources.as_mut().filter(|_| self.native.is_some()) {
            resources.subscribe = Some(true);
        }
        ServerConfig::new(capabilities).with_server_info(self.identity()).with_instructions(self.server.instructions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // The handshake opens an era that has tasks of its own.
        if let Some(extensions) = &mut result.capabilities.extensions {
            extensions.remove(TASKS_EXTENSION_ID);
        }
        result.capabilities.extensions = result.capabilities.extensions.filter(|extensions| !extensions.is_empty());
        Ok(result)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut info = self.get_info();
        // What later eras no longer have as methods.
        info.capabilities.logging = None;
        if let Some(resources) = &mut info.capabilities.resources {
            resources.subscribe = None;
        }
        let result = DiscoverResult::from_server_info(versions, info);
        Ok(result.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(self.cache_scope()))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let profile = match self.settings.schema_profile {
            SchemaProfile::Always(profile) => profile,
            SchemaProfile::ByClient => {
                context.client_info().map_or(Profile::Standard, |client| Profile::for_client(&client.name))
            }
        };
        let List { entries, next_cursor, ttl_ms, cache_scope, meta } =
            self.list(self.listed_in(profile), request, Freshness::Static, &context)?;
        Ok(ListToolsResult { next_cursor, ttl_ms, cache_scope, meta, ..ListToolsResult::with_all_items(entries) })
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listed().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if is_modern(&context)
            && let Some(task) = tasks::extension::begin(self, &request, &context).await
        {
            return Ok(CallToolResponse::Task(task));
        }
        let (log, relay) = Relay::of_log(self, &context);
        let asking = Asking {
            method: "tools/call",
            responses: request.input_responses.take(),
            state: request.request_state.take(),
            name: &request.name,
            arguments: request.arguments.as_ref(),
        };
        let caller = Caller::open(self, &context, asking, log)?;
        let trace = self.begin_trace(&request.name, request.arguments.as_ref(), &context);
        let call = |call| async move { self.dispatch(request, &call).await };
        let envelope = self.surrounded(trace, &context, caller.client(), call).await?;
        let instead = caller.instead(envelope.code());
        drop(caller);
        relay.finish().await;
        if let Some(instead) = instead {
            return Ok(CallToolResponse::InputRequired(instead?.with_meta(self.result_meta())));
        }
        let mut result = answer::result(envelope);
        if is_modern(&context) {
            result.meta = Some(self.result_meta());
        }
        Ok(CallToolResponse::Complete(result))
    }

    #[allow(deprecated)] // By 2026-07-28; clients of 2025-11-25 have it.
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.require_session_method(&context, SET_LEVEL)?;
        self.sessions.set_level(&context, request.level)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.require_session_method(&context, "resources/subscribe")?;
        self.sessions.follow(&context, request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.require_session_method(&context, "resources/unsubscribe")?;
        self.sessions.leave(&context, &request.uri)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(answer) = tasks::experimental::answer(self, &request, context.clone()).await {
            return answer;
        }
        // 2026-07-28 took these out.
        let of_sessions = |method: &str| matches!(method, "initialize" | SET_LEVEL) || FOLLOW_METHODS.contains(&method);
        let is_gone = of_sessions(&request.method) && is_modern(&context);
        // rmcp takes a request whose parameters it cannot read for one of a method that it does not know.
        if self.has_method(&request.method) && !is_gone {
            return Err(malformed(&request.method));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shown(&request.method), None))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::extension::get(self, &request.task_id, &context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::extension::update(self, &request.task_id, &context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::extension::cancel(self, &request.task_id, &context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.require_method("prompts/list")?;
        let prompts = content::prompts(self);
        let List { entries, next_cursor, ttl_ms, cache_scope, meta } =
            self.list(&prompts, request, Freshness::Static, &context)?;
        Ok(ListPromptsResult { next_cursor, ttl_ms, cache_scope, meta, ..ListPromptsResult::with_all_items(entries) })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.require_method("prompts/get")?;
        let meta = is_modern(&context).then(|| self.result_meta());
        Ok(match content::get(self, request, &context).await? {
            GetPromptResponse::InputRequired(mut questions) => {
                questions.meta = meta;
                GetPromptResponse::InputRequired(questions)
            }
            GetPromptResponse::Complete(mut prompt) => {
                prompt.meta = meta;
                GetPromptResponse::Complete(prompt)
            }
            other => other,
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.require_method(COMPLETE)?;
        let mut result = content::complete(self, request, &context).await?;
        result.meta = is_modern(&context).then(|| self.result_meta());
        Ok(result)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.require_method("resources/list")?;
        let resources = content::resources(self).await?;
        let freshness = match self.has_upstream() {
            // Answers are saved while the server runs.
            true => Freshness::Now,
            false => Freshness::Static,
        };
        let List { entries, next_cursor, ttl_ms, cache_scope, meta } =
            self.list(&resources, request, freshness, &context)?;
        Ok(ListResourcesResult {
            next_cursor,
            ttl_ms,
            cache_scope,
            meta,
            ..ListResourcesResult::with_all_items(entries)
        })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.require_method("resources/templates/list")?;
        let templates = content::templates(self);
        let List { entries, next_cursor, ttl_ms, cache_scope, meta } =
            self.list(&templates, request, Freshness::Static, &context)?;
        Ok(ListResourceTemplatesResult {
            next_cursor,
            ttl_ms,
            cache_scope,
            meta,
            ..ListResourceTemplatesResult::with_all_items(entries)
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.require_method("resources/read")?;
        let (mut result, freshness) = content::read(self, &request.uri, &context).await?;
        if is_modern(&context) {
            let (ttl, scope) = self.kept(freshness);
            result = result.with_ttl_ms(ttl).with_cache_scope(scope);
            result.meta = Some(self.result_meta());
        }
        Ok(ReadResourceResponse::Complete(result))
    }
}

impl App {
    /// Whether this server has a method with parameters.
    fn has_method(&self, method: &str) -> bool {
        METHODS.contains(&method)
            || (self.has_prompts() && PROMPT_METHODS.contains(&method))
            || (self.has_resources() && RESOURCE_METHODS.contains(&method))
            || (self.has_completions() && method == COMPLETE)
            || (self.tasks.is_some() && TASK_METHODS.contains(&method))
            || (self.native.is_some() && method == SET_LEVEL)
            || (self.native.is_some() && self.has_resources() && FOLLOW_METHODS.contains(&method))
    }

    /// What was not announced is not there.
    fn require_method(&self, method: &'static str) -> Result<(), ErrorData> {
        match self.has_method(method) {
            true => Ok(()),
            false => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)),
        }
    }

    /// As [`App::require_method`], of a method that 2026-07-28 took out.
    fn require_session_method(
        &self,
        context: &RequestContext<RoleServer>,
        method: &'static str,
    ) -> Result<(), ErrorData> {
        match is_modern(context) {
            true => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)),
            false => self.require_method(method),
        }
    }

    fn identity(&self) -> Implementation {
        Implementation::new(format!("{}-server", self.server.name), self.server.version)
            .with_title(self.server.title)
            .with_icons(vec![Icon::new(ICON).with_mime_type("image/svg+xml")])
    }

    /// `_meta` of results from 2026-07-28 on, which names the server. rmcp adds it to `server/discover` only.
    pub(crate) fn result_meta(&self) -> MetaObject {
        let mut meta = MetaObject::new();
        let identity = json!({
            "name": format!("{}-server", self.server.name),
            "title": self.server.title,
            "version": self.server.version,
        });
        meta.0.insert("io.modelcontextprotocol/serverInfo".to_owned(), identity);
        meta
    }

    /// Lists are the same for everybody who may see them.
    fn cache_scope(&self) -> CacheScope {
        let is_shared = self.settings.auth_token.is_none() && self.settings.schema_profile != SchemaProfile::ByClient;
        if is_shared { CacheScope::Public } else { CacheScope::Private }
    }
}

/// A name that came from outside, cut and without control characters.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}

/// ISO dates compare as text.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

#[cfg(test)]
mod tests;
