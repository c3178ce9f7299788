//! What writes before time begins leave behind.

use super::{PCM, blocks};
use crate::workbench;
use nacre_kernel::{Burst, Device, Endured, Op};

/// A small drive of rows that wear out soon.
const ROWS: &str = "kind = \"onyx\"\ncontrollers = 1\nranks = 8\nchip = \"64 KiB\"\nendurance = 500\n";

fn build(toml: &str) -> Box<dyn Device> {
    workbench::build(toml).unwrap_or_else(|problems| panic!("{problems}"))
}

fn cache(backing: &str) -> Box<dyn Device> {
    let level = format!("[[stack.level]]\n[stack.level.device]\n{PCM}capacity = \"96 KiB\"\n");
    build(&format!("[stack]\nkind = \"server_cache\"\n{level}[stack.backing]\n{backing}"))
}

#[test]
fn writes_wear_the_backing_out_as_if_nothing_were_before_it() {
    let burst = |block: u64, times| Burst { request: blocks(Op::Write, block, 1), times };
    let bursts: Vec<Burst> = (0..40).map(|number| burst(number % 7, 300)).collect();
    let (mut below, mut alone) = (cache(ROWS), build(&format!("[stack]\n{ROWS}")));
    assert!(below.capabilities().wears_out_ahead, "the drive knows what it is made for");
    let endured = alone.wear_out(&bursts);
    assert!(matches!(endured, Endured::WornOut { .. }), "{endured:?}");
    assert_eq!(below.wear_out(&bursts), endured);
}
