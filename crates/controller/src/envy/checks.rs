//! Checks the configuration before the device is built.

use super::config::Config;
use super::geometry::Geometry;
use super::page_table::PageTable;
use nacre_config::Reader;
use nacre_kernel::Bytes;
use nacre_media::charge::check_work;

/// Reports every error that involves more than one setting.
pub(super) fn check(config: &Config, reader: &mut Reader<'_>) {
    let [access, program, erase] = config.energy.each();
    let energies = [("access_energy", access), ("program_energy", program), ("erase_energy", erase)];
    check_work(reader, &energies);
    // If the page size is invalid, a size that does not fit it would cause a second message about one error.
    if !power_of_two(reader, "page", config.page, "bytes of a page") {
        return;
    }
    let sizes_fit = [
        multiple(reader, "segment", config.segment, config.page),
        multiple(reader, "buffer", config.buffer, config.page),
        spares_leave_data(reader, config),
    ];
    if sizes_fit.contains(&false) {
        return;
    }
    let geometry = Geometry::of(config);
    check_transfer(reader, config);
    check_pages(reader, config, &geometry);
    check_utilization(reader, config, &geometry);
    if let Some(preload) = config.preload
        && preload.0 > geometry.capacity()
    {
        let remedy = format!("use at most {}, the usable capacity", Bytes(geometry.capacity()));
        reader.conflict("preload", &preload.to_string(), "it exceeds the usable capacity", &remedy);
    }
    if config.concurrency > config.banks {
        let remedy = format!("the largest allowed is {}, or give more banks", config.banks);
        let given = config.concurrency.to_string();
        reader.conflict("concurrency", &given, "a bank works on one operation at a time", &remedy);
    }
}

fn power_of_two(reader: &mut Reader<'_>, field: &str, bytes: Bytes, what: &str) -> bool {
    let fits = bytes.0.is_power_of_two();
    if !fits {
        let (below, above) = (bytes.0.next_power_of_two() / 2, bytes.0.next_power_of_two());
        let remedy = format!("the nearest allowed are {} and {}", Bytes(below), Bytes(above));
        reader.conflict(field, &bytes.to_string(), &format!("{what} are a power of two"), &remedy);
    }
    fits
}

/// Checks that the value of `field`, i.e. `segment` or `buffer`, is a whole number of pages. A segment must
/// also be a power of two. Returns whether the value is valid.
fn multiple(reader: &mut Reader<'_>, field: &str, bytes: Bytes, page: Bytes) -> bool {
    let fits = bytes.0 >= page.0
        && bytes.0.is_multiple_of(page.0)
        && (field == "buffer" || bytes.0.is_power_of_two());
    if !fits {
        let (problem, remedy) = if field == "buffer" {
            ("it is not a whole number of pages", format!("give a multiple of the page, {page}"))
        } else {
            let above = bytes.0.max(page.0).next_power_of_two();
            ("its number of pages is not a power of two", format!("the next allowed is {}", Bytes(above)))
        };
        reader.conflict(field, &bytes.to_string(), problem, &remedy);
    }
    fits
}

/// Checks that a page is a whole number of transfers.
fn check_transfer(reader: &mut Reader<'_>, config: &Config) {
    let Some(transfer) = config.transfer.filter(|transfer| !config.page.0.is_multiple_of(transfer.0)) else {
        return;
    };
    let below = 1 << (transfer.0.min(config.page.0)).ilog2();
    let remedy = format!("the nearest below is {}; remove it to transfer whole pages", Bytes(below));
    let problem = format!("a page of {} is not a whole number of transfers", config.page);
    reader.conflict("transfer", &transfer.to_string(), &problem, &remedy);
}

fn spares_leave_data(reader: &mut Reader<'_>, config: &Config) -> bool {
    let fits = config.spare_segments < config.segments;
    if !fits {
        let remedy = format!("the largest allowed is {}", config.segments - 1);
        let given = config.spare_segments.to_string();
        reader.conflict("spare_segments", &given, "no segments are left for data", &remedy);
    }
    fits
}

/// Checks that the numbers of flash pages and buffer slots fit into page table entries of four bytes.
fn check_pages(reader: &mut Reader<'_>, config: &Config, geometry: &Geometry) {
    let pages = geometry.flash_pages() + u64::from(config.buffer_pages());
    if pages > PageTable::PAGES_MAX {
        let problem =
            format!("flash and buffer have {pages} pages, but the limit is {}", PageTable::PAGES_MAX);
        reader.conflict("page", &config.page.to_string(), &problem, "use larger pages, or fewer segments");
    }
}

/// Checks that every segment can have an invalid page. Otherwise, cleaning would gain no space.
fn check_utilization(reader: &mut Reader<'_>, config: &Config, geometry: &Geometry) {
    let most = geometry.data_pages() - u64::from(geometry.segments - geometry.spare_segments);
    let given = percent(config.utilization.0);
    if geometry.logical_pages > most {
        let share = (most as f64 / geometry.data_pages() as f64 * 1e4).floor() / 1e4;
        let problem = "cleaning needs an invalid page in every segment";
        let remedy = format!("with these segments the largest allowed is {}", percent(share));
        reader.conflict("utilization", &given, problem, &remedy);
    } else if geometry.logical_pages == 0 {
        reader.conflict(
            "utilization",
            &given,
            "the usable capacity is less than one page",
            "give a larger \
                                                                                             share",
        );
    }
}

/// A share in percent, formatted as in settings.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}
