/// Curves as one picture: a panel each, both axes logarithmic, in SVG as every browser shows it.
struct Plot {
    private static let columns = 2
    private static let panelWidth = 460.0
    private static let panelHeight = 290.0
    /// The axes' room within a panel.
    private static let left = 62.0
    private static let right = 18.0
    private static let top = 46.0
    private static let bottom = 48.0

    static func svg(_ curves: [Curve]) -> String {
        let rows = (curves.count + columns - 1) / columns
        let (width, height) = (Double(columns) * panelWidth, Double(rows) * panelHeight)
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(text(width))" height="\(text(height))" \
            viewBox="0 0 \(text(width)) \(text(height))" font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            """
        ]
        for (index, curve) in curves.enumerated() {
            let x = Double(index % columns) * panelWidth
            let y = Double(index / columns) * panelHeight
            parts.append("<g transform=\"translate(\(text(x)) \(text(y)))\">")
            parts.append(Panel(curve).svg)
            parts.append("</g>")
        }
        return (parts + ["</svg>\n"]).joined(separator: "\n")
    }

    fileprivate static func text(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    private struct Panel {
        let curve: Curve
        private let sizes: Axis
        private let costs: Axis

        init(_ curve: Curve) {
            self.curve = curve
            sizes = Axis(
                curve.points.map { Double($0.size) }, from: Plot.left, to: Plot.panelWidth - Plot.right)
            costs = Axis(curve.points.map(\.cost), from: Plot.panelHeight - Plot.bottom, to: Plot.top)
        }

        var svg: String {
            (title + grid + [line] + dots).joined(separator: "\n")
        }

        private var title: [String] {
            let colour = curve.hasItsShape ? "#555" : "#b00020"
            return [
                label(
                    "\(curve.name), \(curve.unit)", x: Plot.left, y: 20, more: "font-weight=\"bold\" font-size=\"13\""),
                label(
                    "should be \(curve.shape.rawValue): \(curve.verdict)", x: Plot.left, y: 36,
                    more: "fill=\"\(colour)\" font-size=\"11\""),
                label(
                    curve.sizeName, x: (Plot.left + Plot.panelWidth - Plot.right) / 2, y: Plot.panelHeight - 14,
                    more: "text-anchor=\"middle\""),
            ]
        }

        private var grid: [String] {
            let (x0, x1) = (Plot.left, Plot.panelWidth - Plot.right)
            let (y0, y1) = (Plot.panelHeight - Plot.bottom, Plot.top)
            let columns = sizes.decades.flatMap { decade in
                let x = sizes.place(decade)
                return [
                    rule(x, y0, x, y1),
                    label(Self.name(decade), x: x, y: y0 + 16, more: "text-anchor=\"middle\" fill=\"#555\""),
                ]
            }
            let rows = costs.decades.flatMap { decade in
                let y = costs.place(decade)
                return [
                    rule(x0, y, x1, y),
                    label(Self.name(decade), x: x0 - 6, y: y + 4, more: "text-anchor=\"end\" fill=\"#555\""),
                ]
            }
            return columns + rows
        }

        private var line: String {
            let points = curve.points.map { "\(x($0)),\(y($0))" }.joined(separator: " ")
            return "<polyline points=\"\(points)\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/>"
        }

        private var dots: [String] {
            curve.points.indices.flatMap { index in
                let point = curve.points[index]
                let value = Curve.text(point.cost)
                // Not into the axis at the left, nor out of the picture at the right.
                let anchor = index == 0 ? "start" : index == curve.points.count - 1 ? "end" : "middle"
                return [
                    "<circle cx=\"\(x(point))\" cy=\"\(y(point))\" r=\"3.5\" fill=\"#1f5fa8\"/>",
                    """
                    <text x="\(x(point))" y="\(Plot.text(costs.place(point.cost) - 8))" text-anchor="\(anchor)" \
                    font-size="10" fill="#1f5fa8">\(value)</text>
                    """,
                ]
            }
        }

        private func x(_ point: Curve.Point) -> String { Plot.text(sizes.place(Double(point.size))) }
        private func y(_ point: Curve.Point) -> String { Plot.text(costs.place(point.cost)) }

        private func rule(_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double) -> String {
            """
            <line x1="\(Plot.text(x0))" y1="\(Plot.text(y0))" x2="\(Plot.text(x1))" y2="\(Plot.text(y1))" \
            stroke="#ddd"/>
            """
        }

        private func label(_ text: String, x: Double, y: Double, more: String) -> String {
            "<text x=\"\(Plot.text(x))\" y=\"\(Plot.text(y))\" \(more)>\(text)</text>"
        }

        private static func name(_ decade: Double) -> String {
            decade >= 1 ? Int(decade).short : "\(decade)"
        }
    }

    /// A logarithmic axis over whole decades.
    private struct Axis {
        let decades: [Double]
        private let start: Double
        private let end: Double

        init(_ numbers: [Double], from start: Double, to end: Double) {
            (self.start, self.end) = (start, end)
            var low = 1.0
            while let least = numbers.min(), least > 0, low > least, low > 1e-6 { low /= 10 }
            while let least = numbers.min(), low * 10 <= least { low *= 10 }
            var decades = [low]
            while let last = decades.last, last < numbers.max() ?? 1 || decades.count < 2 { decades.append(last * 10) }
            self.decades = decades
        }

        func place(_ number: Double) -> Double {
            guard let low = decades.first, let high = decades.last, number > 0 else { return start }
            // Digits of a number in base 10, by halving: the standard library alone has no logarithm.
            return start + (end - start) * (Self.logarithm(number / low) / Self.logarithm(high / low))
        }

        /// To the base of 2: the exponent, and the rest bit by bit.
        private static func logarithm(_ number: Double) -> Double {
            var result = Double(number.exponent)
            var rest = number.significand
            var bit = 0.5
            while bit > 1e-9 {
                rest *= rest
                if rest >= 2 {
                    rest /= 2
                    result += bit
                }
                bit /= 2
            }
            return result
        }
    }
}
