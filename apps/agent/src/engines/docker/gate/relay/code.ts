import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Identifies the version of a gate's code: a hash of its bundle, or in the checkout of all files beside its entry. */
export function getCode(entry: string): string {
  const hash = createHash('sha256')
  const files = entry.endsWith('.ts')
    ? readdirSync(dirname(entry))
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
        .sort()
        .map((name) => join(dirname(entry), name))
    : [entry]
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}
