//! What is counted, for Prometheus.

use std::fmt;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::Method;
use http::header::CONTENT_TYPE;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::time::Instant;

use super::operations::operations;
use super::problem::Problem;
use crate::access::Read;

/// Where the seconds of a request are parted.
const SECONDS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

/// What is counted. Everything begins with `countersign_`.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    connections: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    /// The pattern of the address, so that there are as many as there are routes.
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("countersign");
        let requests = Family::default();
        registry.register("http_requests", "Requests that were answered", requests.clone());
        let histogram: fn() -> Histogram = || Histogram::new(SECONDS);
        let seconds = Family::new_with_constructor(histogram);
        registry.register_with_unit(
            "http_request_duration",
            "Time until an answer begins",
            Unit::Seconds,
            seconds.clone(),
        );
        let connections = Gauge::default();
        registry.register("http_connections", "Connections that are open", connections.clone());
        Self { registry, requests, seconds, connections }
    }
}

impl Metrics {
    /// Where others put what they count, before the server starts.
    pub const fn registry(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// How many connections are open.
    #[must_use]
    pub fn connections(&self) -> Gauge {
        self.connections.clone()
    }

    /// All of it, as Prometheus reads it.
    ///
    /// # Errors
    ///
    /// Something that is counted cannot be written.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

operations! {
    /// Returns the route `/metrics`, which needs the scope `read`.
    pub routes: Arc<Metrics>;
    "/metrics" => get show;
}

/// What is counted, for Prometheus.
#[cfg_attr(
    feature = "openapi",
    utoipa::path(
        get, path = "/metrics", tag = "operation", operation_id = "getMetrics",
        responses((status = 200, content_type = "application/openmetrics-text", body = String))
    )
)]
async fn show(State(metrics): State<Arc<Metrics>>, _: Read) -> Result<Response, Problem> {
    let text = metrics.text().map_err(|error| Problem::internal(&error))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, kind)], text).into_response())
}

/// Counts a request, and writes it down without anything that is secret: the pattern of the address and
/// not the address, and no header.
pub async fn track(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let method = name(request.method());
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or("none", MatchedPath::as_str).to_owned();
    let started = Instant::now();
    let response = next.run(request).await;
    let took = started.elapsed();
    let status = response.status().as_u16();
    tracing::debug!(method, route, status, ?took, "answered a request");
    metrics
        .seconds
        .get_or_create(&RouteLabels { route: route.clone() })
        .observe(took.as_secs_f64());
    metrics.requests.get_or_create(&RequestLabels { method, route, status }).inc();
    response
}

/// The name of a method, of which there are as many as we know.
const fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
