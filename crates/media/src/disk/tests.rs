use super::{Disk, Draw, Layout, SeekCurve, SeekTimes};
use nacre_kernel::{Activity, Bandwidth, Bytes, Power, Streams, Time};

const ROTATION: Time = Time::from_ms(4);

fn times() -> SeekTimes {
    let us = Time::from_us;
    SeekTimes { track_to_track: us(200), average: us(3400), full_stroke: us(6600) }
}

fn layout(inner: f64) -> Layout {
    Layout::new(Bytes(600_000_000_000), ROTATION, Bandwidth(200e6), Bandwidth(inner), 8)
}

fn disk() -> Disk {
    let draw = Draw { seek: Power(5.0), active: Power(3.0) };
    Disk::new(layout(120e6), SeekCurve::fit(times()).unwrap(), draw, Time::from_us(500))
}

/// Mean of the curve over all pairs of `tracks` tracks, as manufacturers define it.
fn mean_over_pairs(curve: SeekCurve, tracks: u64) -> f64 {
    let pairs = tracks as f64 * (tracks - 1) as f64 / 2.0;
    let seconds = |distance: u64| curve.time(distance as f64 / (tracks - 1) as f64).as_secs_f64();
    (1..tracks).map(|distance| (tracks - distance) as f64 * seconds(distance)).sum::<f64>() / pairs
}

#[test]
fn the_seek_curve_meets_all_three_times() {
    let curve = SeekCurve::fit(times()).unwrap();
    assert!(curve.time(1e-12).as_ps().abs_diff(times().track_to_track.as_ps()) < 100_000_000 / 100);
    assert!(curve.time(1.0).as_ps().abs_diff(times().full_stroke.as_ps()) < 1000);
    let mean = mean_over_pairs(curve, 100_000);
    assert!((mean / 3.4e-3 - 1.0).abs() < 1e-4, "the mean over pairs is {mean}");
    let mut last = Time::ZERO;
    for step in 1..=1000 {
        let time = curve.time(f64::from(step) / 1000.0);
        assert!(time > last, "a longer way takes longer");
        last = time;
    }
}

#[test]
fn the_extreme_curves_are_a_line_and_a_root() {
    let fit = |average: u64| {
        let us = Time::from_us;
        SeekCurve::fit(SeekTimes { track_to_track: us(1000), average: us(average), full_stroke: us(16_000) })
    };
    let line = fit(6_001).unwrap();
    assert!((line.time(0.5).as_secs_f64() - 8.5e-3).abs() < 0.05e-3, "half way is half the time");
    let root = fit(9_000).unwrap();
    assert!(
        (root.time(0.25).as_secs_f64() - 8.5e-3).abs() < 0.05e-3,
        "a quarter of the way is half the time"
    );
    let unfit = fit(9_001).unwrap_err();
    assert_eq!((unfit.least_average, unfit.most_average), (Time::from_us(6000), Time::from_us(9000)));
    assert!(fit(5_999).is_err());
}

#[test]
fn a_stream_runs_at_the_rate_of_its_zone_without_a_wait() {
    let mut disk = disk();
    let capacity = disk.layout().capacity().0;
    for (share, rate) in [(0.0, 200e6), (1.0, 120e6)] {
        let mut address = (share * (capacity - 100_000_000) as f64) as u64;
        let mut now = Time::from_s(1);
        let first = disk.plan(now, address, 4096, false);
        disk.perform(first, address + 4096);
        (now, address) = (now + first.total(), address + 4096);
        let begin = now;
        for _ in 0..1000 {
            let access = disk.plan(now, address, 65_536, false);
            assert_eq!(
                (access.seek, access.rotate),
                (Time::ZERO, Time::ZERO),
                "the stream breaks at {address}"
            );
            disk.perform(access, address + 65_536);
            (now, address) = (now + access.total(), address + 65_536);
        }
        let found = 1000.0 * 65_536.0 / (now - begin).as_secs_f64();
        assert!((found / rate - 1.0).abs() < 0.01, "{found} bytes per second where {rate} is the rate");
    }
}

#[test]
fn a_late_reader_waits_for_the_next_turn() {
    let mut disk = disk();
    let first = disk.plan(Time::ZERO, 0, 4096, false);
    disk.perform(first, 4096);
    let late = Time::from_us(100);
    let next = disk.plan(first.total() + late, 4096, 4096, false);
    assert_eq!(next.rotate, ROTATION - late);
}

#[test]
fn random_accesses_take_the_mean_seek_half_a_turn_and_their_transfer() {
    let mut disk = disk();
    let mut random = Streams::new(1).stream("addresses");
    let (mut now, count) = (Time::ZERO, 200_000);
    for _ in 0..count {
        let address = random.below(disk.layout().capacity().0 / 4096) * 4096;
        let access = disk.plan(now, address, 4096, false);
        assert!(access.rotate < ROTATION);
        disk.perform(access, address + 4096);
        now += access.total();
    }
    let mean = now.as_secs_f64() / f64::from(count);
    // The mean of 1 / rate over all bytes is 1 / mean rate, because the number of bytes on a track is
    // proportional to its rate.
    let expected = 3.4e-3 + 2e-3 + 4096.0 / 160e6;
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} s per access, expected {expected}");
    let rotate = disk.ledger().busy_s(Activity::Rotate) / f64::from(count);
    assert!((rotate / 2e-3 - 1.0).abs() < 0.01, "{rotate} s of rotation, half a turn is 2 ms");
    let ledger = disk.ledger();
    let energy: f64 = Activity::ALL.iter().map(|&activity| ledger.energy(activity).0).sum();
    let seek = ledger.busy_s(Activity::Seek);
    let expected = 5.0 * seek + 3.0 * (now.as_secs_f64() - seek);
    assert!((energy / expected - 1.0).abs() < 1e-9, "energy is power by time: {energy}, {expected}");
}

#[test]
fn turns_rise_with_the_address_and_end_with_the_disk() {
    for inner in [200e6, 120e6, 1e6] {
        let layout = layout(inner);
        let step = layout.capacity().0 / 10_000;
        let mut last = layout.turns_at(0);
        assert_eq!(last, Time::ZERO);
        for number in 1..=10_000 {
            let turns = layout.turns_at(number * step);
            assert!(turns > last, "address {} lies before its predecessor", number * step);
            last = turns;
        }
        let whole = 600e9 / ((200e6 + inner) / 2.0);
        assert!((layout.turns_at(layout.capacity().0).as_secs_f64() / whole - 1.0).abs() < 1e-9);
        assert_eq!(layout.distance(0, layout.cylinder(layout.turns_at(layout.capacity().0 - 1))), 1.0);
    }
}

#[test]
fn writes_settle_longer_only_after_a_seek() {
    let disk = disk();
    let far = disk.layout().capacity().0 / 2 / 4096 * 4096;
    let (read, write) = (disk.plan(Time::ZERO, far, 4096, false), disk.plan(Time::ZERO, far, 4096, true));
    assert_eq!(write.seek - read.seek, Time::from_us(500));
    assert_eq!(disk.plan(Time::ZERO, 0, 4096, true).seek, Time::ZERO);
    assert_eq!(disk.plan(Time::ZERO, 4096, 4096, true).seek, Time::ZERO, "the same cylinder");
}
