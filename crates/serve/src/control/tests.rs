use super::{Command, Harming, LINE_MAX, Refusal, Stepping, answer, parse};
use nacre_kernel::ErrorCode;
use proptest::prelude::*;
use serde_json::{Value, json};

fn refusal(line: &str) -> String {
    parse(line.as_bytes()).expect_err(line).message
}

#[test]
fn every_command_is_read_as_it_is_documented() {
    let read = |line: &str| parse(line.as_bytes()).expect(line);
    assert_eq!(read(r#"{"command": "stats"}"#), Command::Stats { columns: false });
    assert_eq!(read(r#"{"command": "stats", "columns": true}"#), Command::Stats { columns: true });
    let named = Some("a".to_string());
    let record = Command::Record { export: named.clone(), path: "/t.nacre".into(), force: false };
    assert_eq!(read(r#"{"command": "record", "export": "a", "path": "/t.nacre"}"#), record);
    let record = Command::Record { export: None, path: "/t.nacre".into(), force: true };
    assert_eq!(read(r#"{"command": "record", "path": "/t.nacre", "force": true}"#), record);
    assert_eq!(read(r#"{"command": "record-end"}"#), Command::RecordEnd { export: None });
    assert_eq!(read(r#" {"command" : "stop"} "#), Command::Stop {});
    assert_eq!(
        read(r#"{"command": "power-fail", "export": "a"}"#),
        Command::PowerFail { export: named.clone(), again_permille: None }
    );
    let again = Command::PowerFail { export: None, again_permille: Some(300) };
    assert_eq!(read(r#"{"command": "power-fail", "again_permille": 300}"#), again);
    let wrong = Command::MediumFault { export: None, fault: Some("bit_rot".into()), seed: 7 };
    assert_eq!(read(r#"{"command": "medium-fault", "fault": "bit_rot", "seed": 7}"#), wrong);
    let none = Command::MediumFault { export: None, fault: None, seed: 0 };
    assert_eq!(read(r#"{"command": "medium-fault"}"#), none);
    let line = r#"{"command": "media-error", "offset": 512, "length": 1024, "harm": "writes"}"#;
    let error = Command::MediaError { export: None, offset: 512, length: 1024, harm: Harming::Writes };
    assert_eq!(read(line), error);
    let step = Command::Step { export: None, op: Stepping::Write, offset: 512, length: 8, fill: Some(90) };
    assert_eq!(read(r#"{"command": "step", "op": "write", "offset": 512, "length": 8, "fill": 90}"#), step);
    let step = Command::Step { export: None, op: Stepping::Flush, offset: 0, length: 0, fill: None };
    assert_eq!(read(r#"{"command": "step", "op": "flush"}"#), step);
    let snapshot = Command::Snapshot { export: None, path: "/copy.img".into() };
    assert_eq!(read(r#"{"command": "snapshot", "path": "/copy.img"}"#), snapshot);
}

#[test]
fn what_is_not_understood_is_said_with_what_would_be() {
    assert!(refusal("hello").contains("not a line of JSON"));
    assert!(refusal("[1, 2]").contains("there is no command"));
    assert!(refusal(r#"{"columns": true}"#).contains("there is no command"));
    let unknown = refusal(r#"{"command": "explode"}"#);
    assert!(unknown.contains("explode") && unknown.contains("`stats`"), "{unknown}");
    assert!(refusal(r#"{"command": "stats", "color": 1}"#).contains("color"));
    assert!(refusal(r#"{"command": "stop", "now": true}"#).contains("now"));
    assert!(refusal(r#"{"command": "record"}"#).contains("path"));
    assert!(refusal(r#"{"command": "record", "path": "t.nacre"}"#).contains("use an absolute path"));
    assert!(refusal(r#"{"command": "snapshot", "path": "copy"}"#).contains("use an absolute path"));
    let offset = refusal(r#"{"command": "media-error", "offset": -1, "length": 1, "harm": "reads"}"#);
    assert!(offset.contains("-1"), "{offset}");
    let harm = refusal(r#"{"command": "media-error", "offset": 0, "length": 1, "harm": "all"}"#);
    assert!(harm.contains("`reads`"), "{harm}");
    assert!(refusal(r#"{"command": "stats"} {"command": "stop"}"#).contains("not a line of JSON"));
}

#[test]
fn an_answer_is_one_line() {
    let data = vec![("known", ["a"].as_slice().into()), ("nearest", "a".into())];
    let refusal = Refusal { data, ..Refusal::new(ErrorCode::UnknownName, "two\nlines") };
    let line = answer(Err(refusal));
    assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
    assert_eq!(
        serde_json::from_slice::<Value>(&line).unwrap(),
        json!({
            "error": "two\nlines", "code": "unknown-name", "data": { "known": ["a"], "nearest": "a" }
        })
    );
    let ok = answer(Ok(json!({ "a": 1 })));
    assert_eq!(ok, b"{\"ok\":{\"a\":1}}\n");
}

#[test]
fn a_line_as_deep_as_it_may_be_long_is_refused() {
    assert!(refusal(&"[".repeat(LINE_MAX)).contains("not a line of JSON"));
}

proptest! {
    #[test]
    fn no_line_is_too_bad(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&line);
    }

    #[test]
    fn no_wish_is_too_bad(
        command in "(stats|record|record-end|power-fail|media-error|snapshot|stop|[a-z]{0,8})",
        key in "(columns|export|path|offset|harm|[a-z]{0,8})",
        value in prop_oneof![
            Just(json!(null)), any::<bool>().prop_map(Value::from), any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from), any::<String>().prop_map(|path| json!(format!("/{path}"))),
        ],
    ) {
        let line = json!({ "command": command, key: value }).to_string();
        if let Ok(Command::Record { path, .. }) = parse(line.as_bytes()) {
            prop_assert!(path.is_absolute());
        }
    }
}
