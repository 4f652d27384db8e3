//! A table with columns as wide as their contents. Numbers are aligned to the right.

use std::fmt;

pub struct Table(Vec<Vec<String>>);

impl Table {
    pub fn new(head: &[&str]) -> Table {
        Table(vec![head.iter().map(|&cell| cell.to_owned()).collect()])
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.0.push(cells.into_iter().map(Into::into).collect());
    }

    fn width(&self, column: usize) -> usize {
        self.0.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    }

    fn is_numeric(&self, column: usize) -> bool {
        self.0[1..].iter().all(|row| row[column].bytes().all(|byte| byte.is_ascii_digit()))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.0 {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let width = self.width(column);
                if self.is_numeric(column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}
