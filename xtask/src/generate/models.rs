//! The model reference: one page per component, generated from its module documentation and its fields.

use nacre_config::{Descriptor, Field, Kind, Shape, kinds_within};
use nacre_machine::models::FamilyDescriptor;
use std::fmt::Write as _;

/// Returns all pages, each with its path below `docs/models`.
pub(super) fn pages(families: &[FamilyDescriptor]) -> Vec<(String, String)> {
    let mut pages = vec![("README.md".to_string(), index(families))];
    for family in families {
        for descriptor in &family.descriptors {
            pages.push((format!("{}/{}.md", family.name, descriptor.kind), page(family, descriptor)));
        }
    }
    pages
}

fn index(families: &[FamilyDescriptor]) -> String {
    let mut text = String::from(
        "# Models\n\nThis reference lists all models and is generated from their source code. \
         In a scenario, the setting `kind` selects a model. The page of a model lists its settings.\n",
    );
    for family in families {
        write!(text, "\n## {}: {}\n\n| kind | what it is |\n|---|---|\n", family.name, family.summary)
            .expect("writing to a string");
        for descriptor in &family.descriptors {
            writeln!(
                text,
                "| [`{kind}`]({}/{kind}.md) | {} |",
                family.name,
                descriptor.summary,
                kind = descriptor.kind
            )
            .expect("writing to a string");
        }
    }
    text
}

fn page(family: &FamilyDescriptor, descriptor: &Descriptor) -> String {
    let mut text = format!("# {}: `{}`\n\n", family.name, descriptor.kind);
    for line in descriptor.doc.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        // Headings move one level down, because the heading of the page is the top level.
        if line.starts_with("# ") || line.starts_with("## ") {
            text.push('#');
        }
        text.push_str(&plain_links(line));
        text.push('\n');
    }
    text.push_str("\n## Settings\n\n");
    let fields = (descriptor.fields)();
    table(&fields, "", &mut text);
    for (setting, kinds) in fields.iter().flat_map(settings_with_kinds) {
        kinds.iter().for_each(|kind| kind_section(setting, kind, &mut text));
    }
    let sources = descriptor.sources.join("; ");
    writeln!(text, "\nModel version {}. Sources: {sources}.", descriptor.model_version)
        .expect("writing to a string");
    text
}

fn table(fields: &[Field], prefix: &str, text: &mut String) {
    if fields.is_empty() {
        return text.push_str("This model has no settings.\n");
    }
    text.push_str("| setting | holds | default | meaning |\n|---|---|---|---|\n");
    rows(fields, prefix, text);
}

/// Returns the name and the kinds of `field`, or `None` if its values do not have kinds.
fn settings_with_kinds(field: &Field) -> Option<(&'static str, &'static [Kind])> {
    kinds_within(std::slice::from_ref(field)).first().map(|(_, kinds)| (field.name, *kinds))
}

/// Appends a section on one kind of `setting`, with a table of the settings of this kind.
fn kind_section(setting: &str, kind: &Kind, text: &mut String) {
    write!(text, "\n### `{setting} = \"{}\"`\n\n{}\n\n", kind.name, plain_links(kind.doc))
        .expect("writing to a string");
    table(&(kind.fields)(), &format!("{setting}."), text);
}

fn rows(fields: &[Field], prefix: &str, text: &mut String) {
    for field in fields {
        let name = format!("{prefix}{}", field.name);
        let default = match (field.default, field.is_required()) {
            (Some(default), _) => {
                let source = field.source.unwrap_or_default();
                format!("`{}` ({})", default.plain(), cell(source))
            }
            (None, true) => "required".into(),
            (None, false) => "none".into(),
        };
        let mut holds = holds(&field.shape);
        for (word, bound) in [("at least", field.min), ("at most", field.max)] {
            if let Some(bound) = bound {
                write!(holds, ", {word} {}", bound.plain()).expect("writing to a string");
            }
        }
        writeln!(text, "| `{name}` | {} | {default} | {} |", cell(&holds), cell(field.doc))
            .expect("writing to a string");
        nested(&field.shape, &name, text);
    }
}

fn nested(shape: &Shape, name: &str, text: &mut String) {
    match shape {
        Shape::Table(fields) | Shape::Short(_, fields) => rows(&fields(), &format!("{name}."), text),
        Shape::List(shape) => nested(shape, &format!("{name}[]"), text),
        Shape::Optional(shape) => nested(shape, name, text),
        _ => {}
    }
}

fn holds(shape: &Shape) -> String {
    match shape {
        Shape::Quantity { name, .. } => (*name).into(),
        Shape::Choice(words) => {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            words.join(" or ")
        }
        Shape::Slot(family) => format!("[{family}](../README.md)"),
        Shape::CountOr(family) => format!("a whole number or [{family}](../README.md)"),
        Shape::Kinds(_, kinds) => {
            let names: Vec<String> = kinds.iter().map(|kind| format!("`{}`", kind.name)).collect();
            format!("{}, or table with `kind`", names.join(" or "))
        }
        Shape::List(shape) => format!("list of {}", holds(shape)),
        Shape::Optional(shape) => holds(shape),
        Shape::Table(_) => "table".into(),
        Shape::Short(key, fields) => format!("{}, or table", holds(&Shape::short(key, *fields).shape)),
        shape => shape.expected(),
    }
}

/// Formats a text for a table cell: on one line, without vertical bars.
fn cell(text: &str) -> String {
    plain_links(&text.replace('\n', " ").replace('|', "\\|"))
}

/// Replaces Rust links to items (``[`Item`]``, ``[`Item`](path)``), which do not work outside rustdoc, with
/// code.
fn plain_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        let Some(end) = rest[start..].find("`]").map(|at| start + at) else { break };
        plain.push_str(&rest[..start]);
        plain.push_str(&rest[start + 1..=end]);
        rest = &rest[end + 2..];
    }
    plain + rest
}
