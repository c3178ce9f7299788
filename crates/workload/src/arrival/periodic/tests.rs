use super::Periodic;
use crate::Pacing;
use crate::arrival::Arrival;
use crate::testing::{requests, workload};
use nacre_kernel::{Op, Rate, Request, Time};

fn settings(rate: &str) -> String {
    format!(
        "kind = \"uniform\"\nrequests = 4\nfootprint = \"1 MiB\"\narrival = {{ kind = \"periodic\", rate = \"{rate}\" }}"
    )
}

#[test]
fn gaps_are_equal_and_the_first_request_is_at_zero() {
    let arrivals: Vec<Time> = requests(&settings("20 kHz")).iter().map(|request| request.arrival).collect();
    assert_eq!(arrivals, [0, 50, 100, 150].map(Time::from_us));
    assert_eq!(workload(&settings("20 kHz"), 1).unwrap().pacing(), Pacing::Open);
}

#[test]
fn a_gap_that_is_no_whole_number_of_picoseconds_does_not_drift() {
    let mut periodic = Periodic::new(Rate(3e6), "arrival");
    // A billion gaps of 1/3 us.
    periodic.next = periodic.gap * 1_000_000_000;
    let mut request = [Request { arrival: Time::ZERO, address: 0, bytes: 1, volume: 0, op: Op::Read }];
    periodic.stamp(&mut request).unwrap();
    let exact = Time::from_s(1_000) / 3;
    let off = request[0].arrival.saturating_sub(exact).max(exact.saturating_sub(request[0].arrival));
    // Each gap has an error of half a unit of the fraction, 1e9 / 2^33 = 0.12 ps in total, in addition to 0.5
    // ps of rounding.
    assert!(off <= Time::from_ps(1), "{off}");
}

#[test]
fn times_past_the_end_are_refused() {
    let mut workload = workload(&settings("1 /h").replace("= 4", "= 6000"), 1).unwrap();
    let error = workload.fill(&mut Vec::new(), 6000).unwrap_err().to_string();
    // Request n arrives n - 1 hours after the start, and 213.5 days are 5,124.09 hours.
    assert!(error.starts_with("workload.arrival: request 5126 would arrive more than"), "{error}");
}
