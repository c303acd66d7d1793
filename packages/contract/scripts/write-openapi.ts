import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/index.ts'

/** Writes docs/openapi.json from the contract. `--check` only reports whether it is up to date. */
const file = new URL('../../../docs/openapi.json', import.meta.url)
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
)
const text = `${JSON.stringify(openApiDocument(version), null, 1)}\n`

if (!process.argv.includes('--check')) {
  writeFileSync(file, text)
} else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write('docs/openapi.json is out of date: npm run openapi\n')
  process.exit(1)
}
