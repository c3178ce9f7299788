//! Fuzz tests of the NBD server with arbitrary data from a client.

use nacre_nbd::{
    BlockSizes, Command, Export, HEADER_BYTES, Negotiation, Progress, Reply, Request, Session, Tls,
};

/// Maximum size of a read. It is small, so that the fuzzer does not spend its time on memory copies.
const READ_MAX: u32 = 1 << 16;

fn exports() -> [Export; 2] {
    let block = BlockSizes { minimum: 512, preferred: 4096, maximum: READ_MAX };
    let export = |name: &str, bytes, read_only| Export {
        name: name.into(),
        description: "fuzzed".into(),
        bytes,
        read_only,
        rotational: read_only,
        block,
    };
    [export("disk", 1 << 20, false), export("", u64::MAX, true)]
}

/// Negotiates with a client that sends `data` in one piece, and with a client that sends it byte by byte.
/// Both clients must get equal replies. The data after the negotiation is parsed as requests.
pub fn negotiate(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let tls = [Tls::Off, Tls::Required, Tls::On][usize::from(first) % 3];
    let whole = answers(data, data.len(), tls);
    let bytes = answers(data, 1, tls);
    assert!(whole == bytes, "splitting the data does not change the answers");
    if let (Some(session), _, at) = whole {
        serve(&session, &data[at..]);
    }
}

fn answers(data: &[u8], step: usize, mut tls: Tls) -> (Option<Session>, Vec<u8>, usize) {
    let exports = exports();
    let mut negotiation = Negotiation::new(&exports, tls);
    let (mut out, mut at, mut end) = (Vec::new(), 0, 0);
    negotiation.greet(&mut out);
    loop {
        match negotiation.step(&data[at..end], &mut out) {
            Ok(Progress::More) if end < data.len() => end = data.len().min(end + step.max(1)),
            Ok(Progress::More | Progress::Over(_)) | Err(_) => return (None, out, at),
            Ok(Progress::Took(bytes)) => {
                assert!(bytes > 0 && bytes <= end - at, "something is taken, and no more than came");
                at += bytes;
            }
            Ok(Progress::StartTls(bytes)) => {
                assert_eq!(tls, Tls::Required, "encryption starts once, if it is required");
                tls = Tls::On;
                at += bytes;
                negotiation = negotiation.encrypted();
            }
            Ok(Progress::Chosen(bytes, session)) => {
                assert!(tls != Tls::Required, "no client chooses an export without encryption");
                assert!(!session.allocation || session.structured);
                return (Some(session), out, at + bytes);
            }
        }
    }
}

/// Serves the requests in `data` after the negotiation. Each request must be rejected or be within the
/// export, and every reply must have the cookie of its request.
pub fn requests(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let structured = first & 1 != 0;
    serve(
        &Session {
            export: usize::from(first >> 2 & 1),
            structured,
            allocation: structured && first & 2 != 0,
        },
        data,
    );
}

fn serve(session: &Session, mut data: &[u8]) {
    let export = &exports()[session.export];
    while let Some(header) = data.first_chunk::<HEADER_BYTES>() {
        let Ok(request) = Request::parse(header) else { return };
        let Ok(payload) = request.payload(export.block.maximum) else { return };
        let Some(rest) = data.get(HEADER_BYTES + payload..) else { return };
        data = rest;
        if request.command == Command::Disconnect {
            return;
        }
        let mut out = Vec::new();
        answer(session, &request, export, &mut out);
        assert!(out.windows(8).any(|bytes| bytes == request.cookie.to_be_bytes()));
    }
}

fn answer(session: &Session, request: &Request, export: &Export, out: &mut Vec<u8>) {
    let reply = Reply::new(session, request, out);
    if let Err(refusal) = session.check(request, export) {
        return reply.failed(refusal);
    }
    if request.command != Command::Flush {
        assert!(request.offset.checked_add(u64::from(request.length)).is_some_and(|end| end <= export.bytes));
        assert!(request.length > 0 && request.offset % u64::from(export.block.minimum) == 0);
    }
    match request.command {
        Command::Read => {
            assert!(request.length <= READ_MAX);
            reply.data(request.offset, request.length as usize).fill(7);
        }
        Command::BlockStatus => reply.extents(&[nacre_nbd::Extent { bytes: request.length, is_hole: true }]),
        Command::Write | Command::Trim | Command::WriteZeroes => {
            assert!(!export.read_only);
            reply.done();
        }
        _ => reply.done(),
    }
}
