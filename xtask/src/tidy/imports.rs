//! Check that the modules of a folder do not import each other.

use super::Problem;
use super::code;
use super::models::{absolute, module};
use super::tree::{File, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// An import: the file that contains it, and its line.
type Edge<'a> = (&'a File, usize);

/// Imports between the modules of one folder, indexed by importing module and then by imported module.
type Siblings<'a> = BTreeMap<String, BTreeMap<String, Edge<'a>>>;

/// Reports modules of one folder that import each other, directly or indirectly. The `mod.rs` of the folder
/// is exempt, because it lists the modules and contains their shared code.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let files: Vec<(&File, Vec<String>)> =
        tree.files.iter().filter_map(|file| Some((file, module_under_the_rule(file)?))).collect();
    let modules: BTreeMap<&[String], &File> =
        files.iter().map(|(file, module)| (module.as_slice(), *file)).collect();
    let mut folders: BTreeMap<Vec<String>, Siblings<'_>> = BTreeMap::new();
    for (file, from) in &files {
        for named in code::paths(without_tests(&file.text)) {
            let Some(to) = target(&modules, from, &named.parts) else { continue };
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
                let siblings = folders.entry(from[..shared].to_vec()).or_default();
                siblings.entry(one.clone()).or_default().entry(other.clone()).or_insert((file, named.line));
            }
        }
    }
    folders.values().flat_map(circles).collect()
}

fn module_under_the_rule(file: &File) -> Option<Vec<String>> {
    let module = module(&file.path)?;
    // Code that a derive macro generates names the crate that re-exports the macro.
    let is_derive = module[0].ends_with("_derive");
    // These modules are compiled only in tests.
    let is_test = |part: &String| ["tests", "testing", "workbench", "crashes"].contains(&part.as_str());
    (!is_derive && !module.iter().any(is_test)).then_some(module)
}

/// Returns the text that precedes the unit tests of a file.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().expect("a text has a beginning")
}

/// Returns the module of the item that `parts` names in module `from`. An item that `mod.rs` re-exports
/// belongs to its original module.
fn target(modules: &BTreeMap<&[String], &File>, from: &[String], parts: &[String]) -> Option<Vec<String>> {
    let child = [from, &parts[..1]].concat();
    let whole = match modules.contains_key(child.as_slice()) {
        true => [from, parts].concat(),
        false => absolute(from, parts),
    };
    let depth = (1..=whole.len()).rev().find(|&depth| modules.contains_key(&whole[..depth]))?;
    let (module, rest) = whole.split_at(depth);
    let handed_on = rest.first().and_then(|item| {
        let named = code::paths(without_tests(&modules[module].text));
        let mut taken = named.into_iter().filter(|named| named.parts.last() == Some(item));
        taken.find_map(|named| {
            let below = [module, &named.parts[..1]].concat();
            modules.contains_key(below.as_slice()).then_some(below)
        })
    });
    Some(handed_on.unwrap_or_else(|| module.to_vec()))
}

/// Returns a problem for every import cycle among `siblings`. The problem is reported for the alphabetically
/// first module of the cycle.
fn circles(siblings: &Siblings<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut reported: BTreeSet<&str> = BTreeSet::new();
    for start in siblings.keys() {
        if reported.contains(start.as_str()) {
            continue;
        }
        let Some(circle) = circle(siblings, start) else { continue };
        let &(file, line) = &siblings[circle[0]][circle[1]];
        let text = format!(
            "modules import in a circle: {}; let what both need stand in a third",
            circle.join(" > ")
        );
        problems.push(Problem::new(&file.path, line, text));
        reported.extend(circle);
    }
    problems
}

/// Returns the shortest import cycle through `start`.
fn circle<'a>(siblings: &'a Siblings<'_>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut ways: Vec<Vec<&str>> = vec![vec![start]];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut at = 0;
    while let Some(way) = ways.get(at).cloned() {
        at += 1;
        let last = *way.last().expect("a way has a beginning");
        for next in siblings.get(last).into_iter().flat_map(BTreeMap::keys) {
            let longer = [way.as_slice(), &[next.as_str()]].concat();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                ways.push(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    const MOD: (&str, &str) =
        ("crates/media/src/flash/mod.rs", "mod page;\nmod block;\nmod wear;\nuse wear::Wear;\n");

    #[test]
    fn modules_beside_each_other_import_one_way() {
        let page = ("crates/media/src/flash/page.rs", "use super::block::Block;\n");
        let block =
            ("crates/media/src/flash/block.rs", "/// See [`super::page`].\nuse crate::flash::page::Page;\n");
        let expected = "crates/media/src/flash/block.rs:2: modules import in a circle: block > page > block; \
                        let what both need stand in a third";
        assert_eq!(found(&[MOD, page, block]), [expected]);
        assert_eq!(found(&[MOD, page, (block.0, "use super::page;\n")]).len(), 1);
        assert_eq!(found(&[MOD, page, (block.0, "\"super::page\"")]), Vec::<String>::new());
    }

    #[test]
    fn what_a_folder_hands_on_belongs_to_the_module_it_comes_from() {
        let page = ("crates/media/src/flash/page.rs", "use super::Wear;\n");
        let wear = ("crates/media/src/flash/wear.rs", "use super::page::Page;\n");
        assert_eq!(found(&[MOD, page, wear]).len(), 1);
        assert_eq!(found(&[MOD, (page.0, "use super::Cell;\n"), wear]), Vec::<String>::new());
    }

    #[test]
    fn a_circle_over_folders_and_three_modules_is_found() {
        let one = ("crates/kernel/src/one.rs", "use crate::two::inner::X;\n");
        let two = ("crates/kernel/src/two/inner.rs", "use crate::three::Y;\n");
        let three = ("crates/kernel/src/three.rs", "use crate::one::Z;\n");
        let expected = "crates/kernel/src/one.rs:1: modules import in a circle: one > two > three > one; \
                        let what both need stand in a third";
        assert_eq!(found(&[one, two, three]), [expected]);
        assert_eq!(found(&[one, two]), Vec::<String>::new());
    }

    #[test]
    fn tests_are_free() {
        let page = ("crates/media/src/flash/page.rs", "use super::block::Block;\n");
        let tests = "#[cfg(test)]\nmod tests {\n    use super::super::page::Page;\n}\n";
        assert_eq!(found(&[MOD, page, ("crates/media/src/flash/block.rs", tests)]), Vec::<String>::new());
    }
}
