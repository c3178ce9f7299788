//! Tests that compile C programs with the header, link them with the library, and run them.
#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Folder of this crate.
const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// Creates a folder in the target folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// Returns the folder of the library, which is also the folder of this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("it is in a folder").to_path_buf()
}

/// Compiles `source` to a program in `folder`, with all warnings as errors. Uses the oldest C standard that
/// has the types of the header.
fn compiled(source: &Path, folder: &Path) -> PathBuf {
    let (program, libraries) = (folder.join("program"), libraries());
    let done = Command::new(option_env!("CC").unwrap_or("cc"))
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-I")
        .arg(Path::new(CRATE).join("include"))
        .arg("-L")
        .arg(&libraries)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .arg("-lnacre")
        .output()
        .expect("there is a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

fn ran(program: &Path, arguments: &[&Path]) -> (Output, String) {
    let done = Command::new(program).args(arguments).output().expect("it can be run");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    (done, text)
}

/// Writes the C program in `text` to a file.
fn written(folder: &Path, text: &str) -> PathBuf {
    let source = folder.join("program.c");
    fs::write(&source, text).expect("it can be written");
    source
}

/// Returns the names that precede a parenthesis in `text`.
fn functions(text: &str) -> BTreeSet<String> {
    let is_name = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let names = text.match_indices("nacre_").filter_map(|(at, _)| {
        let name = text[at..].split_once('(')?.0;
        is_name(name).then(|| name.to_string())
    });
    names.collect()
}

#[test]
fn the_example_counts_over_power_losses_and_in_an_image() {
    let folder = folder("counter");
    let program = compiled(&Path::new(CRATE).join("examples/counter.c"), &folder);
    let (first, text) = ran(&program, &[]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let page = fs::read_to_string(Path::new(CRATE).join("../../docs/how-to/c-program.md")).expect("the page");
    assert!(page.contains(&text), "docs/how-to/c-program.md has another output than\n{text}");
    // The image keeps the counter, which increases by three in each run.
    let image = folder.join("counter.nacre");
    for count in [3, 6] {
        let (_, text) = ran(&program, &[&image]);
        assert!(text.contains(&format!("counter {count}, ")), "{text}");
    }
}

#[test]
fn the_page_shows_the_example() {
    let read = |path: &str| fs::read_to_string(Path::new(CRATE).join(path)).expect("it is there");
    let (page, example) = (read("../../docs/how-to/c-program.md"), read("examples/counter.c"));
    let (_, shown) = page.split_once("```c\n").expect("the page has a program");
    let (shown, _) = shown.split_once("```").expect("it ends");
    assert!(example.contains(shown), "docs/how-to/c-program.md shows what is not in the example:\n{shown}");
}

#[test]
fn every_function_of_the_header_is_in_the_library_and_the_other_way_round() {
    let header = fs::read_to_string(Path::new(CRATE).join("include/nacre.h")).expect("the header");
    let declared = functions(&header);
    let folder = folder("symbols");
    // This program links only if the library has all functions.
    let uses: String = declared.iter().map(|name| format!("    (void (*)(void)){name},\n")).collect();
    let text = format!(
        "#include \"nacre.h\"\ntypedef void (*any)(void);\nany const all[] = {{\n{uses}}};\n\
         int main(void) {{ return all[0] == 0; }}\n"
    );
    let program = compiled(&written(&folder, &text), &folder);
    assert!(ran(&program, &[]).0.status.success());
    let source = fs::read_to_string(Path::new(CRATE).join("src/lib.rs")).expect("the source");
    let operations = source.match_indices("    nacre_").filter_map(|(at, _)| {
        let (name, rest) = source[at + 4..].split_once(':')?;
        rest.starts_with(" \"").then(|| name.to_string())
    });
    let exported: BTreeSet<String> = functions(&source)
        .into_iter()
        .filter(|name| source.contains(&format!("extern \"C\" fn {name}(")))
        .chain(operations)
        .collect();
    assert_eq!(exported, declared);
}

#[test]
fn errors_are_codes_and_messages_and_change_nothing() {
    let folder = folder("errors");
    let text = r#"
#include <stdio.h>
#include <string.h>
#include "nacre.h"

static void tell(nacre_memory *memory, int status)
{
    printf("%d %s\n", status, status == 0 ? "" : nacre_error_code(memory));
}

static void refuse(const char *scenario, const char *const *settings)
{
    char *error = NULL;
    printf("%s: %d\n", scenario, nacre_open(scenario, settings, NULL, &error) == NULL);
    printf("%.80s\n", error);
    nacre_free(error);
}

int main(void)
{
    const char *const none[] = {"stack.segments", NULL};
    const char *const bad[] = {"stack.segments=0", NULL};
    refuse("no-such.toml", NULL);
    refuse("envy", none);
    refuse("envy", bad);
    printf("%d\n", nacre_open("nowhere", NULL, NULL, NULL) == NULL);

    nacre_memory *memory = nacre_open("envy", NULL, NULL, NULL);
    char word[4] = "abc";
    printf("\"%s\" \"%s\"\n", nacre_error(memory), nacre_error_code(memory));
    tell(memory, nacre_store(memory, nacre_capacity(memory) - 2, word, 4));
    tell(memory, nacre_load(memory, UINT64_MAX, word, 4));
    tell(memory, nacre_commit(memory));
    tell(memory, nacre_recover(memory));
    tell(memory, nacre_idle(memory, UINT64_MAX));
    tell(memory, nacre_store(memory, 0, NULL, 0));
    printf("%s\n", word);
    tell(memory, nacre_store(memory, 64, word, 4));
    memset(word, 0, 4);
    tell(memory, nacre_load(memory, 64, word, 4));
    char *statistics = nacre_statistics(memory);
    printf("%s %d\n", word, strstr(statistics, "\"envy\"") != NULL);
    nacre_free(statistics);
    tell(memory, nacre_close(memory, NULL));

    tell(NULL, nacre_flush(NULL));
    printf("%s %d %d\n", nacre_error(NULL), nacre_close(NULL, NULL), nacre_statistics(NULL) == NULL);
    nacre_free(NULL);
    return 0;
}
"#;
    let (done, text) = ran(&compiled(&written(&folder, text), &folder), &[]);
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "no-such.toml: 1",
        "no-such.toml: ",
        "envy: 1",
        "settings: \"stack.segments\" is not a setting; write \"PATH=VA",
        "envy: 1",
        "stack.segments (--set stack.segments=0): it is too small",
        "1",
        "\"\" \"\"",
        "-1 past-the-end",
        "-1 past-the-end",
        "-1 no-transaction",
        "-1 power-on",
        "-1 end-of-time",
        "0 ",
        "abc",
        "0 ",
        "0 ",
        "abc 1",
        "0 ",
        "-1 failed",
        "the memory is NULL: nacre_open failed 0 1",
    ];
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line:?} does not start with {expected:?}\n{text}");
    }
}
