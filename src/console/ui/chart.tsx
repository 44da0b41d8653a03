import { Time } from './components.js';
import { counted } from '../../api/words.js';

interface Bar {
  readonly at: Date;
  readonly count: number;
}

/** Of the drawing, which is stretched to the width of the page; labels stand beside it, in letters of their usual size. */
const STEP = 40;
const HEIGHT = 100;

/** A few days as small bars, each with the part that stands out at its foot; in words for those who do not see them. */
export function SmallBars({ bars, out }: { bars: ReadonlyArray<Bar & { readonly out: number }>; out: string }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(8, (HEIGHT * count) / most));
  const barTexts = bars.map(({ at, count, out: of }) => {
    const day = at.toISOString().slice(0, 10);
    return of === 0 ? `${day}: ${count}` : `${day}: ${count}, ${of} ${out}`;
  });
  return (
    <svg
      class="chart chart-small"
      viewBox={`0 0 ${STEP * bars.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={barTexts.join('; ')}
    >
      {bars.map(({ count, out: of }, n) => {
        const place = { x: n * STEP + 4, width: STEP - 8 };
        return (
          <g key={n}>
            <title>{barTexts[n]}</title>
            <rect class="bar" {...place} y={HEIGHT - heightOf(count)} height={heightOf(count)} />
            <rect class="bar bar-out" {...place} y={HEIGHT - heightOf(of)} height={heightOf(of)} />
          </g>
        );
      })}
    </svg>
  );
}

/** Counts of equal spans of time, as bars; the same as a table for those who do not see them. */
export function Chart({
  bars,
  one,
  many,
  label,
  from,
}: {
  bars: readonly Bar[];
  one: string;
  many: string;
  label: string;
  /** Where the first bar stands: `24 hours ago`. */
  from: string;
}) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(2, (HEIGHT * count) / most));
  return (
    <figure>
      <div class="chart-labels" aria-hidden="true">
        <span>{total === 0 ? '' : `at most ${counted(most, one, many)} an hour`}</span>
      </div>
      <svg
        class="chart"
        viewBox={`0 0 ${STEP * bars.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${counted(total, one, many)}`}
      >
        {bars.map(({ at, count }, n) => (
          <rect
            class="bar"
            x={n * STEP + 4}
            y={HEIGHT - heightOf(count)}
            width={STEP - 8}
            height={heightOf(count)}
            key={n}
          >
            <title>{`${at.toISOString().slice(11, 16)} UTC: ${counted(count, one, many)}`}</title>
          </rect>
        ))}
      </svg>
      <div class="chart-labels" aria-hidden="true">
        <span>{from}</span>
        <span>now</span>
      </div>
      <div class="unseen">
        <table>
          <caption>{label}</caption>
          <tbody>
            {bars.map(({ at, count }, n) => (
              <tr key={n}>
                <th scope="row">
                  <Time at={at} />
                </th>
                <td>{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
