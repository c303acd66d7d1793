import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Report } from './measure.ts'

const dist = new URL('../../apps/console/dist/', import.meta.url)
const source = new URL('../../apps/console/src/', import.meta.url)

/**
 * JavaScript that a browser loads before a page is shown, page by page: the entry, the frame, the page and its texts, each with its direct
 * imports. Parts that a page loads later on demand are not included.
 */
export function consoleSize(report: Report): void {
  const html = readFileSync(new URL('index.html', dist), 'utf8')
  const entries = [...html.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map((match) => match[1] ?? '')
  const assets = readdirSync(new URL('assets', dist))
  const measureSize = (roots: readonly string[]) => sum([...collectClosure(roots)].map(gzippedBytes))
  const pages = pagesOfRoutes().map(({ file, areas, framed }) => ({
    name: file.replace(/^.*\/|\.tsx$/g, ''),
    bytes: measureSize([
      ...entries,
      ...[file, ...areas, ...(framed ? ['AppFrame'] : [])].map((part) => findChunk(assets, part)),
    ]),
  }))
  pages.sort((a, b) => b.bytes - a.bytes)
  const [largest] = pages
  if (!largest) throw new Error('no route names a page')
  report.number('console: first-load JavaScript, entry alone', measureSize(entries) / 1_000, 'kB gzip')
  report.number(
    'console: first-load JavaScript, largest page',
    largest.bytes / 1_000,
    'kB gzip',
    '<= 250',
    pages
      .slice(0, 6)
      .map(({ name, bytes }) => `${name} ${(bytes / 1_000).toFixed(0)}`)
      .join(', '),
  )
}

/** The pages as the files of routes declare them: their file, the areas of their texts, and whether they are inside the frame. */
function pagesOfRoutes(): { file: string; areas: string[]; framed: boolean }[] {
  const text = readdirSync(source)
    .filter((file) => /^routes.*\.tsx$/.test(file))
    .map((file) => readFileSync(new URL(file, source), 'utf8'))
    .join('\n')
  return [...text.matchAll(/page\(\s*\[([^\]]*)\],\s*\(\) => import\('\.\/(pages\/[^']+)'\)/g)].map((match) => {
    const parents = [...text.slice(0, match.index).matchAll(/getParentRoute: \(\) => (\w+)/g)]
    return {
      file: match[2] ?? '',
      areas: [...(match[1] ?? '').matchAll(/'([^']+)'/g)].map((area) => `texts-${area[1]}`),
      framed: parents.at(-1)?.[1] !== 'bare',
    }
  })
}

/** The bundler names a chunk after its module: `pages/nodes/NodePage.tsx` is `NodePage-<hash>.js`. */
function findChunk(assets: readonly string[], part: string): string {
  const name = part.replace(/^.*\/|\.tsx$/g, '')
  const found = assets.filter((asset) => new RegExp(`^${name}-[\\w-]{8}\\.js$`).test(asset))
  if (found.length !== 1) throw new Error(`${found.length} chunks are called ${name}: is the console built?`)
  return `assets/${found[0]}`
}

function collectClosure(roots: readonly string[]): Set<string> {
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
  roots.forEach(visit)
  return seen
}

const gzipped = new Map<string, number>()
function gzippedBytes(path: string): number {
  const bytes = gzipped.get(path) ?? gzipSync(readFileSync(new URL(path, dist)), { level: 9 }).length
  gzipped.set(path, bytes)
  return bytes
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
