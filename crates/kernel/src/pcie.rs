//! Effective bandwidth of PCI Express links.
//!
//! Data is transferred in packets with headers and framing. Packets need credits, which are returned after a
//! round trip. A read is split into read requests of limited size, each answered by completions.
//!
//! Rates and encodings are those of the base specifications of each generation. A packet has 4 B of framing
//! with its sequence number, a link checksum of 4 B, and a header of 12 B (completions, requests below 4 GiB)
//! or 16 B: the 5 or 6 words of Intel's application note 456. Generation 6 carries packets in flits of 256 B,
//! of which 236 B are for packets, which have no framing or checksum. Acknowledgements, returned credits, and
//! skip sets take another 1 % to 2 % and are not modeled.
//!
//! A [`Link`](crate::Link) with the raw rate that transfers the bytes of packets models such a link with
//! queueing.

use crate::time::Time;
use crate::units::Bandwidth;

/// A PCI Express link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pcie {
    /// Generation, 1 to 6.
    pub generation: u8,
    /// Lanes: 1, 2, 4, 8 or 16.
    pub lanes: u8,
    /// Maximum data of a packet: 128 B to 4 KiB.
    pub payload: u32,
    /// Maximum data of a read request: 128 B to 4 KiB.
    pub read_request: u32,
    /// Whether requests have addresses of 64 bits, and headers of 16 B.
    pub long_addresses: bool,
}

/// Bytes of a packet in addition to header and data, without flits.
const FRAMING: u64 = 8;
/// Bytes of a completion's header, and of a request's with an address of 32 bits.
const SHORT_HEADER: u64 = 12;
/// Bytes of a request's header with an address of 64 bits.
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

    /// Bytes on the link for a write of `bytes`: packets of at most the payload each.
    pub fn write_bytes(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(u64::from(self.payload)) * (self.framing() + self.request_header())
    }

    /// Bytes on the link to request `bytes`: a packet without data for each read request.
    pub fn read_request_bytes(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.read_request)) * (self.framing() + self.request_header())
    }

    /// Bytes on the link for the completions of `bytes`.
    pub fn completion_bytes(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(u64::from(self.payload)) * (self.framing() + SHORT_HEADER)
    }

    /// Data per second of writes of `bytes` each.
    pub fn write_bandwidth(&self, bytes: u64) -> Bandwidth {
        Bandwidth(self.raw().0 * bytes as f64 / self.write_bytes(bytes) as f64)
    }

    /// Data per second of reads of `bytes` each, with enough outstanding requests.
    pub fn read_bandwidth(&self, bytes: u64) -> Bandwidth {
        let slower = self.completion_bytes(bytes).max(self.read_request_bytes(bytes));
        Bandwidth(self.raw().0 * bytes as f64 / slower as f64)
    }

    /// Data per second of reads with at most `tags` outstanding requests, if a reply starts `round_trip`
    /// after its request.
    pub fn read_bandwidth_with(&self, bytes: u64, tags: u32, round_trip: Time) -> Bandwidth {
        let asked = bytes.min(u64::from(self.read_request));
        let answered =
            round_trip + self.raw().time_for(self.read_request_bytes(asked) + self.completion_bytes(asked));
        let by_tags = f64::from(tags) * asked as f64 / answered.as_secs_f64();
        Bandwidth(by_tags.min(self.read_bandwidth(bytes).0))
    }

    /// Data per second of writes if the receiver has a buffer of `buffer` bytes, which is freed `round_trip`
    /// after data was sent.
    pub fn write_bandwidth_with(&self, bytes: u64, buffer: u64, round_trip: Time) -> Bandwidth {
        let packet = bytes.min(u64::from(self.payload));
        let sent = self.raw().time_for(self.write_bytes(packet));
        let by_credits = (buffer / packet * packet) as f64 / (round_trip + sent).as_secs_f64();
        Bandwidth(by_credits.min(self.write_bandwidth(bytes).0))
    }

    /// Time of one read of `bytes` from the request to the last byte, if the remote side replies
    /// `answers_after` the request arrived.
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

    /// GB/s of one lane as published by the PCI-SIG, and of a card of generation 3.
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

    /// 4 KiB in packets of 256 B: 16 times 24 B of overhead, 7.20 GB/s and 1.758 M requests/s; completions
    /// have 20 B.
    #[test]
    fn packets_leave_the_rest_for_data() {
        let link = link(3, 8);
        assert_eq!((link.write_bytes(4096), link.completion_bytes(4096)), (4096 + 16 * 24, 4096 + 16 * 20));
        assert_eq!(link.read_request_bytes(4096), 8 * 24);
        is_near(link.write_bandwidth(4096), 7.877e9 * 256.0 / 280.0, 0.001);
        is_near(link.read_bandwidth(4096), 7.877e9 * 256.0 / 276.0, 0.001);
        is_near(Bandwidth(link.write_bandwidth(4096).0 / 4096.0), 1.758e6, 0.001);
        // Intel, application note 456: 256 B and 20 B are 92 %.
        let short = Pcie { long_addresses: false, ..link };
        is_near(Bandwidth(short.write_bandwidth(4096).0 / short.raw().0), 0.9275, 0.001);
    }

    /// The link limits a card of generation 3 with eight lanes to this rate of 4 KiB requests.
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
        // 24 B out and 84 B back at 7.877 GB/s are 13.7 ns.
        let alone = link.read_round_trip(64, Time::from_ns(500)).as_ns_f64();
        assert!((alone - 513.7).abs() < 0.1, "{alone}");
        // At most 32 reads of 512 B are served in 500 ns and their own 72 ns.
        is_near(link.read_bandwidth_with(4096, 32, Time::from_us(5)), 32.0 * 512.0 / 5.0731e-6, 0.001);
        assert_eq!(link.read_bandwidth_with(4096, 256, Time::from_ns(500)), link.read_bandwidth(4096));
    }

    #[test]
    fn credits_bound_what_is_written_until_room_comes_back() {
        let link = link(3, 8);
        // 16 KiB per microsecond and the 36 ns of a packet.
        is_near(link.write_bandwidth_with(4096, 16_384, Time::from_us(4)), 16_384.0 / 4.0355e-6, 0.001);
        assert_eq!(link.write_bandwidth_with(4096, 1 << 20, Time::from_us(1)), link.write_bandwidth(4096));
    }
}
