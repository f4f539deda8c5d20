//! The live page in a real browser: run by ci/browser, which knows where one is.
//!
//! Speaks the `WebDriver` protocol to a `chromedriver` that is named by the variable `WEBDRIVER`, as `127.0.0.1:9515`.

mod driver;

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use resilience::integrations::axum::LivePage;
use resilience::limit::LimitConfig;
use resilience::registry::Registry;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use driver::Browser;

const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>";

fn main() {
    let Ok(driver) = std::env::var("WEBDRIVER") else {
        println!("nothing to see here without ci/browser");
        return;
    };
    let mut browser = Browser::open(&driver);
    let first = Registry::new();
    let orders = first.register("orders", LimitConfig::new()).unwrap();
    first.register(HOSTILE, LimitConfig::new()).unwrap();
    let server = Server::start("127.0.0.1:0".parse().unwrap(), &first);
    browser.go_to(&format!("http://{}/limits", server.address));

    // A row for each limit, the id as it is and nothing of it run.
    browser.wait_for("return ids()", &json!([HOSTILE, "orders"]));
    browser.wait_for("return text('orders', '.limit b')", &json!("20"));
    browser.wait_for("return text('orders', '.why')", &json!("initial limit"));
    assert_eq!(browser.run("return document.title"), "Adaptive limits");
    assert_eq!(browser.run("return document.images.length"), 0);
    println!("shows a row for each limit, and hostile ids as text");

    // What happens is seen.
    let permits = [(); 7].map(|()| orders.try_acquire().unwrap());
    browser.wait_for("return text('orders', '.flight b')", &json!("7"));
    drop(permits);
    browser.wait_for("return text('orders', '.flight b')", &json!("0"));
    let late = first
        .register("late", LimitConfig::new().initial_limit(3))
        .unwrap();
    browser.wait_for("return text('late', '.limit b')", &json!("3"));
    let permits = [(); 3].map(|()| late.try_acquire().unwrap());
    browser.run("window.seen = false; new MutationObserver(() => { window.seen ||= card('late').querySelector('.rejected.some') !== null; }).observe(card('late'), { subtree: true, attributes: true }); return 0");
    assert!(late.try_acquire().is_err());
    browser.wait_for("return window.seen", &json!(true));
    drop(permits);
    assert_eq!(
        browser.run("const pen = card('late').querySelector('canvas'); return pen.getContext('2d').getImageData(0, 0, pen.width, pen.height).data.some(x => x > 0)"),
        true,
        "nothing is drawn"
    );
    println!("shows calls, rejections and late limits");

    // The filter leaves what was asked for.
    browser.run("filter('ORD'); return 0");
    browser.wait_for("return ids()", &json!(["orders"]));
    browser.run("filter('no such id'); return 0");
    browser.wait_for(
        "return document.getElementById('empty').hidden",
        &json!(false),
    );
    browser.run("filter(''); return 0");
    browser.wait_for("return ids().length", &json!(3));
    println!("filters by id");

    // The server goes: the page says so. Another one comes: the page shows its limits.
    let address = server.address;
    server.stop();
    browser.wait_for(
        "return document.getElementById('state').className",
        &json!("lost"),
    );
    let second = Registry::new();
    second
        .register("after", LimitConfig::new().initial_limit(9))
        .unwrap();
    let server = Server::start(address, &second);
    browser.wait_for("return ids()", &json!(["after"]));
    browser.wait_for("return text('after', '.limit b')", &json!("9"));
    browser.wait_for(
        "return document.getElementById('state').className",
        &json!("live"),
    );
    println!("survives a restart of the server");

    // On a small screen nothing is cut off.
    browser.resize(360, 700);
    assert_eq!(
        browser.run("return document.documentElement.scrollWidth <= innerWidth"),
        true,
        "the page is wider than the screen"
    );
    let told: Vec<Value> = browser.complaints();
    // What it could not reach while there was no server is reported as it should be.
    let told: Vec<_> = told
        .iter()
        .filter(|entry| entry["source"] != "network")
        .collect();
    assert!(told.is_empty(), "{told:#?}");
    println!("fits a small screen, and the browser has nothing to complain of");
    server.stop();
}

/// A server of a page, on a thread of its own.
struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Server {
    fn start(address: SocketAddr, registry: &Registry) -> Self {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(address)).unwrap();
        let address = listener.local_addr().unwrap();
        let page = LivePage::new(registry).every(Duration::from_millis(100));
        let app: Router = Router::new().nest("/limits", page.router());
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            // Dropped with all its connections when it is told to stop.
            runtime.block_on(async {
                tokio::select! {
                    served = axum::serve(listener, app) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            stop,
            thread,
        }
    }

    fn stop(self) {
        self.stop.send(()).unwrap();
        self.thread.join().unwrap();
    }
}
