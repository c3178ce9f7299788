//! Tests of tables that can be replaced by one of their values.

use super::Known;
use crate::{Choice, Configuration, Node, Origin, Reader, Resolved};

#[derive(Clone, Copy, Debug, PartialEq, Choice)]
enum Whole {
    /// All of the range.
    All,
    /// Half of the range.
    Half,
}

/// A range to fill.
#[derive(Clone, Debug, PartialEq, Configuration)]
#[config(short = "of")]
struct Fill {
    /// Fraction of the range to fill.
    #[config(default = "all", source = "assumed: the usual")]
    of: Whole,
    /// Number of repetitions.
    #[config(default = 1, min = 1, source = "assumed: once")]
    times: u32,
}

/// Settings of a run.
#[derive(Clone, Debug, Configuration)]
struct Run {
    /// Fill of the range before the run.
    fill: Option<Fill>,
}

/// Reads the run in `text` with the override `set`. Returns the run and the values used.
fn read(text: &str, set: Option<(&str, &str)>) -> Result<(Run, Vec<Resolved>), String> {
    let mut node = Node::parse_toml(text, "test.toml").map_err(|problems| problems.to_string())?;
    if let Some((path, value)) = set {
        let origin = Origin::Override(format!("{path}={value}").into());
        node.set(path, Node::parse_value(value, &origin)).map_err(|problem| problem.to_string())?;
    }
    let mut reader = Reader::new(&Known);
    let run = Run::read(&node, &mut reader);
    let resolved = reader.finish().map_err(|problems| problems.to_string())?;
    Ok((run.expect("no problems"), resolved))
}

#[test]
fn the_value_of_one_field_stands_for_its_table() {
    let (short, used) = read("fill = \"half\"", None).unwrap();
    assert_eq!(short.fill, Some(Fill { of: Whole::Half, times: 1 }));
    let values: Vec<String> = used.iter().map(|value| format!("{} = {}", value.path, value.node)).collect();
    assert_eq!(values, ["fill.of = \"half\"", "fill.times = 1"]);
    let table = read("fill = { of = \"half\", times = 2 }", None).unwrap().0;
    assert_eq!(table.fill, Some(Fill { of: Whole::Half, times: 2 }));
    assert_eq!(read("fill = {}", None).unwrap().0.fill, Some(Fill { of: Whole::All, times: 1 }));
    assert_eq!(read("", None).unwrap().0.fill, None);
}

#[test]
fn an_override_goes_into_the_short_form() {
    let set = read("fill = \"half\"", Some(("fill.times", "3"))).unwrap().0;
    assert_eq!(set.fill, Some(Fill { of: Whole::Half, times: 3 }));
    let replaced = read("fill = { times = 3 }", Some(("fill", "\"half\""))).unwrap().0;
    assert_eq!(replaced.fill, Some(Fill { of: Whole::Half, times: 1 }));
}

#[test]
fn other_values_are_rejected_with_the_valid_ones() {
    let error = |text| read(text, None).unwrap_err();
    assert_eq!(
        error("fill = true"),
        "fill (test.toml:1): it is a truth value, given true; give one of all, half, or a table"
    );
    assert_eq!(
        error("fill = \"halt\""),
        "fill.of (test.toml:1): there is no such choice, given \"halt\"; did you mean \"half\"? known: all, half"
    );
    assert!(error("fill = { kind = \"half\", of = \"all\" }").contains("there is no such setting"));
}
