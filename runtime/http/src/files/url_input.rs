//! URL inputs: fetched by a client of their own, without credentials or proxy, within the address guard.

use std::{
    error::Error,
    io::{Seek, SeekFrom, Write},
    sync::{Arc, OnceLock},
};

use reqwest::{
    Client, Response, Url,
    header::{ACCEPT_ENCODING, CONTENT_TYPE, LOCATION},
    redirect::Policy,
};
use tempfile::SpooledTempFile;
use toolwright_core::ToolError;

use super::{Content, Guard, OpenFile, guard::Refused, refused, too_large};
use crate::{
    config::Config,
    connect::tls,
    context::CallContext,
    media::{self, MediaType},
};

const MOST_REDIRECTS: usize = 5;
/// Fetched content up to this size stays in memory; more goes to an unnamed temporary file.
const SPOOL_BYTES: usize = 1024 * 1024;

/// Fetches URL inputs. Its client is made on first use.
#[derive(Debug)]
pub(crate) struct Fetcher {
    guard: Guard,
    client: OnceLock<Option<Client>>,
}

impl Fetcher {
    pub(crate) fn new(guard: Guard) -> Self {
        Fetcher { guard, client: OnceLock::new() }
    }

    /// Fetches a URL to its end. Messages do not repeat the URL, which may hold a signature.
    pub(crate) async fn fetch(
        &self,
        config: &Config,
        argument: &str,
        url: Url,
        context: &CallContext,
    ) -> Result<OpenFile, ToolError> {
        let fetching = async {
            let response = self.follow(config, argument, url).await?;
            let name = file_name(response.url());
            let media_type = response_type(&response, &name);
            let content = spool(config, argument, response).await?;
            Ok(OpenFile { name, media_type, content })
        };
        context.bound(fetching).await.map_err(|interrupted| interrupted.into_error(true))?
    }

    async fn follow(&self, config: &Config, argument: &str, mut url: Url) -> Result<Response, ToolError> {
        let client =
            self.client(config).ok_or_else(|| refused(argument, "URLs cannot be fetched: TLS is not available"))?;
        for _ in 0..=MOST_REDIRECTS {
            self.guard.check_literal(&url).map_err(|why| refused(argument, &why.to_string()))?;
            let request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
            let response = request.send().await.map_err(|error| refused(argument, &explain(&error)))?;
            if !response.status().is_redirection() {
                return successful(argument, response);
            }
            url = next(argument, &response)?;
        }
        Err(refused(argument, "the URL redirects too often"))
    }

    fn client(&self, config: &Config) -> Option<&Client> {
        let build = || {
            let tls = tls::public_client().ok()?;
            Client::builder()
                .tls_backend_preconfigured(tls)
                .no_proxy()
                .redirect(Policy::none())
                .dns_resolver(Arc::new(self.guard))
                .connect_timeout(config.connect_timeout)
                .user_agent(&config.user_agent)
                .referer(false)
                .build()
                .ok()
        };
        self.client.get_or_init(build).as_ref()
    }
}

fn successful(argument: &str, response: Response) -> Result<Response, ToolError> {
    if response.status().is_success() {
        Ok(response)
    } else {
        Err(refused(argument, &format!("the URL answered with status {}", response.status().as_u16())))
    }
}

fn next(argument: &str, response: &Response) -> Result<Url, ToolError> {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    location
        .and_then(|location| response.url().join(location).ok())
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| refused(argument, "the URL redirects to a place that cannot be fetched"))
}

fn explain(error: &reqwest::Error) -> String {
    let mut source = error.source();
    while let Some(inner) = source {
        if inner.downcast_ref::<Refused>().is_some() {
            return Refused.to_string();
        }
        source = inner.source();
    }
    "the URL could not be fetched".to_owned()
}

/// The last part of the path, decoded.
fn file_name(url: &Url) -> String {
    let last = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    let decoded = percent_encoding::percent_decode_str(last).decode_utf8_lossy();
    let name: String = decoded.chars().filter(|c| !c.is_control() && !matches!(c, '/' | '\\')).collect();
    if name.is_empty() { "upload.bin".to_owned() } else { name }
}

fn response_type(response: &Response, name: &str) -> String {
    let declared = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(MediaType::of);
    match declared {
        Some(declared) if !declared.essence().is_empty() => declared.essence().to_owned(),
        _ => media::by_name(name),
    }
}

/// Reads the answer, to memory or to an unnamed file, and never more than the limit.
async fn spool(config: &Config, argument: &str, mut response: Response) -> Result<Content, ToolError> {
    let limit = config.max_upload_bytes;
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(too_large(argument, limit));
    }
    let cannot_keep = |_| refused(argument, "the content of the URL cannot be kept: no room for temporary files");
    let folder = config.output_dir.clone();
    let mut spooled = tempfile::spooled_tempfile_in(SPOOL_BYTES, folder);
    let mut length = 0u64;
    loop {
        let chunk = response.chunk().await.map_err(|_| refused(argument, "the URL broke off while it was read"))?;
        let Some(chunk) = chunk else { break };
        length += chunk.len() as u64;
        if length > limit {
            return Err(too_large(argument, limit));
        }
        if !spooled.is_rolled() {
            std::fs::create_dir_all(&config.output_dir).map_err(cannot_keep)?;
        }
        // Page-cache writes of one chunk: shorter than handing them to another thread.
        spooled.write_all(&chunk).map_err(cannot_keep)?;
    }
    into_content(spooled, length).map_err(cannot_keep)
}

fn into_content(mut spooled: SpooledTempFile, length: u64) -> std::io::Result<Content> {
    spooled.seek(SeekFrom::Start(0))?;
    match spooled.into_inner() {
        tempfile::SpooledData::InMemory(cursor) => Ok(Content::Bytes(cursor.into_inner().into())),
        tempfile::SpooledData::OnDisk(file) => Ok(Content::File { file, length }),
    }
}
