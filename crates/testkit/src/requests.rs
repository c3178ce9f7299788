//! Random requests for tests.

use nacre_kernel::{Op, Random, Request, Time, Zone};

/// Size of the address range used on a device without a capacity limit, in bytes.
pub(crate) const UNLIMITED_BYTES: u64 = 1 << 30;
/// Alignment of requests in bytes.
pub(crate) const BLOCK: u64 = 4096;

/// Returns a random request to a device of `size` bytes.
pub(crate) fn any_request(random: &mut Random, size: u64, arrival: Time) -> Request {
    let op = match random.below(20) {
        0 => Op::Flush,
        1 => Op::Trim,
        2..10 => Op::Write,
        _ => Op::Read,
    };
    let blocks = size / BLOCK;
    let first = random.below(blocks);
    let count = (1 + random.below(8)).min(blocks - first);
    let bytes = if op == Op::Flush { 0 } else { (count * BLOCK) as u32 };
    Request { arrival, address: first * BLOCK, bytes, volume: 0, op }
}

/// Changes `request` so that a zoned device usually accepts it. Writes start at the write pointer of `zone`.
/// Some requests become resets or finishes of the zone.
pub(crate) fn in_zone(random: &mut Random, request: Request, zone: Option<Zone>) -> Request {
    let Some(zone) = zone else { return request };
    let to = |op, address, end: u64| Request { op, address, bytes: (end - address) as u32, ..request };
    match request.op {
        _ if random.below(10) == 0 => request,
        Op::Write if zone.write_pointer == zone.end => to(Op::Trim, zone.start, zone.end),
        Op::Write => {
            let end = zone.write_pointer + u64::from(request.bytes);
            to(Op::Write, zone.write_pointer, end.min(zone.end))
        }
        Op::Trim if random.chance(0.5) => to(Op::Trim, zone.start, zone.end),
        Op::Trim if zone.write_pointer < zone.end => to(Op::Trim, zone.write_pointer, zone.end),
        _ => request,
    }
}
