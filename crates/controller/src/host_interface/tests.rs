//! What tests of several interfaces share.

use super::{HostInterface, HostInterfaceFamily, build};
use crate::workbench::{rooms, workbench};
use nacre_config::{Configuration, Slot};
use nacre_kernel::{Op, Request, Time};

/// The document around the interface under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The interface.
    host: Slot<HostInterfaceFamily>,
}

/// The interface that the inside of a TOML table describes.
pub(crate) fn built(toml: &str) -> Box<dyn HostInterface> {
    let document: Result<Document, _> = workbench(1).read(&format!("[host]\n{toml}"));
    let document = document.unwrap_or_else(|problems| panic!("{toml}: {problems}"));
    build(&document.host, rooms()).unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// When a request of `bytes` that is issued at `now` ends whose pieces a device serves at once.
pub(crate) fn served_at_once(interface: &mut dyn HostInterface, now: Time, op: Op, bytes: u64) -> Time {
    let request = Request { arrival: now, address: 0, bytes: bytes as u32, volume: 0, op };
    let begun = interface.begin(now, &request).there;
    let (mut last, mut left) = (begun, bytes);
    while left > 0 {
        let piece = interface.piece().min(left);
        let brought = interface.bring(begun, op, piece).there;
        last = last.max(interface.answer(brought, op, piece).there);
        left -= piece;
    }
    interface.end(last, op).there
}

/// After a loss of power nothing is under way, and a request takes what it took at first.
#[test]
fn nothing_is_under_way_after_a_loss_of_power() {
    for toml in [
        "kind = \"direct\"\ndriver = \"1 us\"\ncpus = 1\nlink = \"2 GB/s\"",
        "kind = \"nvme\"\ncpus = 1\nqueue_depth = 2\ncoalescing = \"5 us\"",
        "kind = \"memory_window\"\ncpus = 1",
        "kind = \"cxl_mem\"\ncpus = 1",
    ] {
        let mut interface = built(toml);
        let alone = served_at_once(&mut *interface, Time::ZERO, Op::Write, 4096);
        (0..20).for_each(|_| _ = served_at_once(&mut *interface, Time::ZERO, Op::Write, 4096));
        interface.power_fail(Time::ZERO);
        let again = Time::from_ms(1);
        interface.advance(again);
        let ended = served_at_once(&mut *interface, again, Op::Write, 4096);
        assert_eq!(ended - again, alone, "{toml}");
        interface.check_invariants();
    }
}

/// Where counting begins anew, at the end of a warm-up or as an image is opened, nothing happens sooner for it.
#[test]
fn counting_anew_moves_no_request() {
    for toml in [
        "kind = \"direct\"\ndriver = \"1 us\"\ncpus = 1\nlink = \"2 GB/s\"",
        "kind = \"nvme\"\ncpus = 1",
        "kind = \"memory_window\"\ncpus = 1",
        "kind = \"cxl_mem\"\ncpus = 1",
    ] {
        let ends = |counts_anew: bool| {
            let mut interface = built(toml);
            let mut served = |number: u64| {
                if counts_anew {
                    interface.restart_ledger();
                }
                let op = [Op::Flush, Op::Write, Op::Read][number as usize % 3];
                served_at_once(&mut *interface, Time::from_ns(100 * number), op, 4096)
            };
            (0..30).map(&mut served).collect::<Vec<_>>()
        };
        assert_eq!(ends(true), ends(false), "{toml}");
    }
}
