use crate::latency::tests::{draws, refused};

#[test]
fn a_bare_duration_is_constant() {
    let (latency, values) = draws("\"6.7 us\"", 3);
    assert_eq!(values, [6.7e-6; 3]);
    assert_eq!(latency.mean_s(), 6.7e-6);
}

#[test]
fn a_number_without_a_unit_is_refused() {
    assert!(refused("\"6.7\"").contains("it has no unit"));
}
