use super::*;

#[test]
fn accesses_wait_for_each_other() {
    assert_eq!(Fcfs.ahead(), 1);
}
