//! A scenario's path in real time: the machines of [`airtcp_proto::path`] between network devices.
