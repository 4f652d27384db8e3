//! How a controller's program stores its parameters: `struct NAME_params` of __u32 members PARAM_qN, which hold the
//! parameter times 2^N.

use libbpf_rs::btf::types::{MemberAttr, Struct};

/// A member of the struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    /// In bytes from the struct's begin.
    pub offset: usize,
    pub fraction_bits: u32,
}

impl Field {
    /// Rounds to nearest.
    pub fn encode(&self, value: f64) -> u32 {
        (value / self.resolution()).round() as u32
    }

    /// The shortest decimal that is stored so: 0.8, although no binary fraction equals it.
    pub fn decode(&self, stored: u32) -> f64 {
        let exact = f64::from(stored) * self.resolution();
        let rounded = |digits| (exact * f64::powi(10.0, digits)).round() / f64::powi(10.0, digits);
        (0..12).map(rounded).find(|&value| self.encode(value) == stored).unwrap_or(exact)
    }

    /// Difference between two neighbouring values.
    pub fn resolution(&self) -> f64 {
        f64::powi(2.0, -(self.fraction_bits as i32))
    }

    pub fn write(&self, value: f64, memory: &mut [u8]) {
        memory[self.offset..][..4].copy_from_slice(&self.encode(value).to_ne_bytes());
    }

    pub fn read(&self, memory: &[u8]) -> f64 {
        let stored = memory[self.offset..][..4].try_into().expect("four bytes");
        self.decode(u32::from_ne_bytes(stored))
    }
}

/// # Panics
/// A member is not named as `bpf/controller.h` says.
pub fn fields(members: &Struct<'_>) -> Vec<Field> {
    let field = |name: &str, offset| {
        let (name, bits) = name.rsplit_once("_q").unwrap_or_else(|| panic!("`{name}` does not end in _qN"));
        Field { name: name.to_owned(), offset, fraction_bits: bits.parse().expect("a number of bits") }
    };
    members
        .iter()
        .map(|member| match member.attr {
            MemberAttr::Normal { offset } => {
                field(&member.name.expect("a named member").to_string_lossy(), offset as usize / 8)
            }
            MemberAttr::BitField { .. } => panic!("a parameter is a whole __u32"),
        })
        .collect()
}
