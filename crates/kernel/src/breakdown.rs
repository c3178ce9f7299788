//! Latency breakdown of a request.

use crate::activity::Activity;
use crate::stage::Stage;
use crate::state::Value;
use crate::time::Time;

/// Number of a component in a stack. Parents have smaller numbers than their children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Value)]
pub struct ComponentId(pub u8);

/// Time that a request spent in one component on one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub struct Span {
    /// Component in which the time was spent.
    pub component: ComponentId,
    /// Activity of the component.
    pub activity: Activity,
    /// Stage within the component, if the component reports stages.
    pub stage: Stage,
    /// Duration of the span.
    pub time: Time,
}
