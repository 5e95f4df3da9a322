/// The figures of a run: one per row, server and repetition.
struct ResultTable {
    private struct Row {
        var name: String
        var unit: String
        var figures: [String: [Double]] = [:]
    }

    private var rows: [Row] = []
    private static let servers = ["floor", "appgroupd-process", "appgroupd-power"]

    mutating func add(_ name: String, _ server: String, _ figure: Double, unit: String) {
        let index = rows.firstIndex { $0.name == name } ?? rows.count
        if index == rows.count { rows.append(Row(name: name, unit: unit)) }
        rows[index].figures[server, default: []].append(figure)
    }

    var markdown: String {
        var lines = [
            "| work | unit | floor | appgroupd | × floor | min – max | durable |", "|---|---|--:|--:|--:|--:|--:|",
        ]
        for row in rows {
            let ours = row.figures["appgroupd-process"] ?? []
            let cells = [
                row.name, row.unit, Self.text(row.figures["floor"]?.median), Self.text(ours.median),
                Self.text(Self.ratio(row)), "\(Self.text(ours.min())) – \(Self.text(ours.max()))",
                Self.text(row.figures["appgroupd-power"]?.median),
            ]
            lines.append("| \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n")
    }

    var json: String {
        let items = rows.flatMap { row in
            Self.servers.compactMap { server in
                row.figures[server].map { figures in
                    #"  {"work": "\#(row.name)", "server": "\#(server)", "unit": "\#(row.unit)", "figures": \#(figures)}"#
                }
            }
        }
        return "[\n\(items.joined(separator: ",\n"))\n]\n"
    }

    /// The median over the repetitions of the ratio within one.
    private static func ratio(_ row: Row) -> Double? {
        guard let floor = row.figures["floor"], let ours = row.figures["appgroupd-process"] else { return nil }
        return zip(ours, floor).map { $0 / $1 }.median
    }

    private static func text(_ number: Double?) -> String {
        guard let number, number.isFinite, abs(number) < 1e15 else { return "" }
        if number >= 1000 { return "\(Int(number.rounded()))" }
        return "\((number * 100).rounded() / 100)"
    }
}

extension [Double] {
    /// 0 for none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        let middle = count / 2
        return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
