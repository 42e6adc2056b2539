//! What the kernel takes from a process before it becomes a command.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetStatus, Scope, path_beneath_rules,
};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What commands may read and execute.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/dev/zero", "/dev/random", "/dev/urandom"];
/// What commands may read below `/etc`: neither secrets nor the configuration of services.
const SETTINGS: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "debian_version",
    "group",
    "host.conf",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "magic",
    "magic.mime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/tls/certs",
    "protocols",
    "python3",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];
/// The version of Landlock that binds files, their truncation and TCP.
const LANDLOCK: ABI = ABI::V4;

/// Whether this kernel has the version of Landlock that is needed.
pub(super) fn has_landlock() -> bool {
    let wanted = || {
        let set = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        set.handle_access(AccessFs::from_all(LANDLOCK))?.handle_access(AccessNet::from_all(LANDLOCK))?.create()
    };
    wanted().is_ok()
}

/// Whether this process can be confined by namespaces. It is of no use for anything else afterwards.
pub(super) fn has_namespaces() -> bool {
    enter_namespaces().is_ok() && mount_read_only(&[]).is_ok()
}

/// Moves this process into user, mount, network and IPC namespaces of its own, and its children into a PID namespace.
pub(super) fn enter_namespaces() -> Result<(), String> {
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let spaces = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC;
    unshare(spaces).map_err(|error| error.to_string())?;
    let map =
        |file: &str, text: String| std::fs::write(format!("/proc/self/{file}"), text).map_err(|error| format!("{file}: {error}"));
    map("setgroups", "deny".into())?;
    map("uid_map", format!("{user} {user} 1"))?;
    map("gid_map", format!("{group} {group} 1"))
}

/// Makes everything read-only but the shared paths. Needs a mount namespace of its own.
pub(super) fn mount_read_only(writable: &[PathBuf]) -> Result<(), String> {
    let none = None::<&str>;
    let failed = |what: &Path| {
        let what = what.display().to_string();
        move |error: nix::Error| format!("{what} cannot be made read-only: {error}")
    };
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).map_err(failed(Path::new("/")))?;
    for path in writable {
        mount(Some(path), path, none, MsFlags::MS_BIND | MsFlags::MS_REC, none).map_err(failed(path))?;
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(4);
        let (Some(place), Some(options)) = (fields.next(), fields.next()) else { continue };
        let place = PathBuf::from(unescaped(place));
        if writable.iter().any(|path| place.starts_with(path)) {
            continue;
        }
        let mut flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        // What was set when the namespace was made cannot be taken away in it.
        for (option, flag) in [
            ("nosuid", MsFlags::MS_NOSUID),
            ("nodev", MsFlags::MS_NODEV),
            ("noexec", MsFlags::MS_NOEXEC),
            ("noatime", MsFlags::MS_NOATIME),
            ("nodiratime", MsFlags::MS_NODIRATIME),
            ("relatime", MsFlags::MS_RELATIME),
        ] {
            if options.split(',').any(|set| set == option) {
                flags |= flag;
            }
        }
        match mount(none, &place, none, flags, none) {
            // A mount that another one hides cannot be reached, and needs nothing.
            Ok(()) | Err(nix::Error::ENOENT | nix::Error::EINVAL | nix::Error::EACCES) => {}
            Err(error) => return Err(failed(&place)(error)),
        }
    }
    Ok(())
}

/// The text of a path in `mountinfo`, where spaces and the like are octal numbers.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (code, c)| path.replace(code, c))
}

/// Gives up all capabilities, for good.
pub(super) fn drop_capabilities() -> Result<(), String> {
    use rustix::thread::{CapabilitiesSecureBits as Bits, CapabilitySet, CapabilitySets};
    let run = || {
        rustix::thread::set_no_new_privs(true)?;
        let held = rustix::thread::capabilities(None)?;
        if held.effective.contains(CapabilitySet::SETPCAP) {
            rustix::thread::set_capabilities_secure_bits(
                Bits::NO_ROOT | Bits::NO_ROOT_LOCKED | Bits::NO_SETUID_FIXUP | Bits::NO_SETUID_FIXUP_LOCKED,
            )?;
        }
        let none = CapabilitySet::empty();
        rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
    };
    run().map_err(|error| error.to_string())
}

/// Restricts the files that this process reaches to the system's programs and what is shared with it, and its network.
pub(super) fn landlock(shares: &super::Shares) -> Result<bool, String> {
    let is_there = |path: &Path| path.exists();
    let system = SYSTEM.iter().map(PathBuf::from).chain(SETTINGS.iter().map(|name| Path::new("/etc").join(name)));
    let system: Vec<PathBuf> = system.filter(|path| is_there(path)).collect();
    let restrict = || {
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .create()?
            .add_rules(path_beneath_rules(system, AccessFs::from_read(LANDLOCK)))?
            .add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_file(LANDLOCK)))?
            .add_rules(path_beneath_rules(&shares.written, AccessFs::from_all(LANDLOCK)))?
            .add_rules(path_beneath_rules(&shares.read, AccessFs::from_read(LANDLOCK)))?
            .add_rules(path_beneath_rules(&shares.listed, AccessFs::ReadDir))?
            .restrict_self()?;
        // Kernels before 6.12 lack scopes but may enforce the rest.
        Ruleset::default().scope(Scope::AbstractUnixSocket | Scope::Signal)?.create()?.restrict_self()?;
        Ok(status)
    };
    let status = restrict().map_err(|error: landlock::RulesetError| error.to_string())?;
    Ok(status.ruleset == RulesetStatus::FullyEnforced)
}

/// Calls of the system that no command needs: they reach the network, other processes, devices and the kernel.
const REFUSED: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];
/// Calls that change the rights, owners, attributes and times of files, which Landlock does not know.
const CHANGES: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// The file type bits of devices, for `mknod`.
const DEVICES: [u64; 2] = [libc::S_IFCHR as u64, libc::S_IFBLK as u64];

/// Refuses calls of the system, for this process and all that it starts. With `read_only`, also those that change rights and times of files.
pub(super) fn refuse_calls(read_only: bool) -> Result<(), String> {
    let of = |error: &dyn std::fmt::Display| error.to_string();
    let denied = filter(read_only).map_err(|error| of(&error))?;
    seccompiler::apply_filter(&denied).map_err(|error| of(&error))?;
    // `clone3` passes its flags in memory, which a filter cannot read; without it, programs fall back to `clone`.
    seccompiler::apply_filter(&without_clone3().map_err(|error| of(&error))?).map_err(|error| of(&error))
}

fn filter(read_only: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let changes = if read_only { CHANGES } else { &[] };
    rules.extend(REFUSED.iter().chain(changes).map(|call| (*call, Vec::new())));
    let is = |argument, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    // Sockets of the file system only.
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, libc::AF_UNIX as u64)?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![other])?]);
    // Namespaces of its own.
    let spaces = (libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP) as u64;
    let mut of_clone = Vec::new();
    for bit in (0..32).map(|bit| 1_u64 << bit).filter(|bit| spaces & bit != 0) {
        let set = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), bit)?;
        of_clone.push(SeccompRule::new(vec![set])?);
    }
    rules.insert(libc::SYS_clone, of_clone);
    // What types into the terminal of this program.
    rules.insert(
        libc::SYS_ioctl,
        vec![SeccompRule::new(vec![is(1, libc::TIOCSTI)?])?, SeccompRule::new(vec![is(1, libc::TIOCLINUX)?])?],
    );
    let kind = u64::from(libc::S_IFMT);
    let devices = |argument| {
        DEVICES.iter().map(move |device| {
            SeccompRule::new(vec![SeccompCondition::new(
                argument,
                SeccompCmpArgLen::Dword,
                SeccompCmpOp::MaskedEq(kind),
                *device,
            )?])
        })
    };
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_mknod, devices(1).collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_mknodat, devices(2).collect::<Result<_, _>>()?);
    program(rules, libc::EPERM)
}

fn without_clone3() -> Result<BpfProgram, seccompiler::BackendError> {
    program([(libc::SYS_clone3, Vec::new())].into(), libc::ENOSYS)
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let errno = SeccompAction::Errno(u32::try_from(error).unwrap_or_default());
    SeccompFilter::new(rules, SeccompAction::Allow, errno, std::env::consts::ARCH.try_into()?)?.try_into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::ErrorKind;

    /// In a thread of its own: filters hold for a thread and what it starts.
    fn confined<T: Send>(read_only: bool, tried: impl FnOnce() -> T + Send) -> T {
        let bounded = move || {
            refuse_calls(read_only).unwrap();
            tried()
        };
        std::thread::scope(|scope| scope.spawn(bounded).join().unwrap())
    }

    #[test]
    fn no_network_no_devices_no_namespaces() {
        let dir = tempfile::tempdir().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let node = dir.path().join("node");
        confined(false, || {
            assert_eq!(std::net::TcpStream::connect(address).unwrap_err().kind(), ErrorKind::PermissionDenied);
            assert_eq!(std::net::UdpSocket::bind("127.0.0.1:0").unwrap_err().kind(), ErrorKind::PermissionDenied);
            assert!(std::os::unix::net::UnixStream::pair().is_ok());
            let made = rustix::fs::mknodat(rustix::fs::CWD, &node, rustix::fs::FileType::CharacterDevice, 0o666.into(), 0);
            assert_eq!(made, Err(rustix::io::Errno::PERM));
            assert!(rustix::fs::mknodat(rustix::fs::CWD, &node, rustix::fs::FileType::Fifo, 0o666.into(), 0).is_ok());
            assert_eq!(unshare(CloneFlags::CLONE_NEWUSER), Err(nix::Error::EPERM));
            assert!(std::process::Command::new("true").status().unwrap().success());
        });
    }

    #[test]
    fn what_only_reads_changes_no_rights_and_times() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let changes = |read_only| {
            confined(read_only, || {
                let mode = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).is_ok();
                let time = std::fs::File::open(path).unwrap().set_modified(std::time::SystemTime::now()).is_ok();
                [mode, time]
            })
        };
        assert_eq!((changes(false), changes(true)), ([true; 2], [false; 2]));
    }

    #[test]
    fn paths_of_mounts_are_unescaped() {
        assert_eq!(unescaped("/a\\040b\\134c"), "/a b\\c");
    }
}
