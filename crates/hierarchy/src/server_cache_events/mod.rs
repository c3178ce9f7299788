//! The cache in discrete events. Its configuration, counters, and sources are those of `server_cache`, next to it.
//!
//! Lookup, policies, victims, and counters are decided when the look-up of a request ends, as before. Every operation on a
//! device is submitted when it really begins. It is an entry of [`ops`], which waits for the operations that must end
//! before it:
//!
//! | operation | waits for |
//! |---|---|
//! | write of a block into a level it comes into | its bytes: the fetch, the read of the level it leaves, or the host; and everything that is still done at the place it takes |
//! | write of the host to a copy | earlier writes to the same copy |
//! | read of a copy that goes down, up, or is written back | earlier writes to the same copy |
//! | read of a copy for the host | the bytes of a block that is on its way from another level; those that are in memory but not yet written are returned from there, in the time of a hit |
//! | write or trim of the backing | earlier writes and trims of the same blocks |
//! | fetch from the backing | writes and trims of its blocks, write-backs included |
//! | write-back | the reads of its blocks; of a batch, the batch before it |
//! | flush | with a volatile table, everything that is being written back |
//!
//! A place falls free when a block leaves a full level, for the block that came instead of it. A block that comes into a
//! level with free places waits for what is still done at any of those that were left.
//!
//! # Differences from the older model
//! - Victims go down when they are chosen, not when the data of the block that takes their place has arrived.
//! - A dirty block is cleaned when its write is done, and the next batch begins without a request that comes later. Counters
//!   of write-backs count what ended, not what began.
//! - Overlapping writes of the same blocks are served one after the other. A miss waits for a write of its block.
//! - A part written of a block on its way arrives with it: no write of its own to the level.
//! - A block that is written as a whole while it is on its way is written into its level once.
//! - A failure of a device is known when it happens: reads that wait for the data of a fetch that failed ask the backing for
//!   what they want of it.
//! - A request at the very instant at which a block arrives still finds it on its way.
//! - Behind a persistent table, a backing that guarantees writes only within its stored energy is flushed, and nothing more
//!   is waited for.

mod cache;
mod cleaning;
mod device;
mod dirty;
mod fetch;
mod fetching;
mod levels;
mod moving;
mod ops;
mod power;
mod reads;
mod report;
#[cfg(test)]
mod tests;
mod visits;
mod write_back;
mod writes;

use crate::replacement;
use crate::server_cache::cache::Behaviour;
use crate::server_cache::{Config, Inclusion, LevelConfig, PolicyContext, TableKind, WriteBackConfig};
use cache::ServerCache;
use levels::{Level, Levels};
use nacre_config::{ErrorCode, Problem, Problems, Slot, room_of};
use nacre_device::{Builder, DeviceFamily, EventRoom};
use nacre_kernel::event::Device;
use nacre_kernel::{Bytes, Persistence};

/// This room, in discrete events.
pub(crate) const EVENTS: EventRoom = EventRoom { kind: "server_cache", build };

fn build(slot: &Slot<DeviceFamily>, builder: &mut dyn Builder) -> Result<Box<dyn Device>, Problems> {
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
    let backing = builder.event_device(&config.backing);
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
            let behaviour = Behaviour::of(&config, levels.room());
            Ok(Box::new(ServerCache::new(id, slot.path().to_string(), behaviour, levels, devices)))
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
    let device = builder.event_device(&level.device)?;
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
    let policy = (room_of(replacement::ROOMS, &level.policy).build)(&level.policy, context)?;
    let level = Level::new(policy, device.capabilities(), config.write_back.is_some());
    Ok((level, device))
}

/// An inclusive level smaller than the one above it would hold that one down to its own size.
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

/// What a cache that writes back can guarantee rests on what its devices guarantee.
fn guarantee_problems(
    write_back: &WriteBackConfig,
    config: &Config,
    devices: &[Box<dyn Device>],
    backing: &dyn Device,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if backing.capabilities().persistence == Persistence::WithStoredEnergy {
        let problem = "a cache that writes back needs a backing that keeps what is flushed; this one keeps what its \
                       stored energy suffices for";
        problems.push(
            Problem::new(ErrorCode::ConflictingSettings, config.backing.path(), None, problem)
                .remedy("give it more energy, or let writes go through"),
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
