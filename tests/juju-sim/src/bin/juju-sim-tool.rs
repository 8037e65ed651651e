//! Every hook tool and every simulated program of a machine: a link to this program, which asks the simulator.
//!
//! It takes its name from the one that it was called by. A link in a unit's tools directory finds the simulator by the variables that Juju
//! sets; a link in a machine's program directory finds it beside that directory, also outside a hook.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use juju_sim::protocol::{receive, send};

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(text) => {
            // Nothing is left to do if standard error is closed too.
            let _ = writeln!(io::stderr(), "ERROR {text}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<u8, String> {
    let mut argv = std::env::args_os();
    let zero = PathBuf::from(argv.next().unwrap_or_default());
    let args: Vec<Vec<u8>> = argv.map(OsStringExt::into_vec).collect();
    let name = zero.file_name().map(|name| name.as_bytes().to_vec()).unwrap_or_default();
    let (socket, context) = door(&zero)?;
    let cwd = std::env::current_dir().map(|dir| dir.into_os_string().into_vec()).unwrap_or_default();
    let mut stream = connect(&socket).map_err(|e| format!("connecting to {}: {e}", socket.display()))?;
    let mut stdin: Option<Vec<u8>> = None;
    loop {
        let has: &[u8] = if stdin.is_some() { b"1" } else { b"0" };
        let mut parts: Vec<&[u8]> = vec![&context, &cwd, &name, has, stdin.as_deref().unwrap_or(b"")];
        parts.extend(args.iter().map(Vec::as_slice));
        send(&mut stream, &parts).map_err(|e| e.to_string())?;
        let answer = receive(&mut stream).map_err(|e| e.to_string())?;
        let [code, stdout, stderr] = answer.as_slice() else {
            let mut all = Vec::new();
            io::stdin().read_to_end(&mut all).map_err(|e| e.to_string())?;
            stdin = Some(all);
            continue;
        };
        io::stdout().write_all(stdout).and_then(|()| io::stdout().flush()).map_err(|e| e.to_string())?;
        io::stderr().write_all(stderr).map_err(|e| e.to_string())?;
        return Ok(code.first().copied().unwrap_or(1));
    }
}

/// The socket to ask at, and what to show there: the context id, or the width of the terminal.
#[expect(
    clippy::disallowed_methods,
    reason = "this program's own main: the environment is all that it is given"
)]
fn door(zero: &Path) -> Result<(PathBuf, Vec<u8>), String> {
    if let Some(socket) = machine_socket(zero) {
        // The only variable that a program of the machine heeds: messages are wrapped by it.
        return Ok((socket, std::env::var_os("COLUMNS").unwrap_or_default().into_vec()));
    }
    let variable = |name: &str| {
        std::env::var_os(name).filter(|value| !value.is_empty()).ok_or(format!("{name} not set"))
    };
    let context: OsString = variable("JUJU_CONTEXT_ID")?;
    variable("JUJU_AGENT_SOCKET_NETWORK")?;
    Ok((PathBuf::from(variable("JUJU_AGENT_SOCKET_ADDRESS")?), context.into_vec()))
}

/// `ROOT/run/machine.socket`, if this program was found as `ROOT/usr/bin/NAME` or `ROOT/snap/SNAP/current/bin/NAME`.
#[expect(clippy::disallowed_methods, reason = "a program called by its bare name was found in PATH")]
fn machine_socket(zero: &Path) -> Option<PathBuf> {
    let found = if zero.components().count() > 1 {
        zero.to_owned()
    } else {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|dir| dir.join(zero)).find(|file| file.exists())?
    };
    let bin = found.parent()?;
    let root = if bin.ends_with("usr/bin") {
        bin.parent()?.parent()?
    } else if bin.ends_with("current/bin") {
        // A program of a snap, called by its whole path.
        bin.ancestors().nth(4)?
    } else {
        return None;
    };
    let socket = root.join("run/machine.socket");
    socket.exists().then_some(socket)
}

/// Connects through the directory's descriptor: the path itself may be longer than a socket address holds.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    let (Some(dir), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let dir = File::open(dir)?;
    UnixStream::connect(Path::new(&format!("/proc/self/fd/{}", dir.as_raw_fd())).join(name))
}
