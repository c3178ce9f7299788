use super::{ArrivalClock, Recorded};
use crate::arrival::Arrival;
use nacre_kernel::{Op, Request, Time};

fn stamped(scale: f64, times: &[Time]) -> Result<Vec<Time>, String> {
    let request = |&arrival: &Time| Request { arrival, address: 0, bytes: 512, volume: 0, op: Op::Read };
    let mut requests: Vec<Request> = times.iter().map(request).collect();
    let mut recorded = Recorded { scale, clock: ArrivalClock::new("workload.arrival") };
    recorded.stamp(&mut requests).map_err(|error| error.to_string())?;
    Ok(requests.iter().map(|request| request.arrival).collect())
}

const DAY: Time = Time::from_s(86_400);

#[test]
fn scale_one_leaves_every_time_as_it_is() {
    // The last time has more picoseconds than a double represents exactly.
    let times = [Time::ZERO, Time::from_ps(7), DAY * 100, DAY * 100 + Time::from_ps(1)];
    assert_eq!(stamped(1.0, &times).unwrap(), times);
}

#[test]
fn times_are_divided_by_the_scale() {
    let times = [Time::ZERO, Time::from_us(20), Time::from_us(20), Time::from_s(3600)];
    let faster = [Time::ZERO, Time::from_us(2), Time::from_us(2), Time::from_s(360)];
    assert_eq!(stamped(10.0, &times).unwrap(), faster);
    assert_eq!(stamped(0.1, &faster).unwrap(), times);
}

#[test]
fn slowing_down_past_the_end_of_simulated_time_is_refused() {
    let error = stamped(0.25, &[Time::ZERO, DAY * 60]).unwrap_err();
    assert!(error.starts_with("workload.arrival: request 2 would arrive more than 213 days"), "{error}");
}
