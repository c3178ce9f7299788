use crate::cleaning::laws;
use crate::cleaning::trial::{Trial, policy};
use crate::cleaning::workbench::{Array, Writes};
use nacre_testkit::assert_close;

#[test]
fn one_choice_is_random_cleaning() {
    // The segments are large, so nearly every sampled segment has an invalid page. With 50,000 cleanings, the
    // standard error is 0.5 % of the cost, because the standard deviation of the victims' utilizations is
    // .16.
    let mut cleaner = policy(r#"{ kind = "d_choices", d = 1 }"#, 128).unwrap();
    let mut array = Array::new(128, 1024, 0.8, &*cleaner);
    let mut writes = Writes::new(array.len(), 0.5, 0.5, false, 7);
    array.cost(10.0, &mut writes, &mut *cleaner);
    assert_close("d = 1", array.cost(100.0, &mut writes, &mut *cleaner), laws::at(0.8), 0.02);
}

#[test]
fn more_choices_cost_less_and_greedy_least() {
    let policies = [
        r#"{ kind = "d_choices", d = 1 }"#,
        r#"{ kind = "d_choices", d = 2 }"#,
        r#"{ kind = "d_choices", d = 4 }"#,
        "\"d_choices\"",
        "\"greedy\"",
    ];
    let costs = policies.map(|policy| Trial::of(policy).cost());
    assert!(costs.is_sorted_by(|a, b| a > b), "{costs:?}");
}
