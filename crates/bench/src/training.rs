//! Training workload for profile-guided builds (docs/decisions/0033-trained-builds.md). It does not measure
//! anything.

use crate::Result;
use crate::curves::{exact, sampled};
use crate::traces::{read, written};
use nacre_config::{Node, Value};
use nacre_crash::Options;
use nacre_files::ScenarioFiles;
use nacre_machine::{Checked, Document, Files, Span, catalog, check, run_span};
use nacre_shape::Rate;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

/// Random seed, different from the seed of the benchmarks.
const SEED: u64 = 2;
/// Sampling rates of the miss-ratio curves: a share of the blocks, and a maximum number of blocks.
const SAMPLES: [Rate; 2] = [Rate::Share(0.1), Rate::Blocks(1024)];

/// Executes the runs, crash tests, and trace conversions that `file` lists. The folder `traces` contains the
/// built-in traces.
pub(crate) fn train(file: &Path, traces: &Path) -> Result<()> {
    let name = file.display().to_string();
    let list = Node::parse_toml(&std::fs::read_to_string(file)?, &name)?;
    let files = ScenarioFiles::new(".", Some(traces.into()));
    for (heading, work) in [("runs", run as Work), ("crashes", crash), ("traces", trace)] {
        let entries = list.get(heading).ok_or_else(|| format!("{name} has no [{heading}]"))?;
        for (name, what) in table(entries)? {
            work(name, what, &files)?;
        }
    }
    Ok(())
}

/// Function that executes one entry of the list. The arguments are the name and the value of the entry, and
/// access to the files of scenarios.
type Work = fn(&str, &Node, &ScenarioFiles) -> Result<()>;

/// Runs a scenario once for each table of settings in `each`.
fn run(scenario: &str, each: &Node, files: &ScenarioFiles) -> Result<()> {
    for settings in list(each)? {
        let settings = table(settings)?.iter().map(|(path, value)| (path.clone(), value.to_string()));
        let checked = shipped(scenario, &settings.collect::<Vec<_>>())?;
        run_span(&checked, files, &Span::default(), &mut |_| ControlFlow::Continue(()))?;
    }
    Ok(())
}

/// Cuts power to the stack of a scenario `points` times.
fn crash(scenario: &str, points: &Node, files: &ScenarioFiles) -> Result<()> {
    let Value::Integer(points) = points.value else { return Err(format!("{points} is not a number").into()) };
    let options = Options::new(u64::try_from(points)?, SEED);
    let go_on = &mut |_| ControlFlow::Continue(());
    nacre_machine::crash::crash(&shipped(scenario, &[])?, files, &options, go_on)?;
    Ok(())
}

/// Writes and reads a built-in trace in each of the listed formats, and computes its miss-ratio curves.
fn trace(name: &str, formats: &Node, files: &ScenarioFiles) -> Result<()> {
    let mut requests = Vec::new();
    read("nacre", files.trace(name)?, |some| requests.extend_from_slice(some))?;
    for format in list(formats)? {
        let format = format.text().ok_or_else(|| format!("{format} is not a format"))?;
        read(format, Box::new(Cursor::new(written(format, &requests)?)), |_| {})?;
    }
    exact(&requests);
    SAMPLES.into_iter().for_each(|rate| _ = sampled(&requests, rate));
    Ok(())
}

/// Returns the built-in scenario `name` with the overrides in `settings`.
fn shipped(name: &str, settings: &[(String, String)]) -> Result<Checked> {
    let scenario = catalog::scenarios().into_iter().find(|shipped| shipped.name == name);
    let text = scenario.ok_or_else(|| format!("no scenario is called {name}"))?.text;
    Ok(check(&Document { text, name, overrides: settings, seed: Some(SEED) })?)
}

fn table(node: &Node) -> Result<&[(String, Node)]> {
    match &node.value {
        Value::Table(entries) => Ok(entries),
        _ => Err(format!("{node} is not a table").into()),
    }
}

fn list(node: &Node) -> Result<&[Node]> {
    match &node.value {
        Value::List(nodes) => Ok(nodes),
        _ => Err(format!("{node} is not a list").into()),
    }
}
