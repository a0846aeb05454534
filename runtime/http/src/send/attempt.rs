//! One attempt, redirects on the same origin included.

use reqwest::{
    Client, Method, Request, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION},
};

use super::fault::Fault;
use crate::{answer::Reply, auth::Credentials, body::Payload, config::Config, plan::Planned};

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
}

impl Attempt<'_> {
    /// Sends the request and follows redirects that stay on its origin. Any other redirect is the answer.
    pub(crate) async fn send(&self) -> Result<Reply, Fault> {
        let mut url = self.planned.url.clone();
        let mut method = self.planned.method.clone();
        for _ in 0..=MOST_REDIRECTS {
            let with_body = method == self.planned.method;
            let response = self.client.execute(self.request(method.clone(), url.clone(), with_body)).await?;
            match redirect(&response, &url) {
                Some(next) => {
                    method = redirected_method(response.status(), method);
                    url = next;
                }
                None => return Ok(Reply::new(response)),
            }
        }
        Err(Fault::TooManyRedirects)
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
