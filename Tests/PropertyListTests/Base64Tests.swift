import PropertyList
import TestSupport
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test(
        "of the known vectors",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"), ("\u{3FF}\u{7FF}", "z7/fvw=="),
        ])
    func vectors(plain: String, text: String) {
        #expect(String(decoding: Base64.encode([UInt8](plain.utf8)), as: UTF8.self) == text)
        #expect(Base64.decode(text.utf8) == [UInt8](plain.utf8))
    }

    @Test(
        "is refused on the wire in any but the canonical form",
        arguments: [
            "Zg", "Zg=", "Zg===", "Z", "Z===", "=", "====", "Zh==", "Zm9=", "Zm9v=", "Zm9vZg==Zg==", "Zm 9v", "Zm9v\n",
            "Zm-_",
            "Zm9vé", "Zg=\u{3D}=",
        ])
    func refusal(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test("in a property list may be broken anywhere")
    func whiteSpace() {
        #expect(
            Base64.decode([UInt8]("\n\tZ m9\r\nvYg = =\n".utf8)[...], ignoringWhiteSpace: true) == [UInt8]("foob".utf8))
    }

    @Test("round-trips")
    func roundTrip() {
        SplitMix64.withSeed { generator in
            for count in 0..<300 {
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            }
        }
    }
}
