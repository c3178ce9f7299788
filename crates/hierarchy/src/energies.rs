//! Energies and powers of a device are given together: what is not given would count as nothing.

use crate::workbench::ROOMS;
use nacre_testkit::Workbench;

const BACKING: &str =
    "[device.backing]\nkind = \"measured\"\nread = \"1 ms\"\nwrite = \"1 ms\"\ncapacity = \"3 MiB\"\n";

#[test]
fn a_part_of_the_energies_is_a_mistake() {
    let code = "[device.ecc]\nkind = \"bch\"\nt = 1\n";
    let measured = "kind = \"measured\"\nread = \"10 us\"\nwrite = \"10 us\"\n";
    let pcm = "kind = \"pcm_disk_cache\"\ncapacity = \"64 KiB\"\n";
    let dram = "kind = \"dram_disk_cache\"\ncapacity = \"64 KiB\"\n";
    let flash = "kind = \"flash_disk_cache\"\nblocks = 64\n";
    for (device, given, missing, below) in [
        (measured, "read_energy = \"1 uJ\"", "write_energy", ""),
        (measured, "idle_power = \"1 W\"", "read_energy, write_energy", ""),
        ("kind = \"envy\"\n", "access_energy = \"1 nJ\"", "program_energy, erase_energy", ""),
        ("kind = \"onyx\"\n", "program_energy = \"1 nJ\"", "read_energy", ""),
        ("kind = \"onyx\"\n", "idle_power = \"1 W\"", "read_energy, program_energy", ""),
        (pcm, "write_energy = \"1 nJ\"", "read_energy", code),
        (flash, "active_power = \"1 W\"", "idle_power", code),
        (dram, "idle_power = \"1 W\"", "active_power", ""),
        (dram, "power_down_power = \"1 W\"", "active_power, idle_power", ""),
        (pcm, "", "encode_energy", &format!("{code}decode_energy = \"1 nJ\"\n")),
        (flash, "", "decode_energy", "[device.ecc]\nkind = \"ldpc\"\nencode_energy = \"1 nJ\"\n"),
    ] {
        let backing = if device == measured || !device.contains("cache") { "" } else { BACKING };
        let settings = format!("{device}{given}\n{below}{backing}");
        let problems = Workbench::new(ROOMS, 1).build(&settings).err().expect(given).to_string();
        let expected = format!("energy is not known without {missing}, given");
        assert!(problems.contains(&expected), "{given} of {device}: {problems}");
        assert!(problems.contains(&format!("give {missing} too")), "{problems}");
    }
}
