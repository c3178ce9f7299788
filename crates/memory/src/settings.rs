//! Settings of the stack that a memory needs.

use nacre_kernel::Bytes;
use nacre_kernel::units::Quantity;
use nacre_machine::Checked;

/// Size in bytes of one memory access by a program. `None` if the stack does not have this setting.
pub(crate) fn word_bytes(checked: &Checked) -> Option<u64> {
    let word = checked.resolved.iter().find(|resolved| resolved.path == "stack.word")?;
    Bytes::parse(word.node.text()?).ok().map(|bytes| bytes.0)
}
