/** Runs all sides in turn, back and forth, so that other load of the machine affects them equally. */
export async function interleave<Side extends string>(
  rounds: number,
  sides: Record<Side, () => Promise<number>>,
): Promise<Record<Side, number[]>> {
  const taken: { [S in Side]?: number[] } = {}
  const order: Side[] = []
  for (const side in sides) {
    taken[side] = []
    order.unshift(side)
  }
  for (let round = 0; round < rounds; round++) {
    for (const side of order) taken[side]?.push(await sides[side]())
    order.reverse()
  }
  return taken as Record<Side, number[]>
}

export const percentile = (values: readonly number[], p: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))] ?? Number.NaN
}
export const median = (values: readonly number[]): number => percentile(values, 50)

/** The bound of a good result. */
export type Target = `<= ${number}` | `>= ${number}`

function isMet(value: number, target: Target | undefined): boolean | undefined {
  const bound = Number(target?.slice(3))
  return target && (target.startsWith('<=') ? value <= bound : value >= bound)
}

export type Row = { name: string; value: string; target: string; met: boolean | undefined; detail: string }

export class Report {
  readonly rows: Row[] = []

  /** A ratio of medians; without a target it is printed for information. */
  ratio(
    name: string,
    sides: { ours: number[]; theirs: number[] },
    target: Target | undefined,
    unit: string,
    detail = '',
  ): void {
    const ours = median(sides.ours)
    const theirs = median(sides.theirs)
    const ratio = ours / theirs
    this.#add({
      name,
      value: ratio.toFixed(2),
      target: target ?? '',
      met: isMet(ratio, target),
      detail: `ours ${format(ours)} ${unit} (p95 ${format(percentile(sides.ours, 95))}), peer ${format(theirs)} ${unit} (p95 ${format(percentile(sides.theirs, 95))}), ${sides.ours.length} rounds${detail && `; ${detail}`}`,
    })
  }

  /** An absolute number with a bound; without a target it is printed for information. */
  number(name: string, value: number, unit: string, target?: Target, detail = ''): void {
    this.#add({
      name,
      value: `${format(value)} ${unit}`,
      target: target ? `${target} ${unit}` : '',
      met: isMet(value, target),
      detail,
    })
  }

  /** A measurement that this machine cannot make. */
  skipped(name: string, reason: string): void {
    this.#add({ name, value: 'skipped', target: '', met: undefined, detail: reason })
  }

  failed(name: string, error: unknown): void {
    const detail = error instanceof Error ? error.message : String(error)
    this.#add({ name, value: 'failed', target: '', met: false, detail })
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

/** The milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = now()
  await work()
  return now() - begun
}
