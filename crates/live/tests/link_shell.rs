//! `airtcpd link --shell`, from start to end and however it ends. Each test has a host of its own: a network namespace and
//! an empty /run.

use airtcp_kernel::netlink::Netlink;
use airtcp_live::PacketDevice;
use airtcp_live::emulate::PacketSocket;
use airtcp_live::namespace::{Namespace, Veth, sysctl};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Somebody who is no root.
const NOBODY: u32 = 65534;

/// Runs a test on a host of its own, where that is permitted.
fn on_a_host(test: impl FnOnce() + Send) {
    let Some(namespace) = Namespace::if_permitted() else { return };
    namespace
        .run(|| {
            unshare(CloneFlags::CLONE_NEWNS).unwrap();
            mount(None::<&str>, "/", None::<&str>, MsFlags::MS_SLAVE | MsFlags::MS_REC, None::<&str>)
                .unwrap();
            mount(Some("tmpfs"), "/run", Some("tmpfs"), MsFlags::empty(), None::<&str>).unwrap();
            test();
        })
        .unwrap();
}

fn has(program: &str) -> bool {
    let is_there =
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().any(|at| Path::new(at).join(program).exists());
    if !is_there {
        eprintln!("skipped: no {program} here");
    }
    is_there
}

fn airtcpd(options: &[&str], command: &[&str]) -> Command {
    let mut airtcpd = Command::new(env!("CARGO_BIN_EXE_airtcpd"));
    airtcpd.args(["link", "--shell", "--quiet"]).args(options).arg("--").args(command);
    airtcpd.env_remove("SUDO_UID").stdin(Stdio::null());
    airtcpd
}

fn run(options: &[&str], command: &[&str]) -> Output {
    airtcpd(options, command).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file for a test's own output.
fn scratch(extension: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("airtcp-link-shell-{}-{number}.{extension}", std::process::id()))
}

/// Starts it, and waits for the command's first line.
fn start(options: &[&str], script: &str) -> (Child, String) {
    let mut child = airtcpd(options, &["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim_end().to_owned())
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// What the kernel does by itself it does soon.
#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
fn eventually(is_so: impl Fn() -> bool, what: &str) {
    for _ in 0..500 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

/// What `airtcpd` has made in this thread's namespace.
fn devices_and_routes() -> String {
    ["dev", "route"]
        .map(|table| fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap())
        .concat()
}

fn records() -> usize {
    let Ok(files) = fs::read_dir("/run/airtcp") else { return 0 };
    files.filter(|file| file.as_ref().unwrap().path().extension().is_some()).count()
}

/// Does any process live in the network namespace of this name?
fn is_inhabited(namespace: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut homes = processes.filter_map(|process| fs::read_link(process.path().join("ns/net")).ok());
    homes.any(|home| home == Path::new(namespace))
}

fn interface(name: &str, address: [u8; 4]) -> PacketSocket {
    let veth = Veth { name, address: address.into(), prefix: 24, mtu: 1500 };
    let mut end = veth.make_in(&Namespace::current().unwrap()).unwrap();
    // Once it says that it was down when it was opened.
    assert_eq!(end.recv(&mut [0; 2000]).unwrap(), None);
    end
}

/// Gives this host a way out, which leads nowhere.
fn way_out() -> PacketSocket {
    let out = interface("out0", [192, 0, 2, 1]);
    Netlink::open().unwrap().route_all("out0").unwrap();
    out
}

fn forwards(interface: &str) -> bool {
    sysctl::get(&format!("net.ipv4.conf.{interface}.forwarding")).unwrap() == "1"
}

/// From 192.0.2.2 to 198.51.100.2, of the protocol for experiments.
const STRANGERS: [u8; 34] = [
    2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0x8d, 0xb5, 192, 0, 2, 2,
    198, 51, 100, 2,
];

/// Does what comes in by `out` for another network go on to it?
#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
fn lets_strangers_through(out: &mut PacketSocket, lan: &mut PacketSocket) -> bool {
    out.send(&STRANGERS).unwrap();
    let came_on = |_| {
        thread::sleep(Duration::from_millis(10));
        lan.recv(&mut [0; 2000]).unwrap().is_some()
    };
    (0..50).any(came_on)
}

#[test]
fn the_commands_status_is_airtcpds() {
    on_a_host(|| {
        let status = |command: &[&str]| run(&[], command).status.code();
        assert_eq!(status(&["sh", "-c", "exit 7"]), Some(7));
        assert_eq!(status(&["sh", "-c", "kill -KILL $$"]), Some(137));
        assert_eq!(status(&["/etc/passwd"]), Some(126));
        let missing = run(&[], &["no-such-program"]);
        assert_eq!(missing.status.code(), Some(127));
        assert!(stderr(&missing).contains("no-such-program: no such program"), "{missing:?}");
    });
}

#[test]
fn the_far_end_is_reached_over_the_link_alone() {
    on_a_host(|| {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut socket, peer) = listener.accept().unwrap();
            socket.write_all(b"hello\n").unwrap();
            peer.ip()
        });
        let script = format!("exec 3<>/dev/tcp/$AIRTCP_LINK_FAR/{port}; echo $AIRTCP_LINK_NEAR; cat <&3");
        let counters = scratch("json");
        let options = ["--set", "wireless.loss.ber=0", "--json", counters.to_str().unwrap()];
        let output = run(&options, &["bash", "-c", &script]);
        let told = fs::read_to_string(&counters).unwrap();
        fs::remove_file(counters).unwrap();
        assert_eq!(stdout(&output), format!("{}\nhello", server.join().unwrap()));
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        for way in told["ways"].as_array().unwrap() {
            assert!(way["delivered_packets"].as_u64().unwrap() >= 2, "{told}");
        }
    });
}

#[test]
fn the_far_end_is_reached_in_ipv6_and_hears_nothing_else() {
    on_a_host(|| {
        let listener = match TcpListener::bind("[::]:0") {
            Ok(listener) => listener,
            Err(error) => return eprintln!("skipped: no IPv6 here: {error}"),
        };
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || listener.accept().unwrap().1.ip().to_string());
        let captured = scratch("pcap");
        let script = format!("exec 3<>/dev/tcp/$AIRTCP_LINK_FAR6/{port}; echo $AIRTCP_LINK_NEAR6");
        let options = ["--capture", captured.to_str().unwrap()];
        let output = run(&options, &["bash", "-c", &script]);
        assert_eq!(stdout(&output), server.join().unwrap(), "{output:?}");
        let capture = fs::read(&captured).unwrap();
        fs::remove_file(captured).unwrap();
        // Of IPv6, nothing but TCP (next header 6) has crossed the path.
        let frames = frames(&capture);
        assert!(
            frames.len() >= 5 && frames.iter().all(|frame| frame[12..14] == [0x86, 0xdd] && frame[20] == 6)
        );
    });
}

/// Those of a pcap file.
fn frames(file: &[u8]) -> Vec<&[u8]> {
    let mut rest = &file[24..];
    let mut frames = Vec::new();
    while let Some((header, behind)) = rest.split_at_checked(16) {
        let len = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
        frames.push(&behind[..len]);
        rest = &behind[len..];
    }
    frames
}

#[test]
fn what_the_command_has_sent_arrives_after_its_end() {
    on_a_host(|| {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let mut received = Vec::new();
            let (mut socket, _) = listener.accept().unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            socket.read_to_end(&mut received).map(|_| received.len())
        });
        let script = format!("head -c 200000 /dev/zero > /dev/tcp/$AIRTCP_LINK_FAR/{port}");
        let output = run(&["--set", "wireless.rate=1Mbit/s"], &["bash", "-c", &script]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        assert_eq!(server.join().unwrap().unwrap(), 200_000);
    });
}

#[test]
fn a_capture_shows_packets_when_they_were_sent() {
    on_a_host(|| {
        let file = scratch("pcap");
        let script = "date +%s%N; echo > /dev/udp/$AIRTCP_LINK_FAR/9; date +%s%N";
        let output = run(&["--capture", file.to_str().unwrap()], &["bash", "-c", script]);
        let captured = fs::read(&file).unwrap();
        fs::remove_file(file).unwrap();
        let word = |at: usize| u64::from(u32::from_le_bytes(*captured[at..].first_chunk().unwrap()));
        let micros = word(24) * 1_000_000 + word(28);
        let around: Vec<u64> =
            stdout(&output).lines().map(|nanos| nanos.parse::<u64>().unwrap() / 1000).collect();
        assert!((around[0]..=around[1]).contains(&micros), "{micros} is not in {around:?}");
    });
}

#[test]
fn kill_9_leaves_neither_process_nor_namespace_nor_device_nor_route() {
    on_a_host(|| {
        let before = devices_and_routes();
        // Neither its session nor its parent ties the second process to airtcpd.
        let script = "(setsid sleep 1000 &) ; readlink /proc/self/ns/net; sleep 1000";
        let (mut child, namespace) = start(&[], script);
        assert!(is_inhabited(&namespace) && devices_and_routes().contains("airtcp"));
        send(&child, Signal::SIGKILL);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        eventually(|| !is_inhabited(&namespace), "processes live on in the namespace");
        eventually(
            || devices_and_routes().lines().count() == before.lines().count(),
            "devices or routes stay",
        );
        let next = run(&[], &["sh", "-c", "echo $AIRTCP_LINK_FAR"]);
        assert_eq!(stdout(&next), "100.64.0.1", "{next:?}");
        assert_eq!((records(), devices_and_routes().contains("airtcp")), (0, false));
    });
}

#[test]
fn what_the_command_has_started_ends_with_it() {
    on_a_host(|| {
        let output = run(&[], &["sh", "-c", "(setsid sleep 1000 &); readlink /proc/self/ns/net"]);
        assert!(!is_inhabited(&stdout(&output)));
    });
}

#[test]
fn the_command_is_told_to_end_and_then_killed() {
    on_a_host(|| {
        let (mut polite, _) = start(&[], "trap 'exit 9' TERM; echo ready; sleep 1000 & wait");
        send(&polite, Signal::SIGTERM);
        assert_eq!(polite.wait().unwrap().code(), Some(9));
        let (mut stubborn, namespace) = start(&[], "trap '' TERM; readlink /proc/self/ns/net; sleep 1000");
        send(&stubborn, Signal::SIGTERM);
        assert_eq!(stubborn.wait().unwrap().code(), Some(137));
        assert!(!is_inhabited(&namespace));
        let output = run(&["--duration", "100ms"], &["sleep", "1000"]);
        assert_eq!(output.status.code(), Some(143));
    });
}

/// Types at a terminal: each text once what stands before it has been seen.
fn type_at_terminal(command: &str, dialogue: &[(&str, &str)]) -> (String, Option<i32>) {
    type_behind("", command, dialogue)
}

/// The same behind the path of a scenario.
fn type_behind(scenario: &str, command: &str, dialogue: &[(&str, &str)]) -> (String, Option<i32>) {
    // `exec`: `script` starts it by $SHELL, and a dash that stayed would itself die of the keys, with 130.
    let line = format!("exec {} link --shell --quiet {scenario} -- {command}", env!("CARGO_BIN_EXE_airtcpd"));
    // Tests that were started in the background may ignore SIGINT. If something never comes, the timeout ends the wait.
    let mut script = Command::new("env")
        .args(["--default-signal=INT", "timeout", "60"])
        .args(["script", "--quiet", "--return", "--command", &line, "/dev/null"])
        .env_remove("SUDO_UID")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut keyboard, mut screen) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
    let (mut seen, mut buffer) = (String::new(), [0; 4096]);
    let mut from = 0;
    for (wanted, keys) in dialogue {
        while !seen[from..].contains(wanted) {
            let len = screen.read(&mut buffer).unwrap();
            assert!(len > 0, "{wanted:?} was not seen: {seen}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..len]));
        }
        from = seen.len();
        keyboard.write_all(keys.as_bytes()).unwrap();
    }
    screen.read_to_string(&mut seen).unwrap();
    (seen, script.wait().unwrap().code())
}

#[test]
fn ctrl_c_is_the_commands() {
    on_a_host(|| {
        if !has("script") {
            return;
        }
        let command = "sh -c 'trap \"exit 5\" INT; echo re\"\"ady; sleep 1000 & wait'";
        assert_eq!(type_at_terminal(command, &[("ready", "\x03")]).1, Some(5));
    });
}

#[test]
fn an_interactive_shell_has_its_prompt_and_its_jobs() {
    on_a_host(|| {
        if !has("script") {
            return;
        }
        // `exec`, as a shell that is about to start a process may not heed the keys.
        let dialogue = [
            ("[lossy wireless link]", "sh -c 'echo be\"\"gun; exec sleep 1000'\n"),
            ("begun", "\x1a"),
            ("Stopped", "kill %1; wait -f %1; sh -c 'echo a\"\"gain; exec sleep 1000'\n"),
            ("again", "\x03"),
            ("[lossy wireless link]", "exit 3\n"),
        ];
        let (seen, status) = type_at_terminal("bash --norc -i", &dialogue);
        assert_eq!(status, Some(3), "{seen}");
        assert!(!seen.contains("job control"), "{seen}");
    });
}

#[test]
fn nothing_in_a_scenarios_name_is_expanded() {
    on_a_host(|| {
        if !has("script") {
            return;
        }
        // Short: on a terminal that can do little, readline shows the end of a long prompt alone.
        let touched = PathBuf::from(format!("/tmp/at{}", std::process::id()));
        let at = touched.display();
        let scenario = scratch("toml");
        let default = fs::read_to_string("../../scenarios/default.toml").unwrap();
        let rest = default.lines().filter(|line| !line.starts_with("name =")).collect::<Vec<_>>().join("\n");
        let names = [
            format!("w$(touch {at})"),
            format!("w`touch {at}`"),
            format!(r"w\$(touch {at})"),
            format!(r"w\044(touch {at})"),
        ];
        for (name, shell) in names.iter().flat_map(|name| [(name, "bash --norc -i"), (name, "sh -i")]) {
            fs::write(&scenario, format!("name = '{name}'\n{rest}")).unwrap();
            let (seen, _) = type_behind(&scenario.to_string_lossy(), shell, &[("[w?", "exit 3\n")]);
            assert!(!touched.exists(), "{shell}: {seen}");
        }
        fs::remove_file(scenario).unwrap();
    });
}

#[test]
fn shells_nest_and_let_out_only_when_asked() {
    on_a_host(|| {
        if !has("nft") {
            return;
        }
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut socket, peer) = listener.accept().unwrap();
            socket.write_all(b"hello\n").unwrap();
            peer.ip().to_string()
        });
        let connect = |nat: &str| {
            let airtcpd = env!("CARGO_BIN_EXE_airtcpd");
            let inner = format!("exec 3<>/dev/tcp/$OUTER/{port}; echo $AIRTCP_LINK_FAR; cat <&3");
            let outer = format!(
                "export OUTER=$AIRTCP_LINK_FAR; echo $OUTER; \
                 exec {airtcpd} link --shell --quiet {nat} -- timeout 2 bash -c '{inner}'"
            );
            run(&["--set", "wireless.loss.ber=0"], &["sh", "-c", &outer])
        };
        let kept_in = connect("");
        assert_eq!(kept_in.status.code(), Some(124), "{kept_in:?}");
        let let_out = connect("--nat --set wireless.loss.ber=0");
        assert_eq!(stdout(&let_out), "100.64.0.1\n100.64.0.5\nhello", "{let_out:?}");
        assert_eq!(server.join().unwrap(), "100.64.0.2", "under the address of the outer command");
    });
}

#[test]
fn forwarding_is_undone_at_the_end_and_after_kill_9() {
    on_a_host(|| {
        if !has("nft") {
            return;
        }
        let _out = way_out();
        let tables = || stdout(&Command::new("nft").args(["list", "tables"]).output().unwrap());
        let (mut first, _) = start(&["--nat"], "echo ready; sleep 1000");
        let (mut second, _) = start(&["--nat"], "echo ready; sleep 1000");
        assert_eq!((tables().lines().count(), forwards("out0"), records()), (2, true, 2));
        send(&first, Signal::SIGTERM);
        first.wait().unwrap();
        assert_eq!((tables().lines().count(), forwards("out0"), records()), (1, true, 1));
        send(&second, Signal::SIGKILL);
        second.wait().unwrap();
        eventually(|| tables().is_empty(), "the table stays");
        assert!(forwards("out0"), "else this proves nothing");
        let next = run(&[], &["true"]);
        assert_eq!((forwards("out0"), records()), (false, 0), "{next:?}");
    });
}

#[test]
fn what_the_host_forwards_it_goes_on_to() {
    on_a_host(|| {
        if !has("nft") {
            return;
        }
        let (mut out, mut lan) = (way_out(), interface("lan0", [198, 51, 100, 1]));
        for is_router in [true, false] {
            sysctl::set("net.ipv4.conf.out0.forwarding", if is_router { "1" } else { "0" }).unwrap();
            assert_eq!(lets_strangers_through(&mut out, &mut lan), is_router, "without a link");
            let (mut first, _) = start(&["--nat"], "echo ready; sleep 1000");
            let (mut second, _) = start(&["--nat"], "echo ready; sleep 1000");
            assert!(forwards("out0"));
            assert_eq!(lets_strangers_through(&mut out, &mut lan), is_router);
            send(&first, Signal::SIGTERM);
            first.wait().unwrap();
            assert_eq!(lets_strangers_through(&mut out, &mut lan), is_router, "the second one stays");
            send(&second, Signal::SIGTERM);
            second.wait().unwrap();
            assert_eq!(forwards("out0"), is_router);
        }
    });
}

#[test]
fn under_sudo_the_command_is_the_users() {
    on_a_host(|| {
        let script =
            "id -u; id -G; echo $LOGNAME; grep CapEff /proc/self/status /proc/1/status | grep -v ':\\s0*$'";
        let mut airtcpd = airtcpd(&[], &["sh", "-c", script]);
        let output = airtcpd
            .envs([("SUDO_UID", NOBODY), ("SUDO_GID", NOBODY)].map(|(name, id)| (name, id.to_string())));
        assert_eq!(stdout(&output.output().unwrap()), format!("{NOBODY}\n{NOBODY}\nnobody"));
    });
}

/// Nobody, with the rights to have a priority, to end what the command has started, and to undo what it has set.
#[test]
fn root_is_given_up() {
    on_a_host(|| {
        let _out = way_out();
        let [nice, kill, net_admin, dac_override] = [23, 5, 12, 1].map(|capability| 1u64 << capability);
        for (options, kept) in [(&[][..], nice | kill), (&["--nat"], nice | kill | net_admin | dac_override)]
        {
            if options.contains(&"--nat") && !has("nft") {
                continue;
            }
            let (mut child, _) = start(options, "echo ready; sleep 1000");
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let field = |name: &str| {
                status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
            };
            assert_eq!(field("Uid:"), [NOBODY.to_string().as_str(); 4].join("\t"));
            assert_eq!(
                [field("CapEff:"), field("CapPrm:")],
                [format!("{kept:016x}"), format!("{kept:016x}")]
            );
            send(&child, Signal::SIGTERM);
            child.wait().unwrap();
        }
    });
}

#[test]
fn what_is_missing_is_named_and_nothing_is_left() {
    on_a_host(|| {
        let files = ["pcapng", "json"].map(scratch);
        for file in &files {
            fs::write(file, "of the last time").unwrap();
            fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap();
        }
        let [capture, json] = files.each_ref().map(|file| file.to_str().unwrap());
        let nat = ["--nat", "--capture", capture, "--json", json];
        let fails = |mut airtcpd: Command, why: &str| {
            let output = airtcpd.output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            assert!(stderr(&output).contains(why), "{output:?}");
            assert_eq!((devices_and_routes().contains("airtcp"), records()), (false, 0));
            assert!(files.iter().all(|file| fs::read(file).unwrap() == b"of the last time"), "{why}");
        };
        let mut without_rights = airtcpd(&nat[1..], &["true"]);
        without_rights.uid(NOBODY);
        fails(without_rights, "run it with sudo");
        fails(airtcpd(&nat, &["true"]), "no default route");
        let _out = way_out();
        let mut without_nft = airtcpd(&nat, &["true"]);
        without_nft.env("PATH", "/nowhere");
        fails(without_nft, "install nftables");
        let mut without_it_again = airtcpd(&nat[1..], &["/bin/true"]);
        assert!(without_it_again.env("PATH", "/nowhere").status().unwrap().success());
        assert!(files.iter().all(|file| fs::read(file).unwrap() != b"of the last time"));
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
    });
}

#[test]
fn a_file_that_cannot_be_written_is_a_mistake_of_the_users() {
    on_a_host(|| {
        let output = run(&["--json", "/nowhere/counters.json"], &["true"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains("/nowhere/counters.json"), "{output:?}");
        assert!(!devices_and_routes().contains("airtcp"));
    });
}
