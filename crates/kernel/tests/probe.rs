//! Needs root and a kernel with struct_ops; skipped elsewhere.

#[test]
fn a_congestion_control_can_be_registered() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root");
        return;
    }
    airtcp_kernel::cc::probe::congestion_controls().map_err(|refusal| refusal.to_string()).unwrap();
}
