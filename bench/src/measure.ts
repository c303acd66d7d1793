/** Runs all sides in turn, back and forth, so that other load of the machine affects them equally. */
export async function interleave<Side extends string>(
  rounds: number,
  sides: Record<Side, () => Promise<number>>,
): Promise<Record<Side, number[]>> {
  const order = (Object.keys(sides) as Side[]).reverse()
  const taken = Object.fromEntries(order.map((side) => [side, []])) as unknown as Record<Side, number[]>
  for (let round = 0; round < rounds; round++) {
    for (const side of order) taken[side].push(await sides[side]())
    order.reverse()
  }
  return taken
}

export const percentile = (values: readonly number[], p: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))] ?? Number.NaN
}
export const median = (values: readonly number[]): number => percentile(values, 50)

export type Row = { name: string; value: string; target: string; met: boolean | undefined; detail: string }

export class Report {
  readonly rows: Row[] = []

  /** A ratio of medians. `at` is the side of the target that is good; without a target it is printed for information. */
  ratio(
    name: string,
    sides: { ours: number[]; theirs: number[] },
    target: { at: 'most' | 'least'; value: number } | undefined,
    unit: string,
    detail = '',
  ): void {
    const ours = median(sides.ours)
    const theirs = median(sides.theirs)
    const ratio = ours / theirs
    this.#add({
      name,
      value: ratio.toFixed(2),
      target: target ? `${target.at === 'most' ? '<=' : '>='} ${target.value}` : '',
      met: target ? (target.at === 'most' ? ratio <= target.value : ratio >= target.value) : undefined,
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
