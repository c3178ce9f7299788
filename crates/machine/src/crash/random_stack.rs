//! Random stacks: any kind of device, with any of its settings, over any other devices.
//!
//! The generator writes a scenario as text from the settings that the components declare, so a new component
//! is included as soon as it is in its table. [`hints`](super::hints) keeps stacks small. If the scenario
//! check rejects a setting in combination with others, that setting keeps its default. If the check still
//! fails, the whole stack is generated again.

use super::ScenarioStack;
use super::combinations::{COMBINATIONS, Value};
use super::hints;
use crate::models::Models;
use crate::scenario::{Checked, Document, check};
use crate::stack::{Files, HostMemory};
use nacre_config::{Families, Field, Literal, Problems, Shape};
use nacre_crash::{Fault, Options};
use nacre_kernel::{Bytes, Random, Streams};
use std::io::{self, BufRead};

/// A random stack, generated from a 64-bit seed.
#[derive(Clone, Debug)]
pub struct RandomStack {
    /// The scenario.
    pub text: String,
    /// The checked scenario.
    pub checked: Checked,
    /// Options of the test: faults and random seed.
    pub options: Options,
}

/// Maximum capacity of a random stack.
const CAPACITY_MAX: Bytes = Bytes(1 << 30);
/// Number of attempts for one kind of device before another kind is selected.
const TRIES: u32 = 100;
/// Maximum number of device kinds that are tried for one stack.
const KINDS_TRIED: u32 = 20;
/// Maximum nesting of devices: a device with this number of devices above it is always `measured`.
const DEPTH_MAX: u32 = 2;
/// Kind of the device that injects faults. [`FAULTY_SHARE`] is the share of stacks with this device at the
/// top, and the share of lower devices that get faults which only delay them.
const FAULTY: &str = "faulty";
const FAULTY_SHARE: f64 = 1.0 / 8.0;
/// Kind of the mirror device. [`MIRRORED_SHARE`] is the share of stacks that become mirrors.
const MIRROR: &str = "mirror";
const MIRRORED_SHARE: f64 = 1.0 / 8.0;
/// Share of stacks that use one of the [`COMBINATIONS`].
const COMBINED: f64 = 1.0 / 3.0;
/// Stored energy relative to the minimum that the scenario check accepts without `may_lose_writes`. Values
/// below 1 are insufficient.
const SHARES_OF_ENOUGH: [f64; 8] = [0.5, 0.75, 0.999, 1.0, 1.0, 1.25, 1.5, 1.9];
/// Range in joules in which the minimum energy is searched, and number of search steps.
const ENERGIES: (f64, f64) = (1e-9, 1e5);
const HALVINGS: u32 = 50;

/// A file collection without files. Models that need a file are not generated.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }

    fn memory(&self) -> Option<HostMemory> {
        Some(HostMemory { free: 1 << 26, all: 1 << 26, address_space: None })
    }
}

/// Generates a stack, a workload, and faults from `seed`, with `points` power losses. A quarter of the stacks
/// also have media faults.
pub fn random_stack(seed: u64, points: u64) -> RandomStack {
    let mut random = Streams::new(seed).stream("stack");
    let kinds = kinds();
    let mut own = Streams::new(seed).stream("combination");
    let combined = own.chance(COMBINED);
    let combination = &COMBINATIONS[own.below(COMBINATIONS.len() as u64) as usize];
    for number in 0..KINDS_TRIED {
        let found = match combined && number == 0 {
            true => with_settings(combination.kind, combination.settings, &mut random),
            false => of_kind(kinds[random.below(kinds.len() as u64) as usize], &mut random),
        };
        if let Some(found) = found {
            let found = mirrored(found, &mut Streams::new(seed).stream("mirrored"));
            let (text, checked) = with_faults(found, &mut Streams::new(seed).stream("faulty"));
            let faults = if random.chance(0.25) { Fault::INJECTED.to_vec() } else { Vec::new() };
            return RandomStack { text, checked, options: Options { faults, ..Options::new(points, seed) } };
        }
    }
    panic!("no valid stack was generated from seed {seed}: check the values in crash/hints.rs");
}

/// Returns the kinds of random devices, without faulty devices and mirrors. These are added on top of other
/// devices, so that they do not change the random choices for those devices.
fn kinds() -> Vec<&'static str> {
    Models::new().kinds("device").into_iter().filter(|kind| ![FAULTY, MIRROR].contains(kind)).collect()
}

/// Returns the lines of a scenario that describe its stack.
fn stack_of(text: &str) -> Vec<String> {
    let (_, stack) = text.split_once("[stack]\n").expect("a scenario has a stack");
    stack.lines().filter(|line| !line.is_empty()).map(String::from).collect()
}

/// Returns the stack or, with the probability [`MIRRORED_SHARE`], a mirror of the stack and another member.
/// The other member is an equal stack, an equal stack with faults that delay requests or return errors, or
/// another device.
fn mirrored(found: (String, Checked), random: &mut Random) -> (String, Checked) {
    if !random.chance(MIRRORED_SHARE) {
        return found;
    }
    let models = Models::new();
    let device = stack_of(&found.0);
    let one = format!("{{ {} }}", device.join(", "));
    let fault = fault(random, &hints::FAULTS[..hints::REPORTED]);
    let other = match random.below(3) {
        0 => Some(one.clone()),
        1 => Some(format!("{{ {} }}", faulty(&device, &[fault]).join(", "))),
        _ => StackGenerator { random, models: &models, settings: &[], depth: 0 }.device(None),
    };
    let settings = (models.descriptor("device", MIRROR).expect("it is a device").fields)();
    let settings: Vec<Field> = settings.into_iter().filter(|field| field.name != "member").collect();
    let settings =
        StackGenerator { random, models: &models, settings: &[], depth: 0 }.table(MIRROR, &settings);
    let (Some(other), Some(settings)) = (other, settings) else { return found };
    let members = if random.chance(0.5) { [one, other] } else { [other, one] };
    let own = [format!("kind = \"{MIRROR}\""), format!("member = [{}]", members.join(", "))];
    legal([&own[..], &settings].concat()).map_or(found, |(lines, checked)| (scenario(&lines), checked))
}

/// Returns the stack or, with the probability [`FAULTY_SHARE`], a faulty device above the stack.
fn with_faults(found: (String, Checked), random: &mut Random) -> (String, Checked) {
    if !random.chance(FAULTY_SHARE) {
        return found;
    }
    let device = stack_of(&found.0);
    let faults: Vec<&str> = (0..1 + random.below(2)).map(|_| fault(random, hints::FAULTS)).collect();
    legal(faulty(&device, &faults)).map_or(found, |(lines, checked)| (scenario(&lines), checked))
}

/// Returns the lines of a faulty device that injects `faults` into `device`.
fn faulty(device: &[String], faults: &[&str]) -> Vec<String> {
    vec![
        format!("kind = \"{FAULTY}\""),
        format!("device = {{ {} }}", device.join(", ")),
        format!("fault = [{}]", faults.join(", ")),
    ]
}

fn fault(random: &mut Random, of: &'static [&'static str]) -> &'static str {
    of[random.below(of.len() as u64) as usize]
}

/// Generates a stack with a device of this kind at the top. Returns `None` if no attempt gives a valid
/// stack.
pub(super) fn of_kind(kind: &'static str, random: &mut Random) -> Option<(String, Checked)> {
    with_settings(kind, &[], random)
}

/// Like [`of_kind`], with some fixed settings.
pub(super) fn with_settings(
    kind: &'static str,
    settings: Settings,
    random: &mut Random,
) -> Option<(String, Checked)> {
    let models = Models::new();
    (0..TRIES).find_map(|_| {
        let lines = StackGenerator { random, models: &models, settings, depth: 0 }.model("device", kind)?;
        at_the_edge(lines, random).map(|(lines, checked)| (scenario(&lines), checked))
    })
}

/// Like [`legal`], but replaces an energy of [`hints::EDGE`] with a share of the minimum that the scenario
/// check accepts.
fn at_the_edge(lines: Vec<String>, random: &mut Random) -> Option<(Vec<String>, Checked)> {
    let (mut lines, checked) = legal(lines)?;
    let Some(edge) = lines.iter().position(|line| line.ends_with(hints::EDGE)) else {
        return Some((lines, checked));
    };
    let name = lines[edge].strip_suffix(hints::EDGE).expect("it ends so").to_string();
    let is_enough = |joules: f64| {
        let mut lines = lines.clone();
        lines[edge] = format!("{name}\"{joules:.9} J\"");
        lines.retain(|line| !line.starts_with("may_lose_writes = "));
        let text = scenario(&lines);
        let checked = check(&Document { text: &text, name: "random", overrides: &[], seed: None });
        // Some components report the energy that they need only during construction.
        checked.is_ok_and(|checked| ScenarioStack::new(&checked, &NoFiles).is_ok())
    };
    let (mut low, mut enough) = ENERGIES;
    for _ in 0..HALVINGS {
        let middle = (low * enough).sqrt();
        *if is_enough(middle) { &mut enough } else { &mut low } = middle;
    }
    let share = SHARES_OF_ENOUGH[random.below(SHARES_OF_ENOUGH.len() as u64) as usize];
    lines[edge] = format!("{name}\"{:.9} J\"", enough * share);
    legal(lines)
}

/// Returns `lines` as a scenario. The scenario has an unused workload, because the check requires one.
fn scenario(lines: &[String]) -> String {
    let workload = "[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"4 KiB\"\nrequest = \"4 KiB\"\n\
                    read_share = \"0 %\"\narrival = \"closed\"\n";
    format!("schema = 1\n{workload}\n[stack]\n{}\n", lines.join("\n"))
}

/// Removes the lines that the scenario check rejects until it accepts the stack. Returns `None` if the check
/// cannot accept the stack or the stack has an unsuitable size.
fn legal(mut lines: Vec<String>) -> Option<(Vec<String>, Checked)> {
    loop {
        let text = scenario(&lines);
        let problems = match check(&Document { text: &text, name: "random", overrides: &[], seed: None }) {
            Ok(checked) => return is_usable(&checked).then_some((lines, checked)),
            Err(Problems(problems)) => problems,
        };
        let before = lines.len();
        lines.retain(|line| !problems.iter().any(|problem| gives(line, &problem.path)));
        if lines.len() == before {
            return None;
        }
    }
}

/// Returns whether a line sets `path` of the stack, or a table or list that contains `path`.
fn gives(line: &str, path: &str) -> bool {
    let name = line.split(" = ").next().unwrap_or(line);
    let within = path.strip_prefix("stack.").and_then(|path| path.strip_prefix(name));
    within.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn is_usable(checked: &Checked) -> bool {
    let Ok(mut stack) = ScenarioStack::new(checked, &NoFiles) else { return false };
    let device = nacre_crash::Stack::build(&mut stack, &nacre_crash::Media::new());
    device.capacity().is_some_and(|capacity| capacity <= CAPACITY_MAX && capacity.0 >= 4096)
}

/// Fixed settings, each as the kind of its component, its name, and its value.
type Settings = &'static [(&'static str, &'static str, Value)];

struct StackGenerator<'a> {
    random: &'a mut Random,
    models: &'a Models,
    settings: Settings,
    /// Number of devices above the current one.
    depth: u32,
}

impl StackGenerator<'_> {
    /// Returns the lines of a table with random settings of a component, starting with its kind. Returns
    /// `None` if a required setting cannot be generated.
    fn model(&mut self, family: &str, kind: &'static str) -> Option<Vec<String>> {
        let descriptor = self.models.descriptor(family, kind).expect("the kind is of this family");
        let mut lines = vec![format!("kind = \"{kind}\"")];
        lines.extend(self.table(kind, &(descriptor.fields)())?);
        if lines.iter().any(|line| is_blind(line)) {
            let is_wrong =
                |line: &str| hints::BIT_ERRORS.iter().any(|name| line.starts_with(&format!("{name} = ")));
            lines.retain(|line| !is_wrong(line));
        }
        Some(lines)
    }

    fn table(&mut self, kind: &str, fields: &[Field]) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        for field in fields {
            let own = self.settings.iter().find(|(model, name, _)| *model == kind && *name == field.name);
            match own {
                Some((_, name, Value::Text(text))) => lines.push(format!("{name} = {text}")),
                Some((_, name, Value::Device(of))) => {
                    lines.push(format!("{name} = {}", self.device(Some(of))?));
                }
                None => {}
            }
            if own.is_some() {
                continue;
            }
            let hint = hints::of(kind, field.name);
            let is_given = field.is_required() || hint.is_some() || self.random.chance(0.3);
            if !is_given {
                continue;
            }
            let value = match hint {
                Some(values) => match values[self.random.below(values.len() as u64) as usize] {
                    hints::LEFT_OUT => continue,
                    hints::ANY => self.value(kind, field, &field.shape),
                    hints::WEAR => match self.wear(kind, field.name) {
                        hints::LEFT_OUT => continue,
                        value => Some(value.to_string()),
                    },
                    value => Some(value.to_string()),
                },
                None => self.value(kind, field, &field.shape),
            };
            match value {
                Some(value) => lines.push(format!("{} = {value}", field.name)),
                None if field.is_required() => return None,
                None => {}
            }
        }
        Some(lines)
    }

    /// Returns the value of a wear setting. The value comes from a fork of the common random stream, so the
    /// common stream does not advance.
    fn wear(&self, kind: &str, field: &str) -> &'static str {
        let values = hints::wear(kind, field);
        let mut own = Streams::new(self.random.clone().bits()).stream(field);
        values[own.below(values.len() as u64) as usize]
    }

    fn value(&mut self, kind: &str, field: &Field, shape: &Shape) -> Option<String> {
        let pick = |random: &mut Random, count: usize| random.below(count as u64) as usize;
        Some(match shape {
            Shape::Quantity { name, .. } => {
                let values = hints::quantities(name)?;
                values[pick(self.random, values.len())].to_string()
            }
            Shape::Integer { .. } | Shape::CountOr(_) => {
                let least = match field.min {
                    Some(Literal::Integer(least)) => least,
                    _ => 0,
                };
                (least + self.random.below(4) as i64).to_string()
            }
            Shape::Flag => self.random.chance(0.5).to_string(),
            Shape::Choice(words) => format!("\"{}\"", words[pick(self.random, words.len())].0),
            Shape::Slot(family) => self.slot(family)?,
            Shape::Kinds(_, kinds) => {
                let kind = kinds[pick(self.random, kinds.len())];
                let mut lines = vec![format!("kind = \"{}\"", kind.name)];
                lines.extend(self.table(kind.name, &(kind.fields)())?);
                format!("{{ {} }}", lines.join(", "))
            }
            Shape::List(shape) => {
                let count = 1 + self.random.below(3);
                let values: Option<Vec<String>> =
                    (0..count).map(|_| self.value(kind, field, shape)).collect();
                format!("[{}]", values?.join(", "))
            }
            Shape::Table(fields) | Shape::Short(_, fields) => {
                let within = format!("{kind}.{}", field.name);
                format!("{{ {} }}", self.table(&within, &fields())?.join(", "))
            }
            Shape::Optional(shape) => self.value(kind, field, shape)?,
            Shape::Float | Shape::Text | Shape::Form { .. } => return None,
        })
    }

    /// Returns a random component of `family`.
    fn slot(&mut self, family: &str) -> Option<String> {
        if family == "device" {
            return self.device(None);
        }
        if family == "fault" {
            return Some(fault(self.random, hints::FAULTS).to_string());
        }
        let kinds = self.models.kinds(family);
        let kind = kinds[self.random.below(kinds.len() as u64) as usize];
        Some(format!("{{ {} }}", self.model(family, kind)?.join(", ")))
    }

    /// Returns a random device, of the kind `of` if given. The device is valid by itself, so that most stacks
    /// with it are also valid.
    fn device(&mut self, of: Option<&'static str>) -> Option<String> {
        let kinds = kinds();
        self.depth += 1;
        let device = (0..TRIES).find_map(|_| {
            let kind = match of {
                Some(kind) => kind,
                None if self.depth >= DEPTH_MAX => "measured",
                None => kinds[self.random.below(kinds.len() as u64) as usize],
            };
            let lines = self.model("device", kind)?;
            at_the_edge(lines, self.random).map(|(lines, _)| lines)
        });
        self.depth -= 1;
        let device = device?;
        // Some devices get faults that delay them. This choice is made with a fork of the common stream,
        // which does not advance.
        let mut own = Streams::new(self.random.clone().bits()).stream("late");
        let device = match of.is_none() && own.chance(FAULTY_SHARE) {
            true => faulty(&device, &[fault(&mut own, &hints::FAULTS[..hints::LATE])]),
            false => device,
        };
        Some(format!("{{ {} }}", device.join(", ")))
    }
}

/// Returns whether a line sets a code that miscorrects some bit errors. No device can detect these bit
/// errors.
fn is_blind(line: &str) -> bool {
    let is_of = |kind: &str| line.starts_with(&format!("ecc = {{ kind = \"{kind}\""));
    is_of("none") || is_of("bch") && !line.contains("crc32 = true")
}
