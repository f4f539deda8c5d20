//! As much of the `WebDriver` protocol as the test needs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// What scripts of the test find on the page.
const HELPERS: &str = "
    const cards = () => [...document.querySelectorAll('article')];
    const ids = () => cards().map(card => card.querySelector('h2').textContent);
    const card = id => cards().find(card => card.querySelector('h2').textContent === id);
    const text = (id, part) => { const found = card(id); return found ? found.querySelector(part).textContent : null; };
    const filter = wanted => {
        const field = document.getElementById('filter');
        field.value = wanted;
        field.dispatchEvent(new Event('input'));
    };
";

/// A headless browser. It is closed when this is dropped.
pub(crate) struct Browser {
    driver: String,
    session: String,
}

impl Browser {
    pub(crate) fn open(driver: &str) -> Self {
        let mut browser = Self {
            driver: driver.to_owned(),
            session: String::new(),
        };
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        }}});
        let opened = browser.ask("POST", "/session", &capabilities);
        let session = opened["sessionId"].as_str().expect("a session");
        browser.session = format!("/session/{session}");
        browser
    }

    pub(crate) fn go_to(&mut self, url: &str) {
        self.command("/url", &json!({ "url": url }));
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": true,
        }});
        self.command("/goog/cdp/execute", &size);
    }

    /// What the script returns.
    pub(crate) fn run(&mut self, script: &str) -> Value {
        let script = format!("{HELPERS}{script}");
        self.command("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until the script returns this, for ten seconds at most. The browser waits, by its own clock.
    pub(crate) fn wait_for(&mut self, script: &str, expected: &Value) {
        let waiting = format!(
            "{HELPERS} const [expected, done] = arguments; const begin = performance.now();
            const look = () => {{
                const found = (() => {{ {script} }})();
                const over = performance.now() - begin > 10000;
                if (JSON.stringify(found) === JSON.stringify(expected) || over) done(found);
                else setTimeout(look, 50);
            }};
            look();"
        );
        let found = self.command(
            "/execute/async",
            &json!({ "script": waiting, "args": [expected] }),
        );
        assert_eq!(found, *expected, "{script}");
    }

    /// What the browser has written to its console.
    pub(crate) fn complaints(&mut self) -> Vec<Value> {
        let log = self.command("/se/log", &json!({ "type": "browser" }));
        log.as_array().expect("a list").clone()
    }

    fn command(&self, command: &str, body: &Value) -> Value {
        self.ask("POST", &format!("{}{command}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.driver).expect("a WebDriver is there");
        let limit = Some(Duration::from_secs(60));
        stream.set_read_timeout(limit).expect("a time limit");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            self.driver,
            body.len()
        )
        .expect("it takes a request");
        // It does not close the connection, whatever it was asked for.
        let mut stream = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let before = head.len();
            stream.read_line(&mut head).expect("it answers");
            let line = head[before..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a whole answer");
        let body = String::from_utf8(body).expect("in UTF-8");
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}{body}");
        let mut told: Value = serde_json::from_str(&body).expect("JSON");
        told["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.ask("DELETE", &self.session, &json!({}));
        }
    }
}
