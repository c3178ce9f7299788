//! Instructions per request of the main benchmarks, counted by callgrind. The counts do not depend on other
//! load on the machine.

use crate::Result;
use crate::report::is_trained;
use crate::rows;
use std::path::Path;
use std::process::Command;

/// Number of requests per benchmark: enough that caches evict blocks, but few enough for an emulated
/// processor.
const REQUESTS: u64 = 400_000;
/// Relative increase above which a count is marked.
const GROWTH: f64 = 0.05;

/// Counts the instructions of every benchmark. Prints each count next to the count in `file`, and marks
/// counts that have increased.
pub(crate) fn compare(file: &Path) -> Result<()> {
    if !is_there() {
        println!("instructions are not counted: valgrind is not here");
        return Ok(());
    }
    if !is_trained() {
        println!("this build is not trained, and {} is of one that was: more instructions", file.display());
    }
    let known: serde_json::Value = match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text)?,
        Err(error) => {
            println!("nothing to compare with: {}: {error}", file.display());
            serde_json::Value::Null
        }
    };
    println!(
        "\n{:<52} {:>10} {:>10} {:>8}",
        "instructions a request, by callgrind", "now", "before", "change"
    );
    for (name, count) in counted()? {
        match known[&name].as_f64() {
            Some(before) => {
                let change = count / before - 1.0;
                let said = if change > GROWTH { "   it has grown" } else { "" };
                println!("{name:<52} {count:>10.1} {before:>10.1} {:>+7.1}%{said}", 100.0 * change);
            }
            None => println!("{name:<52} {count:>10.1} {:>10}", "unknown"),
        }
    }
    Ok(())
}

/// Counts the instructions of every benchmark and writes the counts to `file`.
pub(crate) fn write(file: &Path) -> Result<()> {
    if !is_there() {
        return Err("counting instructions needs valgrind, which is not installed".into());
    }
    let rounded = |(name, count): (String, f64)| (name, ((count * 10.0).round() / 10.0).into());
    let counts: serde_json::Map<String, serde_json::Value> = counted()?.into_iter().map(rounded).collect();
    std::fs::write(file, serde_json::to_string_pretty(&counts)? + "\n")?;
    println!("wrote {} rows", counts.len());
    Ok(())
}

fn is_there() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the names of the benchmarks, each with its instructions per request.
fn counted() -> Result<Vec<(String, f64)>> {
    let folder = std::env::temp_dir().join(format!("nacre-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let names = rows::all().into_iter().filter(|row| row.is_counted).map(|row| row.name);
    let counts = names.map(|name| Ok((name.clone(), count(&name, &folder)?))).collect();
    std::fs::remove_dir_all(&folder)?;
    counts
}

fn count(name: &str, folder: &Path) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*rows::counted*"])
        .arg(std::env::current_exe()?)
        .args(["row", name, &REQUESTS.to_string(), "1"])
        .arg(folder)
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        return Err(format!("{name} was not done, and nothing of it is counted: {}", said.trim()).into());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.split_once("Collected :"));
    let instructions = line.and_then(|(_, count)| count.trim().parse::<f64>().ok());
    Ok(instructions.ok_or_else(|| format!("callgrind counted nothing of {name}: {text}"))? / REQUESTS as f64)
}
