//! Generates the lists of the catalog files and built-in scenarios, so that a new file needs no other
//! change.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads the tree; the fences are for the model it builds"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    // Only the parent folders are watched, because some subfolders may not exist. While a watched path is
    // missing, Cargo runs this script and recompiles the crate in every build. A new subfolder changes its
    // parent folder.
    for folder in ["catalog", "scenarios"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).canonicalize()?.display());
    }
    let mut text = String::new();
    for (name, folder) in [
        ("CATALOG_DEVICES", "catalog/devices"),
        ("CATALOG_WORKLOADS", "catalog/workloads"),
        ("CATALOG_ROADMAPS", "catalog/roadmaps"),
        ("SCENARIOS", "scenarios"),
    ] {
        let folder = root.join(folder);
        writeln!(text, "/// (name, text) of each file.\npub(crate) static {name}: &[(&str, &str)] = &[")
            .expect("writing to a string");
        for file in toml_files(&folder)? {
            let stem = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            writeln!(text, "    ({stem:?}, include_str!({:?})),", file.display().to_string())
                .expect("writing to a string");
        }
        text.push_str("];\n");
    }
    fs::write(Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("shipped.rs"), text)
}

/// Returns the TOML files of `folder`, ordered by name. The list is empty if the folder does not exist.
fn toml_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
