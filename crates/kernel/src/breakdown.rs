//! Where the time of one request went.

use crate::activity::Activity;
use crate::stage::Stage;
use crate::state::Value;
use crate::time::Time;

/// Names one component of a built stack; given out when the stack is built, parents before children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
pub struct ComponentId(pub u8);

/// Time one request spent in one component on one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Span {
    /// The component.
    pub component: ComponentId,
    /// Doing what.
    pub activity: Activity,
    /// Stage within the component, if it reports stages.
    pub stage: Stage,
    /// Duration.
    pub time: Time,
}
