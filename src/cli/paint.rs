//! Colours for a person at a terminal: headings bold, statuses as `juju status` has them.

use crate::juju::Level;

/// The same text with headings (lines that begin with a letter) and the levels of statuses coloured, where
/// it goes to a terminal.
pub fn paint(text: &str, terminal: bool) -> String {
    if !terminal {
        return text.to_owned();
    }
    text.lines().map(|line| format!("{}\n", painted(line))).collect()
}

fn painted(line: &str) -> String {
    if line.starts_with(|first: char| first.is_alphabetic()) {
        return format!("\x1b[1m{line}\x1b[0m");
    }
    // A level is a cell of its own: two blanks before it, and two or the end of the line behind it.
    for (level, colour) in
        [(Level::Blocked, 31), (Level::Waiting, 33), (Level::Maintenance, 33), (Level::Active, 32)]
    {
        let cell = format!("  {level}");
        if let Some((before, after)) = line.split_once(&cell)
            && (after.is_empty() || after.starts_with("  "))
        {
            return format!("{before}  \x1b[{colour}m{level}\x1b[0m{after}");
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::paint;

    #[test]
    fn only_headings_and_cells_that_are_levels_are_coloured_and_only_at_a_terminal() {
        let text = "Statuses\n  setup    active\n  upgrade  blocked  it is  active now\n  blocked by x\n";
        assert_eq!(paint(text, false), text);
        let coloured = "\x1b[1mStatuses\x1b[0m\n  setup    \x1b[32mactive\x1b[0m\n  upgrade  \
                        \x1b[31mblocked\x1b[0m  it is  active now\n  blocked by x\n";
        assert_eq!(paint(text, true), coloured);
    }
}
