//! CSS colours: WCAG contrast, and lightening and darkening.

use super::HostFn;
use super::args::{HostFnResult, charged, fail, number};
use csscolorparser::Color;
use rhai::{Dynamic, Map};

const GROUP: &str = "colors";

/// The host functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "contrast_ratio",
        signature: "contrast_ratio(a: string, b: string) -> float",
        group: GROUP,
        doc: "The contrast of two opaque CSS colours by WCAG 2: from 1.0 (the same) to 21.0 (black on white). Text needs 4.5, large text \
              and the edges of controls 3.0.",
        example: r##"contrast_ratio("#fff", "black")"##,
        result: "21.0",
        bind: |engine, name| {
            engine.register_fn(name, |a: &str, b: &str| contrast_ratio(a, b));
        },
    },
    HostFn {
        name: "color_hsl",
        signature: "color_hsl(color: string) -> map",
        group: GROUP,
        doc: "The hue (degrees), saturation and lightness (percent) of an opaque CSS colour: a name, `#rgb`, `#rrggbb`, `rgb()`, `hsl()`, \
              `oklch()` and so on.",
        example: r##"color_hsl("#0000ff")"##,
        result: "#{ hue: 240.0, saturation: 100.0, lightness: 50.0 }",
        bind: |engine, name| {
            engine.register_fn(name, |color: &str| color_hsl(color));
        },
    },
    HostFn {
        name: "hsl_color",
        signature: "hsl_color(hue: number, saturation: number, lightness: number) -> string",
        group: GROUP,
        doc: "The CSS colour `#rrggbb` of a hue (degrees), a saturation and a lightness (percent, cut to 0 and 100).",
        example: "hsl_color(240, 100, 50)",
        result: r##""#0000ff""##,
        bind: |engine, name| {
            engine.register_fn(name, |hue: Dynamic, saturation: Dynamic, lightness: Dynamic| {
                hsl_color(&hue, &saturation, &lightness)
            });
        },
    },
    HostFn {
        name: "is_color",
        signature: "is_color(text: string) -> bool",
        group: GROUP,
        doc: "Whether a text is an opaque CSS colour.",
        example: r##"[is_color("#0ea5e9"), is_color("teal"), is_color("blueish"), is_color("#0008")]"##,
        result: "[true, true, false, false]",
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| charged(text).map(|text| color(text).is_ok()));
        },
    },
];

fn color(text: &str) -> HostFnResult<Color> {
    match csscolorparser::parse(charged(text)?.trim()) {
        Ok(color) if color.a >= 1.0 => Ok(color),
        Ok(_) => {
            fail(format!("`{text}` is not opaque, so its contrast depends on what is behind it; write the colour that results"))
        }
        Err(_) => fail(format!("`{text}` is not a CSS colour; write for example `#0ea5e9`, `teal` or `rgb(14 165 233)`")),
    }
}

/// The WCAG 2 relative luminance of the 8-bit channels.
fn luminance(color: &Color) -> f64 {
    let [r, g, b, _] = color.to_rgba8();
    let linear = |channel: u8| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

fn contrast_ratio(a: &str, b: &str) -> HostFnResult<f64> {
    let (a, b) = (luminance(&color(a)?), luminance(&color(b)?));
    Ok((a.max(b) + 0.05) / (a.min(b) + 0.05))
}

/// Hue, saturation and lightness, computed from the 8-bit channels so that results are the same on every machine.
fn color_hsl(text: &str) -> HostFnResult<Map> {
    let [r, g, b, _] = color(text)?.to_rgba8().map(|channel| f64::from(channel) / 255.0);
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    let (range, lightness) = (max - min, f64::midpoint(max, min));
    let saturation = if range == 0.0 { 0.0 } else { range / (1.0 - (2.0 * lightness - 1.0).abs()) };
    let hue = if range == 0.0 {
        0.0
    } else if max.total_cmp(&r).is_eq() {
        60.0 * ((g - b) / range).rem_euclid(6.0)
    } else if max.total_cmp(&g).is_eq() {
        60.0 * ((b - r) / range + 2.0)
    } else {
        60.0 * ((r - g) / range + 4.0)
    };
    let fields = [("hue", hue), ("saturation", saturation * 100.0), ("lightness", lightness * 100.0)];
    Ok(fields.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
}

#[allow(clippy::cast_possible_truncation)]
fn hsl_color(hue: &Dynamic, saturation: &Dynamic, lightness: &Dynamic) -> HostFnResult<String> {
    let [hue, saturation, lightness] = [number(hue)?.float(), number(saturation)?.float(), number(lightness)?.float()];
    if !(hue.is_finite() && saturation.is_finite() && lightness.is_finite()) {
        return fail("a hue, a saturation and a lightness are finite numbers");
    }
    let percent = |value: f64| (value.clamp(0.0, 100.0) / 100.0) as f32;
    let color = Color::from_hsla(hue.rem_euclid(360.0) as f32, percent(saturation), percent(lightness), 1.0);
    let [r, g, b, _] = color.to_rgba8();
    Ok(format!("#{r:02x}{g:02x}{b:02x}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn contrast_follows_wcag() {
        for (a, b, expected) in
            [("#fff", "#fff", 1.0), ("#777", "white", 4.478), ("#767676", "#ffffff", 4.542), ("#0ea5e9", "#fff", 2.771)]
        {
            let got = contrast_ratio(a, b).unwrap();
            assert!((got - expected).abs() < 0.001, "{a} on {b}: {got}");
            assert!((got - contrast_ratio(b, a).unwrap()).abs() < 1e-12);
        }
    }

    #[test]
    fn hsl_round_trips() {
        for text in ["#0ea5e9", "#16a34a", "#ff0000", "#123456", "#c0ffee", "#000000", "#ffffff", "#808080", "#ff00aa"] {
            let hsl = color_hsl(text).unwrap();
            assert_eq!(hsl_color(&hsl["hue"], &hsl["saturation"], &hsl["lightness"]).unwrap(), text);
        }
    }

    #[test]
    fn colours_that_are_not_opaque_are_rejected_with_an_example() {
        let message = |script: &str| super::super::tests::eval(script).unwrap_err().message;
        assert!(message("contrast_ratio(\"blueish\", \"red\")").contains("write for example"));
        assert!(message("color_hsl(\"rgba(0, 0, 0, 0.5)\")").contains("is not opaque"));
        assert!(message("hsl_color(1.0 / 0.0, 1, 1)").contains("finite"));
    }
}
