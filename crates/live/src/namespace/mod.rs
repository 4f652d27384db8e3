//! Network namespaces: made, entered, and gone with the process that made them.
