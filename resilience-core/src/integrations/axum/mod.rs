//! A live page of a registry's limits, to be mounted in an `axum` router. Read-only.
//!
//! ```no_run
//! use axum::Router;
//! use resilience::integrations::axum::LivePage;
//! use resilience::registry::Registry;
//!
//! # async fn serve() -> std::io::Result<()> {
//! let app: Router = Router::new().nest("/limits", LivePage::new(Registry::global()).router());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
//! axum::serve(listener, app).await
//! # }
//! ```

mod feed;

use std::sync::Arc;
use std::time::Duration;

use ::axum::Router;
use ::axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use ::axum::response::sse::Sse;
use ::axum::response::{IntoResponse, Response};
use ::axum::routing::get;

use crate::registry::Registry;
use feed::Feed;

const PAGE: &str = include_str!("page.html");

/// The page needs nothing from anywhere but its own events.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

const EVERY: Duration = Duration::from_secs(1);
/// More often than this nobody can see, and it would keep a processor busy.
const LEAST: Duration = Duration::from_millis(50);
const LIMITS: usize = 500;

/// A page that shows the limits of a registry as they move.
///
/// Its router answers `GET` at
///
/// - `/`: the page, one HTML document that loads nothing else;
/// - `/events`: server-sent events, each with all that the page shows as JSON. The stream ends after 30 of them, and a browser
///   asks again by itself: so a graceful shutdown comes to its end;
/// - `/snapshot`: [`Registry::snapshot`] as JSON.
///
/// A look at the registry is shared by all who watch. Nothing runs while nobody does; a client that reads slowly misses some
/// of the updates and holds one of them at most, and one that has gone leaves nothing behind.
///
/// The ids, settings and loads of your limits are for whoever can reach the page: mount it where your other internal pages
/// are.
#[derive(Debug)]
#[must_use = "it is served by its router"]
pub struct LivePage {
    registry: Registry,
    every: Duration,
    max_limits: usize,
}

impl LivePage {
    /// Returns a page that is updated once a second and shows no more than 500 limits.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::integrations::axum::LivePage;
    /// use resilience::registry::Registry;
    ///
    /// let page: axum::Router = LivePage::new(Registry::global()).router();
    /// ```
    pub fn new(registry: &Registry) -> Self {
        Self {
            registry: registry.clone(),
            every: EVERY,
            max_limits: LIMITS,
        }
    }

    /// Sets the time from one update to the next, from 50 ms up; shorter ones are taken as that.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every.max(LEAST);
        self
    }

    /// Sets how many limits are shown: the first by their ids. The page says how many there are in all.
    pub fn max_limits(mut self, max_limits: usize) -> Self {
        self.max_limits = max_limits;
        self
    }

    /// Returns the routes of the page, to be nested or merged into a router with any state.
    pub fn router<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        let registry = self.registry.clone();
        let feed = Arc::new(Feed::new(self.registry, self.every, self.max_limits));
        Router::new()
            .route(
                "/",
                get(async || document("text/html; charset=utf-8", PAGE)),
            )
            .route(
                "/events",
                get(async move || {
                    let updates = Sse::new(feed.updates());
                    ([(CACHE_CONTROL, "no-store")], updates).into_response()
                }),
            )
            .route(
                "/snapshot",
                get(async move || {
                    let json = feed::json(&registry.snapshot());
                    document("application/json", json)
                }),
            )
    }
}

fn document(content: &'static str, body: impl IntoResponse) -> Response {
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, content),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (headers, body).into_response()
}
