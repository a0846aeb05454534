//! One attempt, redirects on the same origin included.

use std::sync::atomic::{AtomicU32, Ordering};

use reqwest::{
    Client, Method, Request, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
};

use super::fault::Fault;
use crate::{
    answer::Reply,
    auth::Credentials,
    body::Payload,
    config::Config,
    observe::{Observed, ObservedRequest, RequestStart},
    plan::Planned,
};

const MOST_REDIRECTS: usize = 5;

/// What every attempt of a call is made from.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) config: &'a Config,
    pub(crate) client: &'a Client,
    pub(crate) planned: &'a Planned,
    pub(crate) payload: &'a Payload,
    /// Only requests to the origin of `planned` are ever made with them.
    pub(crate) credentials: &'a Credentials,
    /// True where the call leaves the upstream's state as it is, whatever its method.
    pub(crate) leaves_state: bool,
    /// Who is told of each request.
    pub(crate) observed: &'a Observed,
    /// Requests so far: attempts, and redirects that were followed.
    pub(crate) sent: AtomicU32,
}

impl Attempt<'_> {
    /// Sends the request and follows redirects that stay on its origin. Any other redirect is the answer.
    pub(crate) async fn send(&self) -> Result<Reply, Fault> {
        let mut url = self.planned.url.clone();
        let mut method = self.planned.method.clone();
        for _ in 0..=MOST_REDIRECTS {
            let with_body = method == self.planned.method;
            let mut request = self.request(method.clone(), url.clone(), with_body);
            let mut observed = self.observe(&mut request, with_body);
            let response = match self.client.execute(request).await {
                Ok(response) => response,
                Err(error) => {
                    let fault = Fault::from(error);
                    observed.iter_mut().for_each(|observed| observed.failed(fault.kind()));
                    return Err(fault);
                }
            };
            observed.iter_mut().for_each(|observed| observed.answered(response.status().as_u16()));
            match redirect(&response, &url) {
                Some(next) => {
                    method = redirected_method(response.status(), method);
                    url = next;
                }
                None => return Ok(Reply::new(response, observed)),
            }
        }
        Err(Fault::TooManyRedirects)
    }

    /// Tells who watches of the request, which carries what they want it to.
    fn observe(&self, request: &mut Request, with_body: bool) -> Option<Box<dyn ObservedRequest>> {
        let resend = self.sent.fetch_add(1, Ordering::Relaxed);
        let length = if with_body { self.payload.length() } else { 0 };
        let is_own_origin = request.url().origin() == self.config.base_url.origin();
        let observed = observe(self.observed, request.method().as_str(), request.url(), resend, length, is_own_origin)?;
        add_headers(request.headers_mut(), observed.as_ref());
        Some(observed)
    }

    /// The request as it is sent, with credentials.
    pub(crate) fn request(&self, method: Method, mut url: Url, with_body: bool) -> Request {
        self.credentials.add_to_url(&mut url);
        let mut request = Request::new(method, url);
        let headers = request.headers_mut();
        headers.extend(self.planned.headers.clone());
        self.credentials.add_to_headers(headers);
        let Some(body) = self.payload.body().filter(|_| with_body) else {
            // RFC 9110 section 8.6: say that nothing comes, where something could.
            if matches!(request.method().as_str(), "POST" | "PUT" | "PATCH") {
                request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
            }
            return request;
        };
        let headers = request.headers_mut();
        if let Some(value) = self.payload.content_type().and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.entry(CONTENT_TYPE).or_insert(value);
        }
        headers.insert(CONTENT_LENGTH, HeaderValue::from(self.payload.length()));
        *request.body_mut() = Some(body);
        request
    }
}

/// Tells who watches of a request.
pub(crate) fn observe(
    observed: &Observed,
    method: &str,
    url: &Url,
    resend: u32,
    body_bytes: u64,
    is_own_origin: bool,
) -> Option<Box<dyn ObservedRequest>> {
    let (scheme, host) = (url.scheme(), url.host_str().unwrap_or_default());
    let port = url.port_or_known_default();
    observed.request(&RequestStart { method, scheme, host, port, resend, body_bytes, is_own_origin })
}

/// Adds what a request carries for its observer. What the caller or the operator has put there stays.
pub(crate) fn add_headers(headers: &mut HeaderMap, observed: &dyn ObservedRequest) {
    for (name, value) in observed.headers() {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.entry(HeaderName::from_static(name)).or_insert(value);
        }
    }
}

/// Where a redirect leads, if it is one and stays on the origin (RFC 6454 section 5).
fn redirect(response: &reqwest::Response, from: &Url) -> Option<Url> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    let next = from.join(std::str::from_utf8(location.as_bytes()).ok()?).ok()?;
    (next.origin() == from.origin() && next.username().is_empty() && next.password().is_none()).then_some(next)
}

/// The method after a redirect, as browsers have it (Fetch standard, HTTP-redirect fetch step 12).
fn redirected_method(status: StatusCode, method: Method) -> Method {
    match (status.as_u16(), method.as_str()) {
        (301 | 302, "POST") => Method::GET,
        (303, "GET" | "HEAD") => method,
        (303, _) => Method::GET,
        _ => method,
    }
}
