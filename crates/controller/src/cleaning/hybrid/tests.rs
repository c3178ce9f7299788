use crate::cleaning::trial::{Trial, policy};

const FEW_SEGMENTS: &str = r#"{ kind = "hybrid", segments_per_partition = 2 }"#;
const MANY_SEGMENTS: &str = r#"{ kind = "hybrid", segments_per_partition = 64 }"#;

/// Mean cleaning cost over uniform writes and the localities 20/80 and 5/95.
fn mean(policy: &'static str, segments: u32, pages: u32) -> f64 {
    let cost = |hot| Trial { hot, segments, pages, warm_up: 40.0, ..Trial::of(policy) }.cost();
    [0.5, 0.2, 0.05].map(cost).into_iter().sum::<f64>() / 3.0
}

#[test]
fn partitions_of_sixteen_segments_are_best() {
    let best = mean("\"hybrid\"", 128, 256);
    let smaller = mean(r#"{ kind = "hybrid", segments_per_partition = 4 }"#, 128, 256);
    let larger = mean(MANY_SEGMENTS, 128, 256);
    assert!(best < smaller && best < larger, "{smaller} with 4, {best} with 16, {larger} with 64");
}

#[test]
fn more_segments_cost_less_until_one_is_a_hundredth_of_the_array() {
    let [few, some, many] = [(FEW_SEGMENTS, 16), ("\"hybrid\"", 128), (MANY_SEGMENTS, 512)]
        .map(|(policy, segments)| mean(policy, segments, 32_768 / segments));
    assert!(some < 0.8 * few, "{few} with 16 segments, {some} with 128");
    assert!((many / some - 1.0).abs() < 0.1, "{some} with 128 segments, {many} with 512");
}

#[test]
fn young_segments_gather_what_a_fifo_never_shows() {
    let cost = |policy| Trial { hot: 0.05, scattered: true, warm_up: 60.0, ..Trial::of(policy) }.cost();
    let (with, without) = (cost("\"hybrid\""), cost(r#"{ kind = "hybrid", gather_young = false }"#));
    assert!(with < 0.5 * without, "{with} with, {without} without");
}

#[test]
fn young_segments_cost_little_where_nothing_is_to_be_gathered() {
    let cost = |policy| Trial { warm_up: 20.0, ..Trial::of(policy) }.cost();
    let (with, without) = (cost("\"hybrid\""), cost(r#"{ kind = "hybrid", gather_young = false }"#));
    assert!(with < 1.03 * without, "{with} with, {without} without");
}

#[test]
fn a_partition_that_does_not_divide_the_segments_is_the_users_mistake() {
    let message = |size: u32, segments| {
        let described = format!(r#"{{ kind = "hybrid", segments_per_partition = {size} }}"#);
        policy(&described, segments).err().map(|problems| problems.to_string())
    };
    assert_eq!(message(15, 120), None);
    assert_eq!(
        message(16, 120).unwrap(),
        "cleaning.segments_per_partition: the array's 120 segments do not divide into partitions of this size, \
         given 16; use 15 or 20, the nearest that divide them, or another number of segments"
    );
    assert_eq!(
        message(256, 128).unwrap(),
        "cleaning.segments_per_partition: the array's 128 segments do not divide into partitions of this size, \
         given 256; use at most 128, which is one partition, or another number of segments"
    );
}
