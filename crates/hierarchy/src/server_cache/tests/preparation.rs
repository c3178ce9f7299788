//! Tests of preconditioning.

use super::{PCM, blocks, build};
use nacre_kernel::event::Device;
use nacre_kernel::{Burst, Endured, Op, Request, Streams, Time, Wear};

/// A small flash drive, whose state is its mapping and wear.
const FLASH: &str = "kind = \"ssd\"\nchannels = 1\nways = 1\nplanes = 1\nblocks = 32\npages = 64\npage = \"4 KiB\"\n\
    buffer = \"64 KiB\"\nover_provisioning = \"30 %\"\nread = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\n\
    bus = \"400 MB/s\"\nlink = \"1 GB/s\"\n";
/// A small drive whose rows wear out soon.
const ROWS: &str = "kind = \"onyx\"\ncontrollers = 1\nranks = 8\nchip = \"64 KiB\"\nendurance = 500\n";

fn cache(backing: &str) -> Box<dyn Device> {
    let level = format!("[[stack.level]]\n[stack.level.device]\n{PCM}capacity = \"96 KiB\"\n");
    build(&format!("[stack]\nkind = \"server_cache\"\n{level}[stack.backing]\n{backing}"))
}

fn wear(device: &dyn Device) -> Vec<Wear> {
    let report = device.report(Time::from_s(1));
    report.wear.into_iter().chain(report.children.into_iter().filter_map(|child| child.wear)).collect()
}

#[test]
fn a_flash_drive_below_is_preconditioned_as_if_nothing_were_before_it() {
    let (mut below, mut alone) = (cache(FLASH), build(&format!("[stack]\n{FLASH}")));
    assert!(below.capabilities().preconditions, "the drive keeps a state");
    let places = alone.capacity().expect("a drive has an end").0 / 4096;
    let mut random = Streams::new(3).stream("writes");
    let requests: Vec<Request> = (0..3000).map(|_| blocks(Op::Write, random.below(places), 1)).collect();
    below.preconditioning().expect("the backing keeps a state").precondition(&requests);
    alone.preconditioning().expect("the drive keeps a state").precondition(&requests);
    assert!(wear(&*alone)[0].cleaned > 0, "it had to be cleaned");
    assert_eq!(wear(&*below), wear(&*alone));
    below.check_invariants();
}

#[test]
fn writes_wear_the_backing_out_as_if_nothing_were_before_it() {
    let burst = |block: u64, times| Burst { request: blocks(Op::Write, block, 1), times };
    let bursts: Vec<Burst> = (0..40).map(|number| burst(number % 7, 300)).collect();
    let (mut below, mut alone) = (cache(ROWS), build(&format!("[stack]\n{ROWS}")));
    assert!(below.capabilities().wears_out_ahead, "the drive knows what it is made for");
    let endured = alone.endurance().expect("it is known").wear_out(&bursts);
    assert!(matches!(endured, Endured::WornOut { .. }), "{endured:?}");
    assert_eq!(below.endurance().expect("that of the drive").wear_out(&bursts), endured);
}
