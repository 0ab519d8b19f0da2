//! Charts, as SVG. What they show is in a table beside them, for those who do not see them.

use jiff::Timestamp;

use crate::render::Html;
use crate::render::words::short;

/// Bars of several parts each.
#[derive(Debug)]
pub(crate) struct Bars {
    /// What is shown.
    pub(crate) title: &'static str,
    /// What the parts are.
    pub(crate) names: [&'static str; 4],
    /// The bars, each with its name.
    pub(crate) bars: Vec<(String, [u64; 4])>,
}

/// The longest name beside a bar, in characters.
const LONGEST: usize = 20;

const PART: [&str; 4] = ["b0", "b1", "b2", "b3"];

/// Bars that stand beside each other, as for days.
pub(crate) fn columns(bars: &Bars) -> Html {
    const HEIGHT: u64 = 120;
    let most =
        bars.bars.iter().map(|(_, parts)| parts.iter().sum::<u64>()).max().unwrap_or(0).max(1);
    let width = 44 * bars.bars.len() as u64 + 40;
    let mut html = Html::new();
    open(&mut html, bars.title, width, HEIGHT + 26);
    html.tag("<text x=\"0\" y=\"14\">").number(most).tag("</text>");
    line(&mut html, [34, HEIGHT, width, HEIGHT]);
    for (number, (name, parts)) in bars.bars.iter().enumerate() {
        let x = 40 + 44 * number as u64;
        let mut y = HEIGHT;
        for (part, class) in parts.iter().zip(PART) {
            let height = part * (HEIGHT - 6) / most;
            y = y.saturating_sub(height);
            rectangle(&mut html, class, [x, y, 30, height]);
        }
        // Where there is little room, every other name is left out. The last one stays.
        let is_spare = (bars.bars.len() - number).is_multiple_of(2);
        html.tag(if is_spare { "<text class=\"spare\" x=\"" } else { "<text x=\"" });
        html.number(x).tag("\" y=\"").number(HEIGHT + 16).tag("\">").text(name).tag("</text>");
    }
    close(&mut html, bars);
    html
}

/// Bars that stand below each other, as for tools.
pub(crate) fn rows(bars: &Bars) -> Html {
    const WIDTH: u64 = 640;
    const NAMES: u64 = 160;
    let most =
        bars.bars.iter().map(|(_, parts)| parts.iter().sum::<u64>()).max().unwrap_or(0).max(1);
    let mut html = Html::new();
    open(&mut html, bars.title, WIDTH, 24 * bars.bars.len() as u64 + 8);
    for (number, (name, parts)) in bars.bars.iter().enumerate() {
        let y = 24 * number as u64 + 4;
        html.tag("<text x=\"0\" y=\"")
            .number(y + 13)
            .tag("\">")
            .text(&short(name, LONGEST))
            .tag("</text>");
        let mut x = NAMES;
        for (part, class) in parts.iter().zip(PART) {
            let width = part * (WIDTH - NAMES - 50) / most;
            rectangle(&mut html, class, [x, y, width, 16]);
            x += width;
        }
        html.tag("<text x=\"").number(x + 6).tag("\" y=\"").number(y + 13).tag("\">");
        html.number(parts.iter().sum()).tag("</text>");
    }
    close(&mut html, bars);
    html
}

/// A value after each turn of a session.
#[derive(Debug)]
pub(crate) struct Trend {
    /// What is shown.
    pub(crate) title: &'static str,
    /// What it is now, in words.
    pub(crate) now: String,
    /// When each turn ended, and the value then.
    pub(crate) values: Vec<(Timestamp, f64)>,
    /// A value in words.
    pub(crate) words: fn(f64) -> String,
}

/// The most points that can be pointed at: more would be closer to each other than a pointer is wide.
const POINTS: usize = 60;

/// A line of values over the turns of a session.
pub(crate) fn trend(trend: &Trend) -> Html {
    const WIDTH: f64 = 400.0;
    const HEIGHT: f64 = 110.0;
    const LEFT: f64 = 52.0;
    const TOP: f64 = 8.0;
    let Trend { title, now, values, words } = trend;
    let mut html = Html::new();
    html.tag("<figure><figcaption class=\"small soft\">").text(title).tag(": ").text(now);
    html.tag("</figcaption>");
    if values.is_empty() {
        html.tag("<p class=\"soft small\">There is more to see after the first turn.</p></figure>");
        return html;
    }
    let most = values.iter().map(|(_, value)| *value).fold(0.0_f64, f64::max);
    let scale = if most > 0.0 { most } else { 1.0 };
    let last = values.len() - 1;
    let x = |number: usize| match last {
        0 => f64::midpoint(LEFT, WIDTH),
        _ => LEFT + number as f64 * (WIDTH - LEFT - 4.0) / last as f64,
    };
    let y = |value: f64| HEIGHT - value / scale * (HEIGHT - TOP);
    open(&mut html, title, WIDTH as u64, HEIGHT as u64 + 18);
    label(&mut html, 0.0, TOP + 8.0, &words(most));
    label(&mut html, 0.0, HEIGHT, &words(0.0));
    label(&mut html, LEFT, HEIGHT + 15.0, "turn 1");
    if last > 0 {
        let name = format!("turn {}", values.len());
        label(&mut html, WIDTH - 8.0 - 6.0 * name.len() as f64, HEIGHT + 15.0, &name);
    }
    let points = values.iter().enumerate();
    let points = points.map(|(number, (_, value))| format!("{:.1},{:.1}", x(number), y(*value)));
    let points = points.collect::<Vec<_>>().join(" ");
    html.tag("<polygon class=\"area\" points=\"").text(&format!("{LEFT},{HEIGHT} {points} "));
    html.text(&format!("{:.1},{HEIGHT}", x(last))).tag("\"/>");
    html.tag("<polyline class=\"trend\" points=\"").text(&points).tag("\"/>");
    line(&mut html, [LEFT as u64, HEIGHT as u64, WIDTH as u64, HEIGHT as u64]);
    for (number, (_, value)) in values.iter().enumerate() {
        if number % values.len().div_ceil(POINTS) == 0 || number == last {
            html.tag("<circle class=\"point\" r=\"3\" cx=\"").text(&format!("{:.1}", x(number)));
            html.tag("\" cy=\"").text(&format!("{:.1}", y(*value))).tag("\"><title>");
            html.text(&format!("turn {}: {}", number + 1, words(*value))).tag("</title></circle>");
        }
    }
    html.tag("</svg>");
    html.tag("<details class=\"small\"><summary>As a table</summary><div class=\"table\" tabindex=\"0\"><table class=\"list\"><thead><tr><th>Turn</th><th>Ended</th><th class=\"right\">");
    html.text(title).tag("</th></tr></thead><tbody>");
    for (number, (at, value)) in values.iter().enumerate() {
        html.tag("<tr><th>").number(number as u64 + 1).tag("</th><td><time datetime=\"");
        html.text(&at.to_string()).tag("\"></time></td><td class=\"right\">");
        html.text(&words(*value)).tag("</td></tr>");
    }
    html.tag("</tbody></table></div></details></figure>");
    html
}

fn label(html: &mut Html, x: f64, y: f64, words: &str) {
    html.tag("<text x=\"").text(&format!("{x:.1}")).tag("\" y=\"").text(&format!("{y:.1}"));
    html.tag("\">").text(words).tag("</text>");
}

fn open(html: &mut Html, title: &str, width: u64, height: u64) {
    // On a phone it is made smaller than it is written, and its words with it.
    html.tag(if width > 500 { "<svg class=\"chart wide\"" } else { "<svg class=\"chart\"" });
    html.tag(" role=\"img\" viewBox=\"0 0 ").number(width).tag(" ").number(height);
    html.tag("\" aria-label=\"").text(title).tag("\">");
}

fn rectangle(html: &mut Html, class: &str, [x, y, width, height]: [u64; 4]) {
    if width == 0 || height == 0 {
        return;
    }
    html.tag("<rect class=\"").text(class).tag("\" x=\"").number(x).tag("\" y=\"").number(y);
    html.tag("\" width=\"").number(width).tag("\" height=\"").number(height).tag("\"/>");
}

fn line(html: &mut Html, [x1, y1, x2, y2]: [u64; 4]) {
    html.tag("<line class=\"axis\" x1=\"").number(x1).tag("\" y1=\"").number(y1);
    html.tag("\" x2=\"").number(x2).tag("\" y2=\"").number(y2).tag("\"/>");
}

/// What the colours mean, and the figures.
fn close(html: &mut Html, bars: &Bars) {
    html.tag("</svg><p class=\"legend small soft\">");
    for (name, class) in bars.names.iter().zip(PART) {
        html.tag("<span><svg width=\"10\" height=\"10\" class=\"chart key\" aria-hidden=\"true\"><rect width=\"10\" height=\"10\" class=\"");
        html.text(class).tag("\"/></svg> ").text(name).tag("</span> ");
    }
    html.tag("</p><details class=\"small\"><summary>As a table</summary><div class=\"table\" tabindex=\"0\"><table class=\"list\"><thead><tr><th></th>");
    for name in bars.names {
        html.tag("<th class=\"right\">").text(name).tag("</th>");
    }
    html.tag("</tr></thead><tbody>");
    for (name, parts) in &bars.bars {
        html.tag("<tr><th>").text(name).tag("</th>");
        for part in parts {
            html.tag("<td class=\"right\">").number(*part).tag("</td>");
        }
        html.tag("</tr>");
    }
    html.tag("</tbody></table></div></details>");
}
