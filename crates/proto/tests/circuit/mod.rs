//! TCP circuits: what leaves when, and what never happens to data.

mod any_tcp;
mod compression;
mod data_tcp;
mod gmb;
mod lives;
mod loss_reports;
mod properties;
mod repairs;
mod world;
