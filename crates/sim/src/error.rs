//! Why there is no run, or no result of it.

use airtcp_proto::scheme::SchemeError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("cancelled")]
    Cancelled,
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    #[error("no link called `{name}`; the links are: {known}")]
    UnknownLink { name: String, known: String },
    #[error("the path has no node {node}; its nodes are 0 to {last}")]
    UnknownNode { node: usize, last: usize },
    #[error(
        "flow `{flow}` with scheme `{scheme}` does not pass the base station, which is in front of link `{link}`; \
         set base_station to a link that the flow uses"
    )]
    NotAtBaseStation { flow: String, scheme: String, link: String },
    #[error(
        "flow `{flow}` is carried by circuit `{circuit}`; its scheme `{scheme}` has a circuit of its own, or a machine where \
         that one begins"
    )]
    TwoStations { flow: String, scheme: String, circuit: String },
    #[error("{circuits} circuits are too many; {most} are allowed")]
    TooManyCircuits { circuits: usize, most: usize },
    #[error("{most} different ways through the network are the most; more flows must share theirs")]
    TooManyRoutes { most: usize },
    #[error("capture: {0}")]
    Capture(#[from] io::Error),
}
