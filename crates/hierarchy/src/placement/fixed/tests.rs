use crate::placement::workbench::placement;

const TIERS: [(f64, f64); 3] = [(10.0, 10.0), (100.0, 100.0), (1000.0, 1000.0)];

#[test]
fn a_spread_layout_gives_each_tier_its_share_of_every_stretch() {
    let sizes = [10, 30, 60];
    let homes = placement("\"fixed\"", &sizes, &TIERS, &[]).start();
    for (tier, &size) in sizes.iter().enumerate() {
        for end in 0..=homes.len() {
            let has = homes[..end].iter().filter(|&&home| usize::from(home) == tier).count();
            let due = end as f64 * f64::from(size) / 100.0;
            assert!(
                (has as f64 - due).abs() <= 1.0,
                "tier {tier} has {has} of the first {end}, {due} are due"
            );
        }
    }
}

#[test]
fn in_order_the_lowest_addresses_are_in_the_fastest_tier_and_nothing_ever_moves() {
    let fixed = placement("{ kind = \"fixed\", layout = \"in_order\" }", &[1, 2, 0], &TIERS, &[]);
    assert_eq!(fixed.start(), [0, 1, 1]);
    assert_eq!(fixed.epoch(), None);
}
