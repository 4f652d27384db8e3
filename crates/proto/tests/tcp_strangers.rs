//! What a stranger's segments can do to a transfer between two others.

use crate::common::siege::{Stranger, besiege};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn one_who_knows_no_numbers_changes_no_byte(data in prop::collection::vec(any::<u8>(), 0..2000)) {
        besiege(&data, Stranger::OffPath);
    }

    #[test]
    fn one_who_sees_all_moves_no_end_beyond_its_bounds(data in prop::collection::vec(any::<u8>(), 0..2000)) {
        besiege(&data, Stranger::OnPath);
    }
}
