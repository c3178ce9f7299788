use super::{Aging, DualModeFlash, ErrorModel, Mode};
use crate::store::{Memory, Nothing};
use nacre_kernel::{Streams, Time};

const ERRORS: ErrorModel = ErrorModel { bit_error_rate: 1e-4, error_exponent: 3.0, endurance_spread: 0.0 };
const AGING: Aging = Aging { endurance: [1000.0, 100.0], errors: ERRORS, drift: 0.0 };
const BITS: u32 = 16_384;

fn flash(aging: Aging) -> DualModeFlash<Nothing> {
    DualModeFlash::new(2, 4, aging, Streams::new(1).stream("cells"), Nothing)
}

#[test]
fn a_slot_is_one_page_or_two_and_slots_come_in_their_order() {
    let mut flash = flash(AGING);
    assert_eq!(flash.program(1, Mode::Mlc, BITS, Time::ZERO), 8);
    assert_eq!(flash.program(1, Mode::Mlc, BITS, Time::ZERO), 9);
    assert_eq!(flash.program(1, Mode::Slc, BITS, Time::ZERO), 10);
    flash.skip(1);
    assert_eq!(flash.program(1, Mode::Slc, BITS, Time::ZERO), 14);
    assert_eq!((flash.next(1), flash.next(0)), (None, Some(0)));
    assert_eq!((flash.mode(9), flash.mode(10), flash.block_of(14)), (Mode::Mlc, Mode::Slc, 1));
    flash.erase(1);
    assert_eq!((flash.next(1), flash.programs(), flash.erases()), (Some(8), 4, 1));
    assert_eq!([flash.erases_of(0), flash.erases_of(1)], [0, 1]);
}

#[test]
#[should_panic(expected = "second of a slot in MLC")]
fn a_slot_keeps_its_mode() {
    let mut flash = flash(AGING);
    flash.program(0, Mode::Mlc, BITS, Time::ZERO);
    flash.program(0, Mode::Slc, BITS, Time::ZERO);
}

#[test]
#[should_panic(expected = "no erased page")]
fn a_page_is_programmed_once() {
    let mut flash = flash(AGING);
    (0..5).for_each(|_| {
        flash.program(0, Mode::Slc, BITS, Time::ZERO);
    });
}

/// Checks in both modes that the bit errors have the mean and variance of a Poisson distribution with the
/// rate of the formula. At twice the MLC endurance, the rate is 8 times the rate at the endurance. At 20 % of
/// the SLC endurance, it is 1/125 of the rate at the endurance.
#[test]
fn wrong_bits_follow_the_law() {
    let mut flash = flash(AGING);
    (0..200).for_each(|_| flash.erase(0));
    for (mode, mean) in [(Mode::Mlc, 1e-4 * 8.0 * 16_384.0), (Mode::Slc, 1e-4 / 125.0 * 16_384.0)] {
        let (mut sum, mut squares, count) = (0.0, 0.0, 40_000);
        for _ in 0..count {
            let page = match flash.next(0) {
                Some(_) => flash.program(0, mode, BITS, Time::ZERO),
                None => {
                    // This simulates a new block of the same age, by setting the next page of the block to 0.
                    flash.blocks[0].next = 0;
                    flash.program(0, mode, BITS, Time::ZERO)
                }
            };
            let wrong = f64::from(flash.wrong_bits(page, Time::ZERO));
            (sum, squares) = (sum + wrong, squares + wrong * wrong);
        }
        let found = sum / f64::from(count);
        let variance = squares / f64::from(count) - found * found;
        // The tolerance is six standard errors.
        let tolerance = 6.0 * (mean / f64::from(count)).sqrt();
        assert!((found - mean).abs() < tolerance, "{mode:?}: mean {found}, expected {mean}");
        assert!((variance / mean - 1.0).abs() < 0.1, "{mode:?}: variance {variance}, expected {mean}");
    }
}

/// Checks that a day of retention doubles the number of bit errors if the drift is one per day.
#[test]
fn bits_go_wrong_while_a_page_lies() {
    let mut flash =
        flash(Aging { drift: 1.0, errors: ErrorModel { bit_error_rate: 1e-3, ..ERRORS }, ..AGING });
    (0..100).for_each(|_| flash.erase(0));
    let (mut before, mut after) = (0, 0);
    for round in 0..2_000 {
        if flash.next(0).is_none() {
            flash.blocks[0].next = 0;
        }
        let now = Time::from_s(round);
        let page = flash.program(0, Mode::Mlc, BITS, now);
        before += flash.wrong_bits(page, now);
        after += flash.wrong_bits(page, now + Time::from_s(86_400));
    }
    let ratio = f64::from(after) / f64::from(before);
    assert!((ratio - 2.0).abs() < 0.05, "{ratio} times as many");
}

#[test]
fn what_is_read_has_as_many_wrong_bits_as_were_counted_and_always_the_same() {
    let aging = Aging { errors: ErrorModel { bit_error_rate: 2e-3, ..ERRORS }, ..AGING };
    let store = Memory::new(64);
    let mut flash = DualModeFlash::new(1, 64, aging, Streams::new(2).stream("cells"), store);
    (0..100).for_each(|_| flash.erase(0));
    let mut seen = 0;
    while flash.next(0).is_some() {
        let page = flash.program(0, Mode::Mlc, 512, Time::ZERO);
        flash.fill(page, &[0x5A; 64]);
        let (mut first, mut second) = ([0; 64], [0; 64]);
        flash.read(page, &mut first);
        flash.read(page, &mut second);
        let wrong: u32 = first.iter().map(|byte| (byte ^ 0x5A).count_ones()).sum();
        assert_eq!(wrong, flash.wrong_bits(page, Time::ZERO));
        assert_eq!(first, second);
        seen += wrong;
    }
    assert!(seen > 50, "{seen} bit errors");
}
