//! Minimal HTTP/1.1 for metrics: one GET and one response, after which the connection is closed (RFC 9112).

/// Maximum size of a request head in bytes.
pub const HEAD_MAX: usize = 8 << 10;

/// Returns the response to the data received so far. The result is `None` while the request head is
/// incomplete, and `Some(None)` if the data is not HTTP and gets no response. `is_ours` returns whether the
/// host named in the request is this server. This check prevents web pages from reading the metrics by DNS
/// rebinding. `metrics` generates the text of the metrics.
pub fn respond(
    head: &[u8],
    is_ours: impl Fn(Option<&str>) -> bool,
    metrics: impl FnOnce() -> String,
) -> Option<Option<Vec<u8>>> {
    let end = head.windows(4).position(|window| window == b"\r\n\r\n");
    let Some(line) = first_line(head) else {
        return (head.len() >= HEAD_MAX).then_some(None);
    };
    let Some((method, target)) = request_line(line) else { return Some(None) };
    let Some(end) = end else {
        return (head.len() >= HEAD_MAX)
            .then(|| Some(page("431 Request Header Fields Too Large", PLAIN, "")));
    };
    if !is_ours(host(&head[..end])) {
        return Some(Some(page("403 Forbidden", PLAIN, "the request has a different host name\n")));
    }
    let path = target.split('?').next().unwrap_or(target);
    Some(Some(match (method, path) {
        ("GET", "/metrics") => page("200 OK", METRICS, &metrics()),
        ("GET", _) => page("404 Not Found", PLAIN, "the metrics are at /metrics\n"),
        _ => page("405 Method Not Allowed\r\nAllow: GET", PLAIN, "use GET for the metrics\n"),
    }))
}

const PLAIN: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the first line without its line end, or `None` if the line is incomplete. If the data cannot be
/// the start of a request, returns an empty line, so that the server does not wait for more data.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    let end = head.windows(2).position(|window| window == b"\r\n");
    match end {
        Some(end) => Some(&head[..end]),
        None if head.iter().any(|byte| !(b' '..=b'~').contains(byte) && *byte != b'\r') => Some(&[]),
        None => None,
    }
}

/// Parses the method and target of a request line.
fn request_line(line: &[u8]) -> Option<(&str, &str)> {
    let mut parts = std::str::from_utf8(line).ok()?.split(' ');
    let (method, target, version) = (parts.next()?, parts.next()?, parts.next()?);
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_whole = is_method && target.starts_with('/') && version.starts_with("HTTP/1.");
    (is_whole && parts.next().is_none()).then_some((method, target))
}

/// Returns the host named in a request head, or `None` if the head does not name exactly one host.
fn host(head: &[u8]) -> Option<&str> {
    let lines = std::str::from_utf8(head).ok()?.split("\r\n").skip(1);
    let named =
        |line: &'_ str| line.split_once(':').is_some_and(|(name, _)| name.eq_ignore_ascii_case("host"));
    let mut hosts = lines.filter(|line| named(line)).filter_map(|line| line.split_once(':'));
    let (_, host) = hosts.next()?;
    hosts.next().is_none().then(|| host.trim())
}

fn page(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}
