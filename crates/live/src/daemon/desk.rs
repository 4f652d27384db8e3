//! Reports a daemon's state: to `status` at a UNIX socket, and to Prometheus if it may ask.

use super::counters::Metrics;
use crate::namespace::leftovers::{self, Change, RecordedChange};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::Value;
use std::fmt;
use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use std::{fs, process};

/// How long a client may take to send a part of its request, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Most parts in which a request may come, and bytes of each.
const REQUEST_PARTS: usize = 8;
const PART_BYTES: usize = 512;

/// Where Prometheus may ask, only from this host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MetricsAddress {
    Loopback(SocketAddr),
    Unix(PathBuf),
}

impl FromStr for MetricsAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<MetricsAddress, String> {
        if text.starts_with('/') {
            return Ok(MetricsAddress::Unix(text.into()));
        }
        match text.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(MetricsAddress::Loopback(address)),
            Ok(address) => Err(format!("{address} can be reached from other hosts: use 127.0.0.1 or ::1")),
            Err(_) => Err("write 127.0.0.1:PORT, [::1]:PORT, or the path of a UNIX socket".to_owned()),
        }
    }
}

impl fmt::Display for MetricsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricsAddress::Loopback(address) => write!(f, "http://{address}/metrics"),
            MetricsAddress::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

enum Door {
    Status(UnixListener),
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The sockets, open.
pub struct Desk(Vec<Door>);

/// The sockets' files, removed when this value is dropped.
pub struct DeskFiles {
    _records: Vec<RecordedChange>,
}

impl Desk {
    /// Opens the sockets of a daemon of this name. Only root may ask for the status.
    ///
    /// # Errors
    /// The kernel's, with the address or the path.
    pub fn open(daemon: &str, metrics: Option<&MetricsAddress>) -> io::Result<(Desk, DeskFiles)> {
        let mut records = Vec::new();
        let path = Path::new(leftovers::FOLDER).join(format!("{daemon}-{}.sock", process::id()));
        let mut doors = vec![Door::Status(bind(&path, &mut records)?)];
        if let Some(address) = metrics {
            let told =
                |error: io::Error| io::Error::new(error.kind(), format!("--metrics {address}: {error}"));
            doors.push(match address {
                MetricsAddress::Loopback(address) => Door::Tcp(TcpListener::bind(address).map_err(told)?),
                MetricsAddress::Unix(path) => {
                    let door = Door::Unix(bind(path, &mut records).map_err(told)?);
                    // Whoever may enter its folder may ask.
                    fs::set_permissions(path, Permissions::from_mode(0o666)).map_err(told)?;
                    door
                }
            });
        }
        Ok((Desk(doors), DeskFiles { _records: records }))
    }

    /// Answers requests one after the other, for as long as this thread lives. `about` is the constant part of the
    /// status.
    ///
    /// # Errors
    /// The kernel's, from poll.
    pub fn serve(&self, about: &Value, counters: &dyn Metrics) -> io::Result<()> {
        loop {
            let mut doors: Vec<_> = self.0.iter().map(Door::as_poll).collect();
            poll(&mut doors, PollTimeout::NONE)?;
            let called = doors.iter().map(|door| door.any() == Some(true)).collect::<Vec<_>>();
            for (door, _) in self.0.iter().zip(called).filter(|(_, called)| *called) {
                // A client that does not listen gets no answer.
                let _ = door.answer(about, counters);
            }
        }
    }
}

impl Door {
    fn as_poll(&self) -> PollFd<'_> {
        let descriptor = match self {
            Door::Status(listener) | Door::Unix(listener) => listener.as_fd(),
            Door::Tcp(listener) => listener.as_fd(),
        };
        PollFd::new(descriptor, PollFlags::POLLIN)
    }

    fn answer(&self, about: &Value, counters: &dyn Metrics) -> io::Result<()> {
        match self {
            Door::Status(listener) => {
                let mut caller = listener.accept()?.0;
                caller.set_write_timeout(Some(PATIENCE))?;
                caller.write_all(status(about, counters).to_string().as_bytes())
            }
            Door::Unix(listener) => {
                let caller = listener.accept()?.0;
                caller.set_read_timeout(Some(PATIENCE))?;
                caller.set_write_timeout(Some(PATIENCE))?;
                expose(&caller, &caller, counters)
            }
            Door::Tcp(listener) => {
                let caller = listener.accept()?.0;
                caller.set_read_timeout(Some(PATIENCE))?;
                caller.set_write_timeout(Some(PATIENCE))?;
                expose(&caller, &caller, counters)
            }
        }
    }
}

/// The statuses of all daemons of this name on this host.
///
/// # Errors
/// The file system's: without root, permission denied.
pub fn statuses(daemon: &str) -> io::Result<Vec<Value>> {
    let folder = match fs::read_dir(leftovers::FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut found = Vec::new();
    for file in folder {
        let file = file?;
        let name = file.file_name();
        let is_one = name.to_str().is_some_and(|name| {
            name.strip_prefix(daemon).is_some_and(|rest| rest.starts_with('-')) && name.ends_with(".sock")
        });
        // A dead daemon does not answer.
        let Some(Ok(mut told)) = is_one.then(|| UnixStream::connect(file.path())) else { continue };
        told.set_read_timeout(Some(PATIENCE))?;
        let mut text = String::new();
        match told.read_to_string(&mut text) {
            // It died before it could answer.
            Ok(0) => continue,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => continue,
            read => read?,
        };
        found.push(serde_json::from_str(&text)?);
    }
    Ok(found)
}

fn bind(path: &Path, records: &mut Vec<RecordedChange>) -> io::Result<UnixListener> {
    if fs::exists(path)? {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, format!("{} is there already", path.display())));
    }
    records.push(RecordedChange::of(Change::File(path.to_owned()))?);
    UnixListener::bind(path)
}

fn status(about: &Value, counters: &dyn Metrics) -> Value {
    let mut status = about.clone();
    status["counters"] = Value::Object(counters.values());
    status
}

/// Answers one HTTP/1 request, and no further one on the same connection.
fn expose(mut from: impl Read, mut to: impl Write, counters: &dyn Metrics) -> io::Result<()> {
    let mut request = Vec::new();
    let mut part = [0; PART_BYTES];
    for _ in 0..REQUEST_PARTS {
        if is_whole(&request) {
            break;
        }
        match from.read(&mut part)? {
            0 => break,
            len => request.extend_from_slice(&part[..len]),
        }
    }
    to.write_all(answer(&request, counters).as_bytes())
}

fn is_whole(request: &[u8]) -> bool {
    request.windows(4).any(|end| end == b"\r\n\r\n")
}

fn answer(request: &[u8], counters: &dyn Metrics) -> String {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let (status, body) = match parsed.parse(request) {
        Ok(httparse::Status::Complete(_)) => match (parsed.method, parsed.path) {
            (Some("GET"), Some("/metrics")) => ("200 OK", counters.exposition()),
            (Some("GET"), _) => ("404 Not Found", "see /metrics\n".to_owned()),
            _ => ("405 Method Not Allowed", "use GET\n".to_owned()),
        },
        _ => ("400 Bad Request", "not an HTTP/1 request\n".to_owned()),
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::Counters;
    use proptest::prelude::*;

    fn asked(request: &[u8]) -> String {
        let mut told = Vec::new();
        expose(request, &mut told, &Counters::default()).unwrap();
        String::from_utf8(told).unwrap()
    }

    #[test]
    fn prometheus_asks_for_metrics_alone() {
        let found = asked(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(
            found.starts_with("HTTP/1.1 200 OK\r\n") && found.contains("airtcp_proxy_connections 0\n"),
            "{found}"
        );
        assert!(asked(b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(asked(b"POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(asked(b"GET /metrics HTTP/1.1\r\nHost: cut").starts_with("HTTP/1.1 400 "));
    }

    #[test]
    fn other_hosts_may_not_ask() {
        let refusal = |text: &str| text.parse::<MetricsAddress>().unwrap_err();
        assert!(
            refusal("0.0.0.0:9000").contains("from other hosts")
                && refusal("9000").contains("127.0.0.1:PORT")
        );
        assert_eq!("[::1]:9".parse::<MetricsAddress>().unwrap().to_string(), "http://[::1]:9/metrics");
        assert_eq!("/run/x".parse(), Ok(MetricsAddress::Unix("/run/x".into())));
    }

    proptest! {
        /// Whatever comes is answered, and read no further than a request may be long.
        #[test]
        fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..6000)) {
            let mut left = &bytes[..];
            let mut told = Vec::new();
            expose(&mut left, &mut told, &Counters::default()).unwrap();
            prop_assert!(told.starts_with(b"HTTP/1.1 4"));
            prop_assert!(bytes.len() - left.len() <= REQUEST_PARTS * PART_BYTES);
        }
    }
}
