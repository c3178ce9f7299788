//! Identity of a device: its settings as lines `path = value`. These lines are used to compare a saved
//! state with a scenario.
//!
//! Lines are compared by path, regardless of their order and of how a schema groups settings. Each element of
//! a list has a separate path. A list in one line, as written by earlier versions of Nacre, is also accepted.

use std::collections::BTreeMap;

/// A setting that differs between a saved state and a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Path of the setting.
    pub path: String,
    /// Value in the saved state; `None` if absent.
    pub saved: Option<String>,
    /// Requested value; `None` if absent.
    pub requested: Option<String>,
}

impl Difference {
    /// Returns the saved and the requested value as text for messages.
    pub fn shown(&self) -> [&str; 2] {
        [&self.saved, &self.requested].map(|value| value.as_deref().unwrap_or("nothing"))
    }
}

/// Lists every setting that differs between two texts with lines `path = value`, ordered by path.
pub fn differences(saved: &str, requested: &str) -> Vec<Difference> {
    let (saved, requested) = (settings(saved), settings(requested));
    let mut paths: Vec<&String> = saved.keys().chain(requested.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let differing = paths.into_iter().filter(|&path| saved.get(path) != requested.get(path));
    let own = |value: Option<&&str>| value.map(|value| (*value).to_string());
    differing
        .map(|path| Difference {
            path: path.clone(),
            saved: own(saved.get(path)),
            requested: own(requested.get(path)),
        })
        .collect()
}

/// Parses lines into the value of every path. A line without `=` becomes a setting with an empty value, so
/// that a difference in this line is reported with a path.
fn settings(lines: &str) -> BTreeMap<String, &str> {
    let filled = lines.lines().filter(|line| !line.trim().is_empty());
    let pairs = filled.map(|line| line.split_once('=').unwrap_or((line, "")));
    let mut settings = BTreeMap::new();
    for (path, value) in pairs.map(|(path, value)| (path.trim(), value.trim())) {
        match elements(value) {
            Some(elements) => {
                let placed = elements.into_iter().enumerate();
                settings.extend(placed.map(|(place, element)| (format!("{path}[{place}]"), element)));
            }
            None => {
                settings.insert(path.to_string(), value);
            }
        }
    }
    settings
}

/// Elements of a list in one line; `None` if `value` is not a list or the list is empty.
fn elements(value: &str) -> Option<Vec<&str>> {
    let inside = value.strip_prefix('[')?.strip_suffix(']')?;
    (!inside.is_empty()).then(|| inside.split(", ").map(unquoted).collect())
}

fn unquoted(element: &str) -> &str {
    let quote = r#"\""#;
    element.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).unwrap_or(element)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(saved: &str, requested: &str) -> Vec<String> {
        let line = |difference: &Difference| {
            let [saved, requested] = difference.shown();
            format!("{}: {saved}, {requested}", difference.path)
        };
        differences(saved, requested).iter().map(line).collect()
    }

    #[test]
    fn neither_the_order_nor_empty_lines_make_a_difference() {
        assert_eq!(shown("a = 1\nb.c = x = y\n", "\nb.c = x = y\na = 1"), [""; 0]);
    }

    #[test]
    fn every_path_that_differs_is_named_with_both_values() {
        let saved = "a = 1\nb.c = 2\nb.d = 3\ne = 4";
        let requested = "f = 5\nb.d = 4\ne = 4\na = 1";
        assert_eq!(shown(saved, requested), ["b.c: 2, nothing", "b.d: 3, 4", "f: nothing, 5"]);
    }

    #[test]
    fn a_line_without_a_value_is_named_too() {
        assert_eq!(shown("a = 1\nalone", "a = 1"), ["alone: , nothing"]);
        assert_eq!(shown("a = ", "a = 1"), ["a: , 1"]);
    }

    #[test]
    fn a_list_in_one_line_is_its_elements() {
        let [line, placed] = [r#"a = [\"60 us\", \"74 us\"]"#, "a[1] = 74 us\na[0] = 60 us"];
        assert_eq!(shown(line, placed), [""; 0]);
        assert_eq!(shown(line, "a[0] = 60 us\na[1] = 75 us"), ["a[1]: 74 us, 75 us"]);
        assert_eq!(shown(line, r#"a = [\"60 us\"]"#), ["a[1]: 74 us, nothing"]);
        assert_eq!(shown("a = [1, 2]", "a[0] = 1\na[1] = 2"), [""; 0]);
        assert_eq!(shown("a = []", "a[0] = 1"), ["a: [], nothing", "a[0]: nothing, 1"]);
    }
}
