import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '@crux/service-kit'
import { z } from 'zod'

export interface LogLimits {
  /** A longer file becomes `.1`, and the ones before it `.2` and so on. */
  bytesMax: number
  /** How many older files are kept beside the current one. */
  filesKept: number
}

const Settings = z.object({
  LOG_FILE_MEGABYTES: z.coerce.number().int().min(1).max(10_000).default(20).meta({ example: '20' }),
  LOG_FILES_KEPT: z.coerce.number().int().min(1).max(100).default(3).meta({ example: '3' }),
})

const checkEveryMs = 10_000

/** @throws ConfigError that names the variable */
export function readLogLimits(env: NodeJS.ProcessEnv): LogLimits {
  const { LOG_FILE_MEGABYTES, LOG_FILES_KEPT } = parseConfig(Settings, env)
  return { bytesMax: LOG_FILE_MEGABYTES * 1024 * 1024, filesKept: LOG_FILES_KEPT }
}

/** Keeps all logs of an installation short while their processes write them. @returns ends it */
export function rotateWhileRunning(
  directory: string,
  limits: LogLimits,
  onError: (error: unknown) => void,
): () => void {
  const timer = setInterval(() => {
    try {
      rotateLogs(directory, limits)
    } catch (error) {
      onError(error)
    }
  }, checkEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Looks at every log of a directory once. */
export function rotateLogs(directory: string, limits: LogLimits): void {
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory)) if (name.endsWith('.log')) rotateLog(join(directory, name), limits)
}

/**
 * Copies a long log and empties it. A process keeps its file open and appends to it, so that the file cannot be exchanged; lines that
 * it writes between the last read and the emptying, some microseconds, are lost.
 */
function rotateLog(file: string, { bytesMax, filesKept }: LogLimits): void {
  const log = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    const { size } = fstatSync(log)
    if (size <= bytesMax) return
    const part = `${file}.part`
    // What is over several times the limit, since nobody looked, keeps its end.
    copyEnd(log, part, Math.max(0, size - bytesMax))
    ftruncateSync(log, 0)
    rmSync(`${file}.${filesKept}`, { force: true })
    for (let age = filesKept - 1; age >= 1; age -= 1)
      if (existsSync(`${file}.${age}`)) renameSync(`${file}.${age}`, `${file}.${age + 1}`)
    renameSync(part, `${file}.1`)
  } finally {
    closeSync(log)
  }
}

/**
 * Copies whole lines, from the first that begins at or after `start` to the last that has ended when the end is reached. The half of a
 * line shows while it is being written: the rest of it would be lost with the emptying.
 */
function copyEnd(log: number, to: string, start: number): void {
  const copy = openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600)
  try {
    const buffer = Buffer.alloc(256 * 1024)
    let position = start
    let isCut = start > 0
    let copied = 0
    let linesEnd = 0
    for (;;) {
      const length = readSync(log, buffer, 0, buffer.length, position)
      if (length === 0) break
      position += length
      const lineEnd = isCut ? buffer.subarray(0, length).indexOf(10) + 1 : 0
      if (isCut && lineEnd === 0) continue
      isCut = false
      const lastEnd = buffer.subarray(lineEnd, length).lastIndexOf(10) + 1
      if (lastEnd > 0) linesEnd = copied + lastEnd
      copied += writeSync(copy, buffer, lineEnd, length - lineEnd)
    }
    // A log of one endless line is kept as it is.
    if (linesEnd > 0) ftruncateSync(copy, linesEnd)
  } finally {
    closeSync(copy)
  }
}
