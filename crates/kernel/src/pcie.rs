//! Effective bandwidth of PCI Express links.
//!
//! Data is transferred in packets with headers and framing. Packets need credits, which the receiver returns
//! after a round trip. A read is split into read requests of limited size, each of which is answered by
//! completions.
//!
//! Rates and encodings are those of the base specifications of each generation. A packet has 4 B of framing
//! with its sequence number, and a link checksum of 4 B. Its header has 12 B (completions, requests below 4
//! GiB) or 16 B. Framing, checksum, and header together are the 5 or 6 words in Intel's application note
//! 456. Generation 6 transfers packets in flits of 256 B. Packets use 236 B of each flit and have no
//! framing or checksum. Acknowledgements, returned credits, and skip ordered sets take another 1 % to 2 %
//! and are not modeled.
//!
//! To model queueing on such a link, use a [`Link`](crate::Link) with the raw rate, and transfer the bytes
//! of the packets.

use crate::time::Time;
use crate::units::Bandwidth;

/// A PCI Express link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pcie {
    /// Generation, 1 to 6.
    pub generation: u8,
    /// Number of lanes: 1, 2, 4, 8, or 16.
    pub lanes: u8,
    /// Maximum data size of a packet: 128 B to 4 KiB.
    pub payload: u32,
    /// Maximum size of a read request: 128 B to 4 KiB.
    pub read_request: u32,
    /// Whether requests have 64-bit addresses and headers of 16 B.
    pub long_addresses: bool,
}

/// Number of bytes for framing and checksum of a packet on a link without flits.
const FRAMING: u64 = 8;
/// Header size in bytes of a completion, and of a request with a 32-bit address.
const SHORT_HEADER: u64 = 12;
/// Header size in bytes of a request with a 64-bit address.
const LONG_HEADER: u64 = 16;

impl Pcie {
    /// Raw bandwidth in each direction, including headers.
    pub fn raw(&self) -> Bandwidth {
        let (transfers, useful) = match self.generation {
            1 => (2.5e9, 8.0 / 10.0),
            2 => (5.0e9, 8.0 / 10.0),
            3 => (8.0e9, 128.0 / 130.0),
            4 => (16.0e9, 128.0 / 130.0),
            5 => (32.0e9, 128.0 / 130.0),
            6 => (64.0e9, 236.0 / 256.0),
            other => panic!("there is no generation {other}"),
        };
        Bandwidth(transfers * useful * f64::from(self.lanes) / 8.0)
    }

    /// Number of bytes on the link for a write of `bytes`, in packets of at most the maximum data size.
    pub fn write_bytes(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(u64::from(self.payload)) * (self.framing() + self.request_header())
    }

    /// Number of bytes on the link for the requests that read `bytes`. Each request is a packet without
    /// data.
    pub fn read_request_bytes(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.read_request)) * (self.framing() + self.request_header())
    }

    /// Number of bytes on the link for the completions that return `bytes`, including their headers.
    pub fn completion_bytes(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(u64::from(self.payload)) * (self.framing() + SHORT_HEADER)
    }

    /// Data bandwidth of writes of `bytes` each.
    pub fn write_bandwidth(&self, bytes: u64) -> Bandwidth {
        Bandwidth(self.raw().0 * bytes as f64 / self.write_bytes(bytes) as f64)
    }

    /// Data bandwidth of reads of `bytes` each, if the number of outstanding requests does not limit it.
    pub fn read_bandwidth(&self, bytes: u64) -> Bandwidth {
        let slower = self.completion_bytes(bytes).max(self.read_request_bytes(bytes));
        Bandwidth(self.raw().0 * bytes as f64 / slower as f64)
    }

    /// Data bandwidth of reads of `bytes` each with at most `tags` outstanding requests, if a reply starts
    /// `round_trip` after its request.
    pub fn read_bandwidth_with(&self, bytes: u64, tags: u32, round_trip: Time) -> Bandwidth {
        let asked = bytes.min(u64::from(self.read_request));
        let answered =
            round_trip + self.raw().time_for(self.read_request_bytes(asked) + self.completion_bytes(asked));
        let by_tags = f64::from(tags) * asked as f64 / answered.as_secs_f64();
        Bandwidth(by_tags.min(self.read_bandwidth(bytes).0))
    }

    /// Data bandwidth of writes of `bytes` each if the receiver has a buffer of `buffer` bytes, and if
    /// buffer space is freed `round_trip` after the data was sent.
    pub fn write_bandwidth_with(&self, bytes: u64, buffer: u64, round_trip: Time) -> Bandwidth {
        let packet = bytes.min(u64::from(self.payload));
        let sent = self.raw().time_for(self.write_bytes(packet));
        let by_credits = (buffer / packet * packet) as f64 / (round_trip + sent).as_secs_f64();
        Bandwidth(by_credits.min(self.write_bandwidth(bytes).0))
    }

    /// Time of one read of `bytes` from the request to the last byte, if the remote side replies
    /// `answers_after` after the arrival of the request.
    pub fn read_round_trip(&self, bytes: u64, answers_after: Time) -> Time {
        let request = self.framing() + self.request_header();
        self.raw().time_for(request) + answers_after + self.raw().time_for(self.completion_bytes(bytes))
    }

    fn framing(&self) -> u64 {
        if self.generation < 6 { FRAMING } else { 0 }
    }

    fn request_header(&self) -> u64 {
        if self.long_addresses { LONG_HEADER } else { SHORT_HEADER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(generation: u8, lanes: u8) -> Pcie {
        Pcie { generation, lanes, payload: 256, read_request: 512, long_addresses: true }
    }

    fn is_near(rate: Bandwidth, expected: f64, tolerance: f64) {
        assert!((rate.0 / expected - 1.0).abs() < tolerance, "{rate}, expected {expected}");
    }

    /// Compares the raw rate with the rate of one lane in GB/s, as published by the PCI-SIG, and with the
    /// rate of a generation 3 card.
    #[test]
    fn the_raw_rate_is_that_of_the_generation() {
        for (generation, lane) in
            [(1, 0.25e9), (2, 0.5e9), (3, 0.985e9), (4, 1.969e9), (5, 3.938e9), (6, 7.375e9)]
        {
            for lanes in [1, 2, 4, 8, 16] {
                is_near(link(generation, lanes).raw(), lane * f64::from(lanes), 0.001);
            }
        }
        is_near(link(3, 8).raw(), 7.877e9, 0.001);
    }

    /// Tests the overhead of packets. 4 KiB in packets of 256 B have an overhead of 16 times 24 B, which
    /// gives 7.20 GB/s and 1.758 M requests/s. Completions have an overhead of 20 B each.
    #[test]
    fn packets_leave_the_rest_for_data() {
        let link = link(3, 8);
        assert_eq!((link.write_bytes(4096), link.completion_bytes(4096)), (4096 + 16 * 24, 4096 + 16 * 20));
        assert_eq!(link.read_request_bytes(4096), 8 * 24);
        is_near(link.write_bandwidth(4096), 7.877e9 * 256.0 / 280.0, 0.001);
        is_near(link.read_bandwidth(4096), 7.877e9 * 256.0 / 276.0, 0.001);
        is_near(Bandwidth(link.write_bandwidth(4096).0 / 4096.0), 1.758e6, 0.001);
        // According to Intel's application note 456, packets of 256 B with 20 B of overhead reach 92 %.
        let short = Pcie { long_addresses: false, ..link };
        is_near(Bandwidth(short.write_bandwidth(4096).0 / short.raw().0), 0.9275, 0.001);
    }

    /// Tests that a generation 3 link with eight lanes serves at most 1.758 M requests/s of 4 KiB.
    #[test]
    fn requests_that_queue_for_the_link_are_served_at_its_cap() {
        const COUNT: u64 = 10_000;
        let pcie = link(3, 8);
        let mut to_device = crate::event::Link::new(pcie.raw());
        let time = to_device.time_for(pcie.write_bytes(4096));
        let done = (0..COUNT).map(|_| to_device.cross(Time::ZERO, time)).last().expect("there are requests");
        is_near(Bandwidth(COUNT as f64 / done.as_secs_f64()), 1.758e6, 0.01);
    }

    #[test]
    fn a_read_of_little_pays_for_a_packet_and_the_way() {
        let link = link(3, 8);
        // 24 B in one direction and 84 B in the other take 13.7 ns at 7.877 GB/s.
        let alone = link.read_round_trip(64, Time::from_ns(500)).as_ns_f64();
        assert!((alone - 513.7).abs() < 0.1, "{alone}");
        // At most 32 reads of 512 B are served in 5 us plus their transfer time of 73 ns.
        is_near(link.read_bandwidth_with(4096, 32, Time::from_us(5)), 32.0 * 512.0 / 5.0731e-6, 0.001);
        assert_eq!(link.read_bandwidth_with(4096, 256, Time::from_ns(500)), link.read_bandwidth(4096));
    }

    #[test]
    fn credits_bound_what_is_written_until_room_comes_back() {
        let link = link(3, 8);
        // The rate is 16 KiB in 4 us plus the 36 ns of a packet.
        is_near(link.write_bandwidth_with(4096, 16_384, Time::from_us(4)), 16_384.0 / 4.0355e-6, 0.001);
        assert_eq!(link.write_bandwidth_with(4096, 1 << 20, Time::from_us(1)), link.write_bandwidth(4096));
    }
}
