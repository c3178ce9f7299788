mod codes;
mod flattened;
mod kinds;
mod short;

use crate::node::Value;
use crate::{Choice, Configuration, Descriptor, Families, Family, Node, Origin, Reader, Resolved, Slot};
use nacre_kernel::{Bytes, Ratio, Time};

#[derive(Clone, Debug, PartialEq, Choice)]
enum Inclusion {
    /// A block is in one level.
    Exclusive,
    /// Upper levels hold copies.
    Inclusive,
}

struct Policies;
impl Family for Policies {
    const NAME: &'static str = "replacement";
    type Built = ();
    type Context<'a> = ();
}

/// A configuration without settings.
#[derive(Clone, Debug, Configuration)]
struct Lru {}

/// A cache level.
#[derive(Clone, Debug, Configuration)]
struct Level {
    /// Capacity in bytes.
    #[config(min = "4 KiB")]
    capacity: Bytes,
    /// Replacement policy.
    #[config(default = "lru", source = "assumed: the usual")]
    policy: Slot<Policies>,
}

/// A cache.
#[derive(Clone, Debug, Configuration)]
struct Cache {
    /// Unit of caching.
    #[config(default = "4 KiB", min = "512 B", max = "1 MiB", source = "assumed: host page")]
    block: Bytes,
    /// Latency of a hit.
    hit: Time,
    /// Whether upper levels hold copies.
    #[config(default = "exclusive", source = "assumed: more room")]
    inclusion: Inclusion,
    /// Number of parallel hits.
    #[config(default = 8, min = 1, max = 64, source = "assumed: typical")]
    parallelism: u32,
    /// Number of hits that may wait.
    #[config(min = 2, max = 64)]
    waiting: Option<u32>,
    /// Levels, fastest first.
    level: Vec<Level>,
}

struct Known;
static LRU: Descriptor = Descriptor::of::<Lru>("lru", "least recently used", &["any textbook"], 1, "");
impl Families for Known {
    fn descriptor(&self, family: &str, kind: &str) -> Option<&'static Descriptor> {
        (family == "replacement" && kind == "lru").then_some(&LRU)
    }
    fn kinds(&self, _: &str) -> Vec<&'static str> {
        vec!["lru"]
    }
}

fn read(text: &str) -> (Option<Cache>, Vec<Resolved>, Vec<String>) {
    let node = Node::parse_toml(text, "cache.toml").expect("the test's TOML is well formed");
    let mut reader = Reader::new(&Known);
    let cache = Cache::read(&node, &mut reader);
    match reader.finish() {
        Ok(resolved) => (cache, resolved, Vec::new()),
        Err(problems) => (None, Vec::new(), problems.0.iter().map(ToString::to_string).collect()),
    }
}

#[test]
fn a_legal_document_is_read_and_every_value_knows_its_origin() {
    let (cache, resolved, problems) = read("hit = \"2 us\"\n[[level]]\ncapacity = \"1 MiB\"\n");
    assert_eq!(problems, Vec::<String>::new());
    let cache = cache.expect("no problems");
    assert_eq!((cache.block, cache.hit), (Bytes(4096), Time::from_us(2)));
    assert_eq!(cache.inclusion, Inclusion::Exclusive);
    assert_eq!(cache.level[0].policy.kind(), "lru");
    assert_eq!(cache.level[0].policy.path(), "level[0].policy");
    let origins: Vec<(String, String)> =
        resolved.iter().map(|value| (value.path.clone(), value.node.origin.place())).collect();
    let expected = [
        ("block", "default"),
        ("hit", "cache.toml:1"),
        ("inclusion", "default"),
        ("parallelism", "default"),
        ("level[0].capacity", "cache.toml:3"),
        ("level[0].policy.kind", "default"),
    ];
    assert_eq!(origins, expected.map(|(path, place)| (path.to_string(), place.to_string())));
}

#[test]
fn a_preset_beside_the_slot_it_belongs_into_is_one_mistake() {
    let mut node =
        Node::parse_toml("hit = \"2 us\"\n[[level]]\ncapacity = \"1 MiB\"\n", "cache.toml").unwrap();
    let preset = Node::parse_toml("preset = \"fast\"\nkind = \"lru\"\n", "cache.toml").unwrap();
    let brought = Origin::Catalog { entry: "fast".into(), source: "s".into(), confidence: "paper".into() };
    let Value::Table(entries) = &mut node.value else { panic!("a table") };
    let Value::List(levels) = &mut entries[1].1.value else { panic!("a list") };
    let Value::Table(level) = &mut levels[0].value else { panic!("a table") };
    let Value::Table(preset) = preset.value else { panic!("a table") };
    level.extend(preset);
    level.push(("read".into(), Node { value: Value::Text("5 us".into()), origin: brought }));
    let mut reader = Reader::new(&Known);
    Cache::read(&node, &mut reader);
    let problems = reader.finish().unwrap_err().0;
    assert_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "level[0].preset (cache.toml:1): there is no such setting; write policy = { preset = \"fast\" }; known: \
          capacity, policy"
        ]
    );
}

#[test]
fn all_mistakes_come_at_once_with_place_and_remedy() {
    let text = "blok = \"4 KiB\"\nhit = 3\ninclusion = \"exclusiv\"\nparallelism = 100\n\
                [[level]]\ncapacity = \"1 KiB\"\npolicy = { kind = \"lro\" }\n[[level]]\n";
    let (_, _, problems) = read(text);
    assert_eq!(
        problems,
        [
            "blok (cache.toml:1): there is no such setting; did you mean \"block\"? known: block, hit, inclusion, \
             parallelism, waiting, level",
            "hit (cache.toml:2): it has no unit, given 3; write a duration such as \"6.7 us\" in quotes",
            "inclusion (cache.toml:3): there is no such choice, given \"exclusiv\"; did you mean \"exclusive\"? \
             known: exclusive, inclusive",
            "parallelism (cache.toml:4): it is too large, given 100; the largest allowed is 64",
            "level[0].capacity (cache.toml:6): it is too small, given \"1 KiB\"; the smallest allowed is 4 KiB",
            "level[0].policy (cache.toml:7): there is no replacement called \"lro\", given \"lro\"; did you mean \
             \"lru\"? known: lru",
            "level[1].capacity (cache.toml:8): it is missing; give a size such as \"64 GiB\"",
        ]
    );
}

#[test]
fn a_table_in_place_of_a_value_is_named_once() {
    let (_, _, problems) = read("hit = { latency = \"1 us\" }\n");
    assert_eq!(problems[0], "hit (cache.toml:1): it is a table; give a duration such as \"6.7 us\"");
}

#[test]
fn syntax_errors_name_their_line() {
    let problems = Node::parse_toml("a = 1\nb = = 2\n", "x.toml").unwrap_err();
    assert!(problems.to_string().contains("(x.toml:2)"), "{problems}");
}

#[test]
fn overrides_reach_any_place_and_keep_their_own_origin() {
    let mut node =
        Node::parse_toml("hit = \"2 us\"\n[[level]]\ncapacity = \"1 MiB\"\npolicy = \"lru\"\n", "c").unwrap();
    let origin = Origin::Override("level[0].capacity=2 MiB".into());
    node.set("level[0].capacity", Node::parse_value("2 MiB", &origin)).unwrap();
    node.set("level.0.policy.kind", Node::parse_value("lru", &origin)).unwrap();
    node.set("parallelism", Node::parse_value("3", &origin)).unwrap();
    let cache = Cache::read(&node, &mut Reader::new(&Known)).unwrap();
    assert_eq!((cache.level[0].capacity, cache.parallelism, cache.waiting), (Bytes(2 << 20), 3, None));
    let error = node.set("level[7].capacity", Node::parse_value("1", &origin)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "level.7 (--set level[0].capacity=2 MiB): the list has no entry 7; its entries are 0 to 0"
    );
}

#[test]
fn a_value_with_a_source_carries_it() {
    let node = Node::parse_toml(
        "hit = { value = \"6.7 us\", source = \"kim-2014 p. 13\", confidence = \"paper\" }",
        "pcm_ssd",
    )
    .unwrap();
    let hit = node.get("hit").unwrap();
    assert_eq!(hit.text(), Some("6.7 us"));
    let expected = Origin::Catalog {
        entry: "pcm_ssd".into(),
        source: "kim-2014 p. 13".into(),
        confidence: "paper".into(),
    };
    assert_eq!(hit.origin, expected);
}

struct Latencies;
impl Family for Latencies {
    const NAME: &'static str = "latency";
    type Built = ();
    type Context<'a> = ();

    fn shorthand(text: &str) -> Option<(&'static str, &'static str)> {
        text.starts_with(|c: char| c.is_ascii_digit()).then_some(("constant", "latency"))
    }
}

/// A constant latency.
#[derive(Clone, Debug, Configuration)]
struct Constant {
    /// The latency.
    latency: Time,
}

struct KnownLatencies;
static CONSTANT: Descriptor =
    Descriptor::of::<Constant>("constant", "always the same", &["any textbook"], 1, "");
impl Families for KnownLatencies {
    fn descriptor(&self, _: &str, kind: &str) -> Option<&'static Descriptor> {
        (kind == "constant").then_some(&CONSTANT)
    }
    fn kinds(&self, _: &str) -> Vec<&'static str> {
        vec!["constant"]
    }
}

/// A device.
#[derive(Clone, Debug, Configuration)]
struct Device {
    /// Latency of a read.
    read: Slot<Latencies>,
}

fn latency(node: &Node) -> Result<(Time, Vec<String>), String> {
    let mut reader = Reader::new(&KnownLatencies);
    let device = Device::read(node, &mut reader);
    let resolved = reader.finish().map_err(|problems| problems.to_string())?;
    let constant: Constant = device.expect("no problem, so a device").read.config(&KnownLatencies);
    Ok((constant.latency, resolved.iter().map(|value| format!("{} = {}", value.path, value.node)).collect()))
}

#[test]
fn a_family_may_have_a_shorthand() {
    let paths = vec!["read.kind = \"constant\"".to_string(), "read.latency = \"7 us\"".to_string()];
    for text in ["read = \"7 us\"", "read = { kind = \"constant\", latency = \"7 us\" }"] {
        let node = Node::parse_toml(text, "d.toml").unwrap();
        assert_eq!(latency(&node), Ok((Time::from_us(7), paths.clone())));
    }
    let node = Node::parse_toml("read = \"7\"", "d.toml").unwrap();
    assert_eq!(
        latency(&node).unwrap_err(),
        "read.latency (d.toml:1): it has no unit; use ps, ns, us, ms, s, min, h, d, given \"7\"; \
         write a duration such as \"6.7 us\""
    );
}

#[test]
fn an_override_reaches_inside_a_shorthand() {
    let mut node = Node::parse_toml("read = \"7 us\"", "d.toml").unwrap();
    node.set("read.latency", Node::parse_value("9 us", &Origin::Override("read.latency=9 us".into())))
        .unwrap();
    assert_eq!(latency(&node).unwrap().0, Time::from_us(9));
}

/// A configuration with lists and plain values.
#[derive(Clone, Debug, Configuration)]
struct Plain {
    /// A list of plain values.
    files: Option<Vec<String>>,
    /// A list of components.
    policies: Option<Vec<Slot<Policies>>>,
    /// A share.
    share: Option<Ratio>,
    /// A 64-bit number.
    many: Option<u64>,
    /// A 32-bit number.
    few: Option<u32>,
}

fn plain(text: &str) -> Result<(Plain, Vec<String>), String> {
    let node = Node::parse_toml(text, "p.toml").map_err(|problems| problems.to_string())?;
    let mut reader = Reader::new(&Known);
    let plain = Plain::read(&node, &mut reader);
    let resolved = reader.finish().map_err(|problems| problems.to_string())?;
    let lines = resolved.iter().map(|value| format!("{} = {}", value.path, value.node));
    Ok((plain.expect("no problems"), lines.collect()))
}

#[test]
fn a_list_of_plain_values_is_one_resolved_value_and_a_list_of_rooms_is_not() {
    let (read, resolved) = plain("files = [\"a\", \"b\"]\npolicies = [\"lru\", { kind = \"lru\" }]").unwrap();
    assert_eq!(read.files, Some(vec!["a".to_string(), "b".to_string()]));
    assert_eq!(read.policies.map(|policies| policies.len()), Some(2));
    assert_eq!(
        resolved,
        ["files = [\"a\", \"b\"]", "policies[0].kind = \"lru\"", "policies[1].kind = \"lru\""]
    );
}

#[test]
fn a_share_may_be_a_plain_number_however_small() {
    for (text, share) in [("0.0000001", 1e-7), ("1e-7", 1e-7), ("1", 1.0), ("\"5 %\"", 0.05)] {
        assert_eq!(plain(&format!("share = {text}")).unwrap().0.share, Some(Ratio(share)), "{text}");
    }
    assert_eq!(
        plain("share = -0.5").unwrap_err(),
        "share (p.toml:1): it is negative, given -0.5; write a share such as \"22 %\" or \"0.22\""
    );
    let shape_takes = |shape: crate::Shape| shape.takes_plain_numbers();
    assert!(shape_takes(<Ratio as crate::FieldType>::shape()));
    assert!(!shape_takes(<Bytes as crate::FieldType>::shape()));
}

#[test]
fn what_a_whole_number_below_zero_may_be_its_bounds_say() {
    let (_, _, problems) =
        read("parallelism = -1\nwaiting = -1\n[[level]]\ncapacity = \"4 KiB\"\npolicy = \"lru\"\n");
    for expected in [
        "parallelism (cache.toml:1): it is too small, given -1; the smallest allowed is 1",
        "waiting (cache.toml:2): it is too small, given -1; the smallest allowed is 2",
    ] {
        assert!(problems.contains(&expected.into()), "{problems:?}");
    }
}

/// A configuration with an optional table.
#[derive(Clone, Debug, PartialEq, Configuration)]
struct Outer {
    /// A nested table.
    inner: Option<Inner>,
}

/// The nested table.
#[derive(Clone, Debug, PartialEq, Configuration)]
struct Inner {
    /// A share of the whole.
    #[config(default = "50 %", source = "assumed: half")]
    share: Ratio,
}

#[test]
fn what_is_no_table_is_told_with_an_example_of_one() {
    let outer = |text: &str| {
        let node = Node::parse_toml(text, "o.toml").unwrap();
        let mut reader = Reader::new(&Known);
        let outer = Outer::read(&node, &mut reader);
        reader.finish().map(|_| outer.unwrap()).map_err(|problems| problems.to_string())
    };
    assert_eq!(
        outer("inner = true").unwrap_err(),
        "inner (o.toml:1): it is a truth value, given true; give a table such as { share = \"50 %\" }"
    );
}

#[test]
fn a_setting_past_the_largest_whole_number_is_too_large_and_not_text() {
    for (text, expected) in [
        (
            "12345678901234567890",
            "it is too large, given \"12345678901234567890\"; use 0 to 9223372036854775807",
        ),
        (
            "-12345678901234567890",
            "it is too small, given \"-12345678901234567890\"; use 0 to 9223372036854775807",
        ),
        ("1.2.3", "it is text, given \"1.2.3\"; give a whole number"),
    ] {
        let mut node = Node::parse_toml("few = 1", "p.toml").unwrap();
        let origin = Origin::Override(format!("many={text}").into());
        node.set("many", Node::parse_value(text, &origin)).unwrap();
        let mut reader = Reader::new(&Known);
        Plain::read(&node, &mut reader);
        let problems = reader.finish().unwrap_err();
        assert_eq!(problems.to_string(), format!("many (--set many={text}): {expected}"));
    }
}

#[test]
fn whole_numbers_end_where_the_type_or_the_document_ends() {
    let (read, _) = plain("many = 9223372036854775807\nfew = 4294967295").unwrap();
    assert_eq!((read.many, read.few), (Some(i64::MAX as u64), Some(u32::MAX)));
    for (text, expected) in [
        ("many = -1", "many (p.toml:1): it is too small, given -1; use 0 to 9223372036854775807"),
        ("few = 4294967296", "few (p.toml:1): it is too large, given 4294967296; use 0 to 4294967295"),
        (
            "many = 9223372036854775808",
            "many (p.toml:1): whole numbers end at 9223372036854775807, given 9223372036854775808",
        ),
    ] {
        assert_eq!(plain(text).unwrap_err(), expected);
    }
}

#[test]
fn problems_of_two_results_come_together() {
    let wrong = |what: &str| -> Result<u32, crate::Problems> {
        Err(crate::Problem::new(crate::ErrorCode::Failed, "p", None, what).into())
    };
    assert_eq!(crate::both::<u32, u32>(Ok(1), Ok(2)), Ok((1, 2)));
    assert_eq!(crate::both(wrong("a"), wrong("b")).unwrap_err().to_string(), "p: a\np: b");
    assert_eq!(crate::both::<u32, u32>(Ok(1), wrong("b")).unwrap_err().to_string(), "p: b");
}

struct PolicyRooms;
impl Family for PolicyRooms {
    const NAME: &'static str = "replacement";
    type Built = u32;
    type Context<'a> = ();
}

#[test]
fn the_room_in_a_slot_is_found_in_its_table() {
    static MODELS: &crate::Table<PolicyRooms> = &[
        crate::Model { descriptor: Descriptor::of::<Lru>("fifo", "", &["a"], 1, ""), build: |_, _| Ok(1) },
        crate::Model {
            descriptor: Descriptor::of::<Lru>("lru", "", &["a"], 1, "").needing("time"),
            build: |_, _| Ok(2),
        },
    ];
    let node = Node::parse_value("lru", &Origin::Override("x".into()));
    let slot = <Slot<PolicyRooms> as crate::FieldType>::read(&node, &mut Reader::new(&Known)).unwrap();
    let model = crate::model_of(MODELS, &slot);
    assert_eq!(
        (model.descriptor.kind, model.descriptor.needs, (model.build)(&slot, &mut ())),
        ("lru", "time", Ok(2))
    );
}

#[test]
fn whole_numbers_may_have_an_exponent_or_a_prefix() {
    let parallel = |text: &str| {
        let (cache, _, problems) =
            read(&format!("hit = \"2 us\"\nparallelism = {text}\n[[level]]\ncapacity = \"1 MiB\"\n"));
        cache.map(|cache| cache.parallelism).ok_or_else(|| problems.join("\n"))
    };
    assert_eq!((parallel("6.4e1"), parallel("\"0.01 k\"")), (Ok(64), Ok(10)));
    assert!(parallel("\"1M\"").is_err_and(|problem| problem.contains("it is too large")));
    for wrong in ["6.5", "\"6\"", "\"6.0001k\"", "nan"] {
        assert!(parallel(wrong).is_err_and(|problem| problem.contains("give a whole number")), "{wrong}");
    }
    assert!(parallel("6.5").is_err_and(|problem| problem.contains("it is not a whole number, given 6.5")));
}

#[test]
fn what_is_no_finite_number_is_said_not_to_be() {
    let (_, _, problems) = read("hit = nan\nparallelism = inf\n[[level]]\ncapacity = -inf\n");
    let said = |path: &str| problems.iter().find(|problem| problem.starts_with(path)).unwrap();
    assert!(said("hit").contains("it is not finite, given NaN; give a duration"), "{problems:?}");
    let (_, _, nameless) = read("hit = \"2 us\"\n[[level]]\ncapacity = \"1 MiB\"\npolicy = 5\n");
    assert!(nameless[0].contains("it is a whole number, given 5; give `kind`, one of "), "{nameless:?}");
    assert!(said("parallelism").contains("it is not finite, given inf; give a whole number"));
    assert!(said("level[0].capacity").contains("it is not finite, given -inf; give a size"));
}

#[test]
fn a_table_with_one_bracket_too_few_is_told_to_have_two() {
    let (_, _, problems) = read("hit = \"2 us\"\n[level]\ncapacity = \"1 MiB\"\n");
    let said = "level (cache.toml:2): it is one table; several are allowed here, given a table; write \
        [[level]] with two brackets";
    assert_eq!(problems, [said]);
    let (_, _, problems) = read("hit = \"2 us\"\nlevel = 5\n");
    assert_eq!(
        problems,
        ["level (cache.toml:2): it is a whole number, given 5; write [[level]] with two brackets"]
    );
}

/// Returns the message of the panic that the derived code raises for a bound that is invalid for its field.
macro_rules! bounded {
    ($type:ty, $($bound:tt)*) => {{
        #[derive(Debug, Configuration)]
        struct Bounded {
            /// A value.
            #[config($($bound)*)]
            #[expect(dead_code, reason = "only its description is looked at")]
            value: $type,
        }
        let panic = std::panic::catch_unwind(Bounded::fields).expect_err("the bound is none");
        panic.downcast_ref::<String>().expect("a message").clone()
    }};
}

#[test]
fn a_bound_that_no_value_could_break_is_no_bound() {
    let quantity = bounded!(Time, min = "4 parsecs");
    assert!(quantity.starts_with("\"4 parsecs\" is not a bound for value: give "), "{quantity}");
    let optional = bounded!(Option<Bytes>, max = "1 GHz");
    assert!(optional.starts_with("\"1 GHz\" is not a bound for value: give "), "{optional}");
    assert_eq!(bounded!(u32, max = "64"), "\"64\" is not a bound for value: give a whole number");
    assert_eq!(bounded!(u64, min = 0.5), "\"0.5\" is not a bound for value: give a whole number");
    assert_eq!(bounded!(f64, min = "1"), "\"1\" is not a bound for value: give a number");
    assert_eq!(bounded!(String, max = 12), "\"12\" is not a bound for value: give text");
    let list = bounded!(Vec<u32>, min = 1);
    assert_eq!(list, "\"1\" is not a bound for value: give a list; each entry is a whole number");
}

#[test]
fn an_optional_setting_is_switched_off_with_false() {
    let (read, resolved) = plain("files = false\npolicies = false\nshare = false\nmany = 3").unwrap();
    assert_eq!((read.files.is_none(), read.policies.is_none(), read.share), (true, true, None));
    assert_eq!(resolved, ["files = false", "policies = false", "share = false", "many = 3"]);
    let node = Node::parse_toml("inner = false", "o.toml").unwrap();
    let mut reader = Reader::new(&Known);
    assert_eq!(Outer::read(&node, &mut reader), Some(Outer { inner: None }));
    let resolved = reader.finish().expect("it is legal");
    assert_eq!((resolved.len(), resolved[0].is_off), (1, true));
    assert!(plain("share = true").is_err());
}
