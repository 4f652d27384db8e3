//! The GMB sender (§4.5.2).
