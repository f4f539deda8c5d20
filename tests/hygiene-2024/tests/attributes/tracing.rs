//! `#[tracing::instrument]`: above, a call that is rejected has no span, since the body is what makes it; below, it has one.

use std::fmt::{self, Write as _};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ::tracing::field::{Field, Visit};
use ::tracing::span::{Attributes, Id, Record};
use ::tracing::{Event, Metadata, Subscriber, instrument, subscriber};
use async_trait::async_trait;
use resilience::{Error, adaptive_limit};

use crate::{fill, now, scoped};

#[instrument(err)]
#[adaptive_limit(name = "above")]
fn above(output: u32) -> Result<u32, Error> {
    Ok(output)
}

#[adaptive_limit(name = "below")]
#[instrument(err)]
fn below(output: u32) -> Result<u32, Error> {
    Ok(output)
}

#[instrument(ret, skip_all, fields(length = text.len()))]
#[adaptive_limit(name = "above_later")]
async fn above_later(text: String, mut error: u32) -> Result<u32, Error> {
    error += 1;
    Ok(error + text.len() as u32)
}

#[adaptive_limit(name = "below_later")]
#[instrument(ret, skip_all, fields(length = text.len()))]
async fn below_later(text: String, mut error: u32) -> Result<u32, Error> {
    error += 1;
    Ok(error + text.len() as u32)
}

struct Client;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

const NAME: &str = "below_with_items";

impl Client {
    #[adaptive_limit(name = "below_in_a_box")]
    #[instrument(skip(self))]
    fn below_in_a_box(&self, id: u32) -> BoxFuture<'_, Result<u32, Error>> {
        let own = id;
        Box::pin(async move {
            ::tracing::info!("in the body");
            Ok(own)
        })
    }

    #[adaptive_limit(name = "below_returned")]
    #[instrument(skip(self))]
    fn below_returned(&self, id: u32) -> impl Future<Output = Result<u32, Error>> {
        let own = id;
        async move {
            ::tracing::info!("in the body");
            Ok(own)
        }
    }

    #[instrument(skip(self))]
    #[adaptive_limit(name = "above_returned")]
    fn above_returned(&self, id: u32) -> impl Future<Output = Result<u32, Error>> {
        async move {
            ::tracing::info!("in the body");
            Ok(id)
        }
    }

    #[instrument(skip(self))]
    #[adaptive_limit(name = "above_of_self")]
    async fn above(&self, id: u32) -> Result<u32, Error> {
        Ok(id)
    }

    #[adaptive_limit(name = "below_of_self")]
    #[instrument(skip(self))]
    async fn below(self: Box<Self>, id: u32) -> Result<u32, Error> {
        Ok(id)
    }
}

// The limit's name is not the item of the body, and so its block stays closed to it and to the span.
#[adaptive_limit(name = NAME)]
#[instrument]
fn below_with_items(id: u32) -> BoxFuture<'static, Result<u32, Error>> {
    const NAME: u32 = 1;
    Box::pin(async move { Ok(id * NAME) })
}

#[async_trait]
trait Fetch {
    async fn above_boxed(&self, id: u32) -> Result<u32, Error>;
    async fn below_boxed(&self, id: u32) -> Result<u32, Error>;
}

#[async_trait]
impl Fetch for Client {
    #[instrument(skip(self))]
    #[adaptive_limit(name = "above_boxed")]
    async fn above_boxed(&self, id: u32) -> Result<u32, Error> {
        ::tracing::info!("in the body");
        Ok(id)
    }

    #[adaptive_limit(name = "below_boxed")]
    #[instrument(skip(self))]
    async fn below_boxed(&self, id: u32) -> Result<u32, Error> {
        ::tracing::info!("in the body");
        Ok(id)
    }
}

struct Above;

#[adaptive_limit(name = "block_above")]
#[async_trait]
impl Fetch for Above {
    #[instrument(skip(self))]
    async fn above_boxed(&self, id: u32) -> Result<u32, Error> {
        ::tracing::info!("in the body");
        Ok(id)
    }

    async fn below_boxed(&self, id: u32) -> Result<u32, Error> {
        self.above_boxed(id).await
    }
}

struct Below;

#[async_trait]
#[adaptive_limit(name = "block_below")]
impl Fetch for Below {
    #[instrument(skip(self))]
    async fn above_boxed(&self, id: u32) -> Result<u32, Error> {
        ::tracing::info!("in the body");
        Ok(id)
    }

    #[adaptive_limit(skip)]
    async fn below_boxed(&self, id: u32) -> Result<u32, Error> {
        Ok(id)
    }
}

/// Writes spans down as `name field=value ..`, and events as `event in` how many spans.
#[derive(Clone, Default)]
struct Spans(Arc<(Mutex<Vec<String>>, AtomicU64, AtomicU64)>);

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        struct Fields(String);
        impl Visit for Fields {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                write!(self.0, " {field}={value:?}").unwrap();
            }
        }
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        self.0.0.lock().unwrap().push(fields.0);
        Id::from_u64(self.0.1.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        let depth = self.0.2.load(Ordering::Relaxed);
        self.0.0.lock().unwrap().push(format!("event in {depth}"));
    }

    fn enter(&self, _: &Id) {
        self.0.2.fetch_add(1, Ordering::Relaxed);
    }

    fn exit(&self, _: &Id) {
        self.0.2.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The spans of a call, and those of a call that is rejected.
fn spans(id: &str, call: impl Fn() -> Result<u32, Error>) -> [Vec<String>; 2] {
    scoped(|registry| {
        let spans = Spans::default();
        subscriber::with_default(spans.clone(), || {
            call().unwrap();
            let admitted = std::mem::take(&mut *spans.0.0.lock().unwrap());
            let permits = fill(registry, id);
            assert!(call().unwrap_err().is_limit_exceeded());
            drop(permits);
            let rejected = std::mem::take(&mut *spans.0.0.lock().unwrap());
            [admitted, rejected]
        })
    })
}

#[test]
fn above_the_span_is_inside_of_the_limit() {
    let [admitted, rejected] = spans("above", || above(1));
    assert_eq!(admitted, ["above output=1"]);
    assert!(rejected.is_empty());
    let [admitted, rejected] = spans("above_later", || now(above_later("ab".to_owned(), 1)));
    assert_eq!(admitted, ["above_later length=2", "event in 1"]);
    assert!(rejected.is_empty());
    let [admitted, rejected] = spans("above_of_self", || now(Client.above(1)));
    assert_eq!(admitted, ["above id=1"]);
    assert!(rejected.is_empty());
}

// So `err` and `ret` tell of rejections too.
#[test]
fn below_the_span_is_around_the_limit() {
    let [admitted, rejected] = spans("below", || below(1));
    assert_eq!(admitted, ["below output=1"]);
    assert_eq!(rejected, ["below output=1", "event in 1"]);
    let [admitted, rejected] = spans("below_later", || now(below_later("ab".to_owned(), 1)));
    assert_eq!(admitted, ["below_later length=2", "event in 1"]);
    assert_eq!(rejected, admitted);
    let [admitted, rejected] = spans("below_of_self", || now(Box::new(Client).below(1)));
    assert_eq!(admitted, ["below id=1"]);
    assert_eq!(rejected, admitted);
}

#[test]
fn under_async_trait_the_span_of_above_is_around_the_body() {
    let [admitted, rejected] = spans("above_boxed", || now(Client.above_boxed(1)));
    assert_eq!(admitted, ["above_boxed id=1", "event in 1"]);
    assert!(rejected.is_empty());
}

// `instrument` knows a fn that makes a future by the form `Box::pin(async move { .. })` or `async move { .. }`, which is what
// the limit leaves at the fn's end.
#[test]
fn below_the_span_of_a_future_is_around_the_limit() {
    check_future("below_boxed", || now(Client.below_boxed(1)));
    check_future("below_in_a_box", || now(Client.below_in_a_box(1)));
    check_future("below_returned", || now(Client.below_returned(1)));
}

fn check_future(id: &str, call: impl Fn() -> Result<u32, Error>) {
    let [admitted, rejected] = spans(id, call);
    assert_eq!(admitted, [&*format!("{id} id=1"), "event in 1"]);
    assert_eq!(rejected, [format!("{id} id=1")]);
}

#[test]
fn in_a_limited_block_the_span_of_a_method_is_around_the_limit() {
    for [admitted, rejected] in [
        spans("block_above", || now(Above.above_boxed(1))),
        spans("block_below", || now(Below.above_boxed(1))),
    ] {
        assert_eq!(admitted, ["above_boxed id=1", "event in 1"]);
        assert_eq!(rejected, ["above_boxed id=1"]);
    }
}

#[test]
fn the_options_see_no_item_of_the_body_for_the_sake_of_a_span() {
    let [admitted, _] = spans(NAME, || now(below_with_items(1)));
    assert_eq!(admitted, ["below_with_items id=1"]);
}

#[test]
fn above_the_span_of_a_returned_future_is_around_the_body() {
    let [admitted, rejected] = spans("above_returned", || now(Client.above_returned(1)));
    assert_eq!(admitted, ["above_returned id=1", "event in 1"]);
    assert!(rejected.is_empty());
}
