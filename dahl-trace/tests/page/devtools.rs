//! A tab of headless Chromium, controlled by the protocol of its developer tools
//! (<https://chromedevtools.github.io/devtools-protocol/>).

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// The browser prints this before the address at which it listens.
const ADDRESS: &str = "DevTools listening on ";

/// The time without an answer after which the browser counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The time after which a browser that does not end is killed.
const TIME_TO_CLOSE: Duration = Duration::from_secs(10);

pub(crate) struct Tab {
    _browser: Browser,
    socket: RefCell<WebSocket<TcpStream>>,
    session: String,
    /// The number of the last command.
    number: Cell<u64>,
    /// Exceptions of the page, and messages of the page and the browser on the console.
    complaints: RefCell<Vec<String>>,
}

/// A process that is ended when this is dropped.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Tab {
    /// Lets the browser end its own processes: they would write into the folder while it is removed.
    fn drop(&mut self) {
        let socket = self.socket.get_mut();
        let _ = socket.get_ref().set_read_timeout(Some(TIME_TO_CLOSE));
        let _ = socket.send(Message::text(json!({ "id": 0, "method": "Browser.close" }).to_string()));
        while socket.read().is_ok() {}
    }
}

impl Tab {
    /// Starts the browser at `path`, whose files are in `folder`, with an empty tab of this size.
    pub(crate) fn new(path: &Path, folder: &Path, [width, height]: [u32; 2]) -> Self {
        let mut browser = Command::new(path)
            .args(["--headless", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0"])
            // Containers may have little shared memory; and the browser must not use the network.
            .args(["--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions"])
            .arg(format!("--user-data-dir={}", folder.join("browser").display()))
            .env("TMPDIR", folder)
            .arg(format!("--window-size={width},{height}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map(Browser)
            .unwrap();
        let said = BufReader::new(browser.0.stderr.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        // Reads to the end: the browser continues to write, and must not wait for a reader.
        thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix(ADDRESS) {
                    let _ = sender.send(address.to_owned());
                }
            }
        });
        let address = receiver.recv_timeout(TIMEOUT).expect("the browser says where it listens");
        let host = address.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap();
        let stream = TcpStream::connect(host).unwrap();
        let (socket, _) = tungstenite::client(&address, stream).unwrap();
        let mut tab = Self {
            _browser: browser,
            socket: RefCell::new(socket),
            session: String::new(),
            number: Cell::new(0),
            complaints: RefCell::default(),
        };
        let target = tab.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let session = tab.call("Target.attachToTarget", &target)["sessionId"].as_str().unwrap().to_owned();
        tab.session = session;
        for domain in ["Page", "Runtime", "Log", "Inspector"] {
            tab.call(&format!("{domain}.enable"), &json!({}));
        }
        tab
    }

    /// Opens a page, and waits until it is loaded.
    pub(crate) fn navigate(&self, url: &str) {
        let answer = self.call("Page.navigate", &json!({ "url": url }));
        assert_eq!(answer.get("errorText"), None, "{url}");
        let deadline = Instant::now() + TIMEOUT;
        while self.read(deadline)["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression, or of its promise.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &asked);
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].take()
    }

    /// A mouse event of this type at a position, with the left button or without a button.
    pub(crate) fn mouse(&self, kind: &str, (x, y): (f64, f64), button: bool) {
        let (button, clicks) = if button { ("left", 1) } else { ("none", 0) };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// Scrolls the wheel down at a position.
    pub(crate) fn wheel(&self, (x, y): (f64, f64), by: f64) {
        let event = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0.0, "deltaY": by });
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// Presses and releases a key, given by its name in the DOM.
    pub(crate) fn key(&self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        let writes = text.chars().count() == 1;
        let mut event = json!({ "type": if writes { "keyDown" } else { "rawKeyDown" }, "key": key });
        if writes {
            event["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", &event);
        self.call("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key }));
    }

    /// Exceptions of the page, and messages of the page and the browser on the console.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.complaints.borrow().clone()
    }

    /// Sends a command, and returns its answer.
    fn call(&self, method: &str, parameters: &Value) -> Value {
        let number = self.number.get() + 1;
        self.number.set(number);
        let mut command = json!({ "id": number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = self.session.as_str().into();
        }
        self.socket.borrow_mut().send(Message::text(command.to_string())).unwrap();
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let mut message = self.read(deadline);
            if message["id"] == number {
                assert_eq!(message.get("error"), None, "{method} {parameters}");
                return message["result"].take();
            }
        }
    }

    /// The next message; complaints in it are recorded.
    fn read(&self, deadline: Instant) -> Value {
        let mut socket = self.socket.borrow_mut();
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        socket.get_ref().set_read_timeout(Some(left)).unwrap();
        let message = socket.read().expect("the browser answers");
        assert!(Instant::now() < deadline, "the browser answers");
        let message: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        let said = &message["params"];
        let complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => &said["exceptionDetails"],
            Some("Runtime.consoleAPICalled") => &said["args"],
            Some("Log.entryAdded") => &said["entry"]["text"],
            Some("Inspector.targetCrashed") => panic!("the page has crashed"),
            _ => return message,
        };
        self.complaints.borrow_mut().push(complaint.to_string());
        message
    }
}
