"""Tables and figures of reproduced papers."""
