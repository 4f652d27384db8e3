//! Options of the gateway where data enters a circuit.

use crate::input::BadInput;
use crate::sender_scheme;
use airtcp_proto::circuit::{Compression, Config, Fec};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::circuit::{MAX_CONTROLS, Mark};
use airtcp_wire::human;
use airtcp_wire::{Bytes, Dur, Rate};
use clap::ValueEnum;
use serde_json::Value;

#[derive(clap::Args)]
pub struct CircuitOptions {
    /// Bytes of data that one header packet represents
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>, default_value = "1500B")]
    pub vmss: Bytes,

    /// Number of control TCPs; with more, a loss costs less, and the circuit takes as many flows' shares
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub controls: u16,

    /// The control TCPs' scheme: any sender scheme listed by `airtcp schemes`
    #[arg(long, value_name = "SCHEME", value_parser = scheme, default_value = "cubic")]
    pub control: Scheme,

    /// Guaranteed minimum bandwidth, sent without header packets whatever the losses [default: none]
    #[arg(long, value_name = "RATE", value_parser = human::parse::<Rate>)]
    gmb: Option<Rate>,

    /// Compress header packets, for links that lose packets one by one; after a burst of losses it costs a retransmission timeout
    #[arg(long, value_enum, default_value_t = Compress::None)]
    compression: Compress,

    /// FEC, if the receiver counts data: number of previous header packets (up to 3) repeated in each one, so that losing them costs
    /// nothing; auto: 3, and the last data packets of each burst are repaired, as losses ask for
    #[arg(long, value_name = "COUNT|auto", value_parser = fec, default_value = "0")]
    fec: Fec,

    /// Maximum wait in the tunnel queue at the circuit's current rate; 0: limited only by --tunnel-queue
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value_t = Config::default().tunnel_delay)]
    tunnel_delay: Dur,

    /// Maximum data packets in the tunnel queue
    #[arg(long, value_name = "COUNT", default_value_t = Config::default().tunnel_queue)]
    tunnel_queue: u32,

    /// DSCP bits set in header packets, by which routers know them (1 to 63, or none): see `airtcpd header-first`
    #[arg(long, value_name = "BITS", default_value_t)]
    pub mark: Mark,
}

/// How header packets are compressed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compress {
    None,
    /// 7 bytes shorter; after a loss nothing can be decompressed until a retransmission arrives
    Rfc1144,
    /// 7 bytes shorter; up to two consecutive losses are inferred, after more as with rfc1144
    Twice,
}

impl CircuitOptions {
    /// # Errors
    /// A value is out of range.
    pub fn config(&self) -> Result<Config, BadInput> {
        let circuit = Config {
            vmss: self.vmss,
            controls: self.controls,
            gmb: self.gmb,
            tunnel_delay: self.tunnel_delay,
            tunnel_queue: self.tunnel_queue,
            compression: match self.compression {
                Compress::None => Compression::None,
                Compress::Rfc1144 => Compression::Rfc1144,
                Compress::Twice => Compression::Twice,
            },
            fec: self.fec,
            ..Config::default()
        };
        circuit.check().map_err(BadInput)?;
        if self.controls > MAX_CONTROLS {
            let controls = self.controls;
            return Err(BadInput(format!("--controls {controls}: {MAX_CONTROLS} at most")));
        }
        Ok(circuit)
    }
}

fn fec(text: &str) -> Result<Fec, String> {
    Fec::try_from(text.parse::<u8>().map_or_else(|_| Value::from(text), Value::from))
}

fn scheme(text: &str) -> Result<Scheme, String> {
    sender_scheme::read(text, "a control TCP", "data goes around it")
}
