//! The caller's side: an HTTP client, and the one call under three limits.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::{StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use resilience::adaptive_limit;
use tokio::net::TcpStream;
use tokio::time::error::Elapsed;

use crate::plan::TIMEOUT;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The limit did not let it through: nothing was sent.
    #[error(transparent)]
    Rejected(#[from] resilience::Error),
    #[error("no answer within {TIMEOUT:?}")]
    TimedOut(#[from] Elapsed),
    #[error("the request failed")]
    Request(#[from] hyper_util::client::legacy::Error),
    #[error("the answer broke off")]
    Body(#[from] hyper::Error),
    #[error("the dependency answered {0}")]
    Status(StatusCode),
}

/// Which limit a call is under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Adaptive,
    TooLow,
    TooHigh,
}

// Vegas with short windows, to settle within seconds. It takes the shortest latency it has met as the dependency's own and
// measures it anew after a minute or so, which this run is too short to show.
#[adaptive_limit(name = "orders", max_limit = 100, drop_on = [CallError::TimedOut(_)])]
async fn adaptive(dependency: &Dependency) -> Result<(), CallError> {
    dependency.get().await
}

#[adaptive_limit(name = "fixed-8", min_limit = 8, max_limit = 8)]
async fn too_low(dependency: &Dependency) -> Result<(), CallError> {
    dependency.get().await
}

#[adaptive_limit(name = "fixed-200", initial_limit = 200, min_limit = 200)]
async fn too_high(dependency: &Dependency) -> Result<(), CallError> {
    dependency.get().await
}

impl Guard {
    /// Returns the name that its limit has in the registry.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Adaptive => "orders",
            Self::TooLow => "fixed-8",
            Self::TooHigh => "fixed-200",
        }
    }

    /// Returns what to call it in front of people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::TooLow => "fixed at 8",
            Self::TooHigh => "fixed at 200",
        }
    }

    /// Calls the dependency under this limit.
    pub(crate) async fn call(self, dependency: &Dependency) -> Result<(), CallError> {
        match self {
            Self::Adaptive => adaptive(dependency).await,
            Self::TooLow => too_low(dependency).await,
            Self::TooHigh => too_high(dependency).await,
        }
    }
}

/// A client of the dependency, with a pool of connections that are kept alive.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    http: Client<Connector, Empty<Bytes>>,
    uri: Uri,
}

impl Dependency {
    /// Returns a client of the dependency at that address; connects when it is called.
    pub(crate) fn at(address: SocketAddr) -> Self {
        let uri = Uri::builder()
            .scheme("http")
            .authority(address.to_string())
            .path_and_query("/orders")
            .build()
            .expect("a socket address is an authority");
        Self {
            http: Client::builder(TokioExecutor::new()).build(Connector { address }),
            uri,
        }
    }

    async fn get(&self) -> Result<(), CallError> {
        tokio::time::timeout(TIMEOUT, async {
            let response = self.http.get(self.uri.clone()).await?;
            let status = response.status();
            response.into_body().collect().await?;
            if status.is_success() {
                Ok(())
            } else {
                Err(CallError::Status(status))
            }
        })
        .await?
    }
}

/// Opens connections that leave nothing behind.
///
/// A call that gives up closes its connection. Closed the usual way, its port would stay taken for a minute, and the
/// limit that is too high would run out of ports before the run is over.
#[derive(Clone, Debug)]
struct Connector {
    address: SocketAddr,
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let address = self.address;
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            stream.set_zero_linger()?;
            Ok(TokioIo::new(stream))
        })
    }
}
