//! Tests of the card: device contract, closed forms, and power losses.

mod constraints;
mod laws;
mod oracle;
mod power;
mod queue;
mod stages;

use crate::workbench::{ask, models, workbench};
use nacre_config::{Configuration, Slot};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Request, Span, Status, Streams, Time};
use nacre_media::dram::Part;
use nacre_testkit::Seen;
use nacre_testkit::closed_loop;

/// Setting of [`DDR3`] for the time between activations.
const ACTIVATIONS: &str = "activate_to_activate = \"7.5 ns\"";
/// 1 GiB of DDR3-1066 with 1 Gbit chips (jesd79-3, speed bin F).
pub(super) const DDR3: &str = "kind = \"nvram_card\"\nchip = \"128 MiB\"\nrow = \"1 KiB\"\nclock = \"1.875 ns\"\n\
    read_latency = 7\nwrite_latency = 6\nactivate_to_access = \"13.125 ns\"\nprecharge = \"13.125 ns\"\n\
    row_open = \"37.5 ns\"\nrow_cycle = \"50.625 ns\"\nactivate_to_activate = \"7.5 ns\"\n\
    four_activates = \"37.5 ns\"\nwrite_recovery = \"15 ns\"\nwrite_to_read = \"7.5 ns\"\n\
    read_to_precharge = \"7.5 ns\"\nrefresh_every = \"7.8 us\"\nrefresh = \"110 ns\"\n";

/// [`DDR3`] without refresh.
pub(super) fn unrefreshed() -> String {
    DDR3.replace("refresh_every = \"7.8 us\"\nrefresh = \"110 ns\"\n", "")
}

/// 256 MiB of STT-MRAM (everspin-emd3d256m) with rows of 64 B per chip.
pub(super) const MRAM: &str = "kind = \"nvram_card\"\nvolatile = false\nchip = \"32 MiB\"\nrow = \"64 B\"\n\
    clock = \"1.876 ns\"\nread_latency = 8\nwrite_latency = 6\nactivate_to_access = \"88.172 ns\"\n\
    precharge = \"67.536 ns\"\nrow_open = \"97.552 ns\"\nrow_cycle = \"165.088 ns\"\n\
    activate_to_activate = \"7.504 ns\"\nfour_activates = \"37.5 ns\"\nwrite_recovery = \"15 ns\"\n\
    write_to_read = \"7.504 ns\"\nread_to_precharge = \"9.38 ns\"\n";

/// Memory with nearly zero latency: 64 B in 40 ps.
pub(super) const INSTANT: &str = "kind = \"nvram_card\"\nprocessing = \"0 s\"\nchip = \"128 MiB\"\nrow = \"1 KiB\"\n\
    clock = \"10 ps\"\nread_latency = 0\nwrite_latency = 0\nactivate_to_access = \"0 s\"\nprecharge = \"0 s\"\n\
    row_open = \"0 s\"\nrow_cycle = \"0 s\"\nactivate_to_activate = \"0 s\"\nfour_activates = \"0 s\"\n\
    write_recovery = \"0 s\"\nwrite_to_read = \"0 s\"\nread_to_precharge = \"0 s\"\n";

/// A host interface that takes nearly no time.
pub(super) const NO_HOST: &str = "[device.host]\nkind = \"direct\"\nlink = \"1000000 GB/s\"\n";

/// NVMe with zero host software time.
pub(super) const NVME: &str =
    "[device.host]\nkind = \"nvme\"\ndriver = \"0 s\"\nreap = \"0 s\"\ninterrupt = \"0 s\"\n";

pub(super) fn built(toml: &str) -> Box<dyn Device> {
    workbench(1).build(toml).unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// The memory part of a card.
pub(super) fn part(toml: &str) -> Part {
    #[derive(Debug, Configuration)]
    struct Document {
        /// The card.
        device: Slot<nacre_device::DeviceFamily>,
    }
    let document: Document = workbench(1).read(&format!("[device]\n{toml}")).expect("it is legal");
    document.device.config::<super::Config>(models()).part
}

/// Runs `count` random requests of `bytes` bytes, with `depth` outstanding.
pub(super) fn at_random(toml: &str, op: Op, bytes: u32, depth: u32, count: u64) -> Seen {
    let mut device = built(toml);
    let locations = device.capacity().expect("it is limited").0 / u64::from(bytes);
    let mut random = Streams::new(5).stream("requests");
    closed_loop(&mut *device, depth, count, |_| Request {
        arrival: Time::ZERO,
        address: random.below(locations) * u64::from(bytes),
        bytes,
        volume: 0,
        op,
    })
}

#[test]
fn it_keeps_the_contract() {
    for (us, toml) in [
        (5, DDR3.to_string()),
        (5, MRAM.to_string()),
        (
            5,
            format!(
                "{DDR3}channels = 2\nranks = 2\nrows = \"open\"\nscheduler = \"fcfs\"\ninterleave = \"256 B\"\n"
            ),
        ),
        (150, format!("{MRAM}written = \"closed\"\n[device.host]\nkind = \"memory_window\"\n")),
        (10, format!("{DDR3}[device.host]\nkind = \"nvme\"\ncoalescing = \"8 us\"\nqueue_depth = 4\n")),
        (20, format!("{DDR3}[device.host]\nkind = \"direct\"\ndriver = \"1 us\"\nlink = \"2 GB/s\"\n")),
    ] {
        // Requests have up to 32 KiB each, and the queue depth varies.
        nacre_testkit::conformance(Time::from_us(2 * us), || built(&toml));
    }
}

/// A channel may be narrower than a byte. With four data lines, a burst of eight transfers four bytes.
#[test]
fn a_channel_may_be_narrower_than_a_byte() {
    let narrow = format!("{}chips = 1\nwidth = 4\n", unrefreshed());
    assert_eq!(built(&narrow).capabilities().atomic_unit, 4);
    nacre_testkit::conformance(Time::from_us(20), || built(&narrow));
}

#[test]
fn a_flush_does_not_wait_for_a_write_that_waits_for_its_place_in_the_queue() {
    let mut device = built(&format!("{MRAM}{NVME}queue_depth = 1\n"));
    for (id, op, bytes) in [(0, Op::Flush, 0), (1, Op::Write, 64)] {
        let request = Request { arrival: Time::ZERO, address: 0, bytes, volume: 0, op };
        device.submit(Time::ZERO, RequestId(id), &request, Payload::NONE);
    }
    let mut completions = Completions::new();
    while device.next_event() < Time::MAX {
        device.run(Time::MAX, &mut completions);
    }
    let done: Vec<RequestId> = completions.iter().map(|completed| completed.id).collect();
    assert_eq!(done, [RequestId(0), RequestId(1)]);
}

/// A refresh every 7.8 us closes all rows, and the card can open only one row in this time.
#[test]
fn an_access_ends_between_two_refreshes() {
    let slow = DDR3.replace(ACTIVATIONS, "activate_to_activate = \"7 us\"");
    nacre_testkit::conformance(Time::from_us(20), || built(&slow));
}

#[test]
fn what_cannot_be_is_refused() {
    for (settings, location) in [
        (format!("{DDR3}volatile = false\n"), "device.volatile"),
        (format!("{MRAM}rows = \"open\"\n"), "device.rows"),
        (format!("{MRAM}capacitor = \"1 J\"\n"), "device.capacitor"),
        (format!("{DDR3}interleave = \"16 KiB\"\n"), "device.interleave"),
        (format!("{DDR3}ranks = 3\n"), "device.ranks"),
        (format!("{DDR3}rows = \"open\"\nwritten = \"closed\"\n"), "device.written"),
        (DDR3.replace("refresh = \"110 ns\"\n", ""), "device.refresh_every"),
        (DDR3.replace(ACTIVATIONS, "activate_to_activate = \"8 us\""), "device.refresh_every"),
        (DDR3.replace("row_open = \"37.5 ns\"", "row_open = \"7.7 us\""), "device.refresh_every"),
        (format!("{MRAM}read_energy = \"1 nJ\"\n"), "energy also needs activate_energy, write_energy"),
        (format!("{MRAM}idle_power = \"1 W\"\n"), "energy also needs activate_energy, read_energy"),
        (format!("{MRAM}refresh_energy = \"1 nJ\"\n"), "the part is never refreshed, given"),
        (DDR3.replace("row = \"1 KiB\"", "row = \"24 B\""), "device.row"),
    ] {
        let problems = workbench(1).build(&settings).err().unwrap_or_else(|| panic!("{settings} is legal"));
        assert!(problems.to_string().contains(location), "{location}: {problems}");
    }
}

/// Acknowledged or flushed data survives power losses, word by word, if the energy of the capacitor is
/// sufficient to save the memory.
#[test]
fn it_keeps_what_it_guarantees() {
    let small = DDR3.replace("chip = \"128 MiB\"", "chip = \"1 MiB\"");
    let mram = MRAM.replace("chip = \"32 MiB\"", "chip = \"1 MiB\"");
    for toml in [
        format!("{small}rows = \"open_for_reads\"\n"),
        format!("{mram}written = \"closed\"\n"),
        format!("{mram}rows = \"open_for_reads\"\n"),
        format!("{mram}{NO_HOST}"),
        format!("{mram}written = \"closed\"\n[device.host]\nkind = \"memory_window\"\n"),
    ] {
        let build = || workbench(1).with_bytes().build(&toml).expect("the test's card is legal");
        nacre_testkit::conformance(Time::from_us(100), build);
        nacre_testkit::durability(Time::from_us(2), build);
    }
}
