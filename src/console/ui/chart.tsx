import { Time, counted } from './components.js';

export interface Bar {
  readonly at: Date;
  readonly count: number;
}

const WIDTH = 960;
const HEIGHT = 140;
const FLOOR = HEIGHT - 22;
const TOP = 18;

/** Counts of equal spans of time, as bars; the same as a table for those who do not see them. */
export function Chart({ bars, one, many, label }: { bars: readonly Bar[]; one: string; many: string; label: string }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const step = WIDTH / Math.max(1, bars.length);
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  return (
    <figure>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${label}: ${counted(total, one, many)}`}
      >
        <text x="0" y="12">
          {counted(most, one, many)} at most in an hour
        </text>
        <line class="axis" x1="0" x2={WIDTH} y1={FLOOR + 0.5} y2={FLOOR + 0.5} />
        {bars.map(({ at, count }, n) => {
          const height = count === 0 ? 0 : Math.max(2, ((FLOOR - TOP) * count) / most);
          return (
            <rect class="bar" x={n * step + 2} y={FLOOR - height} width={Math.max(1, step - 4)} height={height} key={n}>
              <title>{`${at.toISOString().slice(11, 16)} UTC: ${counted(count, one, many)}`}</title>
            </rect>
          );
        })}
        <text x="0" y={HEIGHT - 4}>
          24 hours ago
        </text>
        <text x={WIDTH} y={HEIGHT - 4} text-anchor="end">
          now
        </text>
      </svg>
      <table class="unseen">
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
    </figure>
  );
}
