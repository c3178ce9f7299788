//! Development commands of the project: `cargo run -p xtask -- WORD`.
//!
//! | command | action |
//! |---|---|
//! | `gen` | writes the files that are generated from the components: schemas, Python classes, and the model reference |
//! | `gen --check` | fails if a generated file is stale |
//! | `crash SEED STACKS` | runs power-loss tests of random stacks on all cores; `for SECONDS` may replace the number of stacks |
//! | `tidy` | checks rules of CONTRIBUTING.md that no compiler checks |

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a command of the edge: reads files, prints"
)]

mod crash;
mod generate;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("gen") => generate::command(root(), std::env::args().nth(2).as_deref() == Some("--check")),
        Some("crash") => crash::command(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("tidy") => tidy::command(root()),
        Some(word) => usage(&format!("no command called \"{word}\"")),
        None => usage("which command?"),
    }
}

/// Returns the root folder of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

fn usage(problem: &str) -> ExitCode {
    println!("xtask: {problem}\nusage: cargo run -p xtask -- gen [--check] | crash SEED STACKS | tidy");
    ExitCode::from(2)
}
