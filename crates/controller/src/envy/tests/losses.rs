//! Tests of power losses while segments without invalid pages are relocated.

use super::memory::{Pair, Step};
use crate::envy::background::Operation;
use nacre_kernel::event::Device;
use nacre_kernel::{Streams, Time};

/// Four segments of four pages, including one spare segment. Nine of the twelve data pages may be valid, so a
/// segment may have only valid pages.
const FULL: &str = "segments = 4\nsegment = \"32 B\"\npage = \"8 B\"\nbuffer = \"32 B\"\nbanks = 4\n\
    utilization = \"75 %\"\nthreshold = \"0 %\"\nwear_swap_gap = 1\nerase = \"20 us\"\n";

/// Writes until `is_reached` returns true, up to a limit. Returns whether `is_reached` has returned true.
fn write_until(pair: &mut Pair, seed: u64, is_reached: impl Fn(&Pair) -> bool) -> bool {
    let mut random = Streams::new(seed).stream("pages");
    (0..2000).any(|number| {
        for _ in 0..if number % 8 == 0 { random.below(4) } else { 0 } {
            let page = if random.chance(0.7) { random.below(2) } else { random.below(9) };
            pair.step(Step::Write { page, offset: 0, bytes: 8 });
        }
        pair.step(Step::Idle(Time::from_us(7)));
        is_reached(pair)
    })
}

/// Whether the first page of a segment with `live` valid pages is being copied, and the other positions
/// together have at most `erased` erased pages.
fn is_full(pair: &Pair, live: u32, erased: u32) -> bool {
    let array = &pair.envy.array;
    let pages = array.geometry.pages_per_segment;
    let is_new = |position: u32| array.live[array.order[position as usize] as usize] == 0;
    let left = |position: u32| {
        let positions = (0..array.positions.len()).filter(|&other| other != position as usize);
        positions.map(|other| pages - array.positions[other].programmed).sum::<u32>()
    };
    let mut relocations = pair.envy.background.tasks.iter().map(|task| &task.relocation);
    relocations
        .any(|at| array.live[at.from as usize] == live && is_new(at.position) && left(at.position) <= erased)
}

/// Whether a segment is being erased to restart a relocation.
fn is_restarted(pair: &Pair) -> bool {
    let mut running = pair.envy.background.running.iter();
    running.any(|running| match running.operation {
        Operation::Erase { segment } => pair.envy.array.order.contains(&segment),
        _ => false,
    })
}

/// The reported number of pages that cleaning copied includes only completed copies. If a power loss
/// interrupts a copy, only the repetition of the copy is counted.
#[test]
fn a_copy_that_a_loss_of_power_cuts_is_counted_once() {
    // Segments have space for interrupted programs, and one of them occurs during cleaning.
    let settings = FULL.replace("\"32 B\"\npage", "\"64 B\"\npage").replace("75 %", "50 %");
    let settings = settings.replace("wear_swap_gap = 1\n", "wear_swap_gap = 1000000\n");
    for concurrency in [1, 2] {
        let mut pair = Pair::new(&format!("{settings}concurrency = {concurrency}\n"), None);
        let mut random = Streams::new(7).stream("pages");
        let (mut cut, mut last) = (0, 0);
        for _ in 0..4000 {
            let page = if random.chance(0.7) { random.below(4) } else { random.below(12) };
            pair.step(Step::Write { page, offset: 0, bytes: 8 });
            pair.step(Step::Idle(Time::from_us(1 + random.below(12))));
            let running = pair.envy.background.running.iter();
            let copies =
                running.filter(|running| matches!(running.operation, Operation::Copy { .. })).count();
            let cleanings = pair.envy.array.programs.cleanings;
            if copies > 0 && cleanings > last {
                pair.step(Step::PowerFails);
                (cut, last) = (cut + copies, cleanings);
            }
            assert!(!is_restarted(&pair), "copies that are undone are no copies");
        }
        pair.step(Step::Idle(Time::from_s(2)));
        let report = pair.envy.report(pair.now);
        let copied =
            report.columns.iter().find(|column| column.name == "cleaning.copied").expect("it cleans");
        assert!(cut > 20, "{cut} copies were cut");
        assert_eq!(copied.values.iter().sum::<f64>(), pair.envy.array.programs.cleaned as f64);
    }
}

/// No page is lost while full segments are relocated. Tests all sequences of completed programs, completed
/// erases, and power losses that interrupt programs and erases.
#[test]
fn losses_of_power_while_full_segments_move_lose_no_page() {
    let cut = [Step::Idle(Time::from_us(8)), Step::PowerFails];
    let parts: [&[Step]; 3] = [&cut, &[Step::Idle(Time::from_us(10))], &[Step::Idle(Time::from_us(30))]];
    // The exchanged segments may be full. A partition of one segment is cleaned as soon as one of its three
    // pages is in the buffer.
    for (swaps, live, erased, concurrency, partition) in
        [(true, 4, 2, 1, None), (true, 4, 2, 2, None), (false, 2, 0, 1, Some(1)), (false, 2, 0, 2, Some(1))]
    {
        let (mut begun_anew, mut cut_again) = (0, 0);
        let settings = format!("{FULL}concurrency = {concurrency}\n");
        let is_begun = |pair: &Pair| {
            is_full(pair, live, erased)
                && pair.envy.background.tasks.iter().any(|task| task.swap.is_some() == swaps)
        };
        let seed = (0..50).find(|&seed| write_until(&mut Pair::new(&settings, partition), seed, is_begun));
        let seed = seed.expect("a full segment is moved soon");
        for sequence in 0..parts.len().pow(7) {
            let mut pair = Pair::new(&settings, partition);
            write_until(&mut pair, seed, is_begun);
            pair.step(Step::PowerFails);
            let mut rest = sequence;
            for _ in 0..7 {
                for &step in parts[rest % parts.len()] {
                    let was_begun_anew = is_restarted(&pair);
                    pair.step(step);
                    pair.envy.check_invariants();
                    begun_anew += u64::from(!was_begun_anew && is_restarted(&pair));
                    cut_again += u64::from(was_begun_anew && matches!(step, Step::PowerFails));
                }
                rest /= parts.len();
            }
            pair.check();
            pair.step(Step::Idle(Time::from_s(2)));
            pair.check();
            assert!(pair.envy.background.tasks.is_empty(), "what was begun ends: sequence {sequence}");
        }
        assert!(begun_anew > 100 && cut_again > 50, "{begun_anew} begun anew, {cut_again} of them cut again");
    }
}
