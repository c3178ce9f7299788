//! Compares write amplification with closed forms.

use super::*;
use nacre_testkit::cleaning_laws as laws;

/// Number of superblocks.
const SUPERBLOCKS: f64 = 1024.0;
/// Mean number of superblocks without data: the reserve, minus half of the superblock that garbage collection
/// is reclaiming, plus half of each of the two open superblocks.
const IDLE: f64 = 4.5;

/// Returns the utilization of the superblocks that hold data. The host data is the fraction `live` of the
/// flash.
fn utilization(live: f64) -> f64 {
    live * SUPERBLOCKS / (SUPERBLOCKS - IDLE)
}

/// Returns the steady-state write amplification under uniform writes. The fraction `trimmed` of the units is
/// trimmed and not written.
fn amplification(cleaning: &str, over_provisioning: f64, trimmed: f64) -> f64 {
    amplification_with("", cleaning, over_provisioning, trimmed)
}

/// Like [`amplification`], with additional `settings`.
fn amplification_with(settings: &str, cleaning: &str, over_provisioning: f64, trimmed: f64) -> f64 {
    // In small superblocks, greedy garbage collection finds better victims than the closed form, which
    // assumes large superblocks.
    let pages = if cleaning == "greedy" { 128 } else { 32 };
    let settings = format!(
        "pages = {pages}\nblocks = {SUPERBLOCKS}\ngarbage_collection.policy = \"{cleaning}\"\nover_provisioning = \"{over_provisioning} %\"\n{settings}"
    );
    let mut device = driven(&settings);
    let count = device.unit_count();
    device.precondition(count, |number| number);
    let kept = (count as f64 * (1.0 - trimmed)) as u64;
    let mut number = kept;
    while number < count {
        let pages = (count - number).min(1024) as u32;
        device.submit(Time::ZERO, &units(Op::Trim, number, pages));
        number += u64::from(pages);
    }
    device.rest();
    let mut random = random("amplification");
    device.precondition(5 * count / 2, |_| random.below(kept));
    device.restart_ledger();
    device.precondition(3 * count / 2, |_| random.below(kept));
    device.check_invariants();
    device.amplification()
}

#[test]
fn write_amplification_is_that_of_the_closed_form_at_five_spare_factors() {
    for over_provisioning in [12.0, 20.0, 28.0, 50.0, 100.0] {
        let u = utilization(1.0 / (1.0 + over_provisioning / 100.0));
        let law = 1.0 + laws::fifo(u);
        let fifo = amplification("fifo", over_provisioning, 0.0);
        assert_close(&format!("FIFO at {over_provisioning} %"), fifo, law, 0.03);
        let greedy = amplification("greedy", over_provisioning, 0.0);
        assert_close(&format!("greedy at {over_provisioning} %"), greedy, law, 0.03);
        assert!(greedy < 1.02 * fifo, "greedy {greedy} costs no more than FIFO {fifo}");
    }
}

#[test]
fn trimmed_space_is_spare_space() {
    for (over_provisioning, trimmed) in [(12.0, 0.1), (28.0, 0.3)] {
        let u = utilization((1.0 - trimmed) / (1.0 + over_provisioning / 100.0));
        let found = amplification("fifo", over_provisioning, trimmed);
        assert_close(&format!("{trimmed} trimmed"), found, 1.0 + laws::fifo(u), 0.03);
    }
}

#[test]
fn parity_is_programmed_too_and_leaves_less_spare_space() {
    for (stripe, over_provisioning) in [(4, 50.0), (4, 100.0), (2, 180.0)] {
        let of_data = 1.0 - 1.0 / f64::from(stripe);
        let u = utilization(1.0 / (1.0 + over_provisioning / 100.0) / of_data);
        let law = (1.0 + laws::fifo(u)) / of_data;
        for cleaning in ["fifo", "greedy"] {
            let parity =
                format!("allocation = {{ kind = \"superblock\", parity = {{ stripe = {stripe} }} }}");
            let found = amplification_with(&parity, cleaning, over_provisioning, 0.0);
            assert_close(&format!("{cleaning}, {stripe} at {over_provisioning} %"), found, law, 0.03);
        }
    }
}

/// Returns the write amplification if 90 % of the writes go to 10 % of the data.
fn of_hot_and_cold(settings: &str) -> f64 {
    with_hot_share(settings, 0.9)
}

/// Returns the write amplification if the fraction `hot` of the writes goes to 10 % of the data.
fn with_hot_share(settings: &str, hot: f64) -> f64 {
    let mut device = driven(&format!("pages = 32\nblocks = 256\nover_provisioning = \"28 %\"\n{settings}"));
    let count = device.unit_count();
    let mut random = random("hot");
    let mut draw = |_| {
        let tenth = count / 10;
        if random.chance(hot) { random.below(tenth) } else { tenth + random.below(count - tenth) }
    };
    device.precondition(count, |number| number);
    device.precondition(6 * count, &mut draw);
    device.restart_ledger();
    device.precondition(3 * count, &mut draw);
    device.check_invariants();
    device.amplification()
}

/// Returns the write amplification at utilization `u` if hot and cold data are separate and the spare space
/// is divided optimally.
fn separated(u: f64) -> f64 {
    let [hot, cold] = [0.1, 0.9];
    let spare = 1.0 / u - 1.0;
    let with = |share: f64| {
        let [u_hot, u_cold] =
            [(hot, share), (cold, 1.0 - share)].map(|(data, part)| data / (data + spare * part));
        0.9 * laws::fifo(u_hot) + 0.1 * laws::fifo(u_cold)
    };
    1.0 + (1..1000).map(|part| with(f64::from(part) / 1000.0)).fold(f64::INFINITY, f64::min)
}

#[test]
fn every_policy_is_between_mixed_and_separated_data() {
    let superblocks = 256.0;
    let u = 1.0 / 1.28 * superblocks / (superblocks - IDLE);
    let mixed = 1.0 + laws::fifo_mixed(u, &[(0.1, 0.9), (0.9, 0.1)]);
    for policy in ["greedy", "fifo", "cost_benefit", "d_choices"] {
        let found = of_hot_and_cold(&format!("garbage_collection.policy = \"{policy}\""));
        assert!(found > separated(u) && found < mixed, "{} < {found} < {mixed} with {policy}", separated(u));
    }
}

#[test]
fn more_spare_space_never_costs_more() {
    let costs = [10.0, 15.0, 25.0, 60.0].map(|spare| amplification("d_choices", spare, 0.0));
    assert!(costs.is_sorted_by(|less, more| less > more), "{costs:?}");
}
