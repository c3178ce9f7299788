//! A magnetic disk described by its data sheet: sizes, times, and power.

use super::{Draw, Layout, SeekCurve, SeekTimes};
use crate::charge::check_powers;
use nacre_config::{Configuration, Reader};
use nacre_kernel::{Bandwidth, Bytes, Power, Rate, Time};

/// Times and powers of the arm and the platters.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Mechanics {
    /// Capacity.
    #[config(min = "1 MiB")]
    pub capacity: Bytes,
    /// Rotational speed of the platters.
    #[config(min = "1 /s", max = "1000 /s")]
    pub rotation: Rate,
    /// Number of data surfaces, i.e. tracks per arm position.
    #[config(min = 1, max = 64)]
    pub heads: u32,
    /// Seek time to the next track, including settling.
    #[config(min = "1 us")]
    pub track_to_track_seek: Time,
    /// Average seek time over all pairs of tracks, including settling.
    pub average_seek: Time,
    /// Seek time across all tracks, including settling.
    pub full_stroke_seek: Time,
    /// Additional settling time of a write.
    #[config(default = "0 s", source = "assumed: none, if the data sheet gives one seek time for both")]
    pub write_settle: Time,
    /// Sustained transfer rate of the outermost tracks.
    #[config(min = "1 kB/s")]
    pub outer_rate: Bandwidth,
    /// Sustained transfer rate of the innermost tracks.
    #[config(min = "1 kB/s")]
    pub inner_rate: Bandwidth,
    /// Power while spinning without an access.
    pub idle_power: Option<Power>,
    /// Power while the arm moves, including idle power.
    pub seek_power: Option<Power>,
    /// Power during rotational latency, reads, and writes, including idle power.
    pub active_power: Option<Power>,
}

impl Mechanics {
    /// Layout of the sectors on the disk.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let rotation = Time::from_secs_f64(1.0 / self.rotation.0);
        Layout::new(self.capacity, rotation, self.outer_rate, self.inner_rate, self.heads)
    }

    /// Seek curve. The settings must be valid.
    #[must_use]
    pub fn curve(&self) -> SeekCurve {
        SeekCurve::fit(self.seek_times()).expect("the configuration was checked")
    }

    /// Power of each activity, in addition to idle power.
    #[must_use]
    pub fn draw(&self) -> Draw {
        let above_idle = |power: Option<Power>| {
            Power(power.zip(self.idle_power).map_or(0.0, |(power, idle)| power.0 - idle.0))
        };
        Draw { seek: above_idle(self.seek_power), active: above_idle(self.active_power) }
    }

    fn seek_times(&self) -> SeekTimes {
        SeekTimes {
            track_to_track: self.track_to_track_seek,
            average: self.average_seek,
            full_stroke: self.full_stroke_seek,
        }
    }
}

/// Maximum time to read a whole disk: 200 days, the maximum of simulated time.
const WHOLE_DISK_MOST: Time = Time::from_s(200 * 86_400);

fn check(config: &Mechanics, reader: &mut Reader<'_>) {
    if let Err(unfit) = SeekCurve::fit(config.seek_times()) {
        let remedy = format!(
            "with these track-to-track and full-stroke seeks, use a value from {} to {}",
            unfit.least_average, unfit.most_average
        );
        let given = config.average_seek.to_string();
        reader.conflict("average_seek", &given, "no seek curve has these three times", &remedy);
    }
    if config.inner_rate > config.outer_rate {
        let remedy = format!("the largest allowed is outer_rate, {}", config.outer_rate);
        reader.conflict("inner_rate", &config.inner_rate.to_string(), "it is above outer_rate", &remedy);
    }
    check_capacity(config, reader);
    check_power(config, reader);
}

/// Checks that the time to read the whole disk is within the range of simulated time, because positions on
/// the platters are times.
fn check_capacity(config: &Mechanics, reader: &mut Reader<'_>) {
    let mean_rate = (config.outer_rate.0 + config.inner_rate.0) / 2.0;
    let most = mean_rate * WHOLE_DISK_MOST.as_secs_f64();
    if config.capacity.0 as f64 > most {
        let problem = format!("reading all of it takes longer than {WHOLE_DISK_MOST}");
        let remedy = format!("at these rates the largest allowed is {}", Bytes(most as u64));
        reader.conflict("capacity", &config.capacity.to_string(), &problem, &remedy);
    }
}

fn check_power(config: &Mechanics, reader: &mut Reader<'_>) {
    let Mechanics { idle_power, seek_power, active_power, .. } = *config;
    let works = [("seek_power", seek_power), ("active_power", active_power)];
    check_powers(reader, &[("idle_power", idle_power), works[0], works[1]]);
    for (field, power) in works {
        if let (Some(power), Some(idle)) = (power, idle_power)
            && power < idle
        {
            let remedy = format!("it includes idle power: at least {idle}");
            reader.conflict(field, &power.to_string(), "it is below idle_power", &remedy);
        }
    }
}
