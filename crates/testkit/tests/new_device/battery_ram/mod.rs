//! Battery-backed RAM: the smallest device with data.
//!
//! # Model
//! The device performs one access at a time, with a constant duration. Acknowledged writes are durable.
//!
//! # Not modeled
//! Anything else, e.g. an empty battery.
//!
//! # Sources
//! None, because the device is an example.
//!
//! # Checks
//! The contract of every device, and power losses at random times.

mod device;

use device::BatteryRam;
use nacre_config::{Configuration, Descriptor, Model};
use nacre_device::DeviceFamily;
use nacre_kernel::{Bytes, Time};
use nacre_media::persistence::Landed;
use nacre_media::store::Nothing;

/// Size in bytes of the unit that a power loss leaves completely old or completely new.
const WORD: u32 = 8;

/// Battery-backed RAM.
#[derive(Clone, Debug, Configuration)]
pub(crate) struct Config {
    /// Capacity.
    #[config(min = "4 KiB")]
    pub capacity: Bytes,
    /// Duration of an access.
    pub access: Time,
}

/// Descriptor and constructor of the component.
pub(crate) const MODEL: Model<DeviceFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "battery_ram",
        "battery-backed RAM",
        &["none: it is an example"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let (id, path) = (builder.component(), slot.path().to_string());
        let config: Config = slot.config(builder.families());
        Ok(match builder.store(&path, Landed::layout(Some(config.capacity))) {
            Some(store) => Box::new(BatteryRam::new(id, path, config, store)),
            None => Box::new(BatteryRam::new(id, path, config, Nothing)),
        })
    },
};
