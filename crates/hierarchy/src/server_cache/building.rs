//! Construction of a server cache: its levels, their policies, and the backing.

use super::cache::ServerCache;
use super::config::{Behavior, Config, Inclusion, LevelConfig, TableKind, WriteBackConfig};
use super::levels::{Level, Levels};
use crate::replacement::{self, Brought, Replacement, ReplacementContext, ReplacementFamily};
use nacre_config::{ErrorCode, Families, Family, Problem, Problems, Slot, model_of};
use nacre_device::{Builder, DeviceFamily};
use nacre_kernel::event::Device;
use nacre_kernel::{Bytes, Persistence};

pub(super) fn build(
    slot: &Slot<DeviceFamily>,
    builder: &mut (dyn Builder + '_),
) -> Result<Box<dyn Device>, Problems> {
    let id = builder.component();
    let config: Config = slot.config(builder.families());
    let mut problems = Vec::new();
    let (mut levels, mut devices) = (Vec::new(), Vec::new());
    for level in &config.level {
        match build_level(level, &config, builder) {
            Ok((level, device)) => {
                levels.push(level);
                devices.push(device);
            }
            Err(found) => problems.extend(found.0),
        }
    }
    let backing = builder.device(&config.backing);
    if let (Ok(backing), Some(write_back)) = (&backing, &config.write_back) {
        problems.extend(guarantee_problems(write_back, &config, &devices, &**backing));
    }
    if problems.is_empty() && config.inclusion == Inclusion::Inclusive {
        problems.extend(inclusion_problem(&config, &levels));
    }
    match backing {
        Ok(backing) if problems.is_empty() => {
            devices.push(backing);
            let levels = Levels::new(levels, config.inclusion);
            let behavior = Behavior::of(&config, levels.room());
            Ok(Box::new(ServerCache::new(id, slot.path().to_string(), behavior, levels, devices)))
        }
        backing => {
            problems.extend(backing.err().unwrap_or_default().0);
            Err(Problems(problems))
        }
    }
}

fn build_level(
    level: &LevelConfig,
    config: &Config,
    builder: &mut dyn Builder,
) -> Result<(Level, Box<dyn Device>), Problems> {
    let block = config.block;
    let device = builder.device(&level.device)?;
    let wrong = |code, problem: &str, remedy: String| {
        Problem::new(code, level.device.path(), None, problem).remedy(remedy)
    };
    let Some(capacity) = device.capacity() else {
        let problem = "a level of a cache needs a device with a capacity";
        return Err(wrong(
            ErrorCode::MissingSetting,
            problem,
            "give `capacity`, for example \"64 GiB\"".into(),
        )
        .into());
    };
    let blocks = capacity.0 / block.0;
    if blocks == 0 {
        let remedy = format!("the smallest allowed is one block, {block}");
        return Err(wrong(ErrorCode::OutOfRange, "it is too small", remedy).given(capacity).into());
    }
    let capacity = usize::try_from(blocks).unwrap_or(usize::MAX);
    let context = &mut PolicyContext { builder, capacity };
    let policy = (model_of(replacement::MODELS, &level.policy).build)(&level.policy, context)?;
    let level = Level::new(policy, device.capabilities(), config.write_back.is_some());
    Ok((level, device))
}

/// Returns an error if an inclusive level is smaller than the level above it, because the level above could
/// then never be full. Returns `None` if the settings are valid.
fn inclusion_problem(config: &Config, levels: &[Level]) -> Option<Problem> {
    let lower = (1..levels.len()).find(|&at| levels[at].blocks < levels[at - 1].blocks)?;
    let path = config.level[lower].device.path();
    let problem = Problem::new(
        ErrorCode::ConflictingSettings,
        path,
        None,
        "an inclusive level holds all that the one above it holds",
    );
    let above = Bytes(levels[lower - 1].blocks * config.block.0);
    let given = Bytes(levels[lower].blocks * config.block.0);
    Some(problem.given(given).remedy(format!("give at least {above}, or use inclusion = \"exclusive\"")))
}

/// Returns errors if the devices do not provide the guarantees that a write-back cache requires.
fn guarantee_problems(
    write_back: &WriteBackConfig,
    config: &Config,
    devices: &[Box<dyn Device>],
    backing: &dyn Device,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if backing.capabilities().persistence == Persistence::WithStoredEnergy {
        let problem = "a write-back cache needs a backing device with durable flushes; this one keeps only \
            what its stored energy covers";
        problems.push(
            Problem::new(ErrorCode::ConflictingSettings, config.backing.path(), None, problem)
                .remedy("give it more energy, or use write-through"),
        );
    }
    for (config, device) in config.level.iter().zip(devices) {
        let persistence = device.capabilities().persistence;
        if write_back.table == TableKind::Persistent && persistence != Persistence::OnAcknowledgement {
            let problem = "a persistent table needs a level that keeps every write it acknowledges; this one may lose \
                           some";
            let remedy = "use another device, or table = \"volatile\"";
            problems.push(
                Problem::new(ErrorCode::ConflictingSettings, config.device.path(), None, problem)
                    .remedy(remedy),
            );
        }
    }
    problems
}

/// Construction context of the replacement policies.
struct PolicyContext<'a> {
    builder: &'a mut dyn Builder,
    capacity: usize,
}

impl ReplacementContext for PolicyContext<'_> {
    fn families(&self) -> &dyn Families {
        self.builder.families()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Replacement>, Problems> {
        let brought = self.builder.external_policy(ReplacementFamily::NAME, path, name)?;
        let make: Box<Brought> = brought.downcast().expect("what is brought for a cache makes a policy");
        Ok(make(self.capacity))
    }
}
