import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Report } from './measure.ts'

const dist = new URL('../../apps/console/dist/', import.meta.url)

/** JavaScript that a browser loads before anything is shown: the entry and what it imports at once. */
export function consoleSize(report: Report): void {
  const page = readFileSync(new URL('index.html', dist), 'utf8')
  const entries = [...page.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map((match) => match[1] ?? '')
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path)) return
    seen.add(path)
    const code = readFileSync(new URL(path, dist), 'utf8')
    for (const match of code.matchAll(
      /(?:^|[;}\s])(?:import|export)\s*(?:[\w*{}\s,$]+from\s*)?["']\.\/([^"']+\.js)["']/g,
    ))
      visit(`${path.slice(0, path.lastIndexOf('/') + 1)}${match[1]}`)
  }
  entries.forEach(visit)
  const bytes = [...seen].reduce(
    (sum, path) => sum + gzipSync(readFileSync(new URL(path, dist)), { level: 9 }).length,
    0,
  )
  report.number(
    'console: first-load JavaScript',
    bytes / 1_000,
    'kB gzip',
    { at: 'most', value: 250 },
    `${seen.size} files`,
  )
}
