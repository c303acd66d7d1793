import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout. */
export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The path of a secret of the installation, with mode 0600, created at the first start. */
export function secretFile(
  dataDir: string,
  name: string,
  make: () => string = () => randomBytes(32).toString('base64url'),
): string {
  const file = join(dataDir, 'secrets', name)
  if (!existsSync(file)) writeSecret(file, make())
  return file
}

/** The write is atomic: a start that is killed during it must not leave an empty key behind. */
export function writeSecret(file: string, value: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const part = `${file}.${process.pid}.part`
  writeFileSync(part, value, { mode: 0o600 })
  renameSync(part, file)
}

export function readJson<T>(file: string): Partial<T> {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

/** The file is readable only by this user, like all files of the installation, because it lists its processes. */
export function writeJson(file: string, value: unknown): void {
  writeSecret(file, `${JSON.stringify(value, null, 2)}\n`)
}

/** Opens a log for appending. */
export function openLog(dataDir: string, name: string): number {
  const file = join(dataDir, 'logs', `${name}.log`)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return openSync(file, 'a', 0o600)
}

/** The end of a log, for the error of a process that did not start. */
export function lastLogLines(dataDir: string, name: string, count: number): string[] {
  const file = join(dataDir, 'logs', `${name}.log`)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count)
}
