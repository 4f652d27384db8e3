use super::*;
use crate::namespace::Namespace;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;

/// A folder of the test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("airtcp-leftovers-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A change that makes a file.
    fn file(&self) -> Change {
        let path = self.0.join("pin");
        fs::write(&path, "").unwrap();
        Change::File(path)
    }

    /// A record whose maker is dead: the file without a lock.
    fn of_the_dead(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name).with_extension("json");
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn entry(change: &Change) -> String {
    serde_json::to_string(&Entry::here(change.clone()).unwrap()).unwrap()
}

#[test]
fn namespaces_differ_in_their_cookies_and_before_linux_5_14_in_their_inodes() {
    let Some(other) = Namespace::if_permitted() else { return };
    for number in [cookie, inode] {
        let here = number().unwrap();
        assert_eq!(number().unwrap(), here);
        assert_ne!(other.run(number).unwrap().unwrap(), here);
    }
}

#[test]
fn who_lives_undoes_it_alone() {
    let folder = Folder::new("lives");
    let record = RecordedChange::write(&folder.0, folder.file()).unwrap();
    assert_eq!(clean_in(&folder.0).unwrap(), []);
    assert!(folder.0.join("pin").exists());
    drop(record);
    assert!(!folder.0.join("pin").exists());
    assert_eq!(records(&folder.0).unwrap(), [] as [PathBuf; 0]);
}

#[test]
fn what_the_dead_left_is_undone_once() {
    let folder = Folder::new("dead");
    let change = folder.file();
    let record = folder.of_the_dead("1-1-0", &entry(&change));
    assert_eq!(clean_in(&folder.0).unwrap(), [change]);
    assert!(!folder.0.join("pin").exists() && !record.exists());
    assert_eq!(clean_in(&folder.0).unwrap(), []);
}

fn maker(pid: u32) -> Maker {
    Maker { pid, ..Maker::this().unwrap() }
}

#[test]
fn who_is_killed_is_dying_until_it_is_gone() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let made = maker(child.id());
    assert!(!made.is_dying());
    child.kill().unwrap();
    for _ in 0..1000 {
        assert!(made.is_dying());
    }
    child.wait().unwrap();
    assert!(made.is_dying());
    assert!(!Maker { pid_namespace: 1, ..made }.is_dying(), "nobody here can tell");
}

/// As a worker does, whose keeper was killed.
#[test]
#[allow(clippy::disallowed_methods, reason = "held for a while")]
fn who_cleans_waits_for_the_lock_that_the_dead_one_has_left() {
    let folder = Folder::new("dying");
    let change = folder.file();
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let path = folder.of_the_dead(&format!("{}-1-0", maker(dead.id())), &entry(&change));
    let lock = Flock::lock(File::open(path).unwrap(), FlockArg::LockExclusive).unwrap();
    let undone = thread::scope(|scope| {
        let cleaning = scope.spawn(|| clean_in(&folder.0).unwrap());
        thread::sleep(Duration::from_millis(50));
        drop(lock);
        cleaning.join().unwrap()
    });
    assert_eq!(undone, [change]);
}

#[test]
fn what_two_have_done_the_last_one_undoes() {
    let folder = Folder::new("two");
    let change = folder.file();
    folder.of_the_dead("1-1-0", &entry(&change));
    let alive = RecordedChange::write(&folder.0, change.clone()).unwrap();
    assert_eq!(clean_in(&folder.0).unwrap(), [change]);
    assert!(folder.0.join("pin").exists(), "the living one still needs it");
    drop(alive);
    assert!(!folder.0.join("pin").exists());
}

#[test]
fn two_dead_leave_nothing() {
    let folder = Folder::new("both");
    let change = folder.file();
    folder.of_the_dead("1-1-0", &entry(&change));
    folder.of_the_dead("2-1-0", &entry(&change));
    clean_in(&folder.0).unwrap();
    assert!(!folder.0.join("pin").exists());
    assert_eq!(records(&folder.0).unwrap(), [] as [PathBuf; 0]);
}

#[test]
fn a_record_that_is_cut_short_goes() {
    let folder = Folder::new("short");
    let record = folder.of_the_dead("1-1-0", "{\"namespace\":");
    assert_eq!(clean_in(&folder.0).unwrap(), []);
    assert!(!record.exists());
}

#[test]
fn what_is_gone_already_counts_as_undone() {
    let folder = Folder::new("gone");
    let change = Change::File(folder.0.join("never"));
    folder.of_the_dead("1-1-0", &entry(&change));
    assert_eq!(clean_in(&folder.0).unwrap(), [change]);
}

#[test]
fn changes_are_told_in_words() {
    let [name, before, set] = ["net.ipv4.conf.eth0.forwarding", "0", "1"].map(str::to_owned);
    let told = [Change::Sysctl { name, before, set }, Change::Cgroup("/c".into()), Change::File("/f".into())];
    assert_eq!(
        told.map(|change| change.to_string()),
        ["the sysctl net.ipv4.conf.eth0.forwarding, set from 0 to 1", "the control group /c", "the file /f"]
    );
}

fn on_record_in(namespace: u64, change: Change) -> String {
    serde_json::to_string(&Entry { namespace, is_makers: false, change }).unwrap()
}

/// `ip netns del` has taken it along: there is nothing to undo, nor to tell of.
#[test]
fn what_was_of_a_namespace_that_is_gone_is_forgotten() {
    let folder = Folder::new("elsewhere");
    let record = folder.of_the_dead("1-1-0", &on_record_in(u64::MAX, Change::Divert(1)));
    assert_eq!(left_in(&folder.0).unwrap(), []);
    assert_eq!(clean_in(&folder.0).unwrap(), []);
    assert!(!record.exists());
}

#[test]
fn what_is_in_another_namespace_is_undone_from_here() {
    let Some(namespace) = Namespace::if_permitted() else { return };
    let folder = Folder::new("there");
    let name = "net.ipv4.conf.lo.forwarding".to_owned();
    namespace.sysctl(&name, "1").unwrap();
    let change = Change::Sysctl { name: name.clone(), before: "0".to_owned(), set: "1".to_owned() };
    let there = namespace.run(cookie).unwrap().unwrap();
    folder.of_the_dead("1-1-0", &on_record_in(there, change.clone()));
    assert_eq!(left_in(&folder.0).unwrap().len(), 1);
    assert_eq!(clean_in(&folder.0).unwrap(), [change]);
    assert_eq!(namespace.sysctl_value(&name).unwrap(), "0");
    assert_eq!(left_in(&folder.0).unwrap(), []);
}

#[test]
fn what_was_done_in_a_namespace_of_ones_own_is_gone_with_it() {
    let Some(namespace) = Namespace::if_permitted() else { return };
    let folder = Folder::new("own");
    let text = namespace.run(|| entry(&Change::Divert(1))).unwrap();
    let record = folder.of_the_dead("1-1-0", &text);
    let of_all = folder.of_the_dead("1-1-1", &namespace.run(|| entry(&folder.file())).unwrap());
    assert_eq!(clean_in(&folder.0).unwrap(), [folder.file()]);
    assert!(!record.exists() && !of_all.exists());
}

/// The second one must not take what the first one has just set for the host's own value.
#[test]
fn two_who_set_a_sysctl_at_once_both_have_it_on_record() {
    let Some(namespace) = Namespace::if_permitted() else { return };
    let folder = Folder::new("at-once");
    let name = "net.ipv4.conf.lo.forwarding";
    let start = Barrier::new(2);
    let set = || {
        start.wait();
        RecordedChange::of_sysctl_in(&folder.0, name, "1").unwrap()
    };
    let race = || {
        sysctl::set(name, "0").unwrap();
        for round in 0..500 {
            let records =
                thread::scope(|scope| [scope.spawn(set), scope.spawn(set)].map(|one| one.join().unwrap()));
            assert!(records.iter().all(Option::is_some), "in round {round}");
            drop(records);
            assert_eq!(sysctl::get(name).unwrap(), "0", "in round {round}");
        }
    };
    namespace.run(race).unwrap();
}

#[test]
fn a_sysctl_that_cannot_be_set_is_not_on_record() {
    let folder = Folder::new("nonsense");
    RecordedChange::of_sysctl_in(&folder.0, "net.ipv4.conf.lo.forwarding", "nonsense").unwrap_err();
    assert_eq!(records(&folder.0).unwrap(), [] as [PathBuf; 0]);
}
