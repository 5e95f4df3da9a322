/// How one cost grows with one size: measured points, and the shape that they should have.
struct Curve {
    enum Shape: String {
        /// The same at every size.
        case constant
        /// In proportion to the size, once the part that is always there no longer hides it.
        case linear
    }

    struct Point {
        var size: Int
        /// The median, in `unit`.
        var cost: Double
    }

    var name: String
    var sizeName: String
    var unit: String
    var shape: Shape
    var points: [Point] = []

    /// A cost may be so many times another one and still pass for the same: caches end somewhere.
    private static let constantLimit = 2.0
    /// A cost may grow so many times faster than its size and still pass for linear.
    private static let linearLimit = 1.5

    /// The greatest cost as a multiple of the least.
    var spread: Double {
        let costs = points.map(\.cost)
        guard let least = costs.min(), let greatest = costs.max(), least > 0 else { return 1 }
        return greatest / least
    }

    /// How much faster than the size the cost grows, where it grows fastest.
    var excess: Double {
        zip(points, points.dropFirst()).map { left, right in
            guard left.cost > 0, left.size > 0 else { return 0 }
            return right.cost / left.cost / (Double(right.size) / Double(left.size))
        }.max() ?? 0
    }

    var hasItsShape: Bool {
        switch shape {
        case .constant: spread <= Self.constantLimit
        case .linear: excess <= Self.linearLimit
        }
    }

    var verdict: String {
        let measured =
            switch shape {
            case .constant: "greatest ÷ least \(Self.text(spread))"
            case .linear: "at most \(Self.text(excess)) × as fast as the size"
            }
        return hasItsShape ? measured : "NOT \(shape.rawValue): \(measured)"
    }

    static func text(_ number: Double) -> String {
        number >= 100 ? "\(Int(number.rounded()))" : "\((number * 100).rounded() / 100)"
    }

    var json: String {
        let texts = points.map { #"{"size": \#($0.size), "cost": \#($0.cost)}"# }
        return #"""
              {"curve": "\#(name)", "size": "\#(sizeName)", "unit": "\#(unit)", "shape": "\#(shape.rawValue)", "hasItsShape": \#(hasItsShape),
               "points": [\#(texts.joined(separator: ", "))]}
            """#
    }
}

extension [Curve] {
    var markdown: String {
        var lines = ["| cost | by | unit | points | should be | is |", "|---|---|---|---|---|---|"]
        for curve in self {
            let points = curve.points.map { "\($0.size.short): \(Curve.text($0.cost))" }.joined(separator: " · ")
            lines.append(
                "| \(curve.name) | \(curve.sizeName) | \(curve.unit) | \(points) | \(curve.shape.rawValue) | \(curve.verdict) |"
            )
        }
        return lines.joined(separator: "\n")
    }

    var json: String { "[\n\(map(\.json).joined(separator: ",\n"))\n]\n" }
}

extension Int {
    /// 1000 as 1k, 1000000 as 1M.
    var short: String {
        if self >= 1_000_000, self % 1_000_000 == 0 { return "\(self / 1_000_000)M" }
        if self >= 1000, self % 1000 == 0 { return "\(self / 1000)k" }
        return "\(self)"
    }
}
