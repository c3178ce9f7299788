use super::*;
use nacre_kernel::{ComponentId, Request, Span, Stage, Status};

#[test]
fn the_histogram_is_that_of_all_latencies_however_many_are_equal() {
    let mut random = nacre_kernel::Streams::new(3).stream("meter");
    for kinds in [1, 2, 3, 50] {
        let (mut noted, mut expected) = (Noted::new(1), LatencyHistogram::new());
        let request = Request { arrival: Time::ZERO, address: 0, bytes: 512, volume: 0, op: Op::Read };
        for index in 0..1_000 {
            let latency = Time::from_us(1 + random.below(kinds) * (1 + index / 500));
            expected.record(latency);
            noted.record(&request, Time::ZERO, Time::ZERO, (latency, Status::Done), &[]);
        }
        let mut meter = Meter::new(0, Time::ZERO);
        meter.finish(&mut noted);
        let found = &meter.reads.latency;
        assert_eq!(found.bars().collect::<Vec<_>>(), expected.bars().collect::<Vec<_>>());
        assert_eq!((found.count(), found.sum_ps()), (expected.count(), expected.sum_ps()));
        assert_eq!((found.min(), found.max()), (expected.min(), expected.max()));
    }
}

#[test]
fn waits_may_sum_to_more_than_time_reaches() {
    let (mut noted, mut meter) = (Noted::new(1), Meter::new(0, Time::ZERO));
    let day = Time::from_s(86_400);
    let request = Request { arrival: Time::ZERO, address: 0, bytes: 512, volume: 0, op: Op::Read };
    let waits =
        Span { component: ComponentId(0), activity: Activity::Queue, stage: Stage::Untold, time: day };
    let completed = (day, Status::Done);
    (0..300).for_each(|_| noted.record(&request, Time::ZERO, Time::ZERO, completed, &[waits]));
    meter.finish(&mut noted);
    assert_eq!(meter.reads.spent_ps(0, Activity::Queue), meter.reads.latency.sum_ps());
    assert_eq!(meter.reads.latency.sum_ps(), 300 * u128::from(day.as_ps()));
}
