//! The rows of `snap info` that are in columns: channels, and what is installed.

use super::text::{size, table};
use crate::store::{Channel, Revision, Risk, StoreSnap};
use crate::world::Time;

pub(super) struct Line {
    pub(super) key: String,
    pub(super) version: String,
    pub(super) date: String,
    pub(super) revision: String,
    pub(super) size: String,
    pub(super) notes: String,
}

pub(super) enum Row<'a> {
    Open(u32, &'a Revision, Time),
    /// A safer risk of the track is open, or none.
    Closed(bool),
}

impl Line {
    pub(super) fn of(key: String, row: Row<'_>, absolute: bool) -> Self {
        let date = |time: Time| if absolute { time.rfc3339() } else { time.date() };
        let none = String::new;
        match row {
            Row::Open(number, of, released) => Self {
                key,
                version: of.version.clone(),
                date: date(released),
                revision: format!("({number})"),
                size: size(of.size),
                notes: of.confinement.note().unwrap_or("-").to_owned(),
            },
            Row::Closed(forwards) => Self {
                key,
                version: if forwards { "^" } else { "--" }.to_owned(),
                date: none(),
                revision: none(),
                size: none(),
                notes: none(),
            },
        }
    }
}

/// The rows of every track that has an open channel for this architecture.
pub(super) fn channels<'a>(snap: &'a StoreSnap, arch: &str) -> Vec<(String, Row<'a>)> {
    let shown = snap.shown();
    let mut rows = Vec::new();
    for track in &snap.tracks {
        let at = |risk: Risk| {
            let channel = Channel { track: track.clone(), risk, branch: None };
            let number = *shown.get(&channel)?.get(arch)?;
            let released = snap.released.get(&channel).and_then(|by_arch| by_arch.get(arch));
            Some((number, snap.revisions.get(&number)?, released.copied().unwrap_or(Time::START)))
        };
        if Risk::ALL.into_iter().all(|risk| at(risk).is_none()) {
            continue;
        }
        let mut open = false;
        for risk in Risk::ALL {
            let row = at(risk).map_or(Row::Closed(open), |(number, of, date)| Row::Open(number, of, date));
            open |= matches!(row, Row::Open(..));
            rows.push((format!("  {track}/{}:", risk.name()), row));
        }
    }
    rows
}

pub(super) fn aligned(rows: &[Line]) -> String {
    let width = |of: fn(&Line) -> &String| rows.iter().map(|row| of(row).len()).max().unwrap_or(0);
    let (revisions, sizes) = (width(|row| &row.revision), width(|row| &row.size));
    let cells = rows.iter().map(|row| {
        vec![
            row.key.clone(),
            row.version.clone(),
            row.date.clone(),
            format!("{:>revisions$}", row.revision),
            format!("{:>sizes$}", row.size),
            row.notes.clone(),
        ]
    });
    table(&cells.collect::<Vec<_>>(), 2, 1)
}
