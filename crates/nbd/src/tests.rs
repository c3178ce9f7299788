//! Tests of the replies to hand-written messages that follow the protocol specification, and to invalid data.

use crate::*;
use proptest::prelude::*;

fn exports() -> Vec<Export> {
    let block = BlockSizes { minimum: 1, preferred: 4096, maximum: 1 << 20 };
    let export = |name: &str, read_only| Export {
        name: name.into(),
        description: format!("the {name}"),
        bytes: 1 << 20,
        read_only,
        rotational: false,
        block,
    };
    vec![export("disk", false), export("archive", true)]
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

fn named(name: &str, rest: &[u8]) -> Vec<u8> {
    [&(name.len() as u32).to_be_bytes(), name.as_bytes(), rest].concat()
}

const FLAGS: [u8; 4] = [0, 0, 0, 3];

/// Returns the result of parsing `input`, and the bytes that the server sends.
fn talk(exports: &[Export], tls: Tls, input: &[u8]) -> (Result<Parsed, Violation>, Vec<u8>) {
    let (mut negotiation, mut out, mut at) = (Negotiation::new(exports, tls), Vec::new(), 0);
    loop {
        match negotiation.step(&input[at..], &mut out) {
            Ok(Parsed::Took(bytes)) => at += bytes,
            end => return (end, out),
        }
    }
}

/// Splits `out` into the replies to options. Each reply is returned as its option, kind, and data.
fn replies(mut out: &[u8]) -> Vec<(u32, u32, Vec<u8>)> {
    let mut replies = Vec::new();
    while !out.is_empty() {
        assert_eq!(&out[..8], &0x0003_e889_0455_65a9_u64.to_be_bytes());
        let number = |at: usize| u32::from_be_bytes(out[at..at + 4].try_into().expect("four"));
        let length = number(16) as usize;
        replies.push((number(8), number(12), out[20..20 + length].to_vec()));
        out = &out[20 + length..];
    }
    replies
}

#[test]
fn the_greeting_is_the_fixed_newstyle_one() {
    let mut out = Vec::new();
    Negotiation::new(&exports(), Tls::Off).greet(&mut out);
    assert_eq!(out, b"NBDMAGICIHAVEOPT\x00\x03");
}

#[test]
fn go_tells_size_flags_and_block_sizes_and_chooses() {
    let exports = exports();
    let go = option(7, &named("archive", &[0, 1, 0, 2]));
    let (end, out) = talk(&exports, Tls::Off, &[&FLAGS[..], &go].concat());
    let session = Session { export: 1, structured: false, allocation: false };
    assert_eq!(end, Ok(Parsed::Chosen(go.len(), session)));
    let replies = replies(&out);
    // The transmission flags are: has flags, read-only, flush, FUA, DF, multiple connections, and cache (bits
    // 0, 1, 2, 3, 7, 8, and 10).
    let flags: u16 = 1 | 2 | 4 | 8 | 128 | 256 | 1024;
    let export = [&[0, 0][..], &(1u64 << 20).to_be_bytes(), &flags.to_be_bytes()].concat();
    let sizes =
        [&[0, 3][..], &1u32.to_be_bytes(), &4096u32.to_be_bytes(), &(1u32 << 20).to_be_bytes()].concat();
    let description = [&[0, 2][..], b"the archive"].concat();
    assert_eq!(replies, [(7, 3, export), (7, 3, sizes), (7, 3, description), (7, 1, vec![])]);
}

#[test]
fn info_tells_the_same_and_chooses_nothing_and_unknown_names_are_told_so() {
    let exports = exports();
    let asked =
        [option(6, &named("", &[0, 0])), option(7, &named("none", &[0, 0])), option(99, b"?")].concat();
    let (end, out) = talk(&exports, Tls::Off, &[&FLAGS[..], &asked].concat());
    assert_eq!(end, Ok(Parsed::More));
    let kinds: Vec<_> = replies(&out).into_iter().map(|(option, kind, _)| (option, kind)).collect();
    assert_eq!(kinds, [(6, 3), (6, 3), (6, 1), (7, 1 << 31 | 6), (99, 1 << 31 | 1)]);
}

#[test]
fn the_old_way_to_choose_pads_unless_told_not_to_and_drops_who_asks_for_what_is_not_there() {
    let exports = exports();
    let chosen = option(1, b"disk");
    let with_zeroes = talk(&exports, Tls::Off, &[&[0, 0, 0, 1][..], &chosen].concat());
    assert_eq!(with_zeroes.1.len(), 10 + 124);
    let without = talk(&exports, Tls::Off, &[&FLAGS[..], &chosen].concat());
    assert_eq!(without.1.len(), 10);
    assert_eq!(without.1[..8], (1u64 << 20).to_be_bytes());
    let (end, out) = talk(&exports, Tls::Off, &[&FLAGS[..], &option(1, b"none")].concat());
    assert_eq!((end, out), (Err(Violation::NoExport), Vec::new()));
}

#[test]
fn all_exports_are_listed_with_what_they_are() {
    let exports = exports();
    let (end, out) = talk(&exports, Tls::Off, &[&FLAGS[..], &option(3, &[]), &option(2, &[])].concat());
    assert_eq!(end, Ok(Parsed::Over(16)));
    let entry = |name: &str| named(name, format!("the {name}").as_bytes());
    let listed = [(3, 2, entry("disk")), (3, 2, entry("archive")), (3, 1, vec![]), (2, 1, vec![])];
    assert_eq!(replies(&out), listed);
}

#[test]
fn allocation_is_negotiated_after_structured_replies_and_for_the_export_that_is_chosen() {
    let exports = exports();
    let set =
        |name: &str| option(10, &named(name, &[&[0, 0, 0, 1][..], &named("base:allocation", &[])].concat()));
    let go = option(7, &named("disk", &[0, 0]));
    let (end, out) = talk(&exports, Tls::Off, &[&FLAGS[..], &set("disk"), &go].concat());
    assert!(matches!(end, Ok(Parsed::Chosen(_, session)) if !session.allocation && !session.structured));
    assert_eq!(replies(&out)[0].1, 1 << 31 | 3, "not before structured replies");
    let chunks = option(8, &[]);
    let (end, out) = talk(&exports, Tls::Off, &[&FLAGS[..], &chunks, &set("disk"), &go].concat());
    assert!(matches!(end, Ok(Parsed::Chosen(_, session)) if session.allocation && session.structured));
    assert_eq!(replies(&out)[1], (10, 4, [&[0, 0, 0, 1][..], b"base:allocation"].concat()));
    let (end, _) = talk(&exports, Tls::Off, &[&FLAGS[..], &chunks, &set("archive"), &go].concat());
    assert!(matches!(end, Ok(Parsed::Chosen(_, session)) if !session.allocation), "for another export");
}

#[test]
fn where_encryption_is_required_nothing_else_is_answered_before_it() {
    let exports = exports();
    let go = option(7, &named("disk", &[0, 0]));
    let (end, out) = talk(&exports, Tls::Required, &[&FLAGS[..], &option(3, &[]), &go].concat());
    assert_eq!(end, Ok(Parsed::More));
    assert!(replies(&out).iter().all(|(_, kind, _)| *kind == 1 << 31 | 5), "{:?}", replies(&out));
    let mut negotiation = Negotiation::new(&exports, Tls::Required);
    let mut out = Vec::new();
    assert_eq!(negotiation.step(&FLAGS, &mut out), Ok(Parsed::Took(4)));
    assert_eq!(negotiation.step(&option(5, &[]), &mut out), Ok(Parsed::StartTls(16)));
    let mut negotiation = negotiation.encrypted();
    assert!(matches!(negotiation.step(&go, &mut out), Ok(Parsed::Chosen(..))));
    let (_, out) = talk(&exports, Tls::Off, &[&FLAGS[..], &option(5, &[])].concat());
    assert_eq!(replies(&out)[0].1, 1 << 31 | 2);
}

#[test]
fn who_does_not_speak_the_protocol_is_dropped() {
    let exports = exports();
    let end = |input: &[u8]| talk(&exports, Tls::Off, input).0;
    assert_eq!(end(b"GET / HTTP/1.1\r\n"), Err(Violation::ClientFlags(u32::from_be_bytes(*b"GET "))));
    assert_eq!(end(&[0, 0, 0, 2]), Err(Violation::ClientFlags(2)), "not fixed");
    assert_eq!(end(&[&FLAGS[..], &[0; 16]].concat()), Err(Violation::NoOption(0)));
    let long = [&FLAGS[..], b"IHAVEOPT", &7u32.to_be_bytes(), &u32::MAX.to_be_bytes()].concat();
    assert_eq!(end(&long), Err(Violation::OptionTooLong(u32::MAX)));
    let many = [&FLAGS[..], &option(3, &[]).repeat(5000)].concat();
    assert_eq!(end(&many), Err(Violation::TooManyOptions));
}

fn request(flags: u16, command: u16, offset: u64, length: u32) -> Request {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&0x2560_9513_u32.to_be_bytes());
    header[4..6].copy_from_slice(&flags.to_be_bytes());
    header[6..8].copy_from_slice(&command.to_be_bytes());
    header[8..16].copy_from_slice(&7u64.to_be_bytes());
    header[16..24].copy_from_slice(&offset.to_be_bytes());
    header[24..].copy_from_slice(&length.to_be_bytes());
    Request::parse(&header).expect("it is a request")
}

const SIMPLE: Session = Session { export: 0, structured: false, allocation: false };
const CHUNKS: Session = Session { export: 0, structured: true, allocation: true };

#[test]
fn requests_that_cannot_be_served_are_refused_with_the_protocols_errors() {
    let exports = exports();
    let error = |session: Session, export: usize, request: Request| {
        session.check(&request, &exports[export]).err().map(|refusal| refusal.error)
    };
    let end = 1u64 << 20;
    assert_eq!(error(SIMPLE, 0, request(0, 0, end - 512, 512)), None);
    assert_eq!(error(SIMPLE, 0, request(0, 0, end - 512, 513)), Some(Errno::Invalid));
    assert_eq!(error(SIMPLE, 0, request(0, 1, end, 512)), Some(Errno::NoSpace));
    assert_eq!(error(SIMPLE, 0, request(0, 1, u64::MAX, 512)), Some(Errno::NoSpace), "the sum wraps");
    assert_eq!(error(SIMPLE, 1, request(0, 1, 0, 512)), Some(Errno::NotPermitted));
    assert_eq!(error(SIMPLE, 1, request(0, 6, 0, 512)), Some(Errno::NotPermitted));
    assert_eq!(error(SIMPLE, 0, request(0, 0, 0, 0)), Some(Errno::Invalid));
    assert_eq!(error(SIMPLE, 0, request(0, 7, 0, 512)), Some(Errno::Invalid), "no context");
    assert_eq!(error(CHUNKS, 0, request(8, 7, 0, 512)), None);
    assert_eq!(error(SIMPLE, 0, request(4, 0, 0, 512)), Some(Errno::Invalid), "DF without chunks");
    assert_eq!(error(CHUNKS, 0, request(4, 0, 0, 512)), None);
    assert_eq!(
        error(SIMPLE, 0, request(2, 1, 0, 512)),
        Some(Errno::Invalid),
        "a write keeps its room anyway"
    );
    assert_eq!(error(SIMPLE, 0, request(1, 3, 0, 0)), None);
    assert_eq!(error(SIMPLE, 0, request(0, 3, 0, 1)), Some(Errno::Invalid));
    assert_eq!(error(SIMPLE, 0, request(0, 99, 0, 512)), Some(Errno::Invalid));
    let mut coarse = exports[0].clone();
    coarse.block = BlockSizes { minimum: 512, preferred: 4096, maximum: 4096 };
    assert!(SIMPLE.check(&request(0, 0, 256, 512), &coarse).is_err());
    let long = SIMPLE.check(&request(0, 0, 0, 8192), &coarse).expect_err("too long");
    assert_eq!(long.error, Errno::Overflow);
    assert_eq!(request(0, 1, 0, 8192).payload(4096), Err(Violation::WriteTooLong(8192, 4096)));
    assert_eq!(request(0, 0, 0, 8192).payload(4096), Ok(0));
    assert_eq!(Request::parse(&[1; HEADER_BYTES]), Err(Violation::NoRequest(0x0101_0101)));
}

#[test]
fn answers_are_simple_or_in_chunks_as_negotiated() {
    let read = request(0, 0, 4096, 3);
    let mut out = Vec::new();
    Reply::new(&SIMPLE, &read, &mut out).data(4096, 3).copy_from_slice(b"abc");
    assert_eq!(out, [&0x6744_6698_u32.to_be_bytes()[..], &[0; 4], &7u64.to_be_bytes(), b"abc"].concat());
    let chunk = |kind: u16, payload: &[u8]| {
        let head =
            [&0x668e_33ef_u32.to_be_bytes()[..], &[0, 1], &kind.to_be_bytes(), &7u64.to_be_bytes()].concat();
        [&head[..], &(payload.len() as u32).to_be_bytes(), payload].concat()
    };
    let mut answer = |give: &dyn Fn(Reply<'_>)| {
        out.clear();
        give(Reply::new(&CHUNKS, &read, &mut out));
        out.clone()
    };
    let offset = 4096u64.to_be_bytes();
    let data = answer(&|reply| reply.data(4096, 3).copy_from_slice(b"abc"));
    assert_eq!(data, chunk(1, &[&offset[..], b"abc"].concat()));
    assert_eq!(answer(&|reply| reply.hole(4096, 3)), chunk(2, &[&offset[..], &[0, 0, 0, 3]].concat()));
    assert_eq!(answer(&|reply| reply.done()), chunk(0, &[]));
    let failure = answer(&|reply| reply.failed(Refusal { error: Errno::Io, reason: "no" }));
    assert_eq!(failure, chunk(1 << 15 | 1, &[0, 0, 0, 5, 0, 2, b'n', b'o']));
    let extents = [Extent { bytes: 512, is_hole: false }, Extent { bytes: 1024, is_hole: true }];
    let status = [[0, 0, 0, 1], [0, 0, 2, 0], [0; 4], [0, 0, 4, 0], [0, 0, 0, 3]].concat();
    assert_eq!(answer(&|reply| reply.extents(&extents)), chunk(5, &status));
}

/// Generates options with valid frames, and sometimes random bytes.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let name = prop::sample::select(vec!["", "disk", "archive", "none", "base:allocation", "base:"]);
    let data = (name, prop::collection::vec(any::<u8>(), 0..12)).prop_map(|(name, rest)| named(name, &rest));
    let whole = (0u32..12, data).prop_map(|(number, data)| option(number, &data));
    prop_oneof![9 => whole, 1 => prop::collection::vec(any::<u8>(), 0..40)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn however_a_clients_bytes_arrive_the_answers_are_the_same(
        messages in prop::collection::vec(message(), 0..8),
        cuts in prop::collection::vec(1usize..30, 1..20),
    ) {
        let exports = exports();
        let input = [&FLAGS[..], &messages.concat()].concat();
        let (whole, expected) = talk(&exports, Tls::Off, &input);
        let (mut negotiation, mut out) = (Negotiation::new(&exports, Tls::Off), Vec::new());
        let (mut at, mut upto, mut cuts) = (0, 0, cuts.iter().cycle());
        let end = loop {
            match negotiation.step(&input[at..upto], &mut out) {
                Ok(Parsed::Took(bytes)) => at += bytes,
                Ok(Parsed::More) if upto < input.len() => {
                    upto = (upto + cuts.next().expect("it goes round")).min(input.len());
                }
                end => break end,
            }
        };
        prop_assert_eq!(end, whole);
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn no_request_that_passes_reaches_past_the_export(header in prop::array::uniform28(any::<u8>())) {
        let exports = exports();
        let mut header = header;
        header[..4].copy_from_slice(&0x2560_9513_u32.to_be_bytes());
        header[4..7].fill(0);
        header[7] %= 9;
        header[16..21].fill(0);
        let request = Request::parse(&header).expect("the magic is there");
        for export in &exports {
            // A disconnect request is always accepted.
            if request.command != Command::Disconnect && CHUNKS.check(&request, export).is_ok() {
                prop_assert!(request.offset + u64::from(request.length) <= export.bytes);
            }
        }
    }
}
