//! Writes the files that are generated from the descriptors of the models, or checks that they are current.

mod codes;
mod models;
mod python;
mod record;

use nacre_machine::schema;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// Folders that contain only generated files. Any other file in these folders is reported as stale.
const OWNED_FOLDERS: [&str; 2] = ["schema", "docs/models"];

/// Runs `gen` or `gen --check`. Prints the files that were changed or are stale.
pub(crate) fn command(root: &Path, check: bool) -> ExitCode {
    let files = generated();
    let result = if check { stale(root, &files) } else { write(root, &files) };
    match result {
        Ok(changed) if changed.is_empty() => {
            println!("generated files are fresh ({} of them)", files.len());
            ExitCode::SUCCESS
        }
        Ok(changed) => {
            let word = if check { "stale" } else { "written" };
            changed.iter().for_each(|path| println!("{word}: {}", path.display()));
            if check {
                println!("run `cargo run -p xtask -- gen`");
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("gen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the text of every generated file, by the path of the file below the root.
fn generated() -> BTreeMap<PathBuf, String> {
    let families = nacre_machine::models::families();
    let mut files = BTreeMap::new();
    files.insert("schema/scenario.json".into(), pretty(&schema::scenario_schema()));
    files.insert("schema/record.json".into(), pretty(&schema::record_schema()));
    files.insert("python/nacre/config/_generated.py".into(), python::classes(&families));
    files.insert("python/nacre/base/_codes.py".into(), codes::literal());
    files.insert("docs/errors.md".into(), codes::page());
    files.insert("python/nacre/results/_record.py".into(), record::classes(&schema::record_schema()));
    for (path, text) in models::pages(&families) {
        files.insert(Path::new("docs/models").join(path), text);
    }
    files
}

fn pretty(value: &serde_json::Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a schema is plain data");
    text.push('\n');
    text
}

/// Returns the files whose text differs from the generated text, and files that should not exist.
fn stale(root: &Path, files: &BTreeMap<PathBuf, String>) -> io::Result<Vec<PathBuf>> {
    let mut stale = leftovers(root, files)?;
    for (path, text) in files {
        if fs::read_to_string(root.join(path)).ok().as_ref() != Some(text) {
            stale.push(path.clone());
        }
    }
    Ok(stale)
}

fn write(root: &Path, files: &BTreeMap<PathBuf, String>) -> io::Result<Vec<PathBuf>> {
    let changed = stale(root, files)?;
    for path in &changed {
        let place = root.join(path);
        match files.get(path) {
            Some(text) => {
                fs::create_dir_all(place.parent().expect("a generated file lies in a folder"))?;
                fs::write(place, text)?;
            }
            None => fs::remove_file(place)?,
        }
    }
    Ok(changed)
}

fn leftovers(root: &Path, files: &BTreeMap<PathBuf, String>) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = OWNED_FOLDERS.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else { continue };
        for entry in entries {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if !files.contains_key(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
