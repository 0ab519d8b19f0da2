// Where the rows stand.

const ROW = 30;
const PAD = 18;
const PAUSE = 24;
// Browsers have a greatest height; beyond it nothing more can be scrolled to.
const MOST_HEIGHT = 12e6;

/** How much lower than the top of its row an arrow is. */
const arrowOf = (rowHeight) => rowHeight - Math.min(8, rowHeight / 3);

const rowHeightOf = (mode, zoom) =>
  Math.round(mode === "scale" ? Math.min(ROW, Math.max(8, ROW * zoom)) : Math.min(120, Math.max(8, ROW * zoom)));

const zoomLimits = (mode, length) =>
  mode === "scale" ? [0.25, Math.max(1, Math.min(4096, MOST_HEIGHT / length))] : [0.25, 4];

/** Every row below the one before it, pauses marked. */
const evenly = (rows, heightOf, duration, rowHeight) => {
  const tops = new Float64Array(rows.length);
  const pauses = [];
  const long = Math.max(150e3, duration / 50);
  let y = PAD;
  rows.forEach((row, at) => {
    const wait = at === 0 ? row.us : row.us - rows[at - 1].us;
    if (wait >= long) {
      pauses.push({ y: y + PAUSE / 2, us: wait });
      y += PAUSE;
    }
    tops[at] = y;
    y += rowHeight + heightOf(row);
  });
  const rowAt = (us) => {
    const found = rows.findIndex((row) => row.us >= us);
    return tops[found < 0 ? rows.length - 1 : found];
  };
  return { tops, pauses, total: y + PAD, scale: 0, yOf: rowAt, usOf: (at) => rows[firstBelow(tops, at)].us };
};

/**
 * The places of rows in order, each as near to its time as it can be without lying on another, as blocks
 * of rows that touch. Of all such places, those with the least sum of squares of the distances: where
 * rows are dense, they spread to both sides of their time.
 */
const blocksOf = (rows, scale, rowHeight) => {
  const arrow = arrowOf(rowHeight);
  // Without the heights of the rows before them, the places only have to be in order.
  const blocks = [];
  rows.forEach((row, at) => {
    const block = { sum: PAD + row.us * scale - arrow - at * rowHeight, size: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.size >= block.sum / block.size; last = blocks.at(-1)) {
      block.sum += last.sum;
      block.size += last.size;
      blocks.pop();
    }
    blocks.push(block);
  });
  return blocks;
};

// Further than this from its time a row should not be, if the page need not be much longer for it.
const NEAR = 600;
const LONGEST = 8;
// Nor should a wait in which nothing is said take more than this, at the beginning above all.
const EMPTY = 400;

/** How long the axis of these rows is at 100%, in pixels. */
const lengthOf = (rows, duration) => {
  const least = Math.max(rows.length, 16) * ROW;
  const wait = rows.reduce((longest, row, at) => Math.max(longest, row.us - (at ? rows[at - 1].us : 0)), 0);
  for (let factor = 1; factor < LONGEST; factor *= 1.5) {
    const scale = (least * factor) / Math.max(duration, 1);
    const crowded = blocksOf(rows, scale, ROW).some(({ size }) => size * ROW > 2 * NEAR);
    const empty = wait * scale * 1.5 > EMPTY;
    if (!crowded || empty || least * factor * 4 > MOST_HEIGHT) return least * factor;
  }
  return least;
};

/**
 * Every row near to its time on the axis. What is open breaks the axis, and moves nothing but what is
 * below it.
 */
const toScale = (rows, heightOf, duration, rowHeight, length) => {
  const scale = length / Math.max(duration, 1);
  const tops = new Float64Array(rows.length);
  const breaks = [];
  let opened = 0;
  let at = 0;
  blocksOf(rows, scale, rowHeight).forEach(({ sum, size }) => {
    const place = Math.max(PAD, sum / size);
    for (let n = 0; n < size; n += 1, at += 1) {
      const top = place + at * rowHeight;
      tops[at] = top + opened;
      const height = heightOf(rows[at]);
      if (height > 0) breaks.push({ y: top + rowHeight, height });
      opened += height;
    }
  });
  const last = rows.length - 1;
  const bottom = last < 0 ? 0 : tops[last] + rowHeight + heightOf(rows[last]);
  /** Where a time is on the page. */
  const yOf = (us) => {
    const y = PAD + us * scale;
    return breaks.reduce((sum, one) => (one.y <= y ? sum + one.height : sum), y);
  };
  /** The time of a place on the page. */
  const usOf = (y) => {
    let above = 0;
    for (const one of breaks) {
      if (one.y + above > y) break;
      above += Math.min(one.height, y - one.y - above);
    }
    return Math.min(duration, Math.max(0, (y - above - PAD) / scale));
  };
  return { tops, pauses: [], total: Math.max(bottom, yOf(duration)) + PAD, scale, yOf, usOf };
};

/** The first row that ends below `y`. */
const firstBelow = (tops, y) => {
  let low = 0;
  let high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle] <= y) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
};

/** How far to the side the bars of requests stand that are open at the same time. */
const levelsOf = (frames) => {
  const pairs = [];
  const busy = { in: [], out: [] };
  frames.forEach((frame, from) => {
    if (frame.reply || frame.pair === undefined) return;
    const levels = busy[frame.ch];
    if (!levels) return;
    let level = levels.findIndex((until) => until < from);
    if (level < 0) level = levels.length;
    levels[level] = frame.pair;
    pairs.push({ from, to: frame.pair, level, side: frame.ch === "in" ? "cli" : "client" });
  });
  return pairs;
};
