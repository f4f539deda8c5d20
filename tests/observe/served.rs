//! The live page over HTTP, as a browser asks for it.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use resilience::integrations::axum::LivePage;
use resilience::limit::LimitConfig;
use resilience::registry::Registry;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::support::rejected;

const HOSTILE: &str = "</script><script>alert(1)</script>";

/// Runs a test on loopback, for 30 seconds at most.
fn run(test: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        let limited = tokio::time::timeout(Duration::from_secs(30), test);
        limited.await.expect("the test ends");
    });
}

async fn serve(page: LivePage) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app: Router = Router::new().nest("/limits", page.router());
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (address, serving)
}

async fn ask(address: SocketAddr, method: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// The head and the body of an answer.
async fn answer(address: SocketAddr, method: &str, path: &str) -> (String, String) {
    let mut text = String::new();
    let mut stream = ask(address, method, path).await;
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// A client that listens for updates.
struct Watching(BufReader<TcpStream>);

impl Watching {
    async fn open(address: SocketAddr) -> Self {
        Self(BufReader::new(ask(address, "GET", "/limits/events").await))
    }

    /// The next update; none if the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        while self.0.read_line(&mut line).await.unwrap() > 0 {
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
            line.clear();
        }
        None
    }
}

fn registry() -> Registry {
    let registry = Registry::new();
    registry.register("orders", LimitConfig::new()).unwrap();
    registry
}

fn often(registry: &Registry) -> LivePage {
    LivePage::new(registry).every(Duration::from_millis(50))
}

#[test]
fn the_page_is_one_document_that_may_load_nothing_else_and_cannot_be_written_to() {
    run(async {
        let (address, _serving) = serve(LivePage::new(&registry())).await;
        let (head, body) = answer(address, "GET", "/limits").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        for header in [
            "content-type: text/html; charset=utf-8",
            "content-security-policy: default-src 'none';",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "no {header} in {head}");
        }
        for foreign in [
            "http://",
            "https://",
            "src=",
            "<link",
            "@import",
            "innerHTML",
        ] {
            assert!(!body.contains(foreign), "{foreign}");
        }
        for path in ["/limits", "/limits/events", "/limits/snapshot"] {
            let (head, _) = answer(address, "POST", path).await;
            assert!(head.starts_with("HTTP/1.1 405"), "{path}: {head}");
        }
        let (head, _) = answer(address, "GET", "/limits/else").await;
        assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    });
}

#[test]
fn the_snapshot_is_that_of_the_registry_with_any_id() {
    run(async {
        let registry = registry();
        registry.register(HOSTILE, LimitConfig::new()).unwrap();
        let (address, _serving) = serve(LivePage::new(&registry)).await;
        let (head, body) = answer(address, "GET", "/limits/snapshot").await;
        assert!(head.contains("content-type: application/json"), "{head}");
        let told: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(told, serde_json::to_value(registry.snapshot()).unwrap());
        let (head, page) = answer(address, "GET", "/limits").await;
        assert!(head.starts_with("HTTP/1.1 200") && !page.contains("alert(1)"));
    });
}

#[test]
fn updates_tell_what_limits_are_and_why_also_of_those_made_later() {
    run(async {
        let registry = registry();
        let (address, _serving) = serve(often(&registry)).await;
        let mut watching = Watching::open(address).await;
        let first = watching.next().await.unwrap();
        assert_eq!(
            (&first["every_ms"], &first["total"], &first["stale"]),
            (&50.into(), &1.into(), &Value::Null)
        );
        let orders = &first["limits"][0];
        assert_eq!(
            (&orders["id"], &orders["limit"], &orders["because"]),
            (&"orders".into(), &20.into(), &"initial limit".into())
        );
        rejected(&registry.register("late", LimitConfig::new()).unwrap());
        let late = loop {
            let update = watching.next().await.unwrap();
            if update["total"] == 2 {
                break update["limits"][0].clone();
            }
        };
        assert_eq!(late["id"], "late");
        assert_eq!(late["counters"]["rejected"], 1);
    });
}

#[test]
fn no_more_limits_are_shown_than_were_asked_for() {
    run(async {
        let registry = Registry::new();
        for number in 0..30 {
            let id = format!("tenant-{number:02}");
            registry.register(id, LimitConfig::new()).unwrap();
        }
        let (address, _serving) = serve(often(&registry).max_limits(3)).await;
        let update = Watching::open(address).await.next().await.unwrap();
        let ids: Vec<_> = update["limits"].as_array().unwrap().iter().collect();
        assert_eq!(
            (ids.len(), &ids[2]["id"], &update["total"]),
            (3, &"tenant-02".into(), &30.into())
        );
    });
}

#[test]
fn a_stream_ends_so_that_a_server_can_and_a_browser_asks_again() {
    run(async {
        let (address, _serving) = serve(often(&registry())).await;
        let mut watching = Watching::open(address).await;
        let mut updates = 0;
        while watching.next().await.is_some() {
            updates += 1;
        }
        assert_eq!(updates, 30);
        assert!(Watching::open(address).await.next().await.is_some());
    });
}

/// The tasks of the runtime: one that serves, and one for each connection.
fn tasks() -> usize {
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}

#[test]
fn many_watch_at_once_and_those_who_leave_leave_nothing_behind() {
    run(async {
        let (address, _serving) = serve(often(&registry())).await;
        let mut watching = Vec::new();
        for _ in 0..20 {
            watching.push(Watching::open(address).await);
        }
        for client in &mut watching {
            assert!(client.next().await.is_some());
        }
        assert!(tasks() > 20, "{}", tasks());
        watching.truncate(1);
        while tasks() > 2 {
            // What is left goes on, and the others are noticed with their next update.
            assert!(watching[0].next().await.is_some(), "{} tasks", tasks());
        }
    });
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody_and_misses_updates() {
    run(async {
        let registry = Registry::new();
        for number in 0..500 {
            let id = format!("{number:03} {}", "x".repeat(2000));
            registry.register(id, LimitConfig::new()).unwrap();
        }
        let (address, _serving) = serve(often(&registry)).await;
        // An update is more than a megabyte, so a few of them fill all buffers on the way.
        let mut slow = Watching::open(address).await;
        let mut fast = Watching::open(address).await;
        for _ in 0..10 {
            let update = fast.next().await.unwrap();
            assert_eq!(update["total"], 500);
        }
        let made = registry.register("000 made while nobody read", LimitConfig::new());
        drop(made.unwrap());
        // What waited for the slow one is what fits into the buffers, and then comes the present.
        let mut old = 0;
        while slow.next().await.unwrap()["total"] == 500 {
            old += 1;
        }
        assert!(old < 10, "{old} updates had piled up");
    });
}
