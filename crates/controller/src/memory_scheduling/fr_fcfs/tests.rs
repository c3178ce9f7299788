use super::*;

#[test]
fn the_controller_chooses_among_as_many_as_its_queue_holds() {
    assert_eq!(FrFcfs { config: Config { queue: 8 } }.ahead(), 8);
}
