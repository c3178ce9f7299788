//! Tests of settings with kinds.

use super::Known;
use crate::{Configuration, Field, Kinds, Node, Origin, Reader, Shape, kinds_within};
use nacre_kernel::Time;

/// Order of requests.
#[derive(Clone, Debug, PartialEq, Kinds)]
enum Turns {
    /// Oldest first, so no request overtakes another.
    InOrder,
    /// Shortest first.
    Shortest(Shortest),
}

/// Settings of the order shortest first.
#[derive(Clone, Debug, PartialEq, Configuration)]
struct Shortest {
    /// Maximum wait.
    #[config(max = "1 s")]
    age: Time,
    /// Number of requests that are compared.
    #[config(default = 8, min = 1, source = "assumed: a few")]
    depth: u32,
}

/// A server.
#[derive(Clone, Debug, Configuration)]
struct Server {
    /// Order of requests.
    #[config(default = "in_order", source = "assumed: fair")]
    turns: Turns,
    /// Order of requests at night.
    night: Option<Turns>,
}

/// Reads the server in `text` with the override `set`. Returns the server and the paths of the values used.
fn read(text: &str, set: Option<(&str, &str)>) -> Result<(Server, Vec<String>), String> {
    let mut node = Node::parse_toml(text, "a.toml").map_err(|problems| problems.to_string())?;
    if let Some((path, value)) = set {
        let origin = Origin::Override(format!("{path}={value}").into());
        node.set(path, Node::parse_value(value, &origin)).map_err(|problem| problem.to_string())?;
    }
    let mut reader = Reader::new(&Known);
    let server = Server::read(&node, &mut reader);
    let resolved = reader.finish().map_err(|problems| problems.to_string())?;
    Ok((server.expect("no problems"), resolved.into_iter().map(|one| one.path).collect()))
}

#[test]
fn a_kind_is_a_word_or_a_table_with_its_settings() {
    let (server, paths) = read("", None).unwrap();
    assert_eq!((server.turns, server.night), (Turns::InOrder, None));
    assert_eq!(paths, ["turns.kind"]);
    let text = "turns = { kind = \"shortest\", age = \"1 ms\" }\nnight = \"in_order\"";
    let (server, paths) = read(text, None).unwrap();
    assert_eq!(server.turns, Turns::Shortest(Shortest { age: Time::from_ms(1), depth: 8 }));
    assert_eq!(server.night, Some(Turns::InOrder));
    assert_eq!(paths, ["turns.kind", "turns.age", "turns.depth", "night.kind"]);
}

#[test]
fn an_override_reaches_into_a_kind() {
    let age = Some(("turns.age", "\"2 ms\""));
    let shortest = Turns::Shortest(Shortest { age: Time::from_ms(2), depth: 8 });
    assert_eq!(read("turns = { kind = \"shortest\", age = \"1 ms\" }", age).unwrap().0.turns, shortest);
    assert_eq!(read("turns = \"shortest\"", age).unwrap().0.turns, shortest);
    let text = "turns = { kind = \"shortest\", age = \"1 ms\" }";
    assert_eq!(read(text, Some(("turns", "\"in_order\""))).unwrap().0.turns, Turns::InOrder);
}

/// An override can change a setting of the default kind without naming the kind. A table in a file must
/// name its kind.
#[test]
fn an_override_reaches_into_the_kind_of_a_default() {
    /// A server that serves the shortest request first by default.
    #[derive(Clone, Debug, Configuration)]
    struct Limited {
        /// Order of requests.
        #[config(default = "shortest", source = "assumed: fair")]
        turns: Turns,
    }
    let read = |node: &Node| {
        let mut reader = Reader::new(&Known);
        let read = Limited::read(node, &mut reader);
        reader.finish().map(|resolved| (read.expect("no problems").turns, resolved))
    };
    let mut node = Node::parse_toml("", "a.toml").unwrap();
    node.set("turns.age", Node::parse_value("\"2 ms\"", &Origin::Override("turns.age=2 ms".into()))).unwrap();
    let (turns, resolved) = read(&node).unwrap();
    assert_eq!(turns, Turns::Shortest(Shortest { age: Time::from_ms(2), depth: 8 }));
    assert_eq!(resolved[0].path, "turns.kind");
    assert_eq!(resolved[0].node.origin, Origin::Default("assumed: fair"));
    let file = Node::parse_toml("turns = { age = \"2 ms\" }", "a.toml").unwrap();
    assert!(read(&file).unwrap_err().to_string().contains("it has no `kind`"));
}

#[test]
fn settings_of_other_kinds_are_refused() {
    for (text, problem) in [
        ("turns = { kind = \"in_order\", age = \"1 ms\" }", "turns.age (a.toml:1): there is no such setting"),
        ("turns = \"shortest\"", "turns.age (a.toml:1): it is missing"),
        ("turns = \"shorter\"", "did you mean \"shortest\"?"),
        (
            "turns = { age = \"1 ms\" }",
            "it has no `kind`, given a table; give one of in_order, shortest, or a table",
        ),
        (
            "turns = 3",
            "turns (a.toml:1): it is a whole number, given 3; give one of in_order, shortest, or a table",
        ),
        (
            "turns = { kind = \"in_order\", preset = \"x\" }",
            "turns.preset (a.toml:1): there is no such setting",
        ),
        ("turns = { kind = \"shortest\", age = \"2 s\" }", "the largest allowed is 1 s"),
    ] {
        let found = read(text, None).expect_err(text);
        assert!(found.contains(problem), "{text}: {problem} is not in\n{found}");
    }
}

#[test]
fn kinds_are_described_once() {
    let fields: Vec<Field> = Server::fields();
    let all = kinds_within(&fields);
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["turns"]);
    let kinds: Vec<(&str, &str)> = all[0].1.iter().map(|kind| (kind.name, kind.summary())).collect();
    assert_eq!(
        kinds,
        [("in_order", "Oldest first, so no request overtakes another"), ("shortest", "Shortest first")]
    );
    let settings: Vec<&str> = (all[0].1[1].fields)().iter().map(|field| field.name).collect();
    assert_eq!(settings, ["age", "depth"]);
    assert!(matches!(fields[0].shape, Shape::Kinds("turns", _)));
}
