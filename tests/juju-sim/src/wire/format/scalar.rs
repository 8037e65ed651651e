//! Which style a YAML scalar can have, and the escapes of the double-quoted one.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// yaml.v2 sees everything above U+FFFF as not printable.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// The wanted style, or the next stronger one that can carry the text.
pub(super) fn choose(text: &str, wanted: Style, simple_key: bool) -> Style {
    let traits = Traits::of(text);
    let mut style = wanted;
    if simple_key && traits.breaks {
        style = Style::Double;
    }
    if style == Style::Plain && (!traits.plain_allowed() || (text.is_empty() && simple_key)) {
        style = Style::Single;
    }
    if style == Style::Single && (traits.break_space || traits.space_break || traits.special) {
        style = Style::Double;
    }
    if style == Style::Literal && (!traits.literal_allowed() || simple_key) {
        style = Style::Double;
    }
    style
}

#[derive(Default)]
struct Traits {
    /// A character that means something else at this place.
    indicators: bool,
    breaks: bool,
    special: bool,
    space_at_start: bool,
    space_at_end: bool,
    break_at_edge: bool,
    break_space: bool,
    space_break: bool,
}

impl Traits {
    fn of(text: &str) -> Self {
        let mut traits =
            Self { indicators: text.starts_with("---") || text.starts_with("..."), ..Self::default() };
        let chars: Vec<char> = text.chars().collect();
        let mut previous = None;
        for (at, c) in chars.iter().copied().enumerate() {
            let next = chars.get(at + 1).copied();
            let before_blank = next.is_none_or(|next| next == ' ' || next == '\t');
            let after_blank = previous.is_none_or(|c| matches!(c, ' ' | '\t') || is_break(c));
            traits.indicators |= match c {
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
                    at == 0
                }
                '#' => after_blank,
                ':' => before_blank,
                '?' | '-' => at == 0 && before_blank,
                _ => false,
            };
            traits.special |= !is_printable(c);
            if c == ' ' {
                traits.space_at_start |= at == 0;
                traits.space_at_end |= next.is_none();
                traits.break_space |= previous.is_some_and(is_break);
            } else if is_break(c) {
                traits.breaks = true;
                traits.break_at_edge |= at == 0 || next.is_none();
                traits.space_break |= previous == Some(' ');
            }
            previous = Some(c);
        }
        traits
    }

    fn plain_allowed(&self) -> bool {
        let edges = self.space_at_start || self.space_at_end || self.break_at_edge;
        !(edges || self.breaks || self.special || self.indicators)
    }

    fn literal_allowed(&self) -> bool {
        !(self.space_at_end || self.space_break || self.special)
    }
}

/// The escape of a character in double quotes, if it needs one.
pub(super) fn escape(c: char) -> Option<String> {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ if is_printable(c) => return None,
        '\0'..='\u{ff}' => return Some(format!("\\x{:02X}", u32::from(c))),
        '\0'..='\u{ffff}' => return Some(format!("\\u{:04X}", u32::from(c))),
        _ => return Some(format!("\\U{:08X}", u32::from(c))),
    };
    Some(format!("\\{short}"))
}
