use super::{FewestLive, device};
use nacre_kernel::{Device, Op, Request, Streams, Time, Trail};
use nacre_media::store::Nothing;

#[test]
fn speed() {
    let mut envy = device("", Nothing, FewestLive(Some(16)));
    let pages = envy.array.geometry.logical_pages;
    let mut random = Streams::new(1).stream("speed");
    for round in 0..6 {
        let requests: Vec<Request> = (0..4_000_000)
            .map(|_| Request {
                arrival: Time::ZERO,
                address: random.below(pages) * 256,
                bytes: 4,
                volume: 0,
                op: Op::Write,
            })
            .collect();
        let before = envy.array.programs;
        let start = std::time::Instant::now();
        for group in requests.chunks(64) {
            envy.warm(group);
            envy.precondition(group);
        }
        let s = start.elapsed().as_secs_f64();
        let p = envy.array.programs;
        println!(
            "round {round}: {:.2} M/s cost {:.3}",
            4.0 / s,
            (p.cleaned - before.cleaned) as f64 / (p.drained - before.drained) as f64
        );
    }
    envy.check_invariants();
    let mut trail = Trail::new();
    let _ = envy.submit(
        Time::ZERO,
        &Request { arrival: Time::ZERO, address: 0, bytes: 4, volume: 0, op: Op::Read },
        &mut trail,
    );
}
