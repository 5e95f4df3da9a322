import LinuxIO

/// Rows of texts in columns: set below each other for people, or with tabs between them for programs.
package struct Table {
    package var rows: [[String]] = []
    /// Columns of numbers.
    package var rightAligned: Set<Int> = []

    package init(rows: [[String]] = [], rightAligned: Set<Int> = []) {
        self.rows = rows
        self.rightAligned = rightAligned
    }

    /// One text a row, the last column without blanks behind it. No field has a tab or a line end in it.
    package func lines(isPlain: Bool) -> [String] {
        if isPlain { return rows.map { $0.joined(separator: "\t") } }
        let columns = rows.first?.indices ?? 0..<0
        let widths = columns.map { column in rows.map { $0[column].displayWidth }.max() ?? 0 }
        return rows.map { row in
            columns.map { column in
                if rightAligned.contains(column) { return row[column].paddedLeft(to: widths[column]) }
                return column == columns.last ? row[column] : row[column].padded(to: widths[column])
            }.joined(separator: "  ")
        }
    }
}

extension String {
    /// The columns that it takes on a terminal.
    package var displayWidth: Int { Terminal.width(of: self) }

    /// With spaces at the end, up to so many columns.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - displayWidth))
    }

    /// With spaces in front, for numbers.
    func paddedLeft(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - displayWidth)) + self
    }
}
