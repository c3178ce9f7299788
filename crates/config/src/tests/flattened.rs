//! Tests of flattened configurations, whose settings are in the table of another configuration.

use super::Known;
use crate::{Configuration, Node, Reader};
use nacre_kernel::Bytes;

/// A configuration that is flattened into other configurations.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check_area")]
struct Area {
    /// Start of the area.
    #[config(default = "0 B", source = "assumed: the beginning")]
    start: Bytes,
    /// End of the area.
    end: Bytes,
}

fn check_area(area: &Area, reader: &mut Reader<'_>) {
    if area.start > area.end {
        reader.conflict("end", &area.end.to_string(), "it lies before start", "make it larger");
    }
}

/// A configuration with an area in the same table.
#[derive(Clone, Debug, Configuration)]
struct Around<C: Configuration> {
    /// The first setting.
    first: u32,
    #[config(flatten)]
    inner: C,
    /// The last setting.
    last: bool,
}

fn around(text: &str) -> Result<Around<Area>, String> {
    let node = Node::parse_toml(text, "a.toml").unwrap();
    let mut reader = Reader::new(&Known);
    let around = <Around<Area> as Configuration>::read(&node, &mut reader);
    reader.finish().map(|_| around.expect("no problems")).map_err(|problems| problems.to_string())
}

#[test]
fn a_flattened_configuration_stands_in_the_same_table() {
    let names: Vec<&str> = Around::<Area>::fields().iter().map(|field| field.name).collect();
    assert_eq!(names, ["first", "start", "end", "last"]);
    let read = around("last = true\nend = \"4 KiB\"\nfirst = 3").unwrap();
    assert_eq!((read.first, read.last), (3, true));
    assert_eq!((read.inner.start, read.inner.end), (Bytes(0), Bytes(4096)));
    assert_eq!(
        around("last = true\nennd = 3\nfirst = 1").unwrap_err(),
        "ennd (a.toml:2): there is no such setting; did you mean \"end\"? known: first, start, end, last\n\
         end (a.toml:1): it is missing; give a size such as \"64 GiB\""
    );
    assert_eq!(
        around("first = 1\nlast = true\nstart = \"2 B\"\nend = \"1 B\"").unwrap_err(),
        "end (a.toml:4): it lies before start, given 1 B; make it larger"
    );
}

/// A configuration with an area whose settings are overridden.
#[derive(Clone, Debug, Configuration)]
struct Window {
    #[config(flatten)]
    #[config(with(start(
        name = "left",
        doc = "Its left edge.",
        default = "1 KiB",
        source = "assumed: a margin"
    )))]
    #[config(with(end(name = "right", max = "64 KiB")))]
    inner: Area,
}

#[test]
fn a_flattened_setting_has_name_default_and_bounds_of_its_use() {
    let fields = Around::<Window>::fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    assert_eq!(names, ["first", "left", "right", "last"]);
    let (left, right) = (&fields[1], &fields[2]);
    assert_eq!((left.doc, left.default), ("Its left edge.", Some(crate::Literal::Text("1 KiB"))));
    assert_eq!(left.source, Some("assumed: a margin"));
    assert_eq!((right.doc, right.max), ("End of the area.", Some(crate::Literal::Text("64 KiB"))));
    let read = |text: &str| {
        let node = Node::parse_toml(text, "a.toml").unwrap();
        let mut reader = Reader::new(&Known);
        let window = <Around<Window> as Configuration>::read(&node, &mut reader);
        reader.finish().map(|_| window.expect("no problems").inner.inner).map_err(|it| it.to_string())
    };
    let area = read("last = true\nfirst = 3\nright = \"4 KiB\"").unwrap();
    assert_eq!((area.start, area.end), (Bytes(1024), Bytes(4096)));
    assert_eq!(
        read("first = 3\nlast = true\nright = \"65 KiB\"\nstart = \"1 KiB\"").unwrap_err(),
        "start (a.toml:4): there is no such setting; known: first, left, right, last\n\
         right (a.toml:3): it is too large, given \"65 KiB\"; the largest allowed is 64 KiB"
    );
    // Messages about the area use the overridden names.
    assert_eq!(
        read("first = 3\nlast = true\nright = \"1 B\"").unwrap_err(),
        "right (a.toml:3): it lies before start, given 1 B; make it larger"
    );
}

/// An area with another setting between its two settings.
#[derive(Clone, Debug, Configuration)]
struct Apart {
    #[config(flatten)]
    #[config(with(start(name = "left")))]
    #[config(with(end(name = "right", after = "middle")))]
    inner: Area,
    /// A setting between `left` and `right`.
    middle: u32,
}

#[test]
fn a_flattened_setting_stands_where_its_use_says() {
    let names: Vec<&str> = Around::<Apart>::fields().iter().map(|field| field.name).collect();
    assert_eq!(names, ["first", "left", "middle", "right", "last"]);
    let read = |text: &str| {
        let node = Node::parse_toml(text, "a.toml").unwrap();
        let mut reader = Reader::new(&Known);
        let around = reader.within("around", |reader| <Around<Apart> as Configuration>::read(&node, reader));
        let paths = |all: Vec<crate::Resolved>| all.into_iter().map(|one| one.path).collect::<Vec<_>>();
        reader
            .finish()
            .map(|all| (around.expect("no problems").inner, paths(all)))
            .map_err(|it| it.to_string())
    };
    let (apart, paths) = read("last = true\nfirst = 3\nmiddle = 7\nright = \"4 KiB\"").unwrap();
    assert_eq!((apart.inner.start, apart.middle, apart.inner.end), (Bytes(0), 7, Bytes(4096)));
    assert_eq!(paths, ["first", "left", "middle", "right", "last"].map(|key| format!("around.{key}")));
    assert_eq!(
        read("first = 3\nlast = 4\nright = 5").unwrap_err(),
        "around.middle (a.toml:1): it is missing; give a whole number\n\
         around.right (a.toml:3): it has no unit, given 5; write a size such as \"64 GiB\" in quotes\n\
         around.last (a.toml:2): it is a whole number, given 4; give true or false"
    );
}
