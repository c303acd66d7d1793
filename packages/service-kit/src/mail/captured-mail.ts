import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { errorCode } from '../errors.ts'

const CapturedMail = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
})

/** A mail that was written to a directory because no mail server is configured. */
export type CapturedMail = z.output<typeof CapturedMail>

const keptMax = 200
const fileShape = /^\d{15}-[0-9a-f-]{36}\.json$/

/** Writes a mail into the directory, readable only by its owner because mails contain codes. The oldest ones beyond 200 are deleted. */
export function captureMail(directory: string, mail: Omit<CapturedMail, 'id' | 'createdAt'>): CapturedMail {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const at = new Date()
  const kept: CapturedMail = { id: randomUUID(), createdAt: at.toISOString(), ...mail }
  const name = `${String(at.getTime()).padStart(15, '0')}-${kept.id}.json`
  const part = join(directory, `${name}.part`)
  writeFileSync(part, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
  // The rename is atomic, so watchers of the directory see only complete mails.
  renameSync(part, join(directory, name))
  for (const old of namesIn(directory).slice(keptMax)) rmSync(join(directory, old), { force: true })
  return kept
}

/** The mails of the directory, the newest first; empty when none was captured. */
export function listCapturedMails(directory: string): CapturedMail[] {
  return namesIn(directory).flatMap((name) => read(join(directory, name)) ?? [])
}

/** Calls the callback for each mail that is captured from now on. */
export function watchCapturedMails(directory: string, onMail: (mail: CapturedMail) => void): { stop(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const known = new Set(namesIn(directory))
  const look = () => {
    for (const name of namesIn(directory).toReversed()) {
      if (known.has(name)) continue
      const mail = read(join(directory, name))
      if (mail) onMail(mail)
      known.add(name)
    }
  }
  const watcher = watch(directory, look)
  // The deletion of the watched directory must not end the process.
  watcher.on('error', () => undefined)
  return { stop: () => watcher.close() }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => fileShape.test(name))
      .sort()
      .reverse()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Undefined for files that were deleted in the meantime or that are not captured mails. */
function read(file: string): CapturedMail | undefined {
  try {
    return CapturedMail.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}
