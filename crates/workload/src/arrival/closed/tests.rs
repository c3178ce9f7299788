use crate::Pacing;
use crate::testing::{problems, requests, workload};
use nacre_kernel::Time;

#[test]
fn the_driver_learns_queue_depth_and_think_time() {
    let settings = "kind = \"uniform\"\nrequests = 3\nfootprint = \"1 MiB\"\n\
                    arrival = { kind = \"closed\", queue_depth = 32, think = \"5 us\" }";
    let built = workload(settings, 1).unwrap();
    assert_eq!(built.pacing(), Pacing::Closed { queue_depth: 32, think: Time::from_us(5) });
    assert!(requests(settings).iter().all(|request| request.arrival == Time::ZERO));
}

#[test]
fn one_request_at_a_time_is_the_default() {
    let built = workload("kind = \"uniform\"\nrequests = 3\nfootprint = \"1 MiB\"", 1).unwrap();
    assert_eq!(built.pacing(), Pacing::Closed { queue_depth: 1, think: Time::ZERO });
}

#[test]
fn no_asker_at_all_is_refused() {
    let settings = "kind = \"uniform\"\nrequests = 3\nfootprint = \"1 MiB\"\n\
                    arrival = { kind = \"closed\", queue_depth = 0 }";
    let expected =
        "workload.arrival.queue_depth (test.toml:5): it is too small, given 0; the smallest allowed is 1";
    assert_eq!(problems(settings), [expected]);
}
