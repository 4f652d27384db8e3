//! What a circuit is set to where data enters it.

use crate::input::BadInput;
use airtcp_proto::circuit::{Compression, Config};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::circuit::MAX_CONTROLS;
use airtcp_wire::human;
use airtcp_wire::{Bytes, Dur, Rate};
use clap::ValueEnum;

#[derive(clap::Args)]
pub struct CircuitOptions {
    /// Bytes of data that one header packet stands for
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>, default_value = "1500B")]
    pub vmss: Bytes,

    /// Control TCPs: with more of them a loss costs less, and the circuit has so many flows' shares
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub controls: u16,

    /// The control TCPs' scheme: any of end hosts that `airtcp schemes` lists
    #[arg(long, value_name = "SCHEME", value_parser = scheme, default_value = "cubic")]
    pub control: Scheme,

    /// Guaranteed minimum bandwidth: so much leaves without header packets, whatever is lost [default: none]
    #[arg(long, value_name = "RATE", value_parser = human::parse::<Rate>)]
    gmb: Option<Rate>,

    /// Compress header packets
    #[arg(long, value_enum, default_value_t = Compress::None)]
    compression: Compress,

    /// FEC: header packets before it that each one repeats, 3 at most, if the receiver counts data: those that are lost cost nothing
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    fec: u8,

    /// How long data may wait in the tunnel queue, at the rate that the circuit has; 0: as long as there is room
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value_t = Config::default().tunnel_delay)]
    tunnel_delay: Dur,

    /// Data packets in the tunnel queue, at most
    #[arg(long, value_name = "COUNT", default_value_t = Config::default().tunnel_queue)]
    tunnel_queue: u32,
}

/// How header packets are compressed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compress {
    None,
    /// 15 bytes; after a lost one nothing can be read until a retransmission comes
    Rfc1144,
    /// 15 bytes, and up to two lost ones in a row are guessed
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

fn scheme(text: &str) -> Result<Scheme, String> {
    let scheme = Scheme::parse(text, "linux").map_err(|error| error.to_string())?;
    match (&scheme.base_station, &scheme.circuit) {
        (None, None) => Ok(scheme),
        _ => Err("a control TCP takes the terms of a sender alone".to_owned()),
    }
}
