//! Check that the Rust crates and the Python package have the same version.

use super::Problem;
use super::tree::Tree;

/// Reports versions that differ.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let rust = version(tree, "Cargo.toml", "[workspace.package]");
    let python = version(tree, "pyproject.toml", "[project]");
    match (rust, python) {
        (Some((_, rust)), Some((line, python))) if rust != python => {
            vec![Problem::new(
                "pyproject.toml",
                line,
                format!("version {python}, but Cargo.toml says {rust}"),
            )]
        }
        (Some(_), Some(_)) => Vec::new(),
        _ => vec![Problem::new("pyproject.toml", 1, "Cargo.toml or pyproject.toml states no version")],
    }
}

/// Returns the line and the value of `version` in a table of a TOML file.
fn version(tree: &Tree, path: &str, table: &str) -> Option<(usize, String)> {
    let inside = tree.file(path)?.lines().skip_while(|(_, line)| *line != table).skip(1);
    let mut entries = inside.take_while(|(_, line)| !line.starts_with('['));
    entries.find_map(|(number, line)| {
        let value = line.strip_prefix("version = \"")?.strip_suffix('"')?;
        Some((number, value.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    #[test]
    fn the_core_and_the_front_have_one_version() {
        let rust = "[workspace]\n[workspace.package]\nversion = \"1.2.3\"\n";
        let same = "[build-system]\n[project]\nname = \"x\"\nversion = \"1.2.3\"\n";
        let other = "[project]\nversion = \"1.2.4\"\n";
        assert_eq!(check(&Tree::of(&[("Cargo.toml", rust), ("pyproject.toml", same)])), []);
        let found = check(&Tree::of(&[("Cargo.toml", rust), ("pyproject.toml", other)]));
        assert_eq!(found[0].to_string(), "pyproject.toml:2: version 1.2.4, but Cargo.toml says 1.2.3");
    }
}
