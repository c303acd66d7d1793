/** Runs both sides in turn, so that whatever else the machine does meets them alike, and compares their medians. */
export async function interleave(
  rounds: number,
  sides: { ours: () => Promise<number>; theirs: () => Promise<number> },
): Promise<{ ours: number[]; theirs: number[] }> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      theirs.push(await sides.theirs())
      ours.push(await sides.ours())
    } else {
      ours.push(await sides.ours())
      theirs.push(await sides.theirs())
    }
  }
  return { ours, theirs }
}

export const percentile = (values: readonly number[], p: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))] ?? Number.NaN
}
export const median = (values: readonly number[]): number => percentile(values, 50)

export type Row = { name: string; value: string; target: string; met: boolean | undefined; detail: string }

export class Report {
  readonly rows: Row[] = []

  /** A ratio of medians. `at` says which side of the target is good. */
  ratio(
    name: string,
    sides: { ours: number[]; theirs: number[] },
    target: { at: 'most' | 'least'; value: number },
    unit: string,
    detail = '',
  ): void {
    const ours = median(sides.ours)
    const theirs = median(sides.theirs)
    const ratio = ours / theirs
    this.#add({
      name,
      value: ratio.toFixed(2),
      target: `${target.at === 'most' ? '<=' : '>='} ${target.value}`,
      met: target.at === 'most' ? ratio <= target.value : ratio >= target.value,
      detail: `ours ${format(ours)} ${unit} (p95 ${format(percentile(sides.ours, 95))}), peer ${format(theirs)} ${unit} (p95 ${format(percentile(sides.theirs, 95))}), ${sides.ours.length} rounds${detail && `; ${detail}`}`,
    })
  }

  /** An absolute number with a bound; without a target it is printed for information. */
  number(
    name: string,
    value: number,
    unit: string,
    target?: { at: 'most' | 'least'; value: number },
    detail = '',
  ): void {
    this.#add({
      name,
      value: `${format(value)} ${unit}`,
      target: target ? `${target.at === 'most' ? '<=' : '>='} ${target.value} ${unit}` : '',
      met: target ? (target.at === 'most' ? value <= target.value : value >= target.value) : undefined,
      detail,
    })
  }

  failed(name: string, error: unknown): void {
    this.#add({
      name,
      value: 'failed',
      target: '',
      met: false,
      detail: error instanceof Error ? error.message : String(error),
    })
  }

  #add(row: Row): void {
    this.rows.push(row)
    const sign = row.met === undefined ? ' ' : row.met ? '+' : '!'
    process.stdout.write(
      `${sign} ${row.name.padEnd(58)} ${row.value.padStart(12)}  ${row.target.padEnd(12)} ${row.detail}\n`,
    )
  }
}

const format = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : value >= 10 ? value.toFixed(1) : value.toFixed(2)
export const now = (): number => performance.now()
