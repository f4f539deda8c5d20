//! The dependency: an HTTP service on a loopback socket that works on so many requests at once and lets the others
//! queue.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::plan::SERVICE_TIME;

/// A running dependency. Ends when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    workers: Workers,
    _accepting: JoinSet<()>,
}

impl Server {
    /// Starts one on a free port.
    pub(crate) async fn start(capacity: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let workers = Workers::new(capacity);
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, workers.clone()));
        Ok(Self {
            address,
            workers,
            _accepting: accepting,
        })
    }

    /// Changes how many requests are worked on at once. Those being worked on are finished.
    pub(crate) fn set_capacity(&self, capacity: usize) {
        self.workers.set_capacity(capacity);
    }
}

async fn accept(listener: TcpListener, workers: Workers) {
    // Dropped with this future, and every connection with it.
    let mut connections = JoinSet::new();
    loop {
        // A connection that could not be accepted is its client's failure, and counted there.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let workers = workers.clone();
        connections.spawn(async move {
            let respond = service_fn(|_request| {
                let workers = workers.clone();
                async move {
                    let _worker = workers.take().await;
                    tokio::time::sleep(SERVICE_TIME).await;
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"served\n"))))
                }
            });
            let _ = stream.set_nodelay(true);
            // An error here is a client that gave up: hyper drops its request, and it leaves the queue.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), respond)
                .await;
        });
    }
}

/// Workers that requests wait for, first come, first served. A semaphore whose size can fall at once, whoever waits.
#[derive(Clone, Debug)]
struct Workers(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    capacity: usize,
    busy: usize,
    queue: VecDeque<oneshot::Sender<Worker>>,
}

/// A worker at work for one request; free again when dropped.
#[derive(Debug)]
struct Worker(Workers);

impl Workers {
    fn new(capacity: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            capacity,
            busy: 0,
            queue: VecDeque::new(),
        })))
    }

    async fn take(&self) -> Worker {
        let (grant, granted) = oneshot::channel();
        self.state().queue.push_back(grant);
        self.assign();
        granted
            .await
            .expect("a grant leaves the queue only by being sent")
    }

    fn set_capacity(&self, capacity: usize) {
        self.state().capacity = capacity;
        self.assign();
    }

    /// Gives free workers to those who wait.
    fn assign(&self) {
        while let Some(grant) = self.next_granted() {
            // Sent back if whoever waited has just gone; dropping it frees the worker again.
            let _ = grant.send(Worker(self.clone()));
        }
    }

    /// Makes a worker busy for the first one who still waits.
    fn next_granted(&self) -> Option<oneshot::Sender<Worker>> {
        let mut state = self.state();
        while state.busy < state.capacity {
            let grant = state.queue.pop_front()?;
            if !grant.is_closed() {
                state.busy += 1;
                return Some(grant);
            }
        }
        None
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.state().busy -= 1;
        self.0.assign();
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Waker};

    use super::*;

    fn poll(future: Pin<&mut impl Future<Output = Worker>>) -> Option<Worker> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Ready(worker) => Some(worker),
            std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn first_come_first_served_and_the_gone_are_passed_over() {
        let workers = Workers::new(1);
        let busy = poll(pin!(workers.take())).expect("one is free");
        let mut gone = Box::pin(workers.take());
        let (mut second, mut third) = (pin!(workers.take()), pin!(workers.take()));
        assert!(poll(gone.as_mut()).is_none());
        assert!(poll(second.as_mut()).is_none() && poll(third.as_mut()).is_none());
        drop(gone);
        drop(busy);
        assert!(poll(third.as_mut()).is_none());
        assert!(poll(second.as_mut()).is_some());
        assert!(poll(third.as_mut()).is_some());
    }

    #[test]
    fn a_smaller_capacity_holds_while_requests_queue() {
        let workers = Workers::new(2);
        let first = poll(pin!(workers.take()));
        let second = poll(pin!(workers.take()));
        let mut waiting = pin!(workers.take());
        assert!(poll(waiting.as_mut()).is_none());
        workers.set_capacity(1);
        drop(first);
        assert!(poll(waiting.as_mut()).is_none());
        drop(second);
        assert!(poll(waiting.as_mut()).is_some());
    }
}
