//! The yardstick: the least that an MCP server over rmcp and streamable HTTP can be, with one tool that echoes.
//! Prints its address as the first line of stdout; one worker; ends after ten minutes.

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::serve::ListenerExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{Map, Value, json};

#[derive(Clone)]
struct Echo;

fn echo_tool() -> Tool {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    Tool::new(Cow::Borrowed("echo"), Cow::Borrowed("Answer with the arguments."), Arc::new(schema))
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "echo").then(echo_tool)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![echo_tool()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResult::structured(json!({"ok": true, "data": arguments})).into())
    }
}

fn main() -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?.block_on(serve())
}

async fn serve() -> anyhow::Result<()> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    let service = StreamableHttpService::new(|| Ok(Echo), Arc::new(NeverSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let router = axum::Router::new().nest_service("/mcp", service);
    let _ = tokio::time::timeout(Duration::from_secs(600), async { axum::serve(listener, router).await }).await;
    Ok(())
}
