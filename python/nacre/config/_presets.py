"""A function for each device of the catalog, with the settings of its model.

Written by `make reference`; do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from nacre.config.base import Preset

if TYPE_CHECKING:
    from nacre.config._generated import (
        Allocation,
        Cleaning,
        Ecc,
        FlashScheduling,
        HddDeviceStandby,
        HostInterface,
        Latency,
        MappingTable,
        MemoryScheduling,
        Queue,
        SsdDeviceErrors,
        SsdDeviceFdp,
        SsdDeviceGarbageCollection,
        SsdDeviceSlcCache,
        WearLeveling,
    )

__all__ = ["disk_15k", "disk_15k_kim", "disk_7200", "emlc_flash_ssd", "emlc_ssd", "envy_2gb", "envy_prototype", "evo970_1tb", "iodrive_80gb", "moneta", "network_store", "nvram_ddr3_flash", "nvram_ddr4_flash", "nvram_mram", "onyx", "optane_p4800x", "p320h_700gb", "p4500_1tb", "p4500_4tb", "pcm_ssd", "pm983_960gb", "s4500_960gb", "ssd660p_1tb", "tlc_nvme", "tlc_nvme_aged", "tlc_nvme_worn"]


class EnvySettings(TypedDict, total=False):
    """Settings of `envy` that override those of a preset."""

    segments: int
    segment: str
    page: str
    transfer: str
    banks: int
    spare_segments: int
    utilization: str | float
    preload: str
    buffer: str
    threshold: str | float
    cleaning: Cleaning
    wear_swap_gap: int
    word: str
    access: str
    copy_on_write: str
    mmu_entries: int
    page_table_access: str
    program: str
    erase: str
    concurrency: int
    resume_after: str
    suspend: str
    endurance: int
    access_energy: str
    program_energy: str
    erase_energy: str
    price: str
    sram_price: str
    price_basis: str


class HddSettings(TypedDict, total=False):
    """Settings of `hdd` that override those of a preset."""

    capacity: str
    rotation: str
    heads: int
    track_to_track_seek: str
    average_seek: str
    full_stroke_seek: str
    write_settle: str
    outer_rate: str
    inner_rate: str
    idle_power: str
    seek_power: str
    active_power: str
    interface_rate: str
    scheduling: Literal['first_come', 'shortest_seek', 'shortest_access']
    queue: int
    age_limit: str
    read_ahead: str
    write_cache: str
    standby: HddDeviceStandby
    drive: str
    price: str
    price_basis: str


class MeasuredSettings(TypedDict, total=False):
    """Settings of `measured` that override those of a preset."""

    capacity: str
    drive: str
    read: Latency
    write: Latency
    trim: str
    flush: str
    unit: str
    parallelism: int
    bandwidth: str
    read_energy: str
    write_energy: str
    idle_power: str
    price: str
    price_basis: str
    endurance: str


class NetworkSettings(TypedDict, total=False):
    """Settings of `network` that override those of a preset."""

    read: Latency
    write: Latency
    unit: str
    parallelism: int
    bandwidth: str
    hedge_after: str
    capacity: str
    price: str
    price_basis: str


class NvramCardSettings(TypedDict, total=False):
    """Settings of `nvram_card` that override those of a preset."""

    host: HostInterface
    chip: str
    width: int
    row: str
    banks: int
    groups: int
    burst: int
    clock: str
    rounding: Literal['up', 'ddr4']
    read_latency: int
    write_latency: int
    activate_to_access: str
    precharge: str
    row_open: str
    row_cycle: str
    activate_to_activate: str
    activate_to_activate_in_group: str
    four_activates: str
    access_to_access: int
    access_to_access_in_group: str
    write_recovery: str
    write_to_read: str
    write_to_read_in_group: str
    read_to_precharge: str
    rank_to_rank: int
    refresh_every: str
    refresh: str
    activate_energy: str
    read_energy: str
    write_energy: str
    refresh_energy: str
    channels: int
    ranks: int
    chips: int
    interleave: str
    interleave_groups: bool
    scheduler: MemoryScheduling
    rows: Literal['open', 'closed', 'open_for_reads']
    processors: int
    processing: str
    volatile: bool
    written: Literal['in_row', 'closed']
    capacitor: str
    capacitor_hours: int
    capacitor_fade: str | float
    charge_power: str
    wait_for_charge: bool
    may_lose_writes: bool
    dump: Literal['all', 'changed']
    dump_power: str
    dump_setup: str
    flash_page: str
    flash_write: str
    flash_read: str
    flash_ecc: Ecc
    flash_error_rate: str | float
    boot: str
    idle_power: str
    price: str
    price_basis: str


class OnyxSettings(TypedDict, total=False):
    """Settings of `onyx` that override those of a preset."""

    controllers: int
    ranks: int
    row_ranks: int
    data_chips: int
    spare_chips: int
    chip: str
    read_unit: str
    read: str
    program_unit: str
    fill: str
    program: str
    endurance: int
    program_energy: str
    read_energy: str
    idle_power: str
    program_zeros: str
    zero_words: str | float
    ecc: Ecc
    bit_error_rate: float
    row: str
    read_control: str
    row_setup: str
    poll_interval: str
    poll: str
    scheduling: Literal['available', 'in_order']
    wear_leveling: WearLeveling
    completion: Literal['late', 'early']
    buffered_writes: int
    late_writes: int
    late_refill: str
    host: HostInterface
    tags: int
    pipeline: str
    link: str
    ring: str
    ring_stations: int
    ring_hop: str
    driver: str
    cpus: int
    capacitors: str
    may_lose_writes: bool
    price: str
    price_basis: str


class SsdSettings(TypedDict, total=False):
    """Settings of `ssd` that override those of a preset."""

    channels: int
    ways: int
    planes: int
    blocks: int
    pages: int
    page: str
    unit: str
    read: list[str]
    program: list[str]
    erase: str
    endurance: int
    endurance_spread: str | float
    read_energy: str
    program_energy: str
    erase_energy: str
    transfer_energy: str
    idle_power: str
    erases_at_once: int
    programs_at_once: int
    bus: str
    transfer: str
    command: str
    multi_plane: bool
    registers: int
    arbitration: Literal['first_come', 'commands_first', 'pages_first', 'reads_first']
    over_provisioning: str | float
    spare_blocks: int
    factory_bad: str | float
    youngest_first: bool
    buffer: str
    buffer_places: Literal['ring', 'pool']
    scheduling: FlashScheduling
    host: HostInterface
    link: str
    driver: str
    cpus: int
    processors: int
    firmware: str
    translation: str
    queue: Queue
    unwritten: Literal['flash', 'zeros']
    price: str
    price_basis: str
    allocation: Allocation
    garbage_collection: str | SsdDeviceGarbageCollection
    mapping: MappingTable
    capacity: str
    slc_cache: SsdDeviceSlcCache
    buffer_kept: str | float
    power_protected: bool
    paired_page_loss: bool
    fdp: SsdDeviceFdp
    errors: SsdDeviceErrors


def disk_15k(**settings: Unpack[HddSettings]) -> Preset:
    """15K RPM disk, Seagate Cheetah 15K.7 450 GB (ST3450857SS)."""
    return Preset("disk_15k", settings)


def disk_15k_kim(**settings: Unpack[MeasuredSettings]) -> Preset:
    """15K RPM disk as one latency (Kim et al., FAST'14)."""
    return Preset("disk_15k_kim", settings)


def disk_7200(**settings: Unpack[HddSettings]) -> Preset:
    """7200 RPM disk with command queueing, Seagate Exos X16 16 TB (ST16000NM001G)."""
    return Preset("disk_7200", settings)


def emlc_flash_ssd(**settings: Unpack[SsdSettings]) -> Preset:
    """Enterprise MLC flash SSD, 1.8 TB, with channels, dies, and garbage collection (fitted to Kim et al., FAST'14)."""
    return Preset("emlc_flash_ssd", settings)


def emlc_ssd(**settings: Unpack[MeasuredSettings]) -> Preset:
    """Enterprise MLC flash SSD with DRAM write buffer, 1.8 TB (Kim et al., FAST'14)."""
    return Preset("emlc_ssd", settings)


def envy_2gb(**settings: Unpack[EnvySettings]) -> Preset:
    """ENVy: 2 GiB of flash as main memory, 16 MiB of write buffer (Wu and Zwaenepoel, ASPLOS'94)."""
    return Preset("envy_2gb", settings)


def envy_prototype(**settings: Unpack[EnvySettings]) -> Preset:
    """ENVy: the planned prototype, 128 MiB, whose chips take half a page at a time (Wu and Zwaenepoel, ASPLOS'94)."""
    return Preset("envy_prototype", settings)


def evo970_1tb(**settings: Unpack[SsdSettings]) -> Preset:
    """Samsung SSD 970 EVO 1 TB, 64-layer TLC with an SLC cache on PCIe 3.0 x4."""
    return Preset("evo970_1tb", settings)


def iodrive_80gb(**settings: Unpack[SsdSettings]) -> Preset:
    """Fusion-io ioDrive 80 GB, SLC flash whose translation runs on the host (Akel et al., HotStorage'11)."""
    return Preset("iodrive_80gb", settings)


def moneta(**settings: Unpack[OnyxSettings]) -> Preset:
    """Moneta: 64 GB of emulated PCM on PCIe (Caulfield et al., MICRO'10)."""
    return Preset("moneta", settings)


def network_store(**settings: Unpack[NetworkSettings]) -> Preset:
    """Networked storage behind an application server (Kim et al., FAST'14)."""
    return Preset("network_store", settings)


def nvram_ddr3_flash(**settings: Unpack[NvramCardSettings]) -> Preset:
    """NVRAM card: 1 GiB of DDR3-1600, saved to flash with supercapacitor power, PCIe 3 x8, NVMe."""
    return Preset("nvram_ddr3_flash", settings)


def nvram_ddr4_flash(**settings: Unpack[NvramCardSettings]) -> Preset:
    """NVRAM card: 8 GiB of DDR4-2400, saved to flash with supercapacitor power, PCIe 3 x8, NVMe."""
    return Preset("nvram_ddr4_flash", settings)


def nvram_mram(**settings: Unpack[NvramCardSettings]) -> Preset:
    """NVRAM card: 1 GiB of STT-MRAM behind DDR3-1066, PCIe 3 x8, NVMe."""
    return Preset("nvram_mram", settings)


def onyx(**settings: Unpack[OnyxSettings]) -> Preset:
    """Onyx: 8 GiB of first-generation PCM on PCIe (Akel et al., HotStorage'11)."""
    return Preset("onyx", settings)


def optane_p4800x(**settings: Unpack[MeasuredSettings]) -> Preset:
    """Intel Optane SSD DC P4800X, 375 GB, 3D XPoint on PCIe 3.0 x4."""
    return Preset("optane_p4800x", settings)


def p320h_700gb(**settings: Unpack[SsdSettings]) -> Preset:
    """Micron RealSSD P320h 700 GB, SLC with parity of 7 + 1 (RAIN) on PCIe 2.0 x8."""
    return Preset("p320h_700gb", settings)


def p4500_1tb(**settings: Unpack[SsdSettings]) -> Preset:
    """Intel SSD DC P4500 1 TB, 32-layer TLC on PCIe 3.0 x4."""
    return Preset("p4500_1tb", settings)


def p4500_4tb(**settings: Unpack[SsdSettings]) -> Preset:
    """Intel SSD DC P4500 4 TB, 32-layer TLC on PCIe 3.0 x4."""
    return Preset("p4500_4tb", settings)


def pcm_ssd(**settings: Unpack[MeasuredSettings]) -> Preset:
    """PCM SSD prototype, 45 nm 1 Gbit PCM, 64 GB (Kim et al., FAST'14)."""
    return Preset("pcm_ssd", settings)


def pm983_960gb(**settings: Unpack[SsdSettings]) -> Preset:
    """Samsung PM983 960 GB, 64-layer TLC on PCIe 3.0 x4."""
    return Preset("pm983_960gb", settings)


def s4500_960gb(**settings: Unpack[SsdSettings]) -> Preset:
    """Intel SSD DC S4500 960 GB, 32-layer TLC on SATA at 6 Gb/s."""
    return Preset("s4500_960gb", settings)


def ssd660p_1tb(**settings: Unpack[SsdSettings]) -> Preset:
    """Intel SSD 660p 1 TB, 64-layer QLC with an SLC cache on PCIe 3.0 x4."""
    return Preset("ssd660p_1tb", settings)


def tlc_nvme(**settings: Unpack[SsdSettings]) -> Preset:
    """TLC NVMe SSD, 960 GB, with 16 dies of 64 layers on 8 channels."""
    return Preset("tlc_nvme", settings)


def tlc_nvme_aged(**settings: Unpack[SsdSettings]) -> Preset:
    """The TLC NVMe SSD tlc_nvme, aged to 87 % of its rated cycles, whose slowest reads need read retries."""
    return Preset("tlc_nvme_aged", settings)


def tlc_nvme_worn(**settings: Unpack[SsdSettings]) -> Preset:
    """The TLC NVMe SSD tlc_nvme, worn to its rated cycles, with the bit error rates of 72-layer dies."""
    return Preset("tlc_nvme_worn", settings)
