//! Tests of error codes and error data for programs.

use super::{Cache, Known};
use crate::{Configuration, Datum, ErrorCode, Node, Problem, Reader};

fn problems(text: &str) -> Vec<Problem> {
    let node = match Node::parse_toml(text, "cache.toml") {
        Ok(node) => node,
        Err(problems) => return problems.0,
    };
    let mut reader = Reader::new(&Known);
    Cache::read(&node, &mut reader);
    reader.finish().expect_err("the document has errors").0
}

fn text(text: &str) -> Datum {
    Datum::Text(text.into())
}

#[test]
fn every_kind_of_error_has_a_code_and_data() {
    let written = "blok = 1\nblock = \"2 MiB\"\nhit = 3\ninclusion = \"inclusiv\"\nparallelism = \"many\"\nwaiting = -1\n\
                   [[level]]\ncapacity = \"1 parsec\"\n[[level]]\ncapacity = \"8 KiB\"\npolicy = \"lu\"\n[[level]]\n";
    let found: Vec<_> =
        problems(written).into_iter().map(|problem| (problem.path, problem.code, problem.data)).collect();
    let names = |names: &[&str]| Datum::from(names);
    let known = ["block", "hit", "inclusion", "parallelism", "waiting", "level"];
    let bytes = "a size such as \"64 GiB\"";
    let expected = [
        ("blok", ErrorCode::UnknownSetting, vec![("known", names(&known)), ("nearest", text("block"))]),
        ("block", ErrorCode::OutOfRange, vec![("min", text("512 B")), ("max", text("1 MiB"))]),
        ("hit", ErrorCode::NeedsUnit, vec![("expected", text("a duration such as \"6.7 us\""))]),
        (
            "inclusion",
            ErrorCode::UnknownName,
            vec![("known", names(&["exclusive", "inclusive"])), ("nearest", text("inclusive"))],
        ),
        ("parallelism", ErrorCode::WrongType, vec![("expected", text("a whole number"))]),
        ("waiting", ErrorCode::OutOfRange, vec![("min", Datum::Integer(2)), ("max", Datum::Integer(64))]),
        ("level[0].capacity", ErrorCode::InvalidValue, vec![("expected", text(bytes))]),
        (
            "level[1].policy",
            ErrorCode::UnknownName,
            vec![("known", names(&["lru"])), ("nearest", text("lru"))],
        ),
        ("level[2].capacity", ErrorCode::MissingSetting, vec![("expected", text(bytes))]),
    ];
    assert_eq!(found, expected.map(|(path, code, data)| (path.to_string(), code, data)));
}

#[test]
fn what_is_no_toml_is_invalid_syntax() {
    assert_eq!(problems("hit = = 3\n")[0].code, ErrorCode::InvalidSyntax);
}

#[test]
#[should_panic(expected = "data of wrong-type has no key max")]
fn data_that_the_code_does_not_name_is_refused() {
    let _ = Problem::new(ErrorCode::WrongType, "p", None, "it is text").data("max", 3u64);
}
